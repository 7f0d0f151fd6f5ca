/* SPDX-License-Identifier: MIT */
/* Base64 with padding (RFC 4648, section 4). */
#include "ctl_private.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

int64_t ctl_base64_size(const char *text, size_t len)
{
	size_t pad = 0;

	if (len % 4 != 0)
		return -1;
	while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < len - pad; i++)
		if (value_of(text[i]) < 0)
			return -1;
	/* Bits that belong to no byte are zero, so that a value has one spelling. */
	if ((pad == 1 && (value_of(text[len - 2]) & 3)) ||
	    (pad == 2 && (value_of(text[len - 3]) & 15)))
		return -1;
	return (int64_t)(len / 4 * 3 - pad);
}

void ctl_base64_decode(uint8_t *to, const char *text, size_t len)
{
	size_t size = (size_t)ctl_base64_size(text, len), at = 0;

	for (size_t i = 0; i < len; i += 4) {
		uint32_t group = 0;

		for (size_t j = 0; j < 4; j++)
			group = group << 6 | (text[i + j] == '=' ? 0 : (uint32_t)value_of(text[i + j]));
		for (int shift = 16; shift >= 0 && at < size; shift -= 8)
			to[at++] = (uint8_t)(group >> shift);
	}
	assert(at == size);
}

void ctl_base64_encode(char *to, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += 3) {
		uint32_t group = (uint32_t)bytes[i] << 16;

		if (i + 1 < len)
			group |= (uint32_t)bytes[i + 1] << 8;
		if (i + 2 < len)
			group |= bytes[i + 2];
		*to++ = digits[group >> 18];
		*to++ = digits[group >> 12 & 63];
		*to++ = i + 1 < len ? digits[group >> 6 & 63] : '=';
		*to++ = i + 2 < len ? digits[group & 63] : '=';
	}
}
