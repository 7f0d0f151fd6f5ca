// SPDX-License-Identifier: MIT
#include "range.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "number.h"

#define NS_PER_MS 1000000u
/* As many buckets as a program for people can have use for. */
#define MOST_BOUNDS 1024u

enum {
	KEY_START = 0x200, KEY_LENGTH, KEY_AREA_SIZE, KEY_AREAS, KEY_PRECISE, KEY_BOUNDS,
};

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "The region to make (sizes: sectors of 512 bytes, or with K, M or G "
	  "for powers of 1024 bytes):", 5 },
	{ "start", KEY_START, "SIZE", 0, "where it begins (the device's begin)", 5 },
	{ "length", KEY_LENGTH, "SIZE", 0, "how long it is (up to the device's end)", 5 },
	{ "area-size", KEY_AREA_SIZE, "SIZE", 0, "size of its areas (one area)", 5 },
	{ "areas", KEY_AREAS, "NUMBER", 0, "number of its areas, at most", 5 },
	{ "precise", KEY_PRECISE, NULL, 0, "times in nanoseconds instead of ticks", 5 },
	{ "bounds", KEY_BOUNDS, "TIMES", 0, "a histogram of latencies with these bounds, such as "
	  "100us,1ms,10ms", 5 },
	{ 0 }
};

bool range_parse_sectors(const char *word, uint64_t *sectors)
{
	size_t len = strlen(word);
	uint64_t bytes;

	if (len > 1 && word[len - 1] == 's') {
		char *digits = strndup(word, len - 1);
		bool right = digits && number_parse(digits, 0, UINT64_MAX, sectors);

		free(digits);
		return right;
	}
	if (number_parse(word, 0, UINT64_MAX, sectors))
		return true;
	if (!number_parse_size(word, &bytes) || bytes % DMS_SECTOR_SIZE)
		return false;
	*sectors = bytes / DMS_SECTOR_SIZE;
	return true;
}

const char *range_parse_bounds(const char *word, uint64_t **bounds, size_t *count)
{
	uint64_t *found = calloc(MOST_BOUNDS, sizeof(*found)), last = 0;
	char *copy = strdup(word), *rest = copy, *one;
	const char *wrong = found && copy ? NULL : "there is not enough memory";
	size_t n = 0;

	while (!wrong && (one = strsep(&rest, ","))) {
		size_t len = strlen(one);

		if (n == MOST_BOUNDS)
			wrong = "there are more than 1024";
		else if (len == 0 || isdigit((unsigned char)one[len - 1]) ||
			 !number_parse_time(one, &found[n]))
			wrong = "each is a time with its unit, such as 100us, 1ms or 2s";
		else if (found[n] <= last)
			wrong = "each is above the one before, the first above 0";
		else
			last = found[n++];
	}
	free(copy);
	if (wrong) {
		free(found);
		return wrong;
	}
	*bounds = found;
	*count = n;
	return NULL;
}

static void set_sectors(struct argp_state *state, const char *option, const char *word,
			uint64_t *sectors, bool zero)
{
	if (!range_parse_sectors(word, sectors) || (!zero && *sectors == 0))
		argp_error(state, "%s is a number of sectors, or of whole sectors with K, M or G%s, "
			   "not '%s'", option, zero ? "" : ", and not 0", word);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct range *range = state->input;
	const char *wrong;
	uint64_t number;

	switch (key) {
	case KEY_START:
		set_sectors(state, "--start", word, &range->start, true);
		break;
	case KEY_LENGTH:
		set_sectors(state, "--length", word, &range->length, false);
		break;
	case KEY_AREA_SIZE:
		set_sectors(state, "--area-size", word, &range->step, false);
		break;
	case KEY_AREAS:
		if (!number_parse(word, 1, UINT32_MAX, &number))
			argp_error(state, "--areas is a number from 1 to 4294967295, not '%s'",
				   word);
		range->areas = (uint32_t)number;
		break;
	case KEY_PRECISE:
		range->precise = true;
		break;
	case KEY_BOUNDS:
		free(range->bounds);
		range->bounds = NULL;
		wrong = range_parse_bounds(word, &range->bounds, &range->bound_count);
		if (wrong)
			argp_error(state, "--bounds %s: %s", word, wrong);
		break;
	case ARGP_KEY_END:
		if (range->step && range->areas)
			argp_error(state, "--area-size and --areas exclude each other");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	range->given = true;
	return 0;
}

const struct argp range_argp = { .options = options, .parser = parse };

void range_free(struct range *range)
{
	free(range->bounds);
	memset(range, 0, sizeof(*range));
}

/* The region's bounds, in its own unit. */
static int copy_bounds(const struct range *range, struct dms_region *region)
{
	if (!range->bound_count)
		return EXIT_PASS;
	for (size_t i = 0; i < range->bound_count; i++)
		region->precise |= range->bounds[i] % NS_PER_MS != 0;
	region->bounds = calloc(range->bound_count, sizeof(*region->bounds));
	if (!region->bounds) {
		complain("there is not enough memory");
		return EXIT_FAILED;
	}
	region->bound_count = range->bound_count;
	for (size_t i = 0; i < range->bound_count; i++)
		region->bounds[i] = range->bounds[i] / (region->precise ? 1 : NS_PER_MS);
	return EXIT_PASS;
}

int range_region(const struct range *range, const struct device *device, char *program, char *aux,
		 struct dms_region *region)
{
	/* As the kernel does it, a device without a table has one sector. */
	uint64_t end = device->sectors ? device->sectors : 1;

	memset(region, 0, sizeof(*region));
	if (!range->length && range->start >= end) {
		complain("%s has %llu sectors, a region cannot begin at sector %llu without "
			 "--length", device->name, (unsigned long long)end,
			 (unsigned long long)range->start);
		return EXIT_USAGE;
	}
	region->start = range->start;
	region->length = range->length ? range->length : end - range->start;
	if (region->start > UINT64_MAX - region->length) {
		complain("--start and --length are more sectors than there can be");
		return EXIT_USAGE;
	}
	region->step = range->step ? range->step : region->length;
	if (range->areas)
		region->step = dms_step_of_areas(region->length, range->areas);
	region->precise = range->precise;
	region->program = program;
	region->aux = aux;
	return copy_bounds(range, region);
}
