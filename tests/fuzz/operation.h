/* SPDX-License-Identifier: MIT */
/*
 * The operations of a fuzzed read machine, as bytes.
 *
 * An input is a head of 4 bytes and up to 64 operations of 4 bytes each.  Every input is valid.
 * Offsets and lengths are small, as is the segment, so that what matters is hit often.
 *
 *   head       byte 0, bits 0-2: size of the segment, bits 3-5: where it begins,
 *              bits 6-7: where in its ring the queue begins; byte 1: granted limit,
 *              0: none; bytes 2-3: class of the first message
 *   operation  byte 0, bits 0-3: kind, bits 4-7: mode; bytes 1-3: a, b, c
 */
#ifndef FUZZ_OPERATION_H
#define FUZZ_OPERATION_H

#include "mon_types.h"

#define OPERATION_HEAD 4
#define OPERATION_BYTES 4
#define OPERATION_MOST 64
/* The longest segment; a byte is an offset in it. */
#define OPERATION_SEGMENT 256
/* The longest read. */
#define OPERATION_READ (255 << 3)

/**
 * enum operation_kind - what happens; addresses: see operation_address()
 * @OPERATION_POKE:    the byte at offset a becomes b, that at offset c mode
 * @OPERATION_ELEMENT: a control element at offset a, its records from address b (bits 0-1 of
 *                     mode say of which kind) to address c (bits 2-3)
 * @OPERATION_MESSAGE: a message with a control area from address a to address b; without
 *                     addresses if c is 255
 * @OPERATION_SET:     mode + 1 elements at offset a, records of c + 1 bytes at offset b for the
 *                     first of them, at the offset behind for the next; and the message
 * @OPERATION_BURST:   c modulo 16 messages with the last element that was made; 255 if c is
 *                     240 or more
 * @OPERATION_SEVER:   CP severs
 * @OPERATION_READ_ONE: a read of a bytes, shifted left by bits 0-1 of mode, into a buffer of
 *                     255 - b bytes, shifted likewise; with bit 2 CP refuses the reply
 * @OPERATION_DRAIN:   c + 1 such reads, while they give something
 * @OPERATION_DURING:  the next operation happens at step a modulo 4 of the next read, modulo 64
 *                     if a is 128 or more; what cannot happen there is a sever
 * @OPERATION_LIMIT:   CP has granted a; with mode above 7 a message limit of 32 bits
 * @OPERATION_OPEN:    release and open
 * @OPERATION_INIT:    another stream is set up, with addresses of 64 bits from mode, a, b, c
 */
enum operation_kind {
	OPERATION_POKE,
	OPERATION_ELEMENT,
	OPERATION_MESSAGE,
	OPERATION_SET,
	OPERATION_BURST,
	OPERATION_SEVER,
	OPERATION_READ_ONE,
	OPERATION_DRAIN,
	OPERATION_DURING,
	OPERATION_LIMIT,
	OPERATION_OPEN,
	OPERATION_INIT,
};

/**
 * struct operation - one of them
 * @kind: what
 * @mode: 4 bits
 * @a:    operand
 * @b:    operand
 * @c:    operand
 */
struct operation {
	enum operation_kind kind;
	u8 mode;
	u8 a;
	u8 b;
	u8 c;
};

/**
 * struct operation_setting - the head
 * @start: guest real address of the segment
 * @size:  its bytes, 2 to %OPERATION_SEGMENT
 * @slot:  index of the queue's ring to begin with
 * @limit: granted, 0: CP has not said
 * @class: of the first message
 */
struct operation_setting {
	u32 start;
	u32 size;
	u32 slot;
	u8 limit;
	u16 class;
};

static inline struct operation_setting operation_setting(const u8 *head)
{
	static const u16 sizes[8] = { 256, 64, 13, 2, 255, 12, 25, 128 };
	static const u16 slots[4] = { 0, 255, 254, 128 };
	const u32 size = sizes[head[0] & 7];
	const u32 starts[8] = { 0x09000000, 0, 1, 0x7fffff80, 0u - size, 0xfffffff0 - size,
				0x1000, 0x80000000 };

	return (struct operation_setting){
		.start = starts[head[0] >> 3 & 7],
		.size = size,
		.slot = slots[head[0] >> 6],
		.limit = head[1],
		.class = (u16)(head[2] << 8 | head[3]),
	};
}

static inline struct operation operation_decode(const u8 *bytes)
{
	/* What builds and reads sets has more than one code. */
	static const u8 kinds[16] = {
		OPERATION_POKE, OPERATION_ELEMENT, OPERATION_MESSAGE, OPERATION_SET,
		OPERATION_BURST, OPERATION_SEVER, OPERATION_READ_ONE, OPERATION_DRAIN,
		OPERATION_DURING, OPERATION_LIMIT, OPERATION_OPEN, OPERATION_INIT,
		OPERATION_SET, OPERATION_READ_ONE, OPERATION_READ_ONE, OPERATION_MESSAGE,
	};

	return (struct operation){
		.kind = kinds[bytes[0] & 15], .mode = bytes[0] >> 4,
		.a = bytes[1], .b = bytes[2], .c = bytes[3],
	};
}

/**
 * operation_address() - an address near one that matters
 * @setting: the head
 * @near:    0: behind the segment's first byte, 1: around its last, 2: around 0,
 *           3: anywhere in 32 bits
 * @by:      how far, with a sign for 1 and 2
 */
static inline u32 operation_address(const struct operation_setting *setting, unsigned int near,
				    u8 by)
{
	const u32 around = (u32)(int)(int8_t)by;

	switch (near & 3) {
	case 0:
		return setting->start + by;
	case 1:
		return setting->start + (setting->size - 1) + around;
	case 2:
		return around;
	default:
		return by * 0x01010101u;
	}
}

#endif /* FUZZ_OPERATION_H */
