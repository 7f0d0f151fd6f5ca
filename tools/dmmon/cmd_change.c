// SPDX-License-Identifier: MIT
/* dmmon clear, delete and set-aux: what changes regions, and shows nothing. */
#include "commands.h"

#include "choice.h"
#include "command.h"
#include "named_devices.h"
#include "dms_group.h"

struct arguments {
	const char *device;		/* of set-aux */
	struct device_words devices;	/* of the others */
	char *aux;
	struct choice choice;
	bool force;
};

static const struct option_row group_rows[] = {
	{ "force", '\0', NULL, "do it even if it breaks a group of dmstats",
	  TO_FLAG(struct arguments, force), .group = 1 },
	{ 0 }
};
static const struct option_table group_options = { .rows = group_rows };

static const struct option_part parts[] = {
	{ &choice_options, offsetof(struct arguments, choice), .group = 3 }, { 0 }
};

static const struct option_part parts_of_several[] = {
	{ &choice_options, offsetof(struct arguments, choice), .group = 3 },
	{ &device_words_need, offsetof(struct arguments, devices), .group = 2 },
	{ 0 }
};

static const struct word_row words[] = { DEVICE_WORDS(struct arguments, devices), { 0 } };

enum change { CLEAR, DELETE, SET_AUX };

/* Auxiliary data that the kernel's list would give back, and no group lost. */
static int check_aux(const struct arguments *arguments, const struct device *device,
		     const struct dms_region *r)
{
	struct dms_region changed = *r;

	changed.aux = arguments->aux;
	if (dms_region_readable(&changed) != 1) {
		complain("auxiliary data '%s' cannot be given to region %d of %s: the kernel's list "
			 "would not show where they begin and end; give at least one character, "
			 "and nothing that looks like an option or a region", arguments->aux, r->id,
			 device->name);
		return EXIT_USAGE;
	}
	if (arguments->force || !dms_group_replaced(r, arguments->aux))
		return EXIT_PASS;
	complain("the auxiliary data of region %d of %s describe a group of dmstats, which would be "
		 "lost; 'dmstats ungroup' dissolves it, --force replaces them anyway", r->id,
		 device->name);
	return EXIT_USAGE;
}

/* No group loses some of its members. */
static int check_groups(const struct device *device, const struct dms_regions *deleted)
{
	const struct dms_region *broken;
	struct dms_regions all;
	int code = regions_list(device, NULL, &all);

	if (code != EXIT_PASS)
		return code;
	broken = dms_group_broken(&all, deleted);
	if (broken) {
		complain("region %d of %s describes a group of dmstats that would lose some, but "
			 "not all, of its members; 'dmstats ungroup' dissolves it, --force deletes "
			 "them anyway", broken->id, device->name);
		code = EXIT_USAGE;
	}
	dms_regions_free(&all);
	return code;
}

/* Can it be done with all of them? */
static int check(const struct arguments *arguments, const struct device *device,
		 const struct dms_regions *list, enum change what)
{
	int code = EXIT_PASS;

	if (what == DELETE && !arguments->force)
		return check_groups(device, list);
	for (size_t i = 0; what == SET_AUX && code == EXIT_PASS && i < list->count; i++)
		code = check_aux(arguments, device, &list->region[i]);
	return code;
}

static int change_one(const struct arguments *arguments, const struct device *device, int id,
		      enum change what)
{
	switch (what) {
	case CLEAR:
		return regions_clear(device, id);
	case DELETE:
		return regions_delete(device, id);
	default:
		return regions_set_aux(device, id, arguments->aux);
	}
}

static int change(const struct arguments *arguments, const struct device *device, enum change what)
{
	struct dms_regions list;
	int code = choice_regions(&arguments->choice, device, true, &list);

	if (code != EXIT_PASS)
		return code;
	code = check(arguments, device, &list, what);
	/* One that has gone meanwhile does not save the others. */
	for (size_t i = 0, left = code == EXIT_PASS ? list.count : 0; i < left; i++)
		if (change_one(arguments, device, list.region[i].id, what) != EXIT_PASS)
			code = EXIT_FAILED;
	dms_regions_free(&list);
	return code;
}

/* An error of one device does not stop the others. */
static int change_several(const struct arguments *arguments, enum change what)
{
	struct named_devices devices;
	int code = named_devices_open(&devices, &arguments->devices);

	if (code != EXIT_PASS)
		return code;
	for (size_t i = 0; i < devices.count; i++) {
		int one = change(arguments, &devices.device[i], what);

		code = code == EXIT_PASS ? one : code;
	}
	named_devices_close(&devices);
	return code;
}

int cmd_clear(int argc, char **argv)
{
	static const struct command_line line = {
		.parts = parts_of_several, .words = words, .words_help = DEVICE_WORDS_HELP,
		.help = "Sets the counters of regions to 0; I/Os in progress stay counted.",
	};
	struct arguments arguments = { .choice = CHOICE_NONE };

	command_parse(&line, argc, argv, &arguments);
	return change_several(&arguments, CLEAR);
}

int cmd_delete(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &group_options, .parts = parts_of_several,
		.words = words, .words_help = DEVICE_WORDS_HELP,
		.help = "Deletes regions.",
	};
	struct arguments arguments = { .choice = CHOICE_NONE };

	command_parse(&line, argc, argv, &arguments);
	return change_several(&arguments, DELETE);
}

int cmd_set_aux(int argc, char **argv)
{
	static const struct word_row device_and_aux[] = {
		DEVICE_WORD(struct arguments),
		{ TO_WORD(struct arguments, aux), .missing = "no auxiliary data given" },
		{ 0 }
	};
	static const struct command_line line = {
		.options = &group_options, .parts = parts,
		.words = device_and_aux, .more_words = ONE_DEVICE, .words_help = "DEVICE TEXT",
		.help = "Changes the auxiliary data of regions; any characters are allowed.",
	};
	struct arguments arguments = { .choice = CHOICE_NONE };
	struct device device;
	int code;

	command_parse(&line, argc, argv, &arguments);
	code = device_open(&device, arguments.device);
	if (code != EXIT_PASS)
		return code;
	code = change(&arguments, &device, SET_AUX);
	device_close(&device);
	return code;
}
