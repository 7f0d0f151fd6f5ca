/* SPDX-License-Identifier: MIT */
#include "tool_text.h"

#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 256u

static bool grow(struct text *text, size_t more)
{
	size_t size = text->size ? text->size : FIRST_SIZE;
	char *bytes;

	while (size - text->len < more && size <= SIZE_MAX / 2)
		size *= 2;
	bytes = size - text->len < more ? NULL : realloc(text->bytes, size);
	if (!bytes) {
		text->failed = true;
		return false;
	}
	text->bytes = bytes;
	text->size = size;
	return true;
}

/* Room for @more bytes behind the text; false without memory. */
static inline bool reserve(struct text *text, size_t more)
{
	return !text->failed && (more <= text->size - text->len || grow(text, more));
}

void text_append(struct text *text, const char *bytes, size_t len)
{
	if (len == 0 || !reserve(text, len))
		return;
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
}

void text_append_right(struct text *text, uint64_t number, size_t width)
{
	char digits[20], *at = digits + sizeof(digits);
	size_t len, blanks;

	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	len = (size_t)(digits + sizeof(digits) - at);
	blanks = width > len ? width - len : 0;
	if (!reserve(text, blanks + len))
		return;
	memset(text->bytes + text->len, ' ', blanks);
	memcpy(text->bytes + text->len + blanks, at, len);
	text->len += blanks + len;
}

void text_clear(struct text *text)
{
	text->len = 0;
	text->failed = false;
}

void text_free(struct text *text)
{
	free(text->bytes);
	*text = (struct text){ 0 };
}

/* Length of the well-formed character at the beginning, 0 if there is none; @len: 1 at least. */
static size_t character(const char *bytes, size_t len)
{
	const unsigned char *b = (const unsigned char *)bytes;
	/* Of the second byte, by RFC 3629, section 4. */
	unsigned char lowest = 0x80, highest = 0xbf;
	size_t need;

	if (b[0] < 0x80)
		return 1;
	if (b[0] < 0xc2 || b[0] > 0xf4)
		return 0;
	need = b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
	if (b[0] == 0xe0)
		lowest = 0xa0;
	else if (b[0] == 0xed)
		highest = 0x9f;
	else if (b[0] == 0xf0)
		lowest = 0x90;
	else if (b[0] == 0xf4)
		highest = 0x8f;
	if (len < need || b[1] < lowest || b[1] > highest)
		return 0;
	for (size_t i = 2; i < need; i++)
		if (!text_continues(bytes[i]))
			return 0;
	return need;
}

bool text_is_utf8(const char *bytes, size_t len)
{
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		step = character(bytes + i, len - i);
		if (!step)
			return false;
	}
	return true;
}

static int append_dumped(const char *bytes, size_t len, void *text)
{
	text_append(text, bytes, len);
	return 0;
}

void text_append_json(struct text *text, const char *bytes, size_t len)
{
	struct text visible = { 0 };
	json_t *string;

	if (!text_is_utf8(bytes, len)) {
		text_append_visible(&visible, bytes, len);
		bytes = visible.bytes;
		len = visible.len;
	}
	string = visible.failed ? NULL : json_stringn(len ? bytes : "", len);
	if (!string || json_dump_callback(string, append_dumped, text, JSON_ENCODE_ANY))
		text->failed = true;
	json_decref(string);
	text_free(&visible);
}

void text_append_csv(struct text *text, const char *bytes, size_t len)
{
	bool quoted = false;

	for (size_t i = 0; i < len && !quoted; i++)
		quoted = strchr(",\"\r\n", bytes[i]) && bytes[i];
	if (!quoted) {
		text_append(text, bytes, len);
		return;
	}
	text_append(text, "\"", 1);
	for (size_t i = 0; i < len; i++)
		text_append(text, bytes[i] == '"' ? "\"\"" : bytes + i, bytes[i] == '"' ? 2 : 1);
	text_append(text, "\"", 1);
}

/* Control characters of one byte, and those of two: U+0080 to U+009F begin with X'C2'. */
static bool is_control(const char *bytes, size_t len)
{
	unsigned char first = (unsigned char)bytes[0];

	return first < 0x20 || first == 0x7f ||
	       (len == 2 && first == 0xc2 && (unsigned char)bytes[1] < 0xa0);
}

void text_append_visible(struct text *text, const char *bytes, size_t len)
{
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		char hex[sizeof("\\xNN")];

		step = character(bytes + i, len - i);
		if (bytes[i] == '\\') {
			text_append(text, "\\\\", 2);
		} else if (step && !is_control(bytes + i, step)) {
			text_append(text, bytes + i, step);
		} else {
			step = step ? step : 1;
			for (size_t j = 0; j < step; j++) {
				snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)bytes[i + j]);
				text_append(text, hex, sizeof(hex) - 1);
			}
		}
	}
}

int text_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

size_t text_characters(const struct text *text, size_t start)
{
	size_t count = 0;

	for (size_t i = start; i < text->len; i++)
		count += !text_continues(text->bytes[i]);
	return count;
}

void text_insert_blanks(struct text *text, size_t at, size_t count)
{
	assert(at <= text->len);
	if (count == 0 || !reserve(text, count))
		return;
	memmove(text->bytes + at + count, text->bytes + at, text->len - at);
	memset(text->bytes + at, ' ', count);
	text->len += count;
}
