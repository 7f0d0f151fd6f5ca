/* SPDX-License-Identifier: MIT */
/*
 * Storage extents as DEFINE STORAGE CONFIG takes them: "0.140M 200M.200M"; or one, and
 * what is standby and reserved behind it: "0.256M STANDBY 256M RESERVED 1G".
 */
#include <assert.h>
#include <string.h>

#include "config_parse.h"
#include "smaller.h"

#define MIB (UINT64_C(1) << 20)
/* More than any z/VM gives to one guest, and far from where sums would wrap. */
#define STORAGE_LIMIT (UINT64_C(1) << 44)

bool config_extent_valid(const struct cp_extent *extent, uint64_t floor)
{
	return extent->start % MIB == 0 && extent->size % MIB == 0 && extent->size > 0 &&
	       extent->start >= floor && extent->start <= STORAGE_LIMIT &&
	       extent->size <= STORAGE_LIMIT - extent->start;
}

/* Number with K, M, G or T; 0 needs no unit. */
static bool parse_bytes(struct config_span span, uint64_t *out)
{
	static const char units[] = "KMGT";
	unsigned int shift = 0;

	assert(span.at <= span.end);
	for (unsigned int i = 0; i < sizeof(units) - 1 && span.at < span.end; i++)
		if ((span.end[-1] & ~0x20) == units[i])
			shift = 10 * (i + 1);
	if (shift != 0)
		span.end--;
	if (!config_number(span, 10, STORAGE_LIMIT >> shift, out))
		return false;
	*out <<= shift;
	assert(*out <= STORAGE_LIMIT);
	return shift != 0 || *out == 0;
}

bool cp_config_size(const char *text, uint64_t *bytes)
{
	return parse_bytes((struct config_span){ text, text + strlen(text) }, bytes);
}

static bool parse_extent(struct config_span word, struct cp_extent *extent)
{
	const char *dot = memchr(word.at, '.', (size_t)(word.end - word.at));

	return dot && parse_bytes((struct config_span){ word.at, dot }, &extent->start) &&
	       parse_bytes((struct config_span){ dot + 1, word.end }, &extent->size);
}

uint64_t cp_config_increment(const struct cp_config *config)
{
	const uint64_t initial = config->extent[0].size, later = config->standby + config->reserved;
	uint64_t increment = MIB;

	if ((config->standby | config->reserved) == 0)
		return 0;
	while (increment < STORAGE_LIMIT && (initial + later > increment * CP_MAX_INCREMENTS ||
					     larger(initial, config->standby) >
						     increment * CP_MAX_ELEMENT))
		increment *= 2;
	return increment;
}

/* STANDBY or RESERVED with its size, once. */
static bool parse_later(struct config_span *text, struct config_span word, uint64_t *size,
			bool *given, struct config_problem *problem)
{
	struct config_span value = word;

	if (*given)
		return config_wrong(problem, word, "STANDBY and RESERVED once each");
	*given = true;
	if (!config_word(text, &value) || !parse_bytes(value, size))
		return config_wrong(problem, value, "a size with K, M, G or T, such as 256M");
	return true;
}

bool config_later_valid(const struct cp_config *config)
{
	const uint64_t increment = cp_config_increment(config), initial = config->extent[0].size;

	return increment == 0 ||
	       (config->extents == 1 && config->standby <= STORAGE_LIMIT - initial &&
		config->reserved <= STORAGE_LIMIT - initial - config->standby &&
		(initial | config->standby | config->reserved) % increment == 0);
}

static bool add_extent(struct cp_config *config, struct config_span word, uint64_t *floor,
		       struct config_problem *problem)
{
	struct cp_extent *extent = &config->extent[config->extents];

	if (config->extents == CP_MAX_EXTENTS)
		return config_wrong(problem, word, "no more than 8 extents");
	if (!parse_extent(word, extent))
		return config_wrong(problem, word, "start.size with K, M, G or T, such as 200M.200M");
	if (config->extents == 0 && extent->start != 0)
		return config_wrong(problem, word, "the first extent to start at 0");
	if (!config_extent_valid(extent, *floor))
		return config_wrong(problem, word,
				    "extents of whole megabytes in ascending order, none "
				    "overlapping, below 16384G");
	*floor = extent->start + extent->size;
	assert(*floor > extent->start && *floor <= STORAGE_LIMIT);
	config->extents++;
	return true;
}

bool config_storage(struct cp_config *config, struct config_span text,
		    struct config_problem *problem)
{
	const struct config_span all = text;
	bool standby = false, reserved = false;
	struct config_span word;
	uint64_t floor = 0;

	config->extents = 0;
	config->standby = config->reserved = 0;
	while (config_word(&text, &word)) {
		if (config->extents > 0 && config_is(word, "STANDBY")) {
			if (!parse_later(&text, word, &config->standby, &standby, problem))
				return false;
		} else if (config->extents > 0 && config_is(word, "RESERVED")) {
			if (!parse_later(&text, word, &config->reserved, &reserved, problem))
				return false;
		} else if (!add_extent(config, word, &floor, problem)) {
			return false;
		}
	}
	if (config->extents > 0 && !config_later_valid(config))
		return config_wrong(problem, all,
				    "standby and reserved storage behind a single extent, below "
				    "16384G, each a multiple of the storage increment: 1M for up to "
				    "1G in all, 2M for up to 2G, and so on");
	return config->extents > 0;
}
