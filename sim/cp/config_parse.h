/* SPDX-License-Identifier: MIT */
/*
 * How the texts of the configuration are taken apart, and the rules that hold
 * for a part wherever it comes from.
 */
#ifndef CONFIG_PARSE_H
#define CONFIG_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"

/** Piece of a text: [at, end). */
struct config_span {
	const char *at, *end;
};

/** The cause of an error; a parser narrows it down before it fails. */
struct config_problem {
	struct config_span value;	/**< the words at fault */
	const char *expected;		/**< completes "expected …" */
};

/** A parser's failure at @at: always false. */
bool config_wrong(struct config_problem *problem, struct config_span at, const char *expected);

/** Take the next word, or the next item of a list, off @rest; false if there is none. */
bool config_word(struct config_span *rest, struct config_span *word);
bool config_item(struct config_span *rest, struct config_span *item);
bool config_empty(struct config_span span);
/** Is it the word @text (upper case), in any case? */
bool config_is(struct config_span span, const char *text);
/** Whole span as a number of @base not above @max. */
bool config_number(struct config_span span, unsigned int base, uint64_t max, uint64_t *out);
/** Whole span as a name in upper case; @service allows '*' in front. */
bool config_name(struct config_span span, bool service, char out[CP_NAME_LEN + 1]);

bool config_machine(struct cp_config *config, struct config_span text,
		    struct config_problem *problem);
bool config_storage(struct cp_config *config, struct config_span text,
		    struct config_problem *problem);
bool config_directory(struct cp_config *config, struct config_span text,
		      struct config_problem *problem);
bool config_segments(struct cp_config *config, struct config_span text,
		     struct config_problem *problem);

/** May @extent follow one that ended before @floor? */
bool config_extent_valid(const struct cp_extent *extent, uint64_t floor);
/** May storage be standby and reserved as @config says?  Its extents are valid. */
bool config_later_valid(const struct cp_config *config);
/** Ranges in order, apart, of a known type, below the highest page a segment may have? */
bool config_segment_valid(const struct cp_segment_config *segment);
/** "SC" and the like, or NULL for no type. */
const char *config_type_name(unsigned int type);

#endif
