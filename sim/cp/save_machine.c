/* SPDX-License-Identifier: MIT */
/*
 * Loading a machine that was alone when it was saved into a system, under a name of its own.
 *
 * The image is loaded into a system of its own first, as it was saved, which finds out all that is
 * wrong with it.  From there each part's state of the machine is copied, and what the machine has of
 * IUCV and of *MSG.  Everything else is a system's, and nobody's but that system's.
 */
#include <stdlib.h>
#include <string.h>

#include "save_private.h"
#include "zvmlab/iucv.h"
#include "zvmlab/state.h"
#include "zvmlab/trace.h"

/* A machine like @cp in @trial, under the name of those that are saved for others. */
static struct cp *alone_like(struct cp_system *trial, struct cp *cp)
{
	struct cp_config config;
	struct cp *alone;

	if (cp_config_copy(&config, &cp->config) != 0)
		return NULL;
	strcpy(config.userid, CP_BASE_USERID);
	alone = save_trial_machine(trial, cp, &config);
	cp_config_fini(&config);
	return alone;
}

/* Has it no path but to *MSG? */
static bool only_messages(struct cp *cp)
{
	const struct iucv_user *user = iucv_user_guest(cp);
	struct iucv_path_info info;

	for (uint32_t id = 0; id < iucv_max_paths(user); id++)
		if (iucv_path_info(user, (uint16_t)id, &info) &&
		    strcmp(info.partner, MSG_SERVICE) != 0)
			return false;
	return true;
}

/* What there is of the machine outside of it; NULL: nothing. */
static const char *entangled(struct cp *alone)
{
	if (alone->loaded)
		return "the machine has loaded saved segments";
	if (!only_messages(alone) || iucv_path_count(iucv_user_guest(alone)) > 1)
		return "the machine is connected to other users by IUCV";
	if (!iucv_is_idle(alone))
		return "the machine has something of IUCV under way";
	return NULL;
}

/* Return: the machine as it was saved, in a system of its own; or NULL, and what is wrong. */
static struct cp *load_alone(struct cp *cp, const uint8_t *image, size_t len, const char **defect)
{
	struct cp_system *trial = save_trial_system(cp->system);
	struct cp *alone = trial ? alone_like(trial, cp) : NULL;

	*defect = alone ? save_image_defect(trial, image, len) : SAVE_NO_MEMORY;
	if (!*defect && !save_load_parts(trial, image, len, true))
		*defect = SAVE_CONTRADICTS;
	if (!*defect)
		*defect = entangled(alone);
	if (!*defect)
		return alone;
	cp_system_destroy(trial);
	return NULL;
}

static bool copy_part(const struct cp_part *part, struct cp *cp, struct cp *from)
{
	struct state state = { .loading = false };

	part->state(from, &state);
	state.loading = true;
	if (!state.failed)
		part->state(cp, &state);
	free(state.data);
	return !state.failed;
}

/* Records of its trace, its random numbers and its time since log-on are its own. */
static bool copy_machine(struct cp *cp, struct cp *from)
{
	const uint64_t logon = cp->logon_tod;
	bool copied = true;

	for (const struct cp_part *const *part = cp->parts; *part && copied; part++)
		if ((*part)->state && *part != &trace_part)
			copied = copy_part(*part, cp, from);
	cp->logon_tod = logon;
	cp->ipled = from->ipled;
	cp->cpus = from->cpus;
	cp->started = from->started;
	if (copied) {
		iucv_take_over(cp, from);
		msg_take_over(cp, from);
	}
	return copied;
}

static int load(struct cp *cp, const uint8_t *image, size_t len, char *err, size_t errlen)
{
	const char *defect = NULL;
	struct cp *from = NULL;
	bool copied;

	if (cp->config.disks > 0)
		defect = "the machine has virtual disks, which other users can link";
	else if (cp->loaded || iucv_path_count(iucv_user_guest(cp)) > 0)
		defect = "the machine has not been reset";
	else
		from = load_alone(cp, image, len, &defect);
	if (!from) {
		save_say(err, errlen, defect);
		return -1;
	}
	copied = copy_machine(cp, from);
	cp_system_destroy(from->system);
	if (!copied) {
		cp_reset(cp);
		save_say(err, errlen, "there is not enough memory, and the machine has been reset");
		return -2;
	}
	save_show(cp);
	return 0;
}

int cp_load_machine(struct cp *cp, const uint8_t *image, size_t len, char *err, size_t errlen)
{
	int rc;

	assert(!cp->system->alone);
	TRACE_INPUT(cp, machine_load, .image = { image, image ? len : 0 });
	rc = load(cp, image, len, err, errlen);
	trace_number(cp, "refused", rc != 0);
	trace_end(cp);
	return rc;
}
