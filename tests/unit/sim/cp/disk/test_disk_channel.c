/* SPDX-License-Identifier: MIT */
/*
 * Virtual disks by channel programs.  Codes and parameters are those of the 3370 (GA26-1657) and of
 * Linux' dasd_fba.
 */
#include <stdlib.h>

#include "disk_check.h"
#include "zvmlab/fault.h"
#include "zvmlab/unit.h"

enum { WRITE = 0x41, READ = 0x42, LOCATE = 0x43, EXTENT = 0x63, CHARACTERISTICS = 0x64 };
enum { READS = 0x06, WRITES = 0x01, WRITES_VERIFIED = 0x05 };
enum { NO_FORMAT = 0x00, NO_WRITE = 0x40, RESERVED = 0x80, ALL = 0xc0 };

FX_REPLAY_TRACES;

CASE("disk", disk_setup, fx_teardown);

static struct cp_unit_io io;

/* A command behind another one; its data are in @io.  Return: status. */
static uint8_t command(uint16_t device, uint8_t code, uint32_t length)
{
	const bool gives = cp_unit_way(fx.cp, device, code) == CP_UNIT_GIVES;

	io.device = device;
	io.command = code;
	io.room = gives ? length : 0;
	io.length = gives ? 0 : length;
	cp_unit(fx.cp, &io);
	io.chained = true;
	return io.status;
}

static void ck_ok(uint8_t status)
{
	ck_assert_uint_eq(status, 0x0c);
	ck_assert_uint_eq(io.sense[0], 0);
	ck_assert_uint_eq(io.sense[1], 0);
}

static void ck_check(uint8_t status, uint8_t sense0, uint8_t sense1)
{
	ck_assert_uint_eq(status, 0x0e);
	ck_assert_uint_eq(io.sense[0], sense0);
	ck_assert_uint_eq(io.sense[1], sense1);
}

/* The first command of a channel program. */
static uint8_t extent(uint16_t device, uint8_t mask, uint32_t first, uint32_t begin, uint32_t end)
{
	memset(&io, 0, sizeof(io));
	io.data[0] = mask;
	put_be16(io.data + 2, 512);
	put_be32(io.data + 4, first);
	put_be32(io.data + 8, begin);
	put_be32(io.data + 12, end);
	return command(device, EXTENT, 16);
}

static uint8_t locate(uint16_t device, uint8_t operation, uint16_t count, uint32_t block)
{
	memset(io.data, 0, 8);
	io.data[0] = operation;
	put_be16(io.data + 2, count);
	put_be32(io.data + 4, block);
	return command(device, LOCATE, 8);
}

/* Blocks of the disk as a test sees them. */
static const uint8_t *blocks(uint16_t device, uint32_t first, uint32_t count)
{
	static uint8_t data[64 * 512];
	char err[256];

	ck_assert_int_eq(disk_read(fx.cp, device, first, count, data, err, sizeof(err)), 0);
	return data;
}

static void fill(uint16_t device, uint32_t first, uint32_t count, uint8_t byte)
{
	static uint8_t data[64 * 512];
	char err[256];

	memset(data, byte, count * 512);
	ck_assert_int_eq(disk_write(fx.cp, device, first, data, count * 512, err, sizeof(err)), 0);
}

static bool all(const uint8_t *data, size_t len, uint8_t byte)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] != byte)
			return false;
	return true;
}

static const struct {
	uint8_t command;
	enum cp_unit_way way;
} commands[] = {
	{ 0x41, CP_UNIT_TAKES }, { 0x42, CP_UNIT_GIVES }, { 0x43, CP_UNIT_TAKES },
	{ 0x63, CP_UNIT_TAKES }, { 0x64, CP_UNIT_GIVES }, { 0x01, CP_UNIT_REJECT },
	{ 0x02, CP_UNIT_REJECT }, { 0x94, CP_UNIT_REJECT }, { 0x9e, CP_UNIT_REJECT },
	{ 0xb4, CP_UNIT_REJECT }, { 0xff, CP_UNIT_REJECT },
};

TEST_EACH(commands_that_it_knows, commands)
{
	ck_assert_int_eq(cp_unit_way(fx.cp, DISK, commands[_i].command), commands[_i].way);
	ck_assert_int_eq(cp_unit_way(fx.cp, 0x0300, commands[_i].command), CP_UNIT_REJECT);
}

/* struct dasd_fba_characteristics. */
TEST(says_what_it_is)
{
	memset(&io, 0xff, sizeof(io));
	io.chained = io.again = io.more = false;
	ck_ok(command(DISK, CHARACTERISTICS, 32));
	ck_assert_uint_eq(io.length, 32);
	ck_assert(!io.left);
	ck_assert_uint_eq(io.data[0] & 0x10, 0);	/* no data chaining */
	ck_assert_uint_eq(io.data[2], 0x21);
	ck_assert_uint_eq(get_be16(io.data + 4), 512);
	ck_assert_uint_eq(get_be32(io.data + 14), 64);
	ck_assert(all(io.data + 18, 14, 0));
	/* Less is wanted than there is. */
	ck_ok(command(READ_ONLY, CHARACTERISTICS, 18));
	ck_assert_uint_eq(io.length, 18);
	ck_assert(io.left);
	ck_assert_uint_eq(get_be32(io.data + 14), 16);
}

/* As Linux writes and reads: the extent is the request, and each block is located. */
TEST(blocks_are_written_and_read)
{
	ck_ok(extent(DISK, NO_FORMAT, 10, 0, 1));
	for (uint8_t i = 0; i < 2; i++) {
		ck_ok(locate(DISK, WRITES_VERIFIED, 1, i));
		ck_assert_uint_eq(cp_unit_length(fx.cp, DISK, WRITE), 512);
		memset(io.data, 0xa0 + i, 512);
		ck_ok(command(DISK, WRITE, 512));
	}
	ck_assert(all(blocks(DISK, 10, 1), 512, 0xa0));
	ck_assert(all(blocks(DISK, 11, 1), 512, 0xa1));
	ck_assert(all(blocks(DISK, 0, 10), 5120, 0));
	ck_assert(all(blocks(DISK, 12, 52), 52 * 512, 0));
	ck_ok(extent(DISK, NO_WRITE, 10, 0, 1));
	ck_ok(locate(DISK, READS, 2, 0));
	ck_assert_uint_eq(cp_unit_length(fx.cp, DISK, READ), 1024);
	ck_ok(command(DISK, READ, 1024));
	ck_assert_uint_eq(io.length, 1024);
	ck_assert(!io.left);
	ck_assert(all(io.data, 512, 0xa0) && all(io.data + 512, 512, 0xa1));
}

/* 9 blocks are more than a call holds. */
TEST(in_pieces)
{
	ck_ok(extent(DISK, ALL, 0, 100, 163));
	ck_ok(locate(DISK, WRITES, 9, 102));
	memset(io.data, 0x55, 4096);
	io.more = true;
	ck_ok(command(DISK, WRITE, 4096));
	io.again = true;
	io.more = false;
	memset(io.data, 0x66, 512);
	ck_ok(command(DISK, WRITE, 512));
	io.again = false;
	ck_assert(all(blocks(DISK, 2, 8), 4096, 0x55));
	ck_assert(all(blocks(DISK, 10, 1), 512, 0x66));
	ck_assert(all(blocks(DISK, 11, 1), 512, 0));
	ck_ok(locate(DISK, READS, 9, 102));
	ck_ok(command(DISK, READ, 4096));
	ck_assert_uint_eq(io.length, 4096);
	ck_assert(io.left && all(io.data, 4096, 0x55));
	io.again = true;
	ck_ok(command(DISK, READ, 512));
	ck_assert_uint_eq(io.length, 512);
	ck_assert(!io.left && all(io.data, 512, 0x66));
	/* There is no more. */
	ck_ok(command(DISK, READ, 512));
	ck_assert_uint_eq(io.length, 0);
}

TEST(the_rest_of_a_block_becomes_zeros)
{
	fill(DISK, 0, 4, 0x77);
	ck_ok(extent(DISK, ALL, 0, 0, 63));
	ck_ok(locate(DISK, WRITES, 3, 0));
	memset(io.data, 0x11, 700);
	ck_ok(command(DISK, WRITE, 700));
	ck_assert(all(blocks(DISK, 0, 4), 700, 0x11));
	ck_assert(all(blocks(DISK, 0, 4) + 700, 1024 - 700, 0));
	ck_assert(all(blocks(DISK, 2, 2), 1024, 0x77));
	ck_ok(locate(DISK, READS, 3, 0));
	ck_ok(command(DISK, READ, 700));
	ck_assert_uint_eq(io.length, 700);
	ck_assert(io.left);
}

/* What Linux does for BLKDISCARD. */
TEST(a_write_without_data_makes_zeros)
{
	fill(DISK, 0, 20, 0x77);
	ck_ok(extent(DISK, NO_FORMAT, 0, 0, 63));
	ck_ok(locate(DISK, WRITES_VERIFIED, 16, 2));
	ck_ok(command(DISK, WRITE, 0));
	ck_assert(all(blocks(DISK, 0, 2), 1024, 0x77));
	ck_assert(all(blocks(DISK, 2, 16), 8192, 0));
	ck_assert(all(blocks(DISK, 18, 2), 1024, 0x77));
}

static const struct {
	uint8_t mask;
	uint32_t first, begin, end;
} bad_extents[] = {
	{ RESERVED, 0, 0, 63 }, { 0x20, 0, 0, 63 }, { 0x10, 0, 0, 63 }, { 0x08, 0, 0, 63 },
	{ 0x02, 0, 0, 63 }, { 0x01, 0, 0, 63 }, { ALL, 0, 1, 0 }, { ALL, 0, 0, 64 },
	{ ALL, 1, 0, 63 }, { ALL, 64, 0, 0 }, { ALL, UINT32_MAX, 0, 0 },
	{ ALL, 0, 0, UINT32_MAX }, { ALL, 1, UINT32_MAX - 63, UINT32_MAX },
};

TEST_EACH(extents_that_are_none, bad_extents)
{
	ck_check(extent(DISK, bad_extents[_i].mask, bad_extents[_i].first, bad_extents[_i].begin,
			bad_extents[_i].end), 0x80, 0);
	ck_check(locate(DISK, READS, 1, bad_extents[_i].begin), 0x80, 0);
}

TEST(extents_at_their_ends)
{
	ck_ok(extent(DISK, 0x04, 0, 0, 63));
	ck_ok(extent(DISK, ALL, 63, UINT32_MAX, UINT32_MAX));
	ck_ok(locate(DISK, READS, 1, UINT32_MAX));
	ck_ok(command(DISK, READ, 512));
	/* Once for a channel program. */
	io.data[0] = 0;
	ck_check(command(DISK, EXTENT, 16), 0x80, 0);
	/* Sizes of blocks, and of the parameters. */
	ck_ok(extent(DISK, ALL, 0, 0, 63));
	memset(&io, 0, sizeof(io));
	ck_ok(command(DISK, EXTENT, 16));
	memset(&io, 0, sizeof(io));
	put_be16(io.data + 2, 1024);
	ck_check(command(DISK, EXTENT, 16), 0x80, 0);
	memset(&io, 0, sizeof(io));
	ck_check(command(DISK, EXTENT, 15), 0x80, 0);
	memset(&io, 0, sizeof(io));
	io.data[1] = 1;
	ck_check(command(DISK, EXTENT, 16), 0x80, 0);
}

static const struct {
	uint8_t mask, operation;
	uint16_t count;
	uint32_t block;
	uint8_t sense0, sense1;
} bad_places[] = {
	{ ALL, 0x00, 1, 8, 0x80, 0 }, { ALL, 0x02, 1, 8, 0x80, 0 }, { ALL, 0x04, 1, 8, 0x80, 0 },
	{ ALL, 0x08, 1, 8, 0x80, 0 }, { ALL, 0x16, 1, 8, 0x80, 0 }, { ALL, READS, 0, 8, 0x80, 0 },
	{ ALL, READS, 1, 7, 0, 0x04 }, { ALL, READS, 1, 16, 0, 0x04 }, { ALL, READS, 9, 8, 0, 0x04 },
	{ ALL, WRITES, 2, 15, 0, 0x04 }, { ALL, READS, 1, UINT32_MAX, 0, 0x04 },
	{ ALL, READS, UINT16_MAX, 8, 0, 0x04 }, { NO_WRITE, WRITES, 1, 8, 0, 0x04 },
	{ NO_WRITE, WRITES_VERIFIED, 1, 8, 0, 0x04 },
};

TEST_EACH(places_that_are_none, bad_places)
{
	ck_ok(extent(DISK, bad_places[_i].mask, 0, 8, 15));
	ck_check(locate(DISK, bad_places[_i].operation, bad_places[_i].count, bad_places[_i].block),
		 bad_places[_i].sense0, bad_places[_i].sense1);
	ck_check(command(DISK, READ, 512), 0x80, 0);
	ck_check(command(DISK, WRITE, 512), 0x80, 0);
	ck_assert(all(blocks(DISK, 0, 64), 64 * 512, 0));
}

TEST(a_disk_that_is_read_only)
{
	fill(READ_ONLY, 0, 16, 0x33);
	ck_ok(extent(READ_ONLY, ALL, 0, 0, 15));
	ck_check(locate(READ_ONLY, WRITES, 1, 0), 0x80, 0x02);
	ck_check(command(READ_ONLY, WRITE, 512), 0x80, 0);
	ck_ok(locate(READ_ONLY, READS, 8, 8));
	ck_ok(command(READ_ONLY, READ, 4096));
	ck_assert(all(io.data, 4096, 0x33));
	ck_assert(all(blocks(READ_ONLY, 0, 16), 16 * 512, 0x33));
}

/* Each READ and WRITE is the one that was located, at once and once. */
TEST(order_of_commands)
{
	memset(&io, 0, sizeof(io));
	ck_check(command(DISK, READ, 512), 0x80, 0);
	memset(&io, 0, sizeof(io));
	ck_check(locate(DISK, READS, 1, 0), 0x80, 0);
	ck_ok(extent(DISK, ALL, 0, 0, 63));
	ck_check(command(DISK, READ, 512), 0x80, 0);
	ck_ok(locate(DISK, READS, 1, 0));
	ck_check(command(DISK, WRITE, 512), 0x80, 0);
	ck_ok(locate(DISK, WRITES, 1, 0));
	ck_check(command(DISK, READ, 512), 0x80, 0);
	ck_ok(locate(DISK, READS, 2, 0));
	ck_ok(command(DISK, READ, 512));
	ck_check(command(DISK, READ, 512), 0x80, 0);
	ck_ok(locate(DISK, READS, 1, 0));
	ck_ok(command(DISK, CHARACTERISTICS, 32));
	ck_check(command(DISK, READ, 512), 0x80, 0);
	/* The next channel program begins anew. */
	ck_ok(extent(DISK, ALL, 0, 0, 63));
	ck_ok(locate(DISK, READS, 1, 0));
	io.chained = false;
	ck_check(command(DISK, READ, 512), 0x80, 0);
	ck_check(locate(DISK, READS, 1, 0), 0x80, 0);
}

/* The blocks of DIAGNOSE X'250' are the same ones, and the counts those of both. */
TEST(the_same_blocks_as_by_diagnose)
{
	set_up(DISK, 4096, 0);
	ck_250(INIT_BIO, 0, 0);
	memset(fx_at(DATA, 4096), 0x99, 4096);
	put_entry(0, WRITE_BLOCK, 2);
	put_request(DISK, 1, false);
	ck_250(RW_BIO, 0, 0);
	ck_ok(extent(DISK, ALL, 0, 0, 63));
	ck_ok(locate(DISK, READS, 8, 8));
	ck_ok(command(DISK, READ, 4096));
	ck_assert(all(io.data, 4096, 0x99));
	ck_assert_uint_eq(info_of(0).writes, 1);
	ck_assert_uint_eq(info_of(0).reads, 8);
}

TEST(faults)
{
	ck_arm(FAULT_DISK_BLOCK, FAULT_RC, .value = 1);
	ck_ok(extent(DISK, ALL, 0, 0, 63));
	ck_ok(locate(DISK, WRITES, 1, 0));
	ck_check(command(DISK, WRITE, 512), 0x10, 0x80);
	ck_assert(all(blocks(DISK, 0, 1), 512, 0));
	fault_disarm(fx.cp, 0);
	ck_arm(FAULT_DISK_BLOCK, FAULT_CORRUPT, .value = 0x0f, .offset = 5);
	ck_ok(locate(DISK, WRITES, 1, 0));
	memset(io.data, 0x11, 512);
	ck_ok(command(DISK, WRITE, 512));
	ck_assert_uint_eq(blocks(DISK, 0, 1)[5], 0x1e);
	ck_assert_uint_eq(blocks(DISK, 0, 1)[6], 0x11);
	fault_disarm(fx.cp, 0);
	ck_arm(FAULT_DISK_BLOCK, FAULT_DROP);
	ck_ok(locate(DISK, WRITES, 1, 1));
	memset(io.data, 0x22, 512);
	ck_ok(command(DISK, WRITE, 512));
	ck_assert(all(blocks(DISK, 1, 1), 512, 0));
	ck_ok(locate(DISK, READS, 1, 0));
	ck_ok(command(DISK, READ, 512));
	ck_assert(all(io.data, 512, 0));
}

/* A channel program does not survive a reset, nor another state. */
TEST(ended_by_reset_and_load)
{
	size_t len;
	uint8_t *image = fx_save(&len);

	ck_ok(extent(DISK, ALL, 0, 0, 63));
	cp_reset(fx.cp);
	ck_check(locate(DISK, READS, 1, 0), 0x80, 0);
	ck_ok(extent(DISK, ALL, 0, 0, 63));
	fx_load(image, len);
	ck_check(locate(DISK, READS, 1, 0), 0x80, 0);
	free(image);
}
