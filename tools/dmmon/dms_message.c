// SPDX-License-Identifier: MIT
/* Messages to the kernel about statistics. */
#include "dms_message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Everything but words that users choose: short, numbers at most. */
static void put(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
	char piece[128];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(piece, sizeof(piece), format, args);
	va_end(args);
	text_append(text, piece, (size_t)len);
}

bool dms_parts_words(unsigned char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r') || byte == 0xa0;
}

/* A blank and the word, quoted where need be. */
static void put_word(struct text *text, const char *word)
{
	text_append(text, " ", 1);
	for (; *word; word++) {
		if (*word == '\\' || dms_parts_words((unsigned char)*word))
			text_append(text, "\\", 1);
		text_append(text, word, 1);
	}
}

void dms_message_create(struct text *text, const struct dms_region *r)
{
	put(text, "@stats_create %" PRIu64 "+%" PRIu64 " %" PRIu64 " %d", r->start, r->length,
	    r->step, r->precise + (r->bound_count > 0));
	if (r->precise)
		put(text, " precise_timestamps");
	for (size_t i = 0; i < r->bound_count; i++)
		put(text, "%s%" PRIu64, i ? "," : " histogram:", r->bounds[i]);
	put_word(text, r->program);
	put_word(text, r->aux);
}

void dms_message_list(struct text *text, const char *program)
{
	put(text, "@stats_list");
	if (program)
		put_word(text, program);
}

void dms_message_print(struct text *text, int id, uint64_t first, uint64_t count, bool clear)
{
	put(text, "@stats_print%s %d %" PRIu64 " %" PRIu64, clear ? "_clear" : "", id, first,
	    count);
}

void dms_message_clear(struct text *text, int id)
{
	put(text, "@stats_clear %d", id);
}

void dms_message_delete(struct text *text, int id)
{
	put(text, "@stats_delete %d", id);
}

void dms_message_set_aux(struct text *text, int id, const char *aux)
{
	put(text, "@stats_set_aux %d", id);
	put_word(text, aux);
}
