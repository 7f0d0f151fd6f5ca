/* SPDX-License-Identifier: MIT */
/* IUCV: moving data between the areas of sender and receiver. */
#include <string.h>

#include "iucv_private.h"
#include "bytes.h"
#include "smaller.h"
#include "zvmlab/storage.h"

#define LIST_ENTRY 8u		/* address and length, 32 bits each */
#define CHUNK CP_PAGE_SIZE

/* A place in an area; piece is what is left of the current contiguous part. */
struct cursor {
	struct cp *cp;			/* of the machine; NULL: storage of the host */
	int cpu;
	const struct iucv_area *area;
	uint32_t piece_addr, piece_len;
	uint32_t list_addr;
	uint32_t entries;
	uint8_t *ptr;
};

static uint16_t in_range(uint32_t addr, uint32_t len)
{
	if (len > IUCV_LENGTH_MAX)
		return IUCV_AREA_LENGTH;
	if (addr > IUCV_LENGTH_MAX || len > IUCV_LENGTH_MAX + 1u - addr)
		return PGM_ADDRESSING;
	return 0;
}

/* Make the piece non-empty.  Ends: a list has at most IUCV_LIST_MAX entries. */
static uint16_t cursor_fill(struct cursor *c)
{
	uint8_t entry[LIST_ENTRY];
	uint16_t status = 0;

	while (c->piece_len == 0 && status == 0) {
		if (c->entries == 0)
			return IUCV_AREA_LENGTH;
		c->entries--;
		status = in_range(c->list_addr, LIST_ENTRY);
		if (status == 0)
			status = storage_read(c->cp, c->cpu, c->list_addr, entry, LIST_ENTRY);
		if (status != 0)
			return status;
		c->list_addr += LIST_ENTRY;
		c->piece_addr = get_be32(entry);
		c->piece_len = get_be32(entry + 4);
		status = in_range(c->piece_addr, c->piece_len);
	}
	assert(status != 0 || c->piece_len > 0);
	return status;
}

static void cursor_step(struct cursor *c, uint32_t len)
{
	assert(len <= c->piece_len);
	c->piece_addr += len;
	c->piece_len -= len;
	if (c->area->host)
		c->ptr += len;
}

static uint16_t cursor_start(struct cursor *c, const struct iucv_end *end)
{
	uint32_t skip = end->skip;
	uint16_t status;

	assert(!end->area->host || !end->area->list);
	assert(end->area->host || iucv_is_machine(end->user));
	assert(!end->area->host || end->area->ptr || end->area->len == 0);
	*c = (struct cursor){
		.cp = end->area->host ? NULL : end->user->machine->cp,
		.cpu = end->cpu, .area = end->area,
	};
	if (end->area->host) {
		c->ptr = end->area->ptr;
		c->piece_len = end->area->len;
	} else if (end->area->list) {
		if (end->area->addr % LIST_ENTRY != 0)
			return PGM_SPECIFICATION;
		c->list_addr = end->area->addr;
		c->entries = IUCV_LIST_MAX;
	} else {
		c->piece_addr = end->area->addr;
		c->piece_len = end->area->len;
		status = in_range(c->piece_addr, c->piece_len);
		if (status != 0)
			return status;
	}
	while (skip > 0) {
		uint32_t step;

		status = cursor_fill(c);
		if (status != 0)
			return status;
		step = (uint32_t)smaller(c->piece_len, skip);
		cursor_step(c, step);
		skip -= step;
	}
	return 0;
}

/* Can the next @len bytes be fetched, or stored? */
static uint16_t area_check(const struct iucv_end *end, uint32_t len, bool store)
{
	struct cursor c;
	uint16_t status = cursor_start(&c, end);

	while (status == 0 && len > 0) {
		uint32_t step;

		status = cursor_fill(&c);
		if (status != 0)
			break;
		step = (uint32_t)smaller(c.piece_len, len);
		if (!c.area->host)
			status = storage_check(c.cp, c.cpu, c.piece_addr, step, store);
		cursor_step(&c, step);
		len -= step;
	}
	return status;
}

static uint16_t store(struct cursor *c, const uint8_t *from, uint32_t len)
{
	if (!c->area->host)
		return storage_write(c->cp, c->cpu, c->piece_addr, from, len);
	memcpy(c->ptr, from, len);
	return 0;
}

/*
 * Move what both current pieces have, at most @len.  Data of the host goes
 * straight; between places of machines through a buffer, because two of one may
 * overlap.
 */
static uint32_t move_piece(struct cursor *from, struct cursor *to, uint32_t len,
			   struct iucv_moved *moved)
{
	uint8_t chunk[CHUNK];
	uint32_t step;

	assert(len > 0);
	moved->from = cursor_fill(from);
	moved->to = cursor_fill(to);
	if (moved->from != 0 || moved->to != 0)
		return 0;
	step = (uint32_t)smaller(len, smaller(from->piece_len, to->piece_len));
	if (from->area->host) {
		moved->to = store(to, from->ptr, step);
	} else if (to->area->host) {
		moved->from = storage_read(from->cp, from->cpu, from->piece_addr, to->ptr, step);
	} else {
		step = (uint32_t)smaller(step, CHUNK);
		moved->from = storage_read(from->cp, from->cpu, from->piece_addr, chunk, step);
		if (moved->from == 0)
			moved->to = store(to, chunk, step);
	}
	if (moved->from != 0 || moved->to != 0)
		return 0;
	assert(step > 0 && step <= len);
	cursor_step(from, step);
	cursor_step(to, step);
	return step;
}

/*
 * Where nothing moves, no address is looked at.
 * Both ends are checked before the first byte moves.  A list can still change
 * under the move if the guest receives into it; that ends in an error, too.
 */
struct iucv_moved iucv_area_move(const struct iucv_end *from, const struct iucv_end *to,
				 uint32_t len)
{
	struct iucv_moved moved = { 0 };
	struct cursor source, target;

	assert(len <= IUCV_MESSAGE_MAX);
	if (len == 0)
		return moved;
	moved.to = area_check(to, len, true);
	moved.from = area_check(from, len, false);
	if (moved.from != 0 || moved.to != 0)
		return moved;
	moved.from = cursor_start(&source, from);
	moved.to = cursor_start(&target, to);
	while (len > 0 && moved.from == 0 && moved.to == 0)
		len -= move_piece(&source, &target, len, &moved);
	return moved;
}

struct iucv_result iucv_area_result(uint16_t status)
{
	assert(status != 0);
	return status == IUCV_AREA_LENGTH ? iucv_error(IUCV_BAD_LENGTH) : iucv_program(status);
}

uint8_t iucv_area_code(uint16_t status)
{
	assert(status != 0);
	return status == PGM_PROTECTION ? IUCV_PARTNER_PROTECTION : IUCV_PARTNER_ADDRESSING;
}
