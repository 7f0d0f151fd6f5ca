/* SPDX-License-Identifier: MIT */
/* Values of checked arguments, and values that go out. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"
#include "smaller.h"

json_t *ctl_fail(struct ctl_call *call, const char *error_class, const char *format, ...)
{
	va_list args;

	call->error_class = error_class;
	va_start(args, format);
	vsnprintf(call->err, sizeof(call->err), format, args);
	va_end(args);
	return NULL;
}

int64_t ctl_int(const json_t *args, const char *name)
{
	const json_t *value = json_object_get(args, name);

	assert(value);
	return json_integer_value(value);
}

int64_t ctl_int_or(const json_t *args, const char *name, int64_t otherwise)
{
	return json_object_get(args, name) ? ctl_int(args, name) : otherwise;
}

bool ctl_bool(const json_t *args, const char *name)
{
	const json_t *value = json_object_get(args, name);

	assert(value);
	return json_is_true(value);
}

bool ctl_bool_or(const json_t *args, const char *name, bool otherwise)
{
	return json_object_get(args, name) ? ctl_bool(args, name) : otherwise;
}

const char *ctl_string(const json_t *args, const char *name)
{
	return json_string_value(json_object_get(args, name));
}

void ctl_name(const json_t *args, const char *name, char to[9])
{
	const char *text = ctl_string(args, name);
	size_t len = text ? strlen(text) : 0;

	assert(len <= 8);
	for (size_t i = 0; i < len; i++)
		to[i] = (char)toupper((unsigned char)text[i]);
	to[len] = '\0';
}

size_t ctl_data_len(const json_t *args, const char *name)
{
	const json_t *value = json_object_get(args, name);

	return value ? (size_t)ctl_base64_size(json_string_value(value), json_string_length(value)) : 0;
}

size_t ctl_data(const json_t *args, const char *name, void *to, size_t max)
{
	const json_t *value = json_object_get(args, name);
	size_t len = ctl_data_len(args, name);

	assert(len <= max);
	if (len > 0)
		ctl_base64_decode(to, json_string_value(value), json_string_length(value));
	return len;
}

json_t *ctl_json_data(const void *bytes, size_t len)
{
	size_t size = CTL_BASE64_LEN(len);
	char *text = malloc(size + 1);
	json_t *value;

	if (!text)
		return NULL;
	ctl_base64_encode(text, bytes, len);
	value = json_stringn_nocheck(text, size);
	free(text);
	return value;
}

json_t *ctl_json_text(const char *text, size_t len)
{
	char *utf8 = malloc(2 * len + 1);
	size_t at = 0;
	json_t *value;

	if (!utf8)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		const uint8_t c = (uint8_t)text[i];

		if (c >= 0x80) {
			utf8[at++] = (char)(0xc0 | c >> 6);
			utf8[at++] = (char)(0x80 | (c & 0x3f));
		} else {
			utf8[at++] = (char)c;
		}
	}
	value = json_stringn(utf8, at);
	free(utf8);
	return value;
}

json_t *ctl_json_u64(uint64_t value)
{
	return json_integer((json_int_t)smaller(value, INT64_MAX));
}

unsigned int ctl_index(const char *const *list, const char *name)
{
	unsigned int i = 0;

	while (list[i] && strcmp(list[i], name) != 0)
		i++;
	assert(list[i]);
	return i;
}
