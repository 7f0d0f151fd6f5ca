/* SPDX-License-Identifier: MIT */
/* Texts that CP shows. */
#include "text.h"

void text_printable(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] < 0x20 || text[i] >= 0x7f)
			text[i] = '.';
	}
}
