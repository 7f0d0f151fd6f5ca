/* SPDX-License-Identifier: MIT */
/* Storage extents as DEFINE STORAGE CONFIG takes them: "0.140M 200M.200M". */
#include <assert.h>
#include <string.h>

#include "config_parse.h"

#define MIB (UINT64_C(1) << 20)
/* More than any z/VM gives to one guest, and far from where sums would wrap. */
#define STORAGE_LIMIT (UINT64_C(1) << 44)

bool config_extent_valid(const struct cp_extent *extent, uint64_t floor)
{
	return extent->start % MIB == 0 && extent->size % MIB == 0 && extent->size > 0 &&
	       extent->start >= floor && extent->start <= STORAGE_LIMIT &&
	       extent->size <= STORAGE_LIMIT - extent->start;
}

/* Number with K, M or G; 0 needs no unit. */
static bool parse_bytes(struct config_span span, uint64_t *out)
{
	static const char units[] = "KMG";
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

static bool parse_extent(struct config_span word, struct cp_extent *extent)
{
	const char *dot = memchr(word.at, '.', (size_t)(word.end - word.at));

	return dot && parse_bytes((struct config_span){ word.at, dot }, &extent->start) &&
	       parse_bytes((struct config_span){ dot + 1, word.end }, &extent->size);
}

bool config_storage(struct cp_config *config, struct config_span text,
		    struct config_problem *problem)
{
	struct config_span word;
	uint64_t floor = 0;

	config->extents = 0;
	while (config_word(&text, &word)) {
		struct cp_extent *extent = &config->extent[config->extents];

		if (config->extents == CP_MAX_EXTENTS)
			return config_wrong(problem, word, "no more than 8 extents");
		if (!parse_extent(word, extent))
			return config_wrong(problem, word,
					    "start.size with K, M or G, such as 200M.200M");
		if (config->extents == 0 && extent->start != 0)
			return config_wrong(problem, word, "the first extent to start at 0");
		if (!config_extent_valid(extent, floor))
			return config_wrong(problem, word,
					    "extents of whole megabytes in ascending order, none "
					    "overlapping, below 16384G");
		floor = extent->start + extent->size;
		assert(floor > extent->start && floor <= STORAGE_LIMIT);
		config->extents++;
	}
	return config->extents > 0;
}
