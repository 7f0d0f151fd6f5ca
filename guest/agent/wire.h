/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing payloads.  Integers are big-endian whatever the machine.
 * Neither side needs to be checked at every step: a reader past its end gives
 * zeros and is bad from then on, a writer past its end writes nothing.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto.h"

struct rd {
	uint8_t *at, *end;
	bool bad;
};

uint8_t rd_u8(struct rd *in);
uint16_t rd_u16(struct rd *in);
uint32_t rd_u32(struct rd *in);
uint64_t rd_u64(struct rd *in);
/** u32 length and bytes; points into the payload. */
uint8_t *rd_bytes(struct rd *in, uint32_t *len);
/** Like rd_bytes, as a string of its own (malloc); NULL and bad if it holds a NUL. */
char *rd_string(struct rd *in);
/** Nothing was bad and nothing is left over. */
bool rd_done(const struct rd *in);

struct wr {
	uint8_t *data;
	size_t len, cap;
	bool full;
};

void wr_u8(struct wr *out, uint8_t value);
void wr_u16(struct wr *out, uint16_t value);
void wr_u32(struct wr *out, uint32_t value);
void wr_u64(struct wr *out, uint64_t value);
void wr_raw(struct wr *out, const void *data, size_t len);
void wr_bytes(struct wr *out, const void *data, uint32_t len);
void put_be16(uint8_t *at, uint16_t value);
void put_be32(uint8_t *at, uint32_t value);
void put_be64(uint8_t *at, uint64_t value);

/** Memory for replies up to REPLY_MAX; pages are taken as they are touched. */
bool wr_create(struct wr *out);
/** Empty the writer; what a large reply took goes back to the system. */
void wr_reset(struct wr *out);
/** Replace what @out holds by a sentence. */
enum status refuse(struct wr *out, enum status status, const char *why);

#endif
