/* SPDX-License-Identifier: MIT */
/*
 * Virtual disks by channel programs: the commands of fixed-block architecture, as far as a 9336
 * without defects has use for them (IBM 3370 Direct Access Storage Description, GA26-1657; Linux'
 * drivers/s390/block/dasd_fba.h has the formats of the parameters).
 *
 * DEFINE EXTENT says which blocks a channel program may use, and LOCATE which of them the next READ
 * or WRITE transfers.
 */
#include <string.h>

#include "bytes.h"
#include "disk_private.h"
#include "zvmlab/fault.h"

enum {
	COMMAND_WRITE = 0x41,
	COMMAND_READ = 0x42,
	COMMAND_LOCATE = 0x43,
	COMMAND_DEFINE_EXTENT = 0x63,
	COMMAND_CHARACTERISTICS = 0x64,
};

/* Parameters of DEFINE EXTENT. */
enum {
	EXTENT_MASK = 0,
	EXTENT_BLOCK_SIZE = 2,	/* 2 bytes */
	EXTENT_FIRST = 4,	/* 4 bytes each: the first block on the disk, … */
	EXTENT_BEGIN = 8,	/* … its number for LOCATE, … */
	EXTENT_END = 12,	/* … and that of the last */
	EXTENT_SIZE = 16,
};
/* Its mask: which writes are allowed, and what a disk without an area for engineers refuses. */
enum {
	MASK_WRITES = 0xc0, MASK_NO_FORMAT = 0x00, MASK_NO_WRITE = 0x40, MASK_ALL = 0xc0,
	MASK_DIAGNOSTIC = 0x04,
};

/* Parameters of LOCATE. */
enum {
	LOCATE_OPERATION = 0,
	LOCATE_COUNT = 2,	/* 2 bytes */
	LOCATE_BLOCK = 4,	/* 4 bytes */
	LOCATE_SIZE = 8,
};
enum { OPERATION_WRITE = 0x01, OPERATION_WRITE_VERIFY = 0x05, OPERATION_READ = 0x06 };

/* What READ DEVICE CHARACTERISTICS gives. */
enum {
	FEATURE_MODE = 0,
	FEATURE_FEATURES = 1,
	FEATURE_CLASS = 2,
	FEATURE_TYPE = 3,
	FEATURE_BLOCK_SIZE = 4,	/* 2 bytes */
	FEATURE_CYLINDER = 6,	/* 4 bytes each: blocks of a cylinder, … */
	FEATURE_BOUNDARY = 10,	/* … under all heads without moving them, … */
	FEATURE_BLOCKS = 14,	/* … and of the disk */
	FEATURE_SIZE = 32,
};
/* Bursts; data chaining would be another bit. */
#define MODE_BURST 0x20
#define CLASS_FBA 0x21
#define TYPE_9336 0x11
/* A 9336 model 10. */
#define CYLINDER 63u
#define BOUNDARY 315u

/* Sense bytes 0 and 1. */
enum { SENSE_EQUIPMENT = 0x10 };
enum { SENSE_PERMANENT = 0x80, SENSE_FILE_PROTECTED = 0x04, SENSE_WRITE_INHIBITED = 0x02 };

enum cp_unit_way disk_way(uint8_t command)
{
	switch (command) {
	case COMMAND_WRITE:
	case COMMAND_LOCATE:
	case COMMAND_DEFINE_EXTENT:
		return CP_UNIT_TAKES;
	case COMMAND_READ:
	case COMMAND_CHARACTERISTICS:
		return CP_UNIT_GIVES;
	default:
		return CP_UNIT_REJECT;
	}
}

uint32_t disk_length(const struct cp *cp, unsigned int index, uint8_t command)
{
	switch (command) {
	case COMMAND_LOCATE:
		return LOCATE_SIZE;
	case COMMAND_DEFINE_EXTENT:
		return EXTENT_SIZE;
	case COMMAND_CHARACTERISTICS:
		return FEATURE_SIZE;
	default:
		return cp->disks->disk[index].program.left * DISK_BLOCK;
	}
}

static void check(struct cp_unit_io *io, uint8_t sense0, uint8_t sense1)
{
	io->status = CP_UNIT_ENDED | CP_UNIT_CHECK;
	io->sense[0] = sense0;
	io->sense[1] = sense1;
	io->length = 0;
}

static void reject(struct cp_unit_io *io)
{
	check(io, CP_SENSE_REJECT, 0);
}

static void characteristics(const struct cp *cp, unsigned int index, struct cp_unit_io *io)
{
	memset(io->data, 0, FEATURE_SIZE);
	io->data[FEATURE_MODE] = MODE_BURST;
	io->data[FEATURE_CLASS] = CLASS_FBA;
	io->data[FEATURE_TYPE] = TYPE_9336;
	put_be16(io->data + FEATURE_BLOCK_SIZE, DISK_BLOCK);
	put_be32(io->data + FEATURE_CYLINDER, CYLINDER);
	put_be32(io->data + FEATURE_BOUNDARY, BOUNDARY);
	put_be32(io->data + FEATURE_BLOCKS, cp->disks->disk[index].shared->blocks);
	io->length = FEATURE_SIZE;
}

static void define_extent(const struct cp *cp, unsigned int index, struct cp_unit_io *io)
{
	struct disk_program *program = &cp->disks->disk[index].program;
	const uint32_t blocks = cp->disks->disk[index].shared->blocks;
	const uint8_t mask = io->data[EXTENT_MASK];
	const uint16_t size = get_be16(io->data + EXTENT_BLOCK_SIZE);
	const struct disk_program extent = {
		.extent = true, .mask = mask, .first = get_be32(io->data + EXTENT_FIRST),
		.begin = get_be32(io->data + EXTENT_BEGIN), .end = get_be32(io->data + EXTENT_END),
	};

	if (io->length != EXTENT_SIZE || program->extent || (size != 0 && size != DISK_BLOCK) ||
	    mask & ~(MASK_WRITES | MASK_DIAGNOSTIC) || io->data[EXTENT_MASK + 1] != 0 ||
	    ((mask & MASK_WRITES) != MASK_NO_FORMAT && (mask & MASK_WRITES) != MASK_NO_WRITE &&
	     (mask & MASK_WRITES) != MASK_ALL) ||
	    extent.begin > extent.end || extent.first >= blocks ||
	    extent.end - extent.begin >= blocks - extent.first) {
		reject(io);
		return;
	}
	*program = extent;
}

static void locate(const struct cp *cp, unsigned int index, struct cp_unit_io *io)
{
	struct disk_program *program = &cp->disks->disk[index].program;
	const uint8_t operation = io->data[LOCATE_OPERATION];
	const uint32_t count = get_be16(io->data + LOCATE_COUNT);
	const uint32_t block = get_be32(io->data + LOCATE_BLOCK);
	const bool writes = operation == OPERATION_WRITE || operation == OPERATION_WRITE_VERIFY;

	program->located = false;
	if (io->length != LOCATE_SIZE || !program->extent || count == 0 ||
	    (!writes && operation != OPERATION_READ)) {
		reject(io);
	} else if (block < program->begin || block > program->end ||
		   count - 1 > program->end - block ||
		   (writes && (program->mask & MASK_WRITES) == MASK_NO_WRITE)) {
		check(io, 0, SENSE_FILE_PROTECTED);
	} else if (writes && cp->disks->disk[index].read_only) {
		check(io, CP_SENSE_REJECT, SENSE_WRITE_INHIBITED);
	} else {
		program->located = true;
		program->writes = writes;
		program->at = program->first + (block - program->begin);
		program->left = count;
	}
}

/* May READ or WRITE begin, or go on?  Only as LOCATE has said, and directly behind it. */
static bool may_transfer(struct disk_program *program, bool writes, struct cp_unit_io *io)
{
	if (!io->again && (!program->located || program->writes != writes)) {
		program->left = 0;
		reject(io);
		return false;
	}
	program->located = false;
	return true;
}

/* A block to or from @data, which has @len bytes of it.  Return: false if a fault ends it. */
static bool transfer(struct cp *cp, struct disk *disk, uint8_t *data, size_t len,
		     struct cp_unit_io *io)
{
	const struct fault_action fault = fault_of_guest(cp, FAULT_DISK_BLOCK, "");
	struct disk_program *program = &disk->program;
	uint8_t *at = disk->shared->data + (size_t)program->at * DISK_BLOCK;

	if (fault.kind == FAULT_RC) {
		program->left = 0;
		check(io, SENSE_EQUIPMENT, SENSE_PERMANENT);
		return false;
	}
	if (!program->writes)
		memcpy(data, at, len);
	if (fault.kind == FAULT_CORRUPT && len > 0)
		data[fault.offset % len] ^= (uint8_t)fault.value;
	if (program->writes && fault.kind != FAULT_DROP) {
		memcpy(at, data, len);
		memset(at + len, 0, DISK_BLOCK - len);
	} else if (!program->writes && fault.kind == FAULT_DROP) {
		memset(data, 0, len);
	}
	disk->reads += !program->writes;
	disk->writes += program->writes;
	program->at++;
	program->left--;
	return true;
}

static void read_blocks(struct cp *cp, struct disk *disk, struct cp_unit_io *io)
{
	struct disk_program *program = &disk->program;
	const uint32_t wanted = io->room;

	if (!may_transfer(program, false, io))
		return;
	io->length = 0;
	while (io->length < wanted && program->left > 0) {
		const uint32_t len = (uint32_t)smaller(wanted - io->length, DISK_BLOCK);

		if (!transfer(cp, disk, io->data + io->length, len, io))
			return;
		io->length += len;
		io->left = len < DISK_BLOCK;
	}
	io->left |= program->left > 0;
}

/* A WRITE without any data makes zeros of all blocks, and gives back their storage at z/VM. */
static void write_blocks(struct cp *cp, struct disk *disk, struct cp_unit_io *io)
{
	struct disk_program *program = &disk->program;
	const bool none = io->length == 0 && !io->again;
	uint32_t done = 0;

	if (!may_transfer(program, true, io))
		return;
	while ((none || done < io->length) && program->left > 0) {
		const uint32_t len = (uint32_t)smaller(io->length - done, DISK_BLOCK);

		if (!transfer(cp, disk, io->data + done, len, io))
			return;
		done += len;
	}
	if (!io->more)
		program->left = 0;
}

void disk_channel_io(struct cp *cp, unsigned int index, struct cp_unit_io *io)
{
	struct disk *disk = &cp->disks->disk[index];

	if (!io->chained && !io->again)
		disk->program = (struct disk_program){ .extent = false };
	switch (io->command) {
	case COMMAND_READ:
		read_blocks(cp, disk, io);
		return;
	case COMMAND_WRITE:
		write_blocks(cp, disk, io);
		return;
	case COMMAND_LOCATE:
		locate(cp, index, io);
		return;
	case COMMAND_DEFINE_EXTENT:
		define_extent(cp, index, io);
		break;
	default:
		characteristics(cp, index, io);
	}
	disk->program.located = false;
}
