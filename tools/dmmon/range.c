// SPDX-License-Identifier: MIT
#include "range.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "number.h"

#define NS_PER_MS 1000000u
/* The limit of buckets, more than a program for people can use. */
#define MOST_BOUNDS 1024u

bool range_parse_sectors(const char *word, uint64_t *sectors)
{
	size_t len = strlen(word);
	uint64_t bytes;

	if (len && word[len - 1] == 's') {
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
	const char *wrong = found && copy ? NULL : "not enough memory";
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
		argp_error(state, "invalid %s: '%s' (a number of sectors, or whole sectors with K, M or "
			   "G%s)", option, word, zero ? "" : ", above 0");
}

static void set_start(void *target, char *word, struct argp_state *state)
{
	set_sectors(state, "--start", word, &((struct range *)target)->start, true);
}

static void set_length(void *target, char *word, struct argp_state *state)
{
	set_sectors(state, "--length", word, &((struct range *)target)->length, false);
}

static void set_area_size(void *target, char *word, struct argp_state *state)
{
	set_sectors(state, "--area-size", word, &((struct range *)target)->step, false);
}

static void set_bounds(void *target, char *word, struct argp_state *state)
{
	struct range *range = target;
	uint64_t *before = range->bounds;
	const char *wrong = range_parse_bounds(word, &range->bounds, &range->bound_count);

	if (wrong)
		argp_error(state, "invalid --bounds: '%s' (%s)", word, wrong);
	else
		free(before);
}

static const struct option_row option_rows[] = {
	{ .help = "The region to make (a size is in sectors of 512 bytes, or in bytes "
	  "with K, M or G):", .group = 5 },
	{ "start", '\0', "SIZE", "where it begins (default: begin of the device)",
	  TO_CALL(set_start), .group = 5 },
	{ "length", '\0', "SIZE", "its length (default: up to the end of the device)",
	  TO_CALL(set_length), .group = 5 },
	{ "area-size", '\0', "SIZE", "size of its areas (default: one area)",
	  TO_CALL(set_area_size), .group = 5 },
	{ "areas", '\0', "NUMBER", "maximum number of its areas",
	  TO_NUMBER(struct range, areas, 1, UINT32_MAX), .group = 5,
	  .wrong = "invalid --areas: '%s' (1 to 4294967295)" },
	{ "precise", '\0', NULL, "count times in nanoseconds instead of ticks",
	  TO_FLAG(struct range, precise), .group = 5 },
	{ "bounds", '\0', "TIMES", "count a histogram of latencies with these bounds, such as "
	  "100us,1ms,10ms", TO_CALL(set_bounds), .group = 5 },
	{ 0 }
};

static void given(void *target)
{
	((struct range *)target)->given = true;
}

static void check(const void *target, const struct argp_state *state)
{
	const struct range *range = target;

	if (range->step && range->areas)
		argp_error(state, "--area-size and --areas cannot be used together");
}

const struct option_table range_options = { .rows = option_rows, .given = given, .check = check };

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
		complain("not enough memory");
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
		complain("--start and --length together exceed the largest possible device");
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
