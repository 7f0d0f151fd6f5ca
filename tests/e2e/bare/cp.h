/* SPDX-License-Identifier: MIT */
/* What the bare-metal programs share: how they talk to CP. */
#ifndef BARE_CP_H
#define BARE_CP_H

#include <stdint.h>

#define LINE_MAX 64u
#define OPERATOR "MSG OPERATOR "

/* Text being put together. */
struct line {
	char text[LINE_MAX];
	unsigned int len;
};

static inline void put(struct line *line, const char *text)
{
	while (*text && line->len < LINE_MAX)
		line->text[line->len++] = *text++;
}

static inline void put_hex(struct line *line, uint64_t value, unsigned int digits)
{
	static const char all[] = "0123456789ABCDEF";

	while (digits > 0 && line->len < LINE_MAX)
		line->text[line->len++] = all[value >> 4 * --digits & 15];
}

/* DIAGNOSE X'08': a CP command, whose response nobody wants. */
static inline void command(const struct line *line)
{
	const uint64_t text = (uint64_t)line->text, len = line->len;
	register uint64_t rx asm("2") = text;
	register uint64_t ry asm("4") = len;

	asm volatile("diag %0,%1,8" : "+d" (rx), "+d" (ry) : : "cc", "memory");
}

#endif
