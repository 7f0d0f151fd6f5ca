/* SPDX-License-Identifier: MIT */
/* Texts that CP shows. */
#include "text.h"

#include <assert.h>
#include <string.h>

#include "ebcdic.h"

#define EBCDIC_BLANK 0x40

void text_printable(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] < 0x20 || text[i] >= 0x7f)
			text[i] = '.';
	}
}

void text_field(uint8_t *to, const char *text, size_t size)
{
	const size_t len = strlen(text);

	assert(len <= size);
	memset(to, EBCDIC_BLANK, size);
	ebcdic_encode(to, text, len);
}
