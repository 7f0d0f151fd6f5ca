// SPDX-License-Identifier: MIT
#include "choice.h"

#include <limits.h>
#include <string.h>

#include "command.h"

static const struct option_row option_rows[] = {
	{ .help = "Choice of regions:", .group = 3 },
	{ "region", 'r', "NUMBER", "the region with this number",
	  TO_NUMBER(struct choice, region, 0, INT_MAX), .group = 3,
	  .wrong = "invalid --region: '%s' (0 to 2147483647)" },
	{ "program", 'p', "ID", "the regions of this program", TO_WORD(struct choice, program),
	  .group = 3 },
	{ "all", 'a', NULL, "all regions of the program (default: " OWN_PROGRAM ")",
	  TO_FLAG(struct choice, all), .group = 3 },
	{ "all-programs", 'A', NULL, "all regions of all programs, including those of "
	  "running commands",
	  TO_FLAG(struct choice, all_programs), .group = 3 },
	{ 0 }
};

static void check(const void *target, const struct argp_state *state)
{
	const struct choice *choice = target;

	if ((choice->region >= 0) + choice->all + choice->all_programs > 1)
		argp_error(state, "only one of --region, --all and --all-programs can be used");
	if (choice->program && choice->all_programs)
		argp_error(state, "--program and --all-programs cannot be used together");
}

const struct option_table choice_options = { .rows = option_rows, .check = check };

bool choice_made(const struct choice *choice)
{
	return choice->region >= 0 || choice->program || choice->all || choice->all_programs;
}

const char *choice_program(const struct choice *choice, bool changes)
{
	if (choice->program || choice->all_programs)
		return choice->program;
	return changes || choice->all ? OWN_PROGRAM : NULL;
}

static int complain_foreign(const struct device *device, const struct dms_region *r,
			    const char *program)
{
	struct text shown = { 0 };

	text_append_visible(&shown, r->program, strlen(r->program));
	text_append(&shown, "", 1);
	complain("region %d of %s belongs to the program '%s', not to '%s'; name its program "
		 "with --program", r->id, device->name, shown.failed ? "?" : shown.bytes, program);
	text_free(&shown);
	return EXIT_USAGE;
}

/* The program, if it is not NULL, has no region of this number. */
static int complain_missing(const struct device *device, int id, const char *program)
{
	const struct dms_region *found = NULL;
	struct dms_regions list;
	int code = EXIT_PASS;

	if (program) {
		code = regions_list(device, NULL, &list);
		if (code != EXIT_PASS)
			return code;
		found = dms_regions_find(&list, id);
		code = found ? complain_foreign(device, found, program) : EXIT_PASS;
		dms_regions_free(&list);
	}
	if (found)
		return code;
	complain("%s has no region %d; 'dmmon list' shows those it has", device->name, id);
	return EXIT_USAGE;
}

/* Keeps this region of the list; the other ones are freed. */
static void keep_one(struct dms_regions *list, size_t index)
{
	struct dms_region kept = list->region[index];

	list->region[index] = list->region[list->count - 1];
	list->count--;
	for (size_t i = 0; i < list->count; i++)
		dms_region_free(&list->region[i]);
	list->region[0] = kept;
	list->count = 1;
}

int choice_regions(const struct choice *choice, const struct device *device, bool changes,
		   struct dms_regions *list)
{
	const char *program = choice_program(choice, changes);
	const struct dms_region *found;
	int code;

	if (changes && choice->region < 0 && !choice->all && !choice->all_programs) {
		complain("no regions chosen; use --region NUMBER, --all (all regions of the "
			 "program %s) or --all-programs", program);
		return EXIT_USAGE;
	}
	code = regions_list(device, program, list);
	if (code != EXIT_PASS || choice->region < 0)
		return code;
	found = dms_regions_find(list, choice->region);
	if (found) {
		keep_one(list, (size_t)(found - list->region));
		return EXIT_PASS;
	}
	dms_regions_free(list);
	return complain_missing(device, choice->region, program);
}
