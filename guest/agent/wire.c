// SPDX-License-Identifier: MIT
/* Payloads: see wire.h. */
#include "wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A reply above this size gives its memory back. */
#define KEEP (256u << 10)

static uint64_t rd_be(struct rd *in, size_t bytes)
{
	uint64_t value = 0;

	if (in->bad || (size_t)(in->end - in->at) < bytes) {
		in->bad = true;
		return 0;
	}
	while (bytes--)
		value = value << 8 | *in->at++;
	return value;
}

uint8_t rd_u8(struct rd *in)
{
	return (uint8_t)rd_be(in, 1);
}

uint16_t rd_u16(struct rd *in)
{
	return (uint16_t)rd_be(in, 2);
}

uint32_t rd_u32(struct rd *in)
{
	return (uint32_t)rd_be(in, 4);
}

uint64_t rd_u64(struct rd *in)
{
	return rd_be(in, 8);
}

uint8_t *rd_bytes(struct rd *in, uint32_t *len)
{
	uint32_t want = rd_u32(in);
	uint8_t *data = in->at;

	if (in->bad || (size_t)(in->end - in->at) < want) {
		in->bad = true;
		*len = 0;
		return in->end;
	}
	in->at += want;
	*len = want;
	return data;
}

char *rd_string(struct rd *in)
{
	uint32_t len;
	const uint8_t *data = rd_bytes(in, &len);
	char *copy;

	if (in->bad || memchr(data, 0, len)) {
		in->bad = true;
		return NULL;
	}
	copy = malloc((size_t)len + 1);
	if (!copy) {
		in->bad = true;
		return NULL;
	}
	memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

bool rd_done(const struct rd *in)
{
	return !in->bad && in->at == in->end;
}

void put_be16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

void put_be32(uint8_t *at, uint32_t value)
{
	put_be16(at, (uint16_t)(value >> 16));
	put_be16(at + 2, (uint16_t)value);
}

void put_be64(uint8_t *at, uint64_t value)
{
	put_be32(at, (uint32_t)(value >> 32));
	put_be32(at + 4, (uint32_t)value);
}

static uint8_t *wr_room(struct wr *out, size_t len)
{
	uint8_t *at;

	if (out->full || out->cap - out->len < len) {
		out->full = true;
		return NULL;
	}
	at = out->data + out->len;
	out->len += len;
	return at;
}

void wr_u8(struct wr *out, uint8_t value)
{
	wr_raw(out, &value, 1);
}

void wr_u16(struct wr *out, uint16_t value)
{
	uint8_t *at = wr_room(out, 2);

	if (at)
		put_be16(at, value);
}

void wr_u32(struct wr *out, uint32_t value)
{
	uint8_t *at = wr_room(out, 4);

	if (at)
		put_be32(at, value);
}

void wr_u64(struct wr *out, uint64_t value)
{
	uint8_t *at = wr_room(out, 8);

	if (at)
		put_be64(at, value);
}

void wr_raw(struct wr *out, const void *data, size_t len)
{
	uint8_t *at = wr_room(out, len);

	if (at && len)
		memcpy(at, data, len);
}

void wr_bytes(struct wr *out, const void *data, uint32_t len)
{
	wr_u32(out, len);
	wr_raw(out, data, len);
}

bool wr_create(struct wr *out)
{
	void *data = mmap(NULL, REPLY_MAX, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (data == MAP_FAILED)
		return false;
	*out = (struct wr){ .data = data, .cap = REPLY_MAX };
	return true;
}

void wr_reset(struct wr *out)
{
	if (out->len > KEEP)
		madvise(out->data, out->cap, MADV_DONTNEED);
	out->len = 0;
	out->full = false;
}

enum status refuse(struct wr *out, enum status status, const char *why)
{
	out->len = FRAME_HEADER;
	out->full = false;
	wr_raw(out, why, strlen(why));
	return status;
}
