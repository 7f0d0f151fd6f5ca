/* SPDX-License-Identifier: MIT */
/* Virtual disks: DIAGNOSE X'250', X'210', the interruption, and what tests do with disks. */
#include <stdlib.h>

#include "disk_check.h"
#include "state_check.h"

static char err[512];

static const struct {
	uint32_t block_size;
	int64_t offset, start, end;
} sizes[] = {
	{ 512, 0, 1, 64 }, { 1024, 0, 1, 32 }, { 2048, 0, 1, 16 }, { 4096, 0, 1, 8 },
	{ 512, 10, -9, 54 }, { 4096, -3, 4, 11 }, { 512, INT64_MAX, INT64_MIN + 2, INT64_MIN + 65 },
	{ 512, INT64_MIN, INT64_MIN + 1, INT64_MIN + 64 },
};

FX_REPLAY_TRACES;

CASE("disk", disk_setup, fx_teardown);

TEST_EACH(set_up_and_removed, sizes)
{
	set_up(DISK, sizes[_i].block_size, sizes[_i].offset);
	ck_250(INIT_BIO, 0, 0);
	ck_assert_int_eq((int64_t)get_be64(fx_at(BIOPL + BIOPL_START, 8)), sizes[_i].start);
	ck_assert_int_eq((int64_t)get_be64(fx_at(BIOPL + BIOPL_END, 8)), sizes[_i].end);
	ck_assert(info_of(0).established && !info_of(1).established);
	ck_assert_uint_eq(info_of(0).block_size, sizes[_i].block_size);
	ck_assert_int_eq(info_of(0).offset, sizes[_i].offset);
	/* Once. */
	set_up(DISK, 512, 0);
	ck_250(INIT_BIO, 2, 28);
	ck_assert_uint_eq(get_be64(fx_at(BIOPL + BIOPL_END, 8)), 0);
	ck_assert_uint_eq(info_of(0).block_size, sizes[_i].block_size);
	/* All blocks that there are, and no others. */
	put_entry(0, READ_BLOCK, sizes[_i].start);
	put_entry(1, READ_BLOCK, sizes[_i].end);
	put_entry(2, READ_BLOCK, sizes[_i].start - 1);
	put_entry(3, READ_BLOCK, (int64_t)((uint64_t)sizes[_i].end + 1));
	put_request(DISK, 4, false);
	ck_250(RW_BIO, 1, 12);
	ck_assert_uint_eq(entry_status(0), 0);
	ck_assert_uint_eq(entry_status(1), 0);
	ck_assert_uint_eq(entry_status(2), 1);
	ck_assert_uint_eq(entry_status(3), 1);
	new_list(DISK, false);
	ck_250(TERM_BIO, 0, 0);
	ck_assert(!info_of(0).established);
	ck_assert_uint_eq(info_of(0).block_size, 0);
	ck_assert_int_eq(info_of(0).offset, 0);
	ck_250(TERM_BIO, 2, 28);
	put_request(DISK, 1, false);
	ck_250(RW_BIO, 2, 28);
}

static const uint32_t bad_sizes[] = { 0, 1, 256, 511, 513, 768, 3072, 8192, 0x80000000 };

TEST_EACH(block_sizes_that_are_none, bad_sizes)
{
	set_up(DISK, bad_sizes[_i], 0);
	ck_250(INIT_BIO, 2, 24);
	ck_assert(!info_of(0).established);
}

TEST(devices_that_are_no_disks)
{
	static const struct {
		uint16_t device;
		uint64_t init, other;
	} devices[] = { { 0x0202, 16, 16 }, { 0x000c, 20, 28 }, { 0x0009, 20, 28 } };

	for (size_t i = 0; i < 3; i++) {
		set_up(devices[i].device, 512, 0);
		ck_250(INIT_BIO, 2, devices[i].init);
		put_request(devices[i].device, 1, false);
		ck_250(RW_BIO, 2, devices[i].other);
		new_list(devices[i].device, false);
		ck_250(TERM_BIO, 2, devices[i].other);
	}
}

TEST(written_and_read)
{
	established(DISK, 1024);
	memset(fx_at(DATA, 1024), 0xa1, 1024);
	memset(fx_at(DATA + 4096, 1024), 0xb2, 1024);
	put_entry(0, WRITE_BLOCK, 1);
	put_entry(1, WRITE_BLOCK, 32);
	put_request(DISK, 2, false);
	ck_250(RW_BIO, 0, 0);
	ck_assert_uint_eq(entry_status(0), 0);
	ck_assert_uint_eq(entry_status(1), 0);
	ck_untold();
	ck_blocks(DISK, 0, 2, 0xa1);
	ck_blocks(DISK, 2, 60, 0);
	ck_blocks(DISK, 62, 2, 0xb2);
	put_blocks(DISK, 2, 2, 0xc3);
	put_entry(0, READ_BLOCK, 2);
	put_request(DISK, 1, false);
	ck_250(RW_BIO, 0, 0);
	for (unsigned int i = 0; i < 1024; i++)
		ck_assert_uint_eq(*fx_at(DATA + i, 1), 0xc3);
	ck_assert_uint_eq(*fx_at(DATA + 1024, 1), 0);
	ck_assert_uint_eq(info_of(0).reads, 1);
	ck_assert_uint_eq(info_of(0).writes, 2);
	ck_assert_uint_eq(info_of(1).reads, 0);
}

TEST(most_blocks_of_a_request)
{
	established(DISK, 512);
	for (unsigned int i = 0; i < 256; i++) {
		uint8_t *entry = put_entry(i, WRITE_BLOCK, 1 + i % 64);

		put_be64(entry + BIOE_BUFFER, DATA);
	}
	memset(fx_at(DATA, 512), 7, 512);
	put_request(DISK, 256, false);
	ck_250(RW_BIO, 0, 0);
	ck_assert_uint_eq(info_of(0).writes, 256);
	ck_assert_uint_eq(entry_status(255), 0);
	put_request(DISK, 257, false);
	ck_250(RW_BIO, 2, 36);
	put_request(DISK, 0, true);
	ck_250(RW_BIO, 2, 36);
	ck_assert_uint_eq(info_of(0).writes, 256);
}

TEST(formats_of_31_bits)
{
	uint8_t *list = new_list(DISK, false), *entry;
	struct cp_external external;

	put_be32(list + BIOPL_BLOCK_SIZE, 512);
	put_be32(list + BIOPL_OFFSET31, (uint32_t)-2);
	ck_250(INIT_BIO, 0, 0);
	ck_assert_uint_eq(get_be32(list + BIOPL_START31), 3);
	ck_assert_uint_eq(get_be32(list + BIOPL_END31), 66);
	ck_assert_int_eq(info_of(0).offset, -2);
	put_blocks(DISK, 5, 1, 0x5a);
	entry = fx_at(BIOES, 2 * BIOE_SIZE31);
	memset(entry, 0, 2 * BIOE_SIZE31);
	for (unsigned int i = 0; i < 2; i++) {
		entry[i * BIOE_SIZE31] = READ_BLOCK;
		put_be32(entry + i * BIOE_SIZE31 + BIOE_BLOCK31, i == 0 ? 8 : 2);
		/* Bit 0 is no part of an address. */
		put_be32(entry + i * BIOE_SIZE31 + BIOE_BUFFER31, 0x80000000 | DATA);
	}
	list = new_list(DISK, false);
	list[BIOPL_FLAGS] = 2;
	put_be32(list + BIOPL_COUNT, 2);
	put_be32(list + BIOPL_LIST31, 0x80000000 | BIOES);
	put_be32(list + BIOPL_INTPARM31, 0x89abcdef);
	ck_250(RW_BIO, 0, 8);
	ck_assert_uint_eq(entry[BIOE_STATUS], 0);
	ck_assert_uint_eq(entry[BIOE_SIZE31 + BIOE_STATUS], 1);
	ck_assert_uint_eq(*fx_at(DATA + 511, 1), 0x5a);
	ck_assert(cp_external_take(fx.cp, 0, &external));
	ck_assert_uint_eq(external.subcode, 0x0301);
	ck_assert_uint_eq(external.parameter32, 0x89abcdef);
	ck_assert_uint_eq(external.parameter, 0);
	ck_untold();
}

TEST(a_disk_that_is_read_only)
{
	put_blocks(READ_ONLY, 0, 1, 3);
	established(READ_ONLY, 512);
	put_entry(0, WRITE_BLOCK, 1);
	put_request(READ_ONLY, 1, false);
	ck_250(RW_BIO, 2, 40);
	ck_assert_uint_eq(entry_status(0), 3);
	ck_blocks(READ_ONLY, 0, 1, 3);
	put_entry(0, READ_BLOCK, 1);
	put_request(READ_ONLY, 1, false);
	ck_250(RW_BIO, 0, 0);
	ck_assert_uint_eq(*fx_at(DATA, 1), 3);
	ck_assert_uint_eq(info_of(1).writes, 0);
	ck_assert(info_of(1).read_only && !info_of(0).read_only);
}

/* A mistake in an entry: the byte that makes it, and the resulting status. */
static const struct {
	uint8_t type;
	unsigned int offset;
	uint8_t value, status;
} entries[] = {
	{ READ_BLOCK, BIOE_RESERVED, 1, 0x0b }, { WRITE_BLOCK, BIOE_RESERVED + 1, 0x80, 0x0b },
	{ READ_BLOCK, BIOE_BLOCK + 7, 0, 0x01 }, { WRITE_BLOCK, BIOE_BLOCK + 7, 65, 0x01 },
	{ READ_BLOCK, BIOE_BLOCK, 0x80, 0x01 },
	{ 0, BIOE_TYPE, 0, 0x06 }, { 0, BIOE_TYPE, 3, 0x06 }, { 0, BIOE_TYPE, 0x82, 0x06 },
	{ READ_BLOCK, BIOE_ALET, 0x02, 0x0a }, { READ_BLOCK, BIOE_ALET, 0x01, 0x09 },
	{ WRITE_BLOCK, BIOE_ALET + 3, 0x01, 0x09 },
	{ READ_BLOCK, BIOE_BUFFER, 1, 0x02 }, { WRITE_BLOCK, BIOE_BUFFER, 1, 0x02 },
	/* MONDCSS, which is not loaded; then the guest's last page, and what is behind it. */
	{ READ_BLOCK, BIOE_BUFFER + 5, 0x80, 0x02 },
};

TEST_EACH(wrong_entries, entries)
{
	for (unsigned int async = 0; async < 2; async++) {
		memset(fx_at(DATA, 4096), 0x11, 4096);
		if (async == 0)
			established(DISK, 512);
		put_entry(0, entries[_i].type, 1)[entries[_i].offset] = entries[_i].value;
		put_entry(1, WRITE_BLOCK, 2);
		put_request(DISK, 1, async);
		ck_250(RW_BIO, async ? 0 : 2, async ? 8 : 40);
		if (async)
			ck_told(1);
		ck_assert_uint_eq(entry_status(0), entries[_i].status);
		ck_assert_uint_eq(entry_status(1), 0xee);
		/* The other one is carried out. */
		put_request(DISK, 2, async);
		ck_250(RW_BIO, async ? 0 : 1, async ? 8 : 12);
		if (async)
			ck_told(1);
		ck_assert_uint_eq(entry_status(0), entries[_i].status);
		ck_assert_uint_eq(entry_status(1), 0);
		ck_blocks(DISK, 0, 1, 0);
		ck_assert_uint_eq(*fx_at(DATA, 1), 0x11);
	}
}

/* A list, or data, of which only a part is storage of the guest's. */
TEST(storage_that_ends)
{
	const uint32_t last = (4u << 20) - 256;
	uint8_t *entry;

	established(DISK, 512);
	entry = put_entry(0, READ_BLOCK, 1);
	put_be64(entry + BIOE_BUFFER, last);
	put_request(DISK, 1, false);
	ck_250(RW_BIO, 2, 40);
	ck_assert_uint_eq(entry_status(0), 2);
	put_be64(entry + BIOE_BUFFER, last - 256);
	ck_250(RW_BIO, 0, 0);
	/* The first entry is there, and of the second a part. */
	memcpy(fx_at((4u << 20) - 40, BIOE_SIZE), entry, BIOE_SIZE);
	put_request(DISK, 2, false);
	put_be64(fx_at(BIOPL + BIOPL_LIST, 8), (4u << 20) - 40);
	ck_pgm(diag250(RW_BIO), PGM_ADDRESSING);
	*fx_at(BIOPL + BIOPL_FLAGS, 1) = 2;
	ck_250(RW_BIO, 0, 8);
	ck_told(2);
	put_be64(fx_at(BIOPL + BIOPL_LIST, 8), UINT64_MAX - 10);
	ck_250(RW_BIO, 0, 8);
	ck_told(2);
	ck_untold();
}

/* A segment that the guest may only read: neither data nor status are stored there. */
TEST(storage_that_is_protected)
{
	uint8_t *entry;

	load_segment();
	established(DISK, 512);
	entry = put_entry(0, READ_BLOCK, 1);
	put_be64(entry + BIOE_BUFFER, FX_SEGMENT_START);
	put_request(DISK, 1, false);
	ck_250(RW_BIO, 2, 40);
	ck_assert_uint_eq(entry_status(0), 7);
	/* From there blocks may be written. */
	entry[BIOE_TYPE] = WRITE_BLOCK;
	ck_250(RW_BIO, 0, 0);
	put_be64(fx_at(BIOPL + BIOPL_LIST, 8), FX_SEGMENT_START);
	ck_pgm(diag250(RW_BIO), PGM_PROTECTION);
	*fx_at(BIOPL + BIOPL_FLAGS, 1) = 2;
	ck_250(RW_BIO, 0, 8);
	ck_told(2);
	ck_assert_uint_eq(info_of(0).writes, 1);
}

/* A byte that is not what it has to be, and the program interruption. */
static const struct {
	unsigned int function, offset;
	uint8_t value;
	uint16_t pgm;
} lists[] = {
	{ INIT_BIO, BIOPL_FLAGA, 0x81, PGM_SPECIFICATION }, { INIT_BIO, 3, 1, PGM_SPECIFICATION },
	{ INIT_BIO, 23, 1, PGM_SPECIFICATION }, { INIT_BIO, 28, 1, PGM_SPECIFICATION },
	{ INIT_BIO, 31, 1, PGM_SPECIFICATION }, { INIT_BIO, 56, 1, PGM_SPECIFICATION },
	{ INIT_BIO, 63, 1, PGM_SPECIFICATION },
	{ RW_BIO, BIOPL_FLAGA, 0xc0, PGM_SPECIFICATION }, { RW_BIO, 3, 1, PGM_SPECIFICATION },
	{ RW_BIO, 23, 1, PGM_SPECIFICATION }, { RW_BIO, 26, 1, PGM_SPECIFICATION },
	{ RW_BIO, 27, 1, PGM_SPECIFICATION }, { RW_BIO, 36, 1, PGM_SPECIFICATION },
	{ RW_BIO, 39, 1, PGM_SPECIFICATION }, { RW_BIO, 56, 1, PGM_SPECIFICATION },
	{ RW_BIO, 63, 1, PGM_SPECIFICATION }, { RW_BIO, BIOPL_KEY, 0x01, PGM_SPECIFICATION },
	{ RW_BIO, BIOPL_KEY, 0x08, PGM_SPECIFICATION },
	{ RW_BIO, BIOPL_FLAGS, 0x04, PGM_SPECIFICATION },
	{ RW_BIO, BIOPL_FLAGS, 0x80, PGM_SPECIFICATION },
	{ RW_BIO, BIOPL_ALET, 0x02, 0x28 }, { RW_BIO, BIOPL_ALET, 0x01, 0x29 },
	{ RW_BIO, BIOPL_ALET + 3, 1, 0x29 },
	{ TERM_BIO, BIOPL_FLAGA, 0x80, PGM_SPECIFICATION }, { TERM_BIO, 63, 1, PGM_SPECIFICATION },
	{ 3, BIOPL_SIZE, 0, PGM_SPECIFICATION }, { 0xffffffff, BIOPL_SIZE, 0, PGM_SPECIFICATION },
};

static void put_list(unsigned int function)
{
	put_entry(0, READ_BLOCK, 1);
	if (function == INIT_BIO)
		set_up(DISK, 512, 0);
	else if (function == RW_BIO)
		put_request(DISK, 1, false);
	else
		new_list(DISK, false);
}

TEST_EACH(wrong_lists, lists)
{
	if (lists[_i].function != INIT_BIO)
		established(DISK, 512);
	put_list(lists[_i].function);
	if (lists[_i].offset < BIOPL_SIZE)
		*fx_at(BIOPL + lists[_i].offset, 1) = lists[_i].value;
	ck_pgm(diag250(lists[_i].function), lists[_i].pgm);
	ck_assert_uint_eq(info_of(0).established, lists[_i].function != INIT_BIO);
	ck_assert_uint_eq(entry_status(0), 0xee);
	/* Without that byte it is carried out. */
	if (lists[_i].function > TERM_BIO)
		return;
	put_list(lists[_i].function);
	ck_250(lists[_i].function, 0, 0);
}

/* In the format of 31 bits other bytes are reserved. */
TEST(wrong_lists_of_31_bits)
{
	static const uint8_t init[] = { 40, 63 }, io[] = { 26, 27, 44, 63 };
	uint8_t *list;

	for (size_t i = 0; i < 2; i++) {
		list = new_list(DISK, false);
		put_be32(list + BIOPL_BLOCK_SIZE, 512);
		list[init[i]] = 1;
		ck_pgm(diag250(INIT_BIO), PGM_SPECIFICATION);
	}
	established(DISK, 512);
	for (size_t i = 0; i < 4; i++) {
		list = new_list(DISK, false);
		put_be32(list + BIOPL_COUNT, 1);
		list[io[i]] = 1;
		ck_pgm(diag250(RW_BIO), PGM_SPECIFICATION);
	}
}

TEST(wrong_places_of_a_list)
{
	set_up(DISK, 512, 0);
	fx.gr[4] = INIT_BIO;
	fx.gr[2] = BIOPL + 4;
	ck_pgm(fx_diag(2, 4, 0x250), PGM_SPECIFICATION);
	fx.gr[2] = UINT64_C(1) << 40;
	ck_pgm(fx_diag(2, 4, 0x250), PGM_ADDRESSING);
	fx.gr[15] = BIOPL;
	ck_pgm(fx_diag(15, 4, 0x250), PGM_SPECIFICATION);
	/* It could be read there. */
	load_segment();
	fx.gr[2] = FX_SEGMENT_START;
	ck_pgm(fx_diag(2, 4, 0x250), PGM_PROTECTION);
	ck_assert(!info_of(0).established);
	fx.gr[14] = BIOPL;
	ck_cc(fx_diag(14, 4, 0x250), 0);
	ck_assert_uint_eq(fx.gr[15], 0);
}

/* Key and the flag for CP's cache change nothing. */
TEST(key_and_cache)
{
	established(DISK, 512);
	put_entry(0, WRITE_BLOCK, 1);
	put_request(DISK, 1, false);
	*fx_at(BIOPL + BIOPL_KEY, 1) = 0xf0;
	*fx_at(BIOPL + BIOPL_FLAGS, 1) = 0x01;
	ck_250(RW_BIO, 0, 0);
	*fx_at(BIOPL + BIOPL_FLAGS, 1) = 0x03;
	ck_250(RW_BIO, 0, 8);
	ck_told(0);
}

static struct disk_pending pending_of(unsigned int index)
{
	struct disk_pending pending;

	ck_assert(disk_pending(fx.cp, index, &pending));
	return pending;
}

static unsigned int pending_count(void)
{
	struct disk_pending pending;
	unsigned int count = 0;

	while (disk_pending(fx.cp, count, &pending))
		count++;
	return count;
}

static void ck_event(const char *what, uint16_t device, uint64_t request)
{
	ck_assert_int_eq(fx.last_event.kind, CP_EVENT_DISK);
	ck_assert_str_eq(fx.last_text, what);
	ck_assert_uint_eq(fx.last_event.path, device);
	ck_assert_uint_eq(fx.last_event.value, request);
}

TEST(asynchronous)
{
	const unsigned int kicks = fx.externals[0] + fx.externals[1];

	established(DISK, 512);
	memset(fx_at(DATA, 512), 9, 512);
	put_entry(0, WRITE_BLOCK, 3);
	put_request(DISK, 1, true);
	ck_250(RW_BIO, 0, 8);
	ck_event("ended", DISK, 1);
	ck_assert_uint_eq(fx.externals[0] + fx.externals[1], kicks + 2);
	ck_assert_uint_eq(pending_count(), 1);
	ck_assert(!pending_of(0).waits);
	ck_assert_uint_eq(pending_of(0).end, 0);
	/* The data are there before the guest is told. */
	ck_blocks(DISK, 2, 1, 9);
	ck_told(0);
	ck_untold();
	ck_assert_uint_eq(pending_count(), 0);
}

/* Three requests for two disks: told of in the order in which they end. */
static void hold_three(void)
{
	established(DISK, 512);
	established(READ_ONLY, 512);
	put_blocks(READ_ONLY, 0, 1, 0x77);
	disk_hold(fx.cp, true);
	ck_assert(disk_held(fx.cp));
	put_entry(0, WRITE_BLOCK, 1);
	memset(fx_at(DATA, 512), 1, 512);
	put_entry(1, READ_BLOCK, 1);
	put_entry(2, WRITE_BLOCK, 2);
	put_entry(3, WRITE_BLOCK, 99);
	for (unsigned int i = 0; i < 3; i++) {
		put_request(i == 1 ? READ_ONLY : DISK, i == 2 ? 2 : 1, true);
		put_be64(fx_at(BIOPL + BIOPL_LIST, 8), BIOES + i * BIOE_SIZE);
		put_be64(fx_at(BIOPL + BIOPL_INTPARM, 8), PARAMETER);
		ck_250(RW_BIO, 0, 8);
		ck_event("held", i == 1 ? READ_ONLY : DISK, i + 1);
	}
	ck_untold();
	ck_assert_uint_eq(pending_count(), 3);
}

TEST(requests_that_wait)
{
	hold_three();
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_uint_eq(pending_of(i).number, i + 1);
		ck_assert_uint_eq(pending_of(i).device, i == 1 ? READ_ONLY : DISK);
		ck_assert_uint_eq(pending_of(i).count, i == 2 ? 2 : 1);
		ck_assert(pending_of(i).waits);
	}
	ck_blocks(DISK, 0, 64, 0);
	ck_assert(!disk_complete(fx.cp, 4));
	ck_assert(disk_complete(fx.cp, 2));
	ck_event("ended", READ_ONLY, 2);
	ck_assert_uint_eq(*fx_at(DATA + 4096, 1), 0x77);
	ck_assert(!disk_complete(fx.cp, 2));
	ck_assert(!pending_of(2).waits);
	ck_assert_uint_eq(pending_of(2).number, 2);
	ck_assert(disk_complete(fx.cp, 3));
	ck_assert_uint_eq(pending_of(2).end, 1);
	ck_blocks(DISK, 0, 1, 0);
	ck_told(0);
	ck_told(1);
	ck_untold();
	/* The oldest. */
	ck_assert(disk_complete(fx.cp, 0));
	ck_blocks(DISK, 0, 1, 1);
	ck_assert(!disk_complete(fx.cp, 0));
	disk_hold(fx.cp, false);
	ck_assert(!disk_held(fx.cp));
	ck_told(0);
	put_request(DISK, 1, true);
	ck_250(RW_BIO, 0, 8);
	ck_event("ended", DISK, 4);
	ck_told(0);
}

TEST(requests_of_an_environment_that_is_removed)
{
	hold_three();
	new_list(DISK, false);
	ck_250(TERM_BIO, 0, 0);
	ck_assert_uint_eq(entry_status(0), 0x0c);
	ck_assert_uint_eq(entry_status(1), 0xee);
	ck_assert_uint_eq(entry_status(2), 0x0c);
	ck_assert_uint_eq(entry_status(3), 0x0c);
	ck_assert_uint_eq(pending_count(), 3);
	ck_assert(pending_of(0).waits);
	ck_assert_uint_eq(pending_of(0).number, 2);
	ck_told(3);
	ck_told(3);
	ck_untold();
	ck_blocks(DISK, 0, 64, 0);
	ck_assert(disk_complete(fx.cp, 0));
	ck_told(0);
	/* What had ended before stays told so. */
	established(DISK, 512);
	put_request(DISK, 1, true);
	ck_250(RW_BIO, 0, 8);
	ck_assert(disk_complete(fx.cp, 0));
	new_list(DISK, false);
	ck_250(TERM_BIO, 0, 0);
	ck_told(0);
	ck_untold();
}

/* As many as CP keeps; the next one is carried out at once. */
TEST(most_requests)
{
	established(DISK, 512);
	disk_hold(fx.cp, true);
	put_entry(0, WRITE_BLOCK, 1);
	put_request(DISK, 1, true);
	for (unsigned int i = 0; i < 64; i++)
		ck_250(RW_BIO, 0, 8);
	ck_assert_uint_eq(pending_count(), 64);
	ck_assert_uint_eq(info_of(0).writes, 0);
	ck_250(RW_BIO, 0, 0);
	ck_assert_uint_eq(pending_count(), 64);
	ck_assert_uint_eq(info_of(0).writes, 1);
	put_request(DISK, 2, true);
	put_entry(1, WRITE_BLOCK, 0);
	ck_250(RW_BIO, 1, 12);
	ck_assert(disk_complete(fx.cp, 0));
	ck_told(0);
	put_request(DISK, 1, true);
	ck_250(RW_BIO, 0, 8);
	ck_assert_uint_eq(pending_of(63).number, 65);
}

TEST(system_reset)
{
	hold_three();
	ck_assert(disk_complete(fx.cp, 1));
	cp_reset_cpu(fx.cp, 0);
	ck_assert_uint_eq(pending_count(), 3);
	cp_reset(fx.cp);
	ck_assert_uint_eq(pending_count(), 0);
	ck_untold();
	ck_assert(!info_of(0).established && !info_of(1).established && disk_held(fx.cp));
	ck_blocks(DISK, 0, 1, 1);
	ck_assert(!disk_complete(fx.cp, 0));
	established(DISK, 4096);
}

TEST(blocks_from_outside)
{
	uint8_t data[1024] = { 0 };
	struct disk_info info;

	ck_assert_uint_eq(info_of(0).device, DISK);
	ck_assert_uint_eq(info_of(0).blocks, 64);
	ck_assert_uint_eq(info_of(1).device, READ_ONLY);
	ck_assert_uint_eq(info_of(1).blocks, 16);
	ck_assert(!disk_info(fx.cp, 2, &info));
	ck_assert_int_eq(disk_read(fx.cp, 0x202, 0, 1, data, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "the guest has no disk 0202; MDISK and LINK statements in the directory give it "
			      "disks");
	ck_assert_int_eq(disk_write(fx.cp, 0x202, 0, data, 512, err, sizeof(err)), -1);
	ck_assert_int_eq(disk_read(fx.cp, DISK, 63, 2, data, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "disk 0200 has 64 blocks, and not 2 from block 63 on");
	ck_assert_int_eq(disk_write(fx.cp, DISK, 63, data, 1024, err, sizeof(err)), -1);
	ck_assert_int_eq(disk_read(fx.cp, DISK, 65, 0, data, err, sizeof(err)), -1);
	ck_assert_int_eq(disk_read(fx.cp, DISK, 64, 0, data, err, sizeof(err)), 0);
	ck_assert_int_eq(disk_read(fx.cp, DISK, UINT32_MAX, 1, data, err, sizeof(err)), -1);
	ck_assert_int_eq(disk_read(fx.cp, DISK, 1, UINT32_MAX, data, err, sizeof(err)), -1);
	ck_assert_int_eq(disk_write(fx.cp, DISK, 0, data, 511, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "511 bytes are not a multiple of 512, the length of a block");
	put_blocks(DISK, 63, 1, 5);
	ck_blocks(DISK, 63, 1, 5);
	ck_blocks(DISK, 0, 63, 0);
}

TEST(device_characteristics)
{
	static const uint8_t expected[12] = { 0x02, 0x00, 0, 12, 0x01, 0x40, 0, 0, 0x01, 0x40 };
	uint8_t *block = fx_at(0x3000, 12);

	memset(block, 0xee, 12);
	put_be16(block, DISK);
	put_be16(block + 2, 12);
	fx.gr[2] = 0x3000;
	ck_cc(fx_diag(2, 0, 0x210), 0);
	ck_assert_mem_eq(block, expected, 12);
	put_be16(block, 0x202);
	ck_cc(fx_diag(2, 0, 0x210), 3);
	put_be16(block, 0x00c);
	ck_cc(fx_diag(2, 0, 0x210), 2);
	ck_assert_uint_eq(block[8], 0);
}

TEST(saved_and_loaded)
{
	uint8_t *image;
	size_t len;

	hold_three();
	put_blocks(DISK, 24, 1, 0x24);
	put_blocks(DISK, 63, 1, 0x63);
	ck_assert(disk_complete(fx.cp, 2));
	image = fx_save(&len);
	ck_assert_uint_lt(len, 200000);
	ck_assert(disk_complete(fx.cp, 1));
	put_blocks(DISK, 0, 64, 0xff);
	disk_hold(fx.cp, false);
	new_list(DISK, false);
	ck_250(TERM_BIO, 0, 0);
	fx_load(image, len);
	free(image);
	ck_blocks(DISK, 0, 24, 0);
	ck_blocks(DISK, 24, 1, 0x24);
	ck_blocks(DISK, 25, 38, 0);
	ck_blocks(DISK, 63, 1, 0x63);
	ck_blocks(READ_ONLY, 0, 1, 0x77);
	ck_assert(info_of(0).established && disk_held(fx.cp));
	ck_assert_uint_eq(info_of(1).reads, 1);
	ck_assert_uint_eq(pending_count(), 3);
	ck_told(0);
	ck_assert(disk_complete(fx.cp, 1));
	ck_told(0);
	ck_blocks(DISK, 0, 1, 1);
}

/* An image of a guest with other disks. */
TEST_LOOP(image_with_other_disks, 0, 4)
{
	static const char *const other[] = {
		"MDISK 0200 FB-512 V-DISK 64 MW",
		"MDISK 0200 FB-512 V-DISK 64 MW;MDISK 0202 FB-512 V-DISK 16 R",
		"MDISK 0200 FB-512 V-DISK 72 MW;MDISK 0201 FB-512 V-DISK 16 R",
		"MDISK 0200 FB-512 V-DISK 64 MW;MDISK 0201 FB-512 V-DISK 16 W",
	};
	uint8_t *image;
	size_t len;

	image = fx_save(&len);
	fx_teardown();
	fx_setup_with((const char *const[]){ "directory", other[_i], "cpus", "2", NULL });
	ck_assert_int_eq(cp_load(fx.cp, image, len, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "the CP's state cannot be loaded from the image: it was saved with "
			      "another configuration; user ID, classes, level, machine, number of CPUs and "
			      "paths, and SPOOL, MDISK, LINK and CPU statements must be the same");
	free(image);
}

/*
 * Behind the tag: linked, read-only (1 each), owner (9), device (2), established (1), block size
 * (4), offset, reads, writes (8 each), pages, each with its number before it, 0 and 7 here, and the
 * number behind the last.
 */
enum {
	IMAGE_LINKED = 4, IMAGE_OWNER = 6, IMAGE_LINK = 13,
	IMAGE_ESTABLISHED = 4 + IMAGE_LINK, IMAGE_BLOCK_SIZE = 5 + IMAGE_LINK,
	IMAGE_PAGE = 33 + IMAGE_LINK,
	IMAGE_SECOND = IMAGE_PAGE + 4 + 4096, IMAGE_LAST = IMAGE_SECOND + 4 + 4096,
	/* Of the second disk there is no page. */
	IMAGE_OTHER = IMAGE_LAST + 4 + IMAGE_LINK, IMAGE_HOLD = IMAGE_OTHER + 33 - 4 + 4,
	IMAGE_LAST_JOB = IMAGE_HOLD + 1, IMAGE_JOBS = IMAGE_LAST_JOB + 4,
	IMAGE_JOB = IMAGE_JOBS + 4,
	/* number (4), device (2), format, async (1 each), count (4), list, parameter (8 each), … */
	JOB_DEVICE = 4, JOB_ASYNC = 7, JOB_COUNT = 8, JOB_WAITS = 28, JOB_END = 29, JOB_DELAY = 30,
	JOB_COPIES = 34,
};

static const struct {
	unsigned int offset;
	uint8_t value;
} damage[] = {
	{ IMAGE_LINKED, 2 }, { IMAGE_OWNER, 'X' }, { IMAGE_ESTABLISHED - 1, 9 },
	{ IMAGE_ESTABLISHED, 0 }, { IMAGE_ESTABLISHED, 2 }, { IMAGE_BLOCK_SIZE + 2, 3 },
	{ IMAGE_BLOCK_SIZE + 2, 0x20 }, { IMAGE_OTHER + 5 + 7, 1 }, { IMAGE_OTHER + 3, 2 },
	{ IMAGE_PAGE + 3, 8 }, { IMAGE_PAGE + 3, 9 }, { IMAGE_SECOND + 3, 0 },
	{ IMAGE_LAST + 3, 7 }, { IMAGE_LAST + 3, 9 }, { IMAGE_HOLD, 2 },
	{ IMAGE_LAST_JOB, 0x80 }, { IMAGE_LAST_JOB + 3, 0 }, { IMAGE_JOBS + 3, 65 },
	{ IMAGE_JOBS + 3, 0 }, { IMAGE_JOB + 3, 0 }, { IMAGE_JOB + 3, 2 },
	{ IMAGE_JOB + JOB_DEVICE + 1, 2 }, { IMAGE_JOB + JOB_DEVICE + 1, 1 },
	{ IMAGE_JOB + JOB_ASYNC, 0 }, { IMAGE_JOB + JOB_COUNT + 3, 0 },
	{ IMAGE_JOB + JOB_COUNT + 2, 2 }, { IMAGE_JOB + JOB_END, 1 },
	{ IMAGE_JOB + JOB_DELAY + 3, 1 }, { IMAGE_JOB + JOB_COPIES + 3, 1 },
	{ IMAGE_JOB + JOB_DELAY, 1 },
};

TEST_EACH(damaged_image, damage)
{
	uint8_t *image;
	size_t len, at;

	established(DISK, 512);
	put_blocks(DISK, 0, 1, 1);
	put_blocks(DISK, 63, 1, 1);
	disk_hold(fx.cp, true);
	put_request(DISK, 1, true);
	ck_250(RW_BIO, 0, 8);
	image = fx_save(&len);
	at = state_find(image, len, "VDSK");
	ck_assert_uint_eq(get_be32(image + at + IMAGE_BLOCK_SIZE), 512);
	ck_assert_uint_eq(get_be32(image + at + IMAGE_PAGE), 0);
	ck_assert_uint_eq(get_be32(image + at + IMAGE_SECOND), 7);
	ck_assert_uint_eq(get_be32(image + at + IMAGE_LAST), 8);
	ck_assert_uint_eq(image[at + IMAGE_HOLD], 1);
	ck_assert_uint_eq(get_be32(image + at + IMAGE_LAST_JOB), 1);
	ck_assert_uint_eq(get_be32(image + at + IMAGE_JOBS), 1);
	ck_assert_uint_eq(get_be16(image + at + IMAGE_JOB + JOB_DEVICE), DISK);
	ck_assert_uint_eq(image[at + IMAGE_JOB + JOB_WAITS], 1);
	image[at + damage[_i].offset] = damage[_i].value;
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* A page that is saved has a byte that is not 0. */
TEST(image_with_a_page_of_zeros)
{
	uint8_t *image;
	size_t len, at;

	put_blocks(DISK, 0, 1, 1);
	image = fx_save(&len);
	at = state_find(image, len, "VDSK");
	memset(image + at + IMAGE_PAGE + 4, 0, 4096);
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

TEST(statements_of_the_directory)
{
	ck_assert_uint_eq(cp_disk_at(&fx.config, 0)->device, DISK);
	ck_assert_uint_eq(cp_disk_at(&fx.config, 1)->blocks, 16);
	ck_assert_ptr_null(cp_disk_at(&fx.config, 2));
}
