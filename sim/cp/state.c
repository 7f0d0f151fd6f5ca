/* SPDX-License-Identifier: MIT */
/* Saving and loading: numbers, bytes and names of a state. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "cp_private.h"
#include "zvmlab/state.h"

#define FIRST_CAPACITY 65536u

static bool grow(struct state *s, size_t len)
{
	size_t capacity = s->capacity ? s->capacity : FIRST_CAPACITY;
	uint8_t *data;

	assert(!s->loading && s->len <= s->capacity);
	assert(len <= SIZE_MAX / 4);
	while (capacity - s->len < len)
		capacity *= 2;
	if (capacity == s->capacity)
		return true;
	data = realloc(s->data, capacity);
	if (!data) {
		s->failed = true;
		return false;
	}
	s->data = data;
	s->capacity = capacity;
	assert(s->capacity - s->len >= len);
	return true;
}

void state_bytes(struct state *s, void *bytes, size_t len)
{
	if (s->failed || len == 0)
		return;
	if (s->loading) {
		assert(s->pos <= s->len);
		if (s->len - s->pos < len) {
			s->failed = true;
			return;
		}
		memcpy(bytes, s->data + s->pos, len);
		s->pos += len;
	} else if (grow(s, len)) {
		memcpy(s->data + s->len, bytes, len);
		s->len += len;
	}
}

void state_skip(struct state *s, size_t len)
{
	assert(s->loading && s->pos <= s->len);
	state_require(s, s->failed || len <= s->len - s->pos);
	if (!s->failed)
		s->pos += len;
}

void state_u8(struct state *s, uint8_t *v)
{
	state_bytes(s, v, 1);
}

void state_u16(struct state *s, uint16_t *v)
{
	uint8_t bytes[2];

	put_be16(bytes, *v);
	state_bytes(s, bytes, sizeof(bytes));
	*v = get_be16(bytes);
}

void state_u32(struct state *s, uint32_t *v)
{
	uint8_t bytes[4];

	put_be32(bytes, *v);
	state_bytes(s, bytes, sizeof(bytes));
	*v = get_be32(bytes);
}

void state_u64(struct state *s, uint64_t *v)
{
	uint8_t bytes[8];

	put_be64(bytes, *v);
	state_bytes(s, bytes, sizeof(bytes));
	*v = get_be64(bytes);
}

void state_bool(struct state *s, bool *v)
{
	uint8_t byte = *v;

	state_u8(s, &byte);
	state_require(s, byte <= 1);
	if (!s->failed)
		*v = byte == 1;
}

void state_name(struct state *s, char name[9])
{
	size_t len = 0;

	state_bytes(s, name, 9);
	state_require(s, name[8] == '\0');
	name[8] = '\0';
	while (name[len] > ' ' && name[len] < 0x7f)
		len++;
	state_require(s, name[len] == '\0');
}

void state_tag(struct state *s, const char tag[4])
{
	char found[4];

	memcpy(found, tag, sizeof(found));
	state_bytes(s, found, sizeof(found));
	state_require(s, memcmp(found, tag, sizeof(found)) == 0);
}

void state_require(struct state *s, bool condition)
{
	assert(s->loading || condition);
	if (!condition)
		s->failed = true;
}
