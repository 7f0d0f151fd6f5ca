/* SPDX-License-Identifier: MIT */
/* Commands of channel programs: each goes to the part whose device it is for. */
#include <string.h>

#include "cp_private.h"
#include "zvmlab/input.h"
#include "zvmlab/trace.h"
#include "zvmlab/unit.h"

enum kind { NONE, CONSOLE, RECORDS, DISK };

/* @index: of the device among those of its kind. */
static enum kind kind_of(const struct cp *cp, uint16_t device, unsigned int *index)
{
	const int unit = spool_unit(cp, device), disk = disk_index(cp, device);

	*index = (unsigned int)(unit >= 0 ? unit : disk);
	if (unit >= 0)
		return RECORDS;
	if (disk >= 0)
		return DISK;
	return console_is(cp, device) ? CONSOLE : NONE;
}

bool cp_has_device(const struct cp *cp, uint16_t device)
{
	unsigned int index;

	return kind_of(cp, device, &index) != NONE;
}

enum cp_unit_way cp_unit_way(const struct cp *cp, uint16_t device, uint8_t command)
{
	unsigned int index;

	switch (kind_of(cp, device, &index)) {
	case CONSOLE:
		return console_way(command);
	case RECORDS:
		return spool_unit_way(cp, index, command);
	case DISK:
		return disk_way(command);
	default:
		return CP_UNIT_REJECT;
	}
}

uint32_t cp_unit_length(const struct cp *cp, uint16_t device, uint8_t command)
{
	unsigned int index;

	switch (kind_of(cp, device, &index)) {
	case CONSOLE:
		return UINT16_MAX;
	case RECORDS:
		return spool_unit_length(cp, index);
	case DISK:
		return disk_length(cp, index, command);
	default:
		return 0;
	}
}

static void carry_out(struct cp *cp, struct cp_unit_io *io)
{
	unsigned int index;

	switch (kind_of(cp, io->device, &index)) {
	case CONSOLE:
		console_io(cp, io);
		break;
	case RECORDS:
		spool_unit_io(cp, index, io);
		break;
	case DISK:
		disk_channel_io(cp, index, io);
		break;
	default:
		break;
	}
}

void cp_unit(struct cp *cp, struct cp_unit_io *io)
{
	const enum cp_unit_way way = cp_unit_way(cp, io->device, io->command);

	assert(way != CP_UNIT_REJECT && io->room <= CP_UNIT_DATA && io->length <= CP_UNIT_DATA);
	assert(way == CP_UNIT_TAKES || io->length == 0);
	TRACE_INPUT(cp, unit, .device = io->device, .command = io->command,
		    .data = { io->data, io->length }, .chained = io->chained, .again = io->again,
		    .more = io->more, .room = io->room);
	io->status = CP_UNIT_ENDED;
	memset(io->sense, 0, sizeof(io->sense));
	io->left = false;
	carry_out(cp, io);
	assert(io->length <= CP_UNIT_DATA);
	if (way == CP_UNIT_GIVES && io->length > io->room) {
		io->length = io->room;
		io->left = true;
	}
	trace_hex(cp, "status", io->status);
	if (io->sense[0] || io->sense[1])
		trace_hex(cp, "sense", (uint64_t)io->sense[0] << 8 | io->sense[1]);
	if (way == CP_UNIT_GIVES)
		trace_bytes(cp, "record", io->data, io->length);
	trace_end(cp);
}
