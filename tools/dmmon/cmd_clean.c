// SPDX-License-Identifier: MIT
/*
 * dmmon clean: removes regions that 'watch' and 'histogram' made, and did not live to remove.
 *
 * Safe: a region is one of theirs by its program and its auxiliary data, which say who made it; the
 * kernel's list is asked once more before it goes, because numbers are used again.
 */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "named_devices.h"
#include "regions.h"

struct arguments {
	struct device_words devices;
	bool dry_run;
};

static const struct option_row option_rows[] = {
	{ "dry-run", '\0', NULL, "only show what would be removed", TO_FLAG(struct arguments, dry_run),
	  .group = 1 },
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

static const struct option_part parts[] = {
	{ &device_words_options, offsetof(struct arguments, devices), .group = 2 }, { 0 }
};

static const struct word_row words[] = { DEVICE_WORDS(struct arguments, devices), { 0 } };

static int clean_region(const struct arguments *arguments, const struct device *device,
			const struct dms_region *r)
{
	struct dms_process process;
	struct dms_owner owner;
	int code = EXIT_PASS;

	/* Somebody else calls his regions so. */
	if (!dms_owner_read(r->aux, &owner))
		return EXIT_PASS;
	if (!machine_process(owner.pid, &process)) {
		complain("/proc does not show which processes live; is it mounted?");
		return EXIT_CANNOT_RUN;
	}
	switch (dms_owner_judge(&owner, &process)) {
	case DMS_OWNER_LIVES:
		return EXIT_PASS;
	case DMS_OWNER_UNKNOWN:
		complain("region %d of %s is kept: it is not known whether process %" PRIu64
			 " lives, which is of another PID namespace or of an earlier version",
			 r->id, device->name, owner.pid);
		return EXIT_PASS;
	case DMS_OWNER_GONE:
		break;
	}
	if (!arguments->dry_run)
		code = regions_remove_own(device, r);
	if (code == EXIT_PASS)
		printf("region %d of %s %s: process %" PRIu64 " no longer exists\n", r->id,
		       device->name, arguments->dry_run ? "would be removed" : "removed", owner.pid);
	return code;
}

/* An error of one region or device does not stop the others. */
static int clean_device(const struct arguments *arguments, const struct device *device)
{
	struct dms_regions list;
	int code = regions_left(device, WATCH_PROGRAM, &list);

	if (code != EXIT_PASS)
		return code;
	for (size_t i = 0; i < list.count; i++) {
		int one = clean_region(arguments, device, &list.region[i]);

		code = code == EXIT_PASS ? one : code;
	}
	dms_regions_free(&list);
	return code;
}

int cmd_clean(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts, .words = words, .words_help = "[DEVICE...]",
		.help = "Removes the regions of 'watch' and 'histogram' commands that were killed, "
			"from devices, or from all devices.",
	};
	struct arguments arguments = { 0 };
	struct named_devices devices;
	int code;

	command_parse(&line, argc, argv, &arguments);
	code = named_devices_open(&devices, &arguments.devices);
	if (code != EXIT_PASS)
		return code;
	for (size_t i = 0; i < devices.count; i++) {
		int one = clean_device(&arguments, &devices.device[i]);

		code = code == EXIT_PASS ? one : code;
	}
	named_devices_close(&devices);
	if (!fflush(stdout))
		return code;
	complain("standard output cannot be written: %s", strerror(errno));
	return EXIT_FAILED;
}
