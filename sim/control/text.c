/* SPDX-License-Identifier: MIT */
/* Text that comes from outside. */
#include "text.h"

#include <stdint.h>

bool ctl_modest(const char *text, size_t len, size_t max_values, size_t max_depth)
{
	size_t values = 0, depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		const char c = text[i];

		if (quoted) {
			if (c == '\\')
				i++;
			else if (c == '"')
				quoted = false;
		} else if (c == '"') {
			quoted = true;
		} else if (c == '[' || c == '{') {
			values++;
			if (++depth > max_depth)
				return false;
		} else if (c == ']' || c == '}') {
			depth -= depth > 0;
		} else if (c == ',') {
			values++;
		}
		if (values > max_values)
			return false;
	}
	return true;
}

bool ctl_latin1(char *text, size_t *len)
{
	size_t at = 0;

	for (size_t i = 0; i < *len; i++) {
		uint8_t c = (uint8_t)text[i];

		/* jansson has checked the UTF-8: X'C2' and X'C3' begin U+0080 to U+00FF. */
		if (c > 0xc3)
			return false;
		if (c >= 0x80)
			c = (uint8_t)(c << 6 | ((uint8_t)text[++i] & 0x3f));
		text[at++] = (char)c;
	}
	*len = at;
	return true;
}
