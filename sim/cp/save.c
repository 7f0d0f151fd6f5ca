/* SPDX-License-Identifier: MIT */
/*
 * Saving and loading a CP as a whole.
 *
 * Image, big-endian: magic (8), version (4), length of the whole image (8),
 * fingerprint of the configuration (8), the parts, FNV-1a of all before (8).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "save_private.h"
#include "bytes.h"
#include "hash.h"
#include "zvmlab/fault.h"
#include "zvmlab/iucv.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"
#include "zvmlab/input.h"

#define MAGIC "ZVMLABCP"
#define VERSION 9u
#define MAGIC_SIZE 8u
#define OFFSET_VERSION 8u
#define OFFSET_LENGTH 12u
#define OFFSET_CONFIG 20u
#define HEADER_SIZE 28u
#define CHECKSUM_SIZE 8u

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_more(hash, text, strlen(text) + 1);
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	uint8_t bytes[8];

	put_be64(bytes, number);
	return hash_more(hash, bytes, sizeof(bytes));
}

static uint64_t hash_machine(uint64_t hash, const struct cp_machine *machine)
{
	hash = hash_text(hash, machine->manufacturer);
	hash = hash_text(hash, machine->type);
	hash = hash_text(hash, machine->model);
	hash = hash_text(hash, machine->capacity);
	hash = hash_text(hash, machine->sequence);
	hash = hash_text(hash, machine->plant);
	hash = hash_number(hash, machine->capability);
	hash = hash_number(hash, machine->partition);
	hash = hash_text(hash, machine->partition_name);
	return hash_number(hash, machine->dedicated);
}

/* Values that size the parts' tables or were seen by the guest; storage and segments may change. */
static uint64_t config_fingerprint(const struct cp_config *config)
{
	uint64_t hash = hash_text(HASH_START, config->userid);

	hash = hash_text(hash, config->classes);
	hash = hash_text(hash, config->level);
	hash = hash_machine(hash, &config->machine);
	hash = hash_number(hash, config->cpus);
	hash = hash_number(hash, config->logon_cpus);
	hash = hash_number(hash, config->conmode_3215);
	hash = hash_number(hash, config->max_paths);
	hash = hash_number(hash, config->units);
	for (unsigned int i = 0; i < config->units; i++) {
		hash = hash_number(hash, config->unit[i].device);
		hash = hash_number(hash, config->unit[i].kind);
		hash = hash_number(hash, (uint64_t)config->unit[i].spool_class);
	}
	hash = hash_number(hash, config->disks);
	for (unsigned int i = 0; i < config->disks; i++) {
		hash = hash_number(hash, config->disk[i].device);
		hash = hash_number(hash, config->disk[i].blocks);
		hash = hash_number(hash, config->disk[i].mode);
		hash = hash_text(hash, config->disk[i].owner);
		hash = hash_number(hash, config->disk[i].owner_device);
	}
	return hash_number(hash, config->max_messages);
}

/* All machines, in the order in which they logged on. */
static uint64_t fingerprint(const struct cp_system *system)
{
	uint64_t hash = config_fingerprint(&system->machine[0]->config);

	for (unsigned int i = 1; i < system->machines; i++)
		hash = hash_number(hash, config_fingerprint(&system->machine[i]->config));
	return hash;
}

/* The guest has the base, and no CPU that the emulator has not; what runs is there. */
static void cpus_state(struct cp *cp, struct state *s)
{
	state_u64(s, &cp->cpus);
	state_u64(s, &cp->started);
	state_require(s, (cp->cpus & 1) && cp->cpus <= UINT64_MAX >> (CP_MAX_CPUS - cp->config.cpus));
	state_require(s, cp->config.logon_cpus ||
			 cp->cpus == UINT64_MAX >> (CP_MAX_CPUS - cp->config.cpus));
	state_require(s, (cp->started & ~cp->cpus) == 0);
}

static void system_state(struct cp_system *system, struct state *s)
{
	state_tag(s, "CORE");
	for (unsigned int i = 0; i < system->machines; i++) {
		state_bool(s, &system->machine[i]->ipled);
		cpus_state(system->machine[i], s);
		state_u64(s, &system->machine[i]->random);
	}
	state_u64(s, &system->random);
	parts_state(system, s);
	state_tag(s, "END.");
}

uint8_t *cp_save(struct cp *cp, size_t *len)
{
	struct state s = { .loading = false };
	uint8_t header[HEADER_SIZE] = MAGIC;
	uint64_t checksum;

	put_be32(header + OFFSET_VERSION, VERSION);
	put_be64(header + OFFSET_CONFIG, fingerprint(cp->system));
	state_bytes(&s, header, sizeof(header));
	system_state(cp->system, &s);
	if (!s.failed) {
		put_be64(s.data + OFFSET_LENGTH, s.len + CHECKSUM_SIZE);
		checksum = hash_more(HASH_START, s.data, s.len);
		state_u64(&s, &checksum);
	}
	if (s.failed) {
		free(s.data);
		return NULL;
	}
	assert(s.data && s.len > HEADER_SIZE + CHECKSUM_SIZE);
	*len = s.len;
	return s.data;
}

const char *save_image_defect(const struct cp_system *system, const uint8_t *image, size_t len)
{
	if (!image || len < HEADER_SIZE + CHECKSUM_SIZE ||
	    memcmp(image, MAGIC, MAGIC_SIZE) != 0)
		return "it is not a saved CP";
	if (get_be32(image + OFFSET_VERSION) != VERSION)
		return "it has the format of another version; save it again with this one";
	if (get_be64(image + OFFSET_LENGTH) != len)
		return "its length is not what its header says; it is incomplete";
	if (get_be64(image + len - CHECKSUM_SIZE) != hash_more(HASH_START, image, len - CHECKSUM_SIZE))
		return "its checksum is wrong; it is damaged";
	if (get_be64(image + OFFSET_CONFIG) != fingerprint(system))
		return "it was saved with another configuration; user ID, classes, level, machine, "
		       "number of CPUs and paths, and SPOOL, MDISK, LINK and CPU statements must be the same";
	return NULL;
}

/* Loading never stores through data: the cast only serves the shared member. */
bool save_load_parts(struct cp_system *system, const uint8_t *image, size_t len, bool trial)
{
	struct state s = {
		.loading = true, .trial = trial, .data = (uint8_t *)(uintptr_t)image,
		.pos = HEADER_SIZE, .len = len - CHECKSUM_SIZE,
	};

	assert(len >= HEADER_SIZE + CHECKSUM_SIZE && s.pos <= s.len);
	system_state(system, &s);
	assert(s.pos <= s.len);
	return !s.failed && s.pos == s.len;
}

/* The host of the CP on which images are tried: it knows where storage is, and changes nothing. */
static void *trial_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	return storage_map(opaque, cpu, addr, len);
}

static void trial_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)opaque;
	(void)cpu;
	(void)addr;
	(void)len;
}

static uint64_t trial_clock(void *opaque)
{
	const struct cp_system *system = opaque;

	return cp_system_tod(system->machine[0]);
}

static uint64_t trial_tod(void *opaque)
{
	return cp_tod(opaque);
}

static bool trial_window(void *opaque, const struct cp_window *window)
{
	(void)opaque;
	(void)window;
	return true;
}

static void trial_kick(void *opaque, unsigned int cpu)
{
	(void)opaque;
	(void)cpu;
}

static void trial_set_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	(void)tod;
}

static void trial_storage_changed(void *opaque)
{
	(void)opaque;
}

static void trial_cpus(void *opaque, uint64_t defined)
{
	(void)opaque;
	(void)defined;
}

static void trial_page_changed(void *opaque, uint64_t addr, bool out)
{
	(void)opaque;
	(void)addr;
	(void)out;
}

/* Everybody who is logged on has to fit in with the image. */
static bool add_users(struct cp *cp, struct cp *trial)
{
	struct iucv_user *user;

	for (unsigned int i = 0; (user = iucv_user_at(cp, i)) != NULL; i++)
		if (!iucv_user_find(trial, iucv_user_name(user)) &&
		    !iucv_user_create(trial, iucv_user_name(user), iucv_max_paths(user), NULL, NULL))
			return false;
	return true;
}

struct cp *save_trial_machine(struct cp_system *system, struct cp *cp,
			      const struct cp_config *config)
{
	const struct cp_host host = {
		.opaque = cp, .map = trial_map, .window = trial_window, .dirty = trial_dirty,
		.tod = trial_tod, .kick = trial_kick, .set_timer = trial_set_timer,
		.storage_changed = trial_storage_changed,
		/* The image may have pages that are out, if this host has. */
		.page_changed = cp->host.page_changed ? trial_page_changed : NULL,
		.external = cp->host.page_changed ? trial_kick : NULL,
		.cpus = trial_cpus, .sclp = cp->host.sclp,
	};
	char err[256];
	struct cp *trial = cp_create(system, config, &host, err, sizeof(err));

	if (trial)
		cp_logon(trial);
	return trial;
}

/* A system like this one, with the same machines and users; as many as there was memory for. */
static bool add_machines(struct cp_system *system, struct cp_system *trial)
{
	struct cp *cp;

	for (unsigned int i = 0; i < system->machines; i++)
		if (!save_trial_machine(trial, system->machine[i], &system->machine[i]->config))
			return false;
	for (unsigned int i = 0; i < system->machines; i++) {
		cp = system->machine[i];
		if (!add_users(cp, trial->machine[i]))
			return false;
	}
	return true;
}

struct cp_system *save_trial_system(struct cp_system *system)
{
	struct cp_config config = system->config;
	const struct cp_system_host host = {
		.opaque = system, .tod = trial_clock, .set_timer = trial_set_timer,
	};
	char err[256];

	/* Definitions and contents come from the image, not from the configuration's files. */
	config.segments = 0;
	memset(config.segment, 0, sizeof(config.segment));
	return cp_system_create(&config, &host, err, sizeof(err));
}

/* Load the image into another system like this one.  Return: what is wrong with it, or NULL. */
static const char *try_image(struct cp_system *system, const uint8_t *image, size_t len)
{
	const char *defect = SAVE_NO_MEMORY;
	struct cp_system *trial = save_trial_system(system);

	if (trial && add_machines(system, trial))
		defect = save_load_parts(trial, image, len, true) ? NULL : SAVE_CONTRADICTS;
	cp_system_destroy(trial);
	return defect;
}

/* Of what an image has to fit in with: the configuration, and all who are logged on. */
static uint64_t surroundings(struct cp_system *system)
{
	uint64_t hash = fingerprint(system);
	struct iucv_user *user;

	for (unsigned int i = 0; i < system->machines; i++) {
		hash = hash_number(hash, i);
		for (unsigned int at = 0; (user = iucv_user_at(system->machine[i], at)); at++) {
			hash = hash_text(hash, iucv_user_name(user));
			hash = hash_number(hash, iucv_max_paths(user));
		}
	}
	return hash;
}

/* A guest is put back to one image again and again: that it can be loaded need be found out once. */
static bool was_tried(struct cp_system *system, const uint8_t *image, size_t len, uint64_t around)
{
	return system->tried && image && len == system->tried_len &&
	       around == system->tried_around && memcmp(image, system->tried, len) == 0;
}

/* Without memory for it, the image is tried again the next time. */
static void remember(struct cp_system *system, const uint8_t *image, size_t len, uint64_t around)
{
	free(system->tried);
	system->tried = malloc(len);
	system->tried_len = len;
	system->tried_around = around;
	if (system->tried)
		memcpy(system->tried, image, len);
}

/* Return: why the image cannot be loaded, NULL if it can; the CP is as it was. */
static const char *defect_of(struct cp_system *system, const uint8_t *image, size_t len)
{
	const uint64_t around = surroundings(system);
	const char *defect;

	if (was_tried(system, image, len, around))
		return NULL;
	defect = save_image_defect(system, image, len);
	if (!defect)
		defect = try_image(system, image, len);
	if (!defect)
		remember(system, image, len, around);
	return defect;
}

void save_show(struct cp *cp)
{
	cp->host.storage_changed(cp->host.opaque);
	cp_set_cpus(cp, cp->cpus);
	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++) {
		if (cp_interrupt_pending(cp, cpu))
			cp_kick(cp, cpu);
		if (cp->cpus >> cpu & 1 && cp_external_pending(cp, cpu))
			cp->host.external(cp->host.opaque, cpu);
	}
}

void save_say(char *err, size_t errlen, const char *defect)
{
	snprintf(err, errlen, "the CP's state cannot be loaded from the image: %s", defect);
}

static int load(struct cp_system *system, const uint8_t *image, size_t len, char *err,
		size_t errlen)
{
	const char *defect = defect_of(system, image, len);
	int rc = -1;

	if (!defect && !save_load_parts(system, image, len, false)) {
		defect = "there is not enough memory, and the CP has been reset";
		for (unsigned int i = 0; i < system->machines; i++)
			cp_reset(system->machine[i]);
		rc = -2;
	}
	if (defect) {
		save_say(err, errlen, defect);
		return rc;
	}
	for (unsigned int i = 0; i < system->machines; i++)
		save_show(system->machine[i]);
	return 0;
}

int cp_load(struct cp *cp, const uint8_t *image, size_t len, char *err, size_t errlen)
{
	int rc;

	TRACE_INPUT(cp, state_load, .image = { image, image ? len : 0 });
	rc = load(cp->system, image, len, err, errlen);
	trace_number(cp, "refused", rc != 0);
	trace_end(cp);
	return rc;
}
