/* SPDX-License-Identifier: MIT */
/*
 * Application data: the buffers that are declared.
 *
 * A buffer is known by product ID, address and length together: when its size changes, Linux's
 * appldata_os declares the new length before it withdraws the old one.  The end of a buffer is
 * an event, D10R1 (IBM's description of MRAPLEDT): STOP, reset, or the purge of its segment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor_private.h"
#include "zvmlab/state.h"

static int appldata_init(struct cp *cp, char *err, size_t errlen)
{
	cp->appldata = calloc(1, sizeof(*cp->appldata));
	if (!cp->appldata) {
		snprintf(err, errlen, "not enough memory for application data");
		return -1;
	}
	return 0;
}

static void appldata_fini(struct cp *cp)
{
	free(cp->appldata);
	cp->appldata = NULL;
}

static bool same(const struct appldata_buffer *a, const struct appldata_buffer *b)
{
	return memcmp(a->product, b->product, sizeof(a->product)) == 0 &&
	       a->address == b->address && a->length == b->length;
}

/* Return: place in the list, or its length if there is no such buffer. */
static uint32_t find(const struct appldata *a, const struct appldata_buffer *buffer)
{
	uint32_t i = 0;

	assert(a->count <= APPLDATA_MAX_BUFFERS);
	while (i < a->count && !same(&a->declared[i].buffer, buffer))
		i++;
	return i;
}

enum appldata_rc appldata_start(struct cp *cp, const struct appldata_buffer *buffer,
				enum appldata_kind kind)
{
	struct appldata *a = cp->appldata;
	struct appldata_info *info;

	assert(buffer->length > 0 && buffer->length <= APPLDATA_MAX_LENGTH);
	assert((unsigned int)kind < APPLDATA_KINDS);
	if (find(a, buffer) < a->count)
		return APPLDATA_DECLARED;
	if (a->count == APPLDATA_MAX_BUFFERS)
		return APPLDATA_TOO_MANY;
	info = &a->declared[a->count++];
	*info = (struct appldata_info){ .buffer = *buffer, .kind = kind };
	if (kind == APPLDATA_CONFIG)
		mon_configure_more(cp, info);
	return APPLDATA_OK;
}

/* The last record of a buffer, then it is forgotten; the others keep their order. */
static void end(struct cp *cp, uint32_t index)
{
	struct appldata *a = cp->appldata;

	assert(index < a->count);
	appldata_event(cp, &a->declared[index].buffer);
	a->count--;
	memmove(&a->declared[index], &a->declared[index + 1],
		(a->count - index) * sizeof(a->declared[0]));
}

enum appldata_rc appldata_stop(struct cp *cp, const struct appldata_buffer *buffer)
{
	const struct appldata *a = cp->appldata;
	const uint32_t index = find(a, buffer);

	if (index == a->count)
		return APPLDATA_NOT_DECLARED;
	end(cp, index);
	return APPLDATA_OK;
}

static void appldata_purged(struct cp *cp, uint64_t first, uint64_t last)
{
	const struct appldata *a = cp->appldata;

	assert(first <= last);
	for (uint32_t i = a->count; i-- > 0;) {
		const struct appldata_buffer *buffer = &a->declared[i].buffer;

		if (buffer->address <= last && buffer->address + buffer->length - 1 >= first)
			end(cp, i);
	}
}

static void appldata_reset(struct cp *cp)
{
	while (cp->appldata->count > 0)
		end(cp, 0);
}

bool appldata_at(const struct cp *cp, unsigned int index, struct appldata_info *out)
{
	if (index >= cp->appldata->count)
		return false;
	*out = cp->appldata->declared[index];
	assert(out->buffer.length > 0 && out->buffer.length <= APPLDATA_MAX_LENGTH);
	return true;
}

static void info_state(struct state *s, struct appldata_info *info)
{
	uint8_t kind = (uint8_t)info->kind;

	state_bytes(s, info->buffer.product, sizeof(info->buffer.product));
	state_u64(s, &info->buffer.address);
	state_u16(s, &info->buffer.length);
	state_u8(s, &kind);
	state_u64(s, &info->records);
	state_require(s, info->buffer.length > 0 && info->buffer.length <= APPLDATA_MAX_LENGTH &&
				 kind < APPLDATA_KINDS &&
				 info->buffer.address <= UINT64_MAX - APPLDATA_MAX_LENGTH);
	info->kind = (enum appldata_kind)(kind % APPLDATA_KINDS);
}

static void appldata_state(struct cp *cp, struct state *s)
{
	struct appldata *a = cp->appldata;
	uint32_t count = a->count;

	state_tag(s, "APPL");
	state_u32(s, &count);
	state_require(s, count <= APPLDATA_MAX_BUFFERS);
	a->count = s->loading ? 0 : count;
	for (uint32_t i = 0; i < count && !s->failed; i++) {
		info_state(s, &a->declared[i]);
		if (s->loading) {
			state_require(s, find(a, &a->declared[i].buffer) == a->count);
			a->count++;
		}
	}
	if (s->loading && s->failed)
		a->count = 0;
}

const struct cp_part appldata_part = {
	.init = appldata_init,
	.fini = appldata_fini,
	.reset = appldata_reset,
	.state = appldata_state,
	.purged = appldata_purged,
};
