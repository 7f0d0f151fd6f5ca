// SPDX-License-Identifier: MIT
#include "watched.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "machine.h"

/* Makes the region that is the only one. */
static int make_own(struct watched *watched, const struct watched_options *options)
{
	static char own_program[] = OWN_PROGRAM, watch_program[] = WATCH_PROGRAM;
	/* A region that stays is like one of dmmon create. */
	char *program = options->keep ? own_program : watch_program;
	struct dms_region *own = calloc(1, sizeof(*own));
	struct range range = options->range;
	char aux[DMS_OWNER_SIZE];
	const struct dms_owner owner = {
		.pid = (uint64_t)getpid(), .made_ns = machine_now(),
		.pid_namespace = machine_pid_namespace(),
	};
	int code;

	if (!own) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	/* Nobody else's region is called so, nor one of an earlier process with this number. */
	dms_owner_write(&owner, aux, sizeof(aux));
	watched->program = program;
	range.precise = true;
	code = range_region(&range, watched->device, program, aux, own);
	own->program = strdup(program);
	own->aux = strdup(aux);
	watched->regions.region = own;
	watched->regions.count = 1;
	if (code == EXIT_PASS && (!own->program || !own->aux)) {
		complain("not enough memory");
		code = EXIT_FAILED;
	}
	if (code == EXIT_PASS)
		code = regions_check(watched->device, own, 1);
	watched->oldest = machine_now();
	if (code == EXIT_PASS)
		code = regions_create(watched->device, own);
	watched->own = code == EXIT_PASS;
	return code;
}

static int choose(struct watched *watched, const struct watched_options *options)
{
	const struct choice *choice = &options->choice;

	if (!choice_made(choice))
		return make_own(watched, options);
	if (options->range.given || options->keep) {
		complain("--region, --program, --all and --all-programs choose existing "
			 "regions; --keep, and options that describe a new region, cannot be used "
			 "together with them");
		return EXIT_USAGE;
	}
	watched->program = choice_program(choice, false);
	return choice_regions(choice, watched->device, false, &watched->regions);
}

static int make_room(struct watched *watched)
{
	size_t count = watched->regions.count;
	int code = EXIT_PASS;

	watched->before = calloc(count ? count : 1, sizeof(*watched->before));
	watched->after = calloc(count ? count : 1, sizeof(*watched->after));
	if (!watched->before || !watched->after) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < count && code == EXIT_PASS; i++) {
		code = look_init(&watched->before[i], &watched->regions.region[i]);
		if (code == EXIT_PASS)
			code = look_init(&watched->after[i], &watched->regions.region[i]);
	}
	return code;
}

int watched_open(struct watched *watched, struct device *device,
		 const struct watched_options *options)
{
	int code;

	*watched = (struct watched){ .device = device };
	code = choose(watched, options);
	if (code == EXIT_PASS && watched->regions.count == 0) {
		complain("%s has no such region", device->name);
		code = EXIT_USAGE;
	}
	if (code == EXIT_PASS)
		code = make_room(watched);
	if (code == EXIT_PASS)
		code = watched_look(watched);
	if (code != EXIT_PASS) {
		const struct watched_options nothing = { .keep = false };

		(void)watched_close(watched, &nothing);
		return code;
	}
	watched_turn(watched);
	return EXIT_PASS;
}

/* Numbers are used again: are device and regions still what they were? */
static int check(const struct watched *watched)
{
	int code = device_check(watched->device);
	struct dms_regions now;

	if (code != EXIT_PASS)
		return code;
	code = regions_list(watched->device, watched->program, &now);
	for (size_t i = 0; code == EXIT_PASS && i < watched->regions.count; i++) {
		const struct dms_region *r = &watched->regions.region[i];
		const struct dms_region *found = dms_regions_find(&now, r->id);

		if (found && dms_region_same(found, r))
			continue;
		complain(found ? "region %d of %s has been replaced, or has other auxiliary data" :
				 "region %d of %s has been deleted", r->id, watched->device->name);
		code = EXIT_FAILED;
	}
	dms_regions_free(&now);
	return code;
}

int watched_look(struct watched *watched)
{
	int code = check(watched);

	for (size_t i = 0; i < watched->regions.count && code == EXIT_PASS; i++)
		code = look_take(&watched->after[i], watched->device, &watched->regions.region[i]);
	return code == EXIT_PASS ? check(watched) : code;
}

void watched_turn(struct watched *watched)
{
	struct look *turned = watched->before;

	watched->before = watched->after;
	watched->after = turned;
}

struct dms_span watched_span(const struct watched *watched, size_t index, uint64_t *elapsed)
{
	const struct look *before = &watched->before[index], *after = &watched->after[index];
	struct dms_span span = { .elapsed = after->end - before->begin };

	/*
	 * Of a region made by somebody else it is not known since when it counts.  But an I/O
	 * that took as long as the machine was up when the first look began would have begun
	 * with it, before there was any device.
	 */
	span.oldest = watched->own ? after->end - watched->oldest : before->begin - 1;
	*elapsed = (after->begin / 2 + after->end / 2) - (before->begin / 2 + before->end / 2);
	if (*elapsed == 0)
		*elapsed = 1;
	return span;
}

int watched_close(struct watched *watched, const struct watched_options *options)
{
	int code = EXIT_PASS;

	if (watched->own && options->keep)
		complain("region %d of %s is kept", watched->regions.region[0].id,
			 watched->device->name);
	else if (watched->own)
		code = regions_remove_own(watched->device, &watched->regions.region[0]);
	for (size_t i = 0; i < watched->regions.count; i++) {
		if (watched->before)
			look_free(&watched->before[i]);
		if (watched->after)
			look_free(&watched->after[i]);
	}
	free(watched->before);
	free(watched->after);
	dms_regions_free(&watched->regions);
	memset(watched, 0, sizeof(*watched));
	return code;
}
