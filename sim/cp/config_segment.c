/* SPDX-License-Identifier: MIT */
/* Saved segments as DEFSEG takes them: "MONDCSS 9000-97FF SC RSTD". */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "config_parse.h"

/* 512 GiB, where z/VM ends for segments. */
#define SEGMENT_LAST_PAGE 0x7ffffffu

static const char *const type_names[] = {
	[DCSS_SW] = "SW", [DCSS_EW] = "EW", [DCSS_SR] = "SR", [DCSS_ER] = "ER",
	[DCSS_SN] = "SN", [DCSS_EN] = "EN", [DCSS_SC] = "SC",
};
#define TYPES (sizeof(type_names) / sizeof(type_names[0]))

const char *config_type_name(unsigned int type)
{
	return type < TYPES ? type_names[type] : NULL;
}

bool config_segment_valid(const struct cp_segment_config *segment)
{
	uint32_t floor = 0;

	if (segment->ranges == 0 || segment->ranges > CP_MAX_RANGES)
		return false;
	for (unsigned int i = 0; i < segment->ranges; i++) {
		const struct cp_segment_range *range = &segment->range[i];

		if (range->first < floor || range->last < range->first ||
		    range->last > SEGMENT_LAST_PAGE || !config_type_name(range->type))
			return false;
		floor = range->last + 1;
	}
	return true;
}

static bool parse_pages(struct config_span word, struct cp_segment_range *range)
{
	const char *dash = memchr(word.at, '-', (size_t)(word.end - word.at));
	uint64_t first, last;

	if (!dash ||
	    !config_number((struct config_span){ word.at, dash }, 16, SEGMENT_LAST_PAGE, &first) ||
	    !config_number((struct config_span){ dash + 1, word.end }, 16, SEGMENT_LAST_PAGE, &last))
		return false;
	assert(first <= SEGMENT_LAST_PAGE && last <= SEGMENT_LAST_PAGE);
	range->first = (uint32_t)first;
	range->last = (uint32_t)last;
	return true;
}

static bool parse_type(struct config_span word, enum dcss_type *type)
{
	for (unsigned int i = 0; i < TYPES; i++) {
		if (config_is(word, type_names[i])) {
			*type = (enum dcss_type)i;
			return true;
		}
	}
	return false;
}

static bool is_file(struct config_span word)
{
	static const char key[] = "FILE=";

	assert(word.at <= word.end);
	word.end = word.end - word.at > 5 ? word.at + 5 : word.end;
	return config_is(word, key);
}

/* Everything but the name; sets segment->file, which the caller then owns. */
static bool parse_operands(struct cp_segment_config *segment, struct config_span rest,
			   struct config_problem *problem)
{
	struct config_span word;

	assert(!segment->file && segment->ranges == 0);
	while (config_word(&rest, &word)) {
		struct config_span pages = word;

		if (is_file(word)) {
			/* The rest of the item, so that a path may contain blanks. */
			segment->file = strndup(word.at + 5, (size_t)(rest.end - word.at) - 5);
			if (segment->file && segment->file[0] != '\0')
				return true;
			return config_wrong(problem, word, "FILE= to name a file");
		}
		if (config_is(word, "RSTD")) {
			segment->restricted = true;
			continue;
		}
		if (segment->ranges == CP_MAX_RANGES)
			return config_wrong(problem, word, "no more than 6 page ranges");
		if (!parse_pages(word, &segment->range[segment->ranges]) ||
		    !config_word(&rest, &word) ||
		    !parse_type(word, &segment->range[segment->ranges].type))
			return config_wrong(problem, pages,
					    "hexadecimal pages first-last, up to 7FFFFFF, and a "
					    "type SW, EW, SR, ER, SN, EN or SC");
		segment->ranges++;
	}
	return true;
}

static bool parse_segment(struct cp_segment_config *segment, struct config_span item,
			  struct config_problem *problem)
{
	struct config_span rest = item, word;

	assert(segment->name[0] == '\0');
	if (!config_word(&rest, &word) || !config_name(word, false, segment->name))
		return config_wrong(problem, item, "a segment's name of 1 to 8 characters first");
	if (!parse_operands(segment, rest, problem))
		return false;
	if (!config_segment_valid(segment))
		return config_wrong(problem, item,
				    "1 to 6 page ranges in ascending order, none overlapping");
	return true;
}

static bool name_taken(const struct cp_config *config, const char *name)
{
	assert(config->segments < CP_MAX_SEGMENTS);
	for (unsigned int i = 0; i < config->segments; i++)
		if (strcmp(config->segment[i].name, name) == 0)
			return true;
	return false;
}

static bool parse_list(struct cp_config *config, struct config_span text,
		       struct config_problem *problem)
{
	struct config_span item;

	while (config_item(&text, &item)) {
		struct cp_segment_config *segment = &config->segment[config->segments];

		if (config_empty(item))
			continue;
		if (config->segments == CP_MAX_SEGMENTS)
			return config_wrong(problem, item, "no more than 32 segments");
		if (!parse_segment(segment, item, problem)) {
			free(segment->file);
			return false;
		}
		if (name_taken(config, segment->name)) {
			free(segment->file);
			return config_wrong(problem, item, "each segment to have its own name");
		}
		config->segments++;
	}
	return true;
}

static void free_files(struct cp_segment_config *segment, unsigned int count)
{
	assert(count <= CP_MAX_SEGMENTS);
	for (unsigned int i = 0; i < count; i++)
		free(segment[i].file);
}

bool config_segments(struct cp_config *config, struct config_span text,
		     struct config_problem *problem)
{
	struct cp_segment_config old[CP_MAX_SEGMENTS];
	unsigned int olds = config->segments;

	assert(olds <= CP_MAX_SEGMENTS);
	memcpy(old, config->segment, sizeof(old));
	memset(config->segment, 0, sizeof(config->segment));
	config->segments = 0;
	if (!parse_list(config, text, problem)) {
		free_files(config->segment, config->segments);
		return false;
	}
	free_files(old, olds);
	return true;
}
