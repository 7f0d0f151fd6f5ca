/* SPDX-License-Identifier: MIT */
/*
 * Text that grows, and how bytes that anybody may have chosen (names of programs, aux data) are
 * written so that they arrive unchanged and do nothing on the way.
 */
#ifndef TOOLS_TOOL_TEXT_H
#define TOOLS_TOOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: empty.  Without memory failed becomes true, and nothing is appended any more. */
struct text {
	char *bytes;	/* not ended by a NUL */
	size_t len;
	size_t size;
	bool failed;
};

void text_append(struct text *text, const char *bytes, size_t len);
/*
 * A number in decimal, behind blanks if it has fewer than @width digits.  Most of what tools write is
 * this, and printf() takes several times as long.
 */
void text_append_right(struct text *text, uint64_t number, size_t width);

static inline void text_append_number(struct text *text, uint64_t number)
{
	text_append_right(text, number, 0);
}

/* Empties the text and keeps its memory.  text_free() frees that. */
void text_clear(struct text *text);
void text_free(struct text *text);

/* Whether all of it is well-formed UTF-8: nothing overlong, no surrogates, up to U+10FFFF. */
bool text_is_utf8(const char *bytes, size_t len);

/*
 * Appends a JSON string, quotes included.  Bytes that are no UTF-8 throughout are written as
 * text_append_visible() has them, so that what is written is JSON in any case.
 */
void text_append_json(struct text *text, const char *bytes, size_t len);

/* Appends a CSV field: quoted if it holds a comma, a quote or a line break. */
void text_append_csv(struct text *text, const char *bytes, size_t len);

/*
 * Appends it so that a terminal shows it and obeys nothing: control characters (U+0000 to
 * U+001F, U+007F to U+009F) and bytes that are no UTF-8 as \xNN, a backslash as \\.
 */
void text_append_visible(struct text *text, const char *bytes, size_t len);

/* Order of two texts by their bytes, as strcmp() has it; a text comes after its own beginnings. */
int text_compare(const char *a, size_t a_len, const char *b, size_t b_len);

/* Whether this byte of UTF-8 belongs to the same character as the one before. */
static inline bool text_continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Characters (not bytes) from @start on. */
size_t text_characters(const struct text *text, size_t start);

/* Inserts @count blanks at @at, which is at most text->len. */
void text_insert_blanks(struct text *text, size_t at, size_t count);

#endif
