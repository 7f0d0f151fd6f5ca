// SPDX-License-Identifier: MIT
#include "choice.h"

#include <limits.h>
#include <string.h>

#include "command.h"
#include "number.h"

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Which regions:", 3 },
	{ "region", 'r', "NUMBER", 0, "the one with this number", 3 },
	{ "program", 'p', "ID", 0, "those of this program", 3 },
	{ "all", 'a', NULL, 0, "all of the program's", 3 },
	{ 0 }
};

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct choice *choice = state->input;
	uint64_t number;

	switch (key) {
	case 'r':
		if (!number_parse(word, 0, INT_MAX, &number))
			argp_error(state, "--region is a number from 0 to %d, not '%s'", INT_MAX,
				   word);
		choice->region = (int)number;
		return 0;
	case 'p':
		choice->program = word;
		return 0;
	case 'a':
		choice->all = true;
		return 0;
	case ARGP_KEY_END:
		if (choice->all && choice->region >= 0)
			argp_error(state, "--region and --all exclude each other");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp choice_argp = { .options = options, .parser = parse };

static int complain_foreign(const struct device *device, const struct dms_region *r,
			    const char *program)
{
	struct text shown = { 0 };

	text_append_visible(&shown, r->program, strlen(r->program));
	text_append(&shown, "", 1);
	complain("region %d of %s belongs to the program '%s', not to '%s'; --program says that "
		 "it is meant", r->id, device->name, shown.failed ? "?" : shown.bytes, program);
	text_free(&shown);
	return EXIT_USAGE;
}

/* Keeps the region of this number; the other ones are freed. */
static int keep_one(const struct device *device, int id, const char *program,
		    struct dms_regions *list)
{
	struct dms_region kept;
	const struct dms_region *found = dms_regions_find(list, id);

	if (!found) {
		complain("%s has no region %d; 'dmmon list' shows those it has", device->name, id);
		return EXIT_USAGE;
	}
	if (program && strcmp(found->program, program) != 0)
		return complain_foreign(device, found, program);
	kept = list->region[found - list->region];
	list->region[found - list->region] = list->region[list->count - 1];
	list->count--;
	for (size_t i = 0; i < list->count; i++)
		dms_region_free(&list->region[i]);
	list->region[0] = kept;
	list->count = 1;
	return EXIT_PASS;
}

int choice_regions(const struct choice *choice, const struct device *device, bool changes,
		   struct dms_regions *list)
{
	const char *program = choice->program;
	int code;

	if (changes && !program)
		program = OWN_PROGRAM;
	if (changes && choice->region < 0 && !choice->all) {
		complain("say --region NUMBER, or --all for all of the program %s", program);
		return EXIT_USAGE;
	}
	code = regions_list(device, choice->region < 0 ? program : NULL, list);
	if (code != EXIT_PASS || choice->region < 0)
		return code;
	code = keep_one(device, choice->region, program, list);
	if (code != EXIT_PASS)
		dms_regions_free(list);
	return code;
}
