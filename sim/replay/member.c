/* SPDX-License-Identifier: MIT */
/* Members of a record, checked: a trace may hold anything. */
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "replay_private.h"
#include "text.h"

static const json_t *member(struct replay *r, const json_t *record, const char *name)
{
	const json_t *value = json_object_get(record, name);

	if (!value)
		replay_unusable(r, "it lacks \"%s\", which a replay needs", name);
	return value;
}

uint64_t replay_number_or_0(struct replay *r, const json_t *record, const char *name, uint64_t max)
{
	const json_t *value = json_object_get(record, name);

	if (!value)
		return 0;
	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
	    (uint64_t)json_integer_value(value) <= max)
		return (uint64_t)json_integer_value(value);
	replay_unusable(r, "\"%s\" is not a number from 0 to %llu", name, (unsigned long long)max);
	return 0;
}

uint64_t replay_number(struct replay *r, const json_t *record, const char *name, uint64_t max)
{
	return member(r, record, name) ? replay_number_or_0(r, record, name, max) : 0;
}

bool replay_parse_hex(const char *text, uint64_t max, uint64_t *value)
{
	const size_t len = strlen(text);

	if (len == 0 || len > 16 || strspn(text, "0123456789abcdef") != len)
		return false;
	return number_take(&text, text + len, 16, max, value);
}

uint64_t replay_hex_or(struct replay *r, const json_t *record, const char *name, uint64_t max,
		       uint64_t otherwise)
{
	const json_t *value = json_object_get(record, name);
	uint64_t number;

	if (!value)
		return otherwise;
	if (json_is_string(value) && replay_parse_hex(json_string_value(value), max, &number))
		return number;
	replay_unusable(r, "\"%s\" is not a hexadecimal number up to %llx", name,
			(unsigned long long)max);
	return 0;
}

uint64_t replay_hex(struct replay *r, const json_t *record, const char *name, uint64_t max)
{
	return member(r, record, name) ? replay_hex_or(r, record, name, max, 0) : 0;
}

void replay_text(struct replay *r, const json_t *record, const char *name, char *to, size_t size)
{
	const json_t *value = member(r, record, name);
	size_t len = json_string_length(value);
	char *text = json_is_string(value) ? malloc(len + 1) : NULL;
	bool good = false;

	memset(to, 0, size);
	if (text) {
		memcpy(text, json_string_value(value), len);
		good = ctl_latin1(text, &len) && len < size;
	}
	if (good)
		memcpy(to, text, len);
	else if (value)
		replay_unusable(r, "\"%s\" is not a text of at most %zu characters", name,
				size - 1);
	free(text);
}

uint8_t *replay_bytes(struct replay *r, const json_t *record, const char *name, size_t *len)
{
	const json_t *value = member(r, record, name);
	const size_t digits = json_string_length(value);
	uint8_t *bytes = NULL;

	*len = digits / 2;
	if (json_is_array(value))
		replay_unusable(r, "\"%s\" is shortened; a replay needs it as a whole", name);
	if (!json_is_string(value)) {
		if (value)
			replay_unusable(r, "\"%s\" is not a string of bytes in hexadecimal", name);
		return NULL;
	}
	bytes = malloc(*len + 1);
	if (!bytes) {
		replay_unusable(r, "not enough memory for \"%s\"", name);
	} else if (!number_bytes(json_string_value(value), digits, bytes)) {
		replay_unusable(r, "\"%s\" is not a string of bytes in hexadecimal", name);
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

void replay_registers(struct replay *r, const json_t *record, uint64_t *gr, size_t count)
{
	const json_t *list = member(r, record, "gr");

	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list, i));

		gr[i] = 0;
		if (!text || !replay_parse_hex(text, UINT64_MAX, &gr[i])) {
			replay_unusable(r, "\"gr\" is not a list of %zu registers", count);
			return;
		}
	}
}
