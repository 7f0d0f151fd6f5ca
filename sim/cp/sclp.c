/* SPDX-License-Identifier: MIT */
/*
 * What the service processor (SCLP) tells a guest of storage that is standby: increments, numbered
 * from 1, in two elements.  Element 0 is initial storage; element 1 is what lies behind it, and is
 * standby until the guest attaches it.  Either way each increment is assigned on its own.
 *
 * Commands, responses and layouts are those that Linux uses and expects (drivers/s390/char).
 */
#include <string.h>

#include "cp_private.h"
#include "bytes.h"
#include "zvmlab/input.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

#define MEGABYTE (UINT64_C(1) << 20)

/* The number of an element stands in the second lowest byte. */
#define COMMAND_MASK UINT32_C(0xffff00ff)
enum {
	READ_ELEMENT = 0x00040001,
	ATTACH_ELEMENT = 0x00080001,
	UNASSIGN = 0x000c0001,
	ASSIGN = 0x000d0001,
};

/* Fields of a block. */
enum {
	LENGTH = 0,		/* 2 */
	RESPONSE = 6,		/* 2 */
	HEADER_SIZE = 8,
	INCREMENT = 8,		/* 2: assign, unassign */
	INCREMENT_END = 10,
	HIGHEST = 8,		/* 2: number of the last element; read */
	ENTRIES = 10,		/* 2 */
	STANDBY = 12,		/* 2: of them; read */
	ENTRY = 16,		/* 4 each: number in the left half, or 0 */
	ENTRY_SIZE = 4,
};

enum {
	RC_READ = 0x0010,
	RC_DONE = 0x0020,
	RC_NOTHING_TO_DO = 0x0120,
	RC_SHORT = 0x0300,
	RC_READ_STANDBY = 0x0410,
	RC_RESERVED = 0x05f0,
	RC_UNKNOWN = 0x09f0,
};

struct element {
	uint32_t first, end;	/* increments, from 0 */
};

struct cp_increments cp_increments(const struct cp *cp)
{
	const struct cp_standby *standby = &cp->standby;

	return (struct cp_increments){ standby->count, (uint32_t)(standby->increment / MEGABYTE) };
}

bool cp_sclp_knows(uint32_t command)
{
	switch (command & COMMAND_MASK) {
	case READ_ELEMENT:
	case ATTACH_ELEMENT:
	case UNASSIGN:
	case ASSIGN:
		return true;
	default:
		return false;
	}
}

/* Those behind the initial ones that are assigned or may be: the reserved ones come last. */
static struct element element_of(const struct cp *cp, unsigned int number)
{
	const struct cp_standby *standby = &cp->standby;
	uint32_t end = standby->count - standby->reserved;

	if (number == 0)
		return (struct element){ 0, standby->initial };
	while (end < standby->count && standby->has[end])
		end++;
	return (struct element){ standby->initial, smaller(larger(end, standby->initial),
							   standby->initial + CP_MAX_ELEMENT) };
}

/* All of an element that is standby, else what is assigned. */
static uint16_t put_entries(const struct cp *cp, struct element element, bool all, uint8_t *sccb)
{
	uint8_t *to = sccb + ENTRY;

	for (uint32_t i = element.first; i < element.end; i++, to += ENTRY_SIZE)
		put_be32(to, all || cp->standby.has[i] ? (i + 1) << 16 : 0);
	put_be16(sccb + ENTRIES, (uint16_t)(element.end - element.first));
	return RC_READ;
}

static uint16_t read_element(const struct cp *cp, unsigned int number, size_t len, uint8_t *sccb)
{
	const struct element element = element_of(cp, number);
	const bool standby = number == 1 && !cp->standby.attached;

	if (number > 1)
		return RC_UNKNOWN;
	if (len < ENTRY + (element.end - element.first) * ENTRY_SIZE)
		return RC_SHORT;
	put_be16(sccb + HIGHEST, 1);
	put_be16(sccb + STANDBY, 0);
	put_entries(cp, element, standby, sccb);
	return standby ? RC_READ_STANDBY : RC_READ;
}

static uint16_t attach_element(struct cp *cp, unsigned int number, size_t len, uint8_t *sccb)
{
	const struct element element = element_of(cp, number);

	if (number > 1)
		return RC_UNKNOWN;
	if (len < ENTRY + (element.end - element.first) * ENTRY_SIZE)
		return RC_SHORT;
	if (number == 0 || cp->standby.attached)
		return RC_NOTHING_TO_DO;
	cp->standby.attached = true;
	put_entries(cp, element, false, sccb);
	return RC_DONE;
}

/* The first increment has the places that interruptions use. */
static uint16_t change(struct cp *cp, bool assign, uint32_t number)
{
	if (number == 0 || number > cp->standby.count)
		return RC_UNKNOWN;
	if (cp->standby.has[number - 1] == assign)
		return RC_NOTHING_TO_DO;
	if (assign ? storage_standby_left(cp) == 0 : number == 1)
		return RC_RESERVED;
	if (assign)
		storage_assign(cp, number - 1);
	else
		storage_unassign(cp, number - 1);
	return RC_DONE;
}

static uint16_t carry_out(struct cp *cp, uint32_t command, size_t len, uint8_t *sccb)
{
	const unsigned int element = command >> 8 & 0xff;

	switch (command & COMMAND_MASK) {
	case READ_ELEMENT:
		return read_element(cp, element, len, sccb);
	case ATTACH_ELEMENT:
		return attach_element(cp, element, len, sccb);
	default:
		if (len < INCREMENT_END)
			return RC_SHORT;
		return change(cp, (command & COMMAND_MASK) == ASSIGN, get_be16(sccb + INCREMENT));
	}
}

void cp_sclp(struct cp *cp, unsigned int cpu, uint32_t command, uint8_t sccb[CP_PAGE_SIZE])
{
	const size_t len = get_be16(sccb + LENGTH);
	uint16_t response;

	assert(cpu < cp->config.cpus && cp_sclp_knows(command) && cp->standby.increment);
	assert(len >= HEADER_SIZE && len <= CP_PAGE_SIZE);
	TRACE_INPUT(cp, sclp, .cpu = cpu, .command = command, .length = (unsigned int)len,
		    .increment = get_be16(sccb + INCREMENT));
	response = carry_out(cp, command, len, sccb);
	put_be16(sccb + RESPONSE, response);
	trace_hex(cp, "response", response);
	trace_end(cp);
}
