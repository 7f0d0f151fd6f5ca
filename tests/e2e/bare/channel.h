/* SPDX-License-Identifier: MIT */
/*
 * Instructions of the channel subsystem, and the blocks that they take: z/Architecture Principles
 * of Operation, "I/O Instructions" and "Basic I/O Functions".
 */
#ifndef BARE_CHANNEL_H
#define BARE_CHANNEL_H

#include <stdint.h>

#define SUBCHANNEL_0 0x10000u	/* the first subchannel's number, as in GR1 */

struct schib {
	uint32_t parameter;
	uint16_t flags;
	uint16_t device;
	uint8_t paths[8];
	uint8_t chpid[8];
	uint32_t more;
	uint32_t scsw[3], model[3];
} __attribute__((aligned(4)));
_Static_assert(sizeof(struct schib) == 52, "thirteen words");

enum { SCHIB_SUBCLASS = 0x3800, SCHIB_ENABLED = 0x0080, SCHIB_VALID = 0x0001 };

struct orb {
	uint32_t parameter;
	uint16_t control;
	uint8_t paths, more;
	uint32_t program;
	uint32_t unused[5];
} __attribute__((aligned(4)));
_Static_assert(sizeof(struct orb) == 32, "eight words");

enum { ORB_SUSPEND = 0x0800, ORB_FORMAT_1 = 0x0080, ORB_64_BITS = 0x0002 };

struct ccw {
	uint8_t command, flags;
	uint16_t count;
	uint32_t address;
} __attribute__((aligned(8)));

enum { CCW_NOP = 0x03, CCW_SENSE = 0x04, CCW_TIC = 0x08, CCW_SENSE_ID = 0xe4 };
enum { CCW_CHAIN = 0x40, CCW_SLI = 0x20, CCW_INDIRECT = 0x04, CCW_SUSPEND = 0x02 };

struct irb {
	uint32_t control, program;
	uint8_t device_status, subchannel_status;
	uint16_t count;
	uint32_t more[21];
} __attribute__((aligned(4)));
_Static_assert(sizeof(struct irb) == 96, "twenty-four words");

enum { CHANNEL_END = 0x08, DEVICE_END = 0x04, PROGRAM_CHECK = 0x20 };

/* S format: GR1 has the subchannel or the path, the operand is at @at.  Return: condition code. */
#define CHANNEL_INSTRUCTION(name, opcode) \
	static inline unsigned int name(uint32_t gr1, void *at) \
	{ \
		register uint64_t r1 asm("1") = gr1; \
		unsigned int cc; \
		asm volatile(".insn s," opcode ",0(%2)\n\tipm %0\n\tsrl %0,28" \
			     : "=d" (cc) : "d" (r1), "a" (at) : "cc", "memory"); \
		return cc; \
	}

CHANNEL_INSTRUCTION(csch, "0xb2300000")
CHANNEL_INSTRUCTION(hsch, "0xb2310000")
CHANNEL_INSTRUCTION(msch, "0xb2320000")
CHANNEL_INSTRUCTION(ssch, "0xb2330000")
CHANNEL_INSTRUCTION(stsch, "0xb2340000")
CHANNEL_INSTRUCTION(tsch, "0xb2350000")
CHANNEL_INSTRUCTION(tpi, "0xb2360000")
CHANNEL_INSTRUCTION(stcrw, "0xb2390000")
CHANNEL_INSTRUCTION(rchp, "0xb23b0000")
CHANNEL_INSTRUCTION(xsch, "0xb2760000")

/* The @index-th subchannel that has a device, enabled, of subclass 0.  Return: its number, or 0. */
static inline uint32_t channel_device(unsigned int index, struct schib *schib)
{
	for (uint32_t number = SUBCHANNEL_0; stsch(number, schib) != 3; number++) {
		if (!(schib->flags & SCHIB_VALID) || index-- > 0)
			continue;
		schib->flags = (schib->flags & ~SCHIB_SUBCLASS) | SCHIB_ENABLED;
		return msch(number, schib) == 0 ? number : 0;
	}
	return 0;
}

#endif
