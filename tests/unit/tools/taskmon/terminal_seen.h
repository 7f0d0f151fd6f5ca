/* SPDX-License-Identifier: MIT */
/*
 * What a terminal would show: characters at their places, from what a program writes.  Sequences
 * that it does not know are counted, and so are control characters.
 */
#ifndef TERMINAL_SEEN_H
#define TERMINAL_SEEN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN_ROWS 64
#define SEEN_COLUMNS 512

struct seen {
	char line[SEEN_ROWS][SEEN_COLUMNS + 1];
	bool reverse[SEEN_ROWS];	/* its first character is */
	unsigned int row, column;
	bool turned;
	bool other_screen, hidden, cut;	/* ?1049, ?25, ?7 */
	unsigned int strange;
	/* A sequence that has begun; what a program writes may come in any pieces. */
	enum { SEEN_PLAIN, SEEN_ESCAPE, SEEN_WORDS } state;
	char words[16];
	size_t words_len;
};

static inline void seen_clear(struct seen *seen, unsigned int row, unsigned int column)
{
	memset(seen->line[row] + column, 0, SEEN_COLUMNS + 1 - column);
}

static inline void seen_mode(struct seen *seen, const char *mode, bool on)
{
	if (strcmp(mode, "?1049") == 0)
		seen->other_screen = on;
	else if (strcmp(mode, "?25") == 0)
		seen->hidden = !on;
	else if (strcmp(mode, "?7") == 0)
		seen->cut = !on;
	else
		seen->strange++;
}

/* "ESC [ @words @end" */
static inline void seen_sequence(struct seen *seen, const char *words, char end)
{
	switch (end) {
	case 'H':
		seen->row = seen->column = 0;
		seen->strange += *words != '\0';
		break;
	case 'K':
		seen_clear(seen, seen->row, seen->column);
		break;
	case 'J':
		for (unsigned int row = *words == '2' ? 0 : seen->row; row < SEEN_ROWS; row++)
			seen_clear(seen, row, row == seen->row && *words != '2' ? seen->column : 0);
		break;
	case 'm':
		seen->turned = strcmp(words, "7") == 0;
		seen->strange += *words && !seen->turned;
		break;
	case 'h':
	case 'l':
		seen_mode(seen, words, end == 'h');
		break;
	default:
		seen->strange++;
	}
}

static inline void seen_plain(struct seen *seen, char byte)
{
	if (byte == '\r') {
		seen->column = 0;
	} else if (byte == '\n') {
		seen->row += seen->row < SEEN_ROWS - 1;
	} else if (byte == 0x1b) {
		seen->state = SEEN_ESCAPE;
	} else if ((unsigned char)byte < ' ' || byte == 0x7f) {
		seen->strange++;
	} else {
		if (!seen->column)
			seen->reverse[seen->row] = seen->turned;
		seen->line[seen->row][seen->column] = byte;
		seen->column += seen->column < SEEN_COLUMNS - 1;
	}
}

static inline void seen_escaped(struct seen *seen, char byte)
{
	seen->strange += byte != '[';
	seen->state = byte == '[' ? SEEN_WORDS : SEEN_PLAIN;
	seen->words_len = 0;
}

static inline void seen_word(struct seen *seen, char byte)
{
	if (byte && strchr("?0123456789;", byte)) {
		if (seen->words_len < sizeof(seen->words) - 1)
			seen->words[seen->words_len++] = byte;
		return;
	}
	seen->words[seen->words_len] = '\0';
	seen->state = SEEN_PLAIN;
	seen_sequence(seen, seen->words, byte);
}

static inline void seen_take(struct seen *seen, const char *bytes, size_t count)
{
	static void (*const take[])(struct seen *seen, char byte) = {
		[SEEN_PLAIN] = seen_plain, [SEEN_ESCAPE] = seen_escaped, [SEEN_WORDS] = seen_word,
	};

	for (size_t i = 0; i < count; i++)
		take[seen->state](seen, bytes[i]);
}

/* The line that has this text; SEEN_ROWS if none has. */
static inline unsigned int seen_find(const struct seen *seen, const char *text)
{
	unsigned int row = 0;

	while (row < SEEN_ROWS && !strstr(seen->line[row], text))
		row++;
	return row;
}

#endif
