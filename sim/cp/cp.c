/* SPDX-License-Identifier: MIT */
/* Life cycle of a system and its machines: what they consist of, how they begin and end. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "cp_private.h"
#include "zvmlab/input.h"
#include "zvmlab/iucv.h"
#include "zvmlab/trace.h"

/* Two parts with one name do not compile. */
enum part_index {
#define CP_PART(name) PART_##name,
#include "parts.def"
#undef CP_PART
	PARTS
};

static const struct cp_part *const parts[PARTS + 1] = {
#define CP_PART(name) [PART_##name] = &name##_part,
#include "parts.def"
#undef CP_PART
};

static void fini_system_parts(struct cp_system *system, size_t count)
{
	while (count-- > 0)
		if (parts[count]->fini_system)
			parts[count]->fini_system(system);
}

static int init_system_parts(struct cp_system *system, char *err, size_t errlen)
{
	for (size_t i = 0; i < PARTS; i++) {
		int rc = 0;

		assert(parts[i]);
		if (parts[i]->init_system)
			rc = parts[i]->init_system(system, err, errlen);
		assert(rc == 0 || rc == -1);
		if (rc != 0) {
			fini_system_parts(system, i);
			return -1;
		}
	}
	return 0;
}

/* @host: NULL for a machine that is alone. */
static struct cp_system *make_system(const struct cp_config *config,
				     const struct cp_system_host *host, char *err, size_t errlen)
{
	struct cp_system *system = calloc(1, sizeof(*system));

	if (!system || cp_config_copy(&system->config, config) != 0) {
		snprintf(err, errlen, "not enough memory for the CP");
		free(system);
		return NULL;
	}
	system->parts = parts;
	system->random = config->seed;
	if (host)
		system->host = *host;
	if (init_system_parts(system, err, errlen) != 0) {
		cp_config_fini(&system->config);
		free(system);
		return NULL;
	}
	return system;
}

struct cp_system *cp_system_create(const struct cp_config *config,
				   const struct cp_system_host *host, char *err, size_t errlen)
{
	assert(host->tod && host->set_timer && !host->in_directory == !host->start);
	return make_system(config, host, err, errlen);
}

struct cp_system *cp_system_of(const struct cp *cp)
{
	return cp->system;
}

static void fini_parts(struct cp *cp, size_t count)
{
	while (count-- > 0)
		if (parts[count]->fini)
			parts[count]->fini(cp);
}

static int init_parts(struct cp *cp, char *err, size_t errlen)
{
	for (size_t i = 0; i < PARTS; i++) {
		int rc = 0;

		if (parts[i]->init)
			rc = parts[i]->init(cp, err, errlen);
		assert(rc == 0 || rc == -1);
		if (rc != 0) {
			fini_parts(cp, i);
			return -1;
		}
	}
	return 0;
}

/* What a member says of the system itself does not count. */
static void take_system_config(struct cp_config *config, const struct cp_system *system)
{
	config->machine = system->config.machine;
	memcpy(config->level, system->config.level, sizeof(config->level));
	config->max_messages = system->config.max_messages;
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		free(config->segment[i].file);
		config->segment[i] = system->config.segment[i];
		config->segment[i].file = NULL;
	}
	config->segments = system->config.segments;
}

/* Those of CPU statements, without which the machine's are the guest's. */
static bool define_cpus(struct cp *cp, char *err, size_t errlen)
{
	const uint64_t all = UINT64_MAX >> (CP_MAX_CPUS - cp->config.cpus);
	const uint64_t cpus = cp->config.logon_cpus;
	const char *wrong = NULL;

	if (cpus & ~all)
		wrong = "have a CPU that the machine has not";
	else if (cpus && !(cpus & 1))
		wrong = "lack CPU 00, which is the base";
	else if (cpus && !cp->host.cpus)
		wrong = "need an emulator in which CPUs come and go; only QEMU is one";
	if (wrong) {
		snprintf(err, errlen, "the CPU statements of %s's directory entry %s",
			 cp->config.userid, wrong);
		return false;
	}
	cp_set_cpus(cp, cpus ? cpus : all);
	return true;
}

static struct cp *make_machine(struct cp_system *system, const struct cp_config *config,
			       const struct cp_host *host, char *err, size_t errlen)
{
	struct cp *cp;

	if (system->machines == CP_MAX_MACHINES) {
		snprintf(err, errlen, "%s cannot log on: %u machines are, which is the limit",
			 config->userid, CP_MAX_MACHINES);
		return NULL;
	}
	cp = calloc(1, sizeof(*cp));
	if (!cp || cp_config_copy(&cp->config, config) != 0) {
		snprintf(err, errlen, "not enough memory for the CP");
		free(cp);
		return NULL;
	}
	assert(cp->config.cpus > 0 && cp->config.cpus <= CP_MAX_CPUS && cp->config.extents > 0);
	cp->system = system;
	take_system_config(&cp->config, system);
	cp->host = *host;
	cp->parts = parts;
	cp->random = config->seed;
	if (!define_cpus(cp, err, errlen) || init_parts(cp, err, errlen) != 0) {
		cp_config_fini(&cp->config);
		free(cp);
		return NULL;
	}
	return cp;
}

static void enter(struct cp *cp)
{
	struct cp_system *system = cp->system;

	assert(system->machines < CP_MAX_MACHINES && !cp_machine_of(system, cp->config.userid));
	system->machine[system->machines++] = cp;
}

struct cp *cp_create(struct cp_system *system, const struct cp_config *config,
		     const struct cp_host *host, char *err, size_t errlen)
{
	const bool alone = !system;
	struct cp *cp;

	assert(host->map && host->dirty && host->tod && host->kick);
	assert(host->set_timer && host->storage_changed);
	if (alone)
		system = make_system(config, NULL, err, errlen);
	if (!system)
		return NULL;
	assert(!system->recording && !system->alone);
	system->alone = alone;
	cp = make_machine(system, config, host, err, errlen);
	if (cp && alone)
		enter(cp);
	else if (!cp && alone)
		cp_system_destroy(system);
	return cp;
}

void cp_logon(struct cp *cp)
{
	assert(!cp->system->alone && !cp->system->recording);
	enter(cp);
	TRACE_INPUT(cp, machine_logon);
	clock_note_ipl(cp);
	parts_logon(cp, cp->config.userid);
	trace_end(cp);
	iucv_dispatch(cp);
}

void cp_logoff(struct cp *cp)
{
	struct cp_system *system = cp->system;
	unsigned int place = 0;

	assert(!system->alone && !system->recording);
	TRACE_INPUT(cp, machine_logoff);
	parts_logoff(cp, cp->config.userid);
	trace_end(cp);
	iucv_dispatch(cp);
	while (system->machine[place] != cp)
		place++;
	assert(place < system->machines);
	system->machines--;
	memmove(&system->machine[place], &system->machine[place + 1],
		(system->machines - place) * sizeof(cp));
}

static void free_machine(struct cp *cp)
{
	fini_parts(cp, PARTS);
	cp_config_fini(&cp->config);
	free(cp);
}

void cp_system_destroy(struct cp_system *system)
{
	if (!system)
		return;
	assert(!system->recording);
	system->ending = true;
	while (system->machines > 0)
		free_machine(system->machine[--system->machines]);
	fini_system_parts(system, PARTS);
	cp_config_fini(&system->config);
	free(system->tried);
	free(system);
}

void cp_destroy(struct cp *cp)
{
	if (!cp)
		return;
	assert(!cp->system->recording);
	if (cp->system->alone) {
		cp_system_destroy(cp->system);
		return;
	}
	if (cp_machine_of(cp->system, cp->config.userid) == cp) {
		cp_reset(cp);
		cp_logoff(cp);
	}
	free_machine(cp);
}
