/* SPDX-License-Identifier: MIT */
/* The text of trace records. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smaller.h"
#include "trace_private.h"

bool trace_buffer_init(struct trace_buffer *buffer, size_t size, size_t limit)
{
	*buffer = (struct trace_buffer){
		.text = malloc(size), .size = size, .limit = larger(limit, size),
	};
	return buffer->text != NULL;
}

bool trace_buffer_room(struct trace_buffer *buffer, size_t len)
{
	size_t size = buffer->size;
	char *text;

	assert(buffer->len <= size && size <= buffer->limit);
	if (len <= size - buffer->len)
		return true;
	if (len > buffer->limit - buffer->len)
		return false;
	while (len > size - buffer->len)
		size = smaller(2 * size, buffer->limit);
	text = realloc(buffer->text, size);
	if (!text)
		return false;
	buffer->text = text;
	buffer->size = size;
	return true;
}

void trace_put(struct trace_buffer *buffer, const char *format, ...)
{
	const size_t room = buffer->size - buffer->len;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(buffer->text + buffer->len, room, format, args);
	va_end(args);
	assert(len >= 0 && (size_t)len < room);
	buffer->len += (size_t)len;
}

void trace_put_text(struct trace_buffer *buffer, const char *text, size_t len)
{
	assert(len <= buffer->size - buffer->len);
	memcpy(buffer->text + buffer->len, text, len);
	buffer->len += len;
}

void trace_put_hex(struct trace_buffer *buffer, const void *bytes, size_t len)
{
	static const char digit[] = "0123456789abcdef";
	char *to = buffer->text + buffer->len;
	const uint8_t *from = bytes;

	assert(len <= (buffer->size - buffer->len) / 2);
	for (size_t i = 0; i < len; i++) {
		to[2 * i] = digit[from[i] >> 4];
		to[2 * i + 1] = digit[from[i] & 15];
	}
	buffer->len += 2 * len;
}

void trace_put_escaped(struct trace_buffer *buffer, const char *text, size_t len)
{
	assert(6 * len <= buffer->size - buffer->len);
	for (size_t i = 0; i < len; i++) {
		const uint8_t c = (uint8_t)text[i];

		if (c == '"' || c == '\\')
			buffer->text[buffer->len++] = '\\';
		if (c >= 0x20 && c < 0x7f) {
			buffer->text[buffer->len++] = (char)c;
		} else {
			trace_put_text(buffer, "\\u00", 4);
			trace_put_hex(buffer, &c, 1);
		}
	}
}
