/* SPDX-License-Identifier: MIT */
/* Faults of virtual disks and DIAGNOSE X'250': every kind at every point. */
#include "disk_check.h"
#include "fault_pairs.h"

static const char *const prefixes[] = { "diag250.", "disk.", NULL };

static void put_call(enum fault_point point)
{
	if (point == FAULT_DIAG250_INIT)
		set_up(READ_ONLY, 512, 0);
	else if (point == FAULT_DIAG250_IO)
		put_request(DISK, 1, false);
	else
		new_list(DISK, false);
}

/* A function that a fault takes the place of; then it is carried out. */
static void ck_function(int i, unsigned int function)
{
	static const struct {
		uint32_t rc;
		uint8_t cc;
	} codes[] = {
		{ 0, 0 }, { 4, 0 }, { 8, 0 }, { 9, 2 }, { 11, 2 }, { 12, 1 }, { 13, 2 }, { 255, 2 },
		{ UINT32_MAX, 2 },
	};
	const uint64_t success = function == INIT_BIO ? 4 : 0;

	put_call(pair[i].point);
	put_entry(0, WRITE_BLOCK, 1);
	arm_pair(i, pair[i].kind == FAULT_DROP ? 0 : 3, 0);
	switch (pair[i].kind) {
	case FAULT_CC:
		ck_250(function, 3, 0);
		break;
	case FAULT_RC:
		ck_250(function, 0, 3);
		break;
	case FAULT_PGM:
		ck_pgm(diag250(function), 3);
		ck_assert_uint_eq(fx.gr[3], 0xeeee);
		break;
	case FAULT_DROP:
		ck_250(function, 0, 0);
		break;
	default:
		ck_no_test(i);
	}
	ck_fired();
	fault_disarm(fx.cp, 0);
	ck_assert_uint_eq(entry_status(0), 0xee);
	ck_assert(info_of(0).established && !info_of(1).established);
	for (size_t k = 0; pair[i].kind == FAULT_RC && k < sizeof(codes) / sizeof(codes[0]); k++) {
		arm_pair(i, codes[k].rc, 0);
		ck_250(function, codes[k].cc, codes[k].rc);
		fault_disarm(fx.cp, 0);
	}
	ck_250(function, 0, success);
}

static void ck_block(int i, uint8_t type)
{
	const bool write = type == WRITE_BLOCK;
	uint8_t at;

	put_blocks(DISK, 0, 1, 0x21);
	memset(fx_at(DATA, 512), 0x42, 512);
	put_entry(0, type, 1);
	put_request(DISK, 1, false);
	arm_pair(i, pair[i].kind == FAULT_DROP ? 0 : 5,
		 pair[i].kind == FAULT_CORRUPT ? 512 + 7 : 0);
	ck_250(RW_BIO, pair[i].kind == FAULT_RC ? 2 : 0, pair[i].kind == FAULT_RC ? 40 : 0);
	ck_fired();
	ck_assert_uint_eq(entry_status(0), pair[i].kind == FAULT_RC ? 5 : 0);
	if (pair[i].kind == FAULT_CORRUPT) {
		char err[256];
		uint8_t block[512];

		ck_assert_int_eq(disk_read(fx.cp, DISK, 0, 1, block, err, sizeof(err)), 0);
		at = write ? block[7] : *fx_at(DATA + 7, 1);
		ck_assert_uint_eq(at, (write ? 0x42 : 0x21) ^ 5);
		ck_assert_uint_eq(write ? block[8] : *fx_at(DATA + 8, 1), write ? 0x42 : 0x21);
		ck_assert_uint_eq(write ? 0x21 : block[7], 0x21);
		return;
	}
	/* Nothing is read or written. */
	ck_blocks(DISK, 0, 1, 0x21);
	ck_assert_uint_eq(*fx_at(DATA, 1), 0x42);
	ck_assert_uint_eq(write ? info_of(0).writes : info_of(0).reads, pair[i].kind == FAULT_DROP);
}

static void request(void)
{
	ck_250(RW_BIO, 0, 8);
}

static void ck_completion(int i)
{
	put_entry(0, WRITE_BLOCK, 1);
	put_request(DISK, 1, true);
	arm_pair(i, pair[i].kind == FAULT_DELAY ? 2 : pair[i].kind == FAULT_RC ? 0x102 : 0, 0);
	request();
	ck_fired();
	switch (pair[i].kind) {
	case FAULT_RC:
		ck_told(2);
		break;
	case FAULT_DROP:
		break;
	case FAULT_DUPLICATE:
		ck_told(0);
		ck_told(0);
		break;
	case FAULT_REORDER:
	case FAULT_DELAY:
		ck_untold();
		/* The next one failed. */
		put_entry(0, READ_BLOCK, 99);
		request();
		ck_told(1);
		if (pair[i].kind == FAULT_DELAY) {
			ck_untold();
			request();
			ck_told(1);
		}
		ck_told(0);
		break;
	default:
		ck_no_test(i);
	}
	ck_untold();
	ck_assert_uint_eq(info_of(0).writes, 1);
}

FX_REPLAY_TRACES;

CASE("disk", disk_setup, fx_teardown);

TEST_LOOP(every_kind, 0, pairs_of(prefixes))
{
	established(DISK, 512);
	switch (pair[_i].point) {
	case FAULT_DIAG250_INIT:
		ck_function(_i, INIT_BIO);
		break;
	case FAULT_DIAG250_IO:
		ck_function(_i, RW_BIO);
		break;
	case FAULT_DIAG250_REMOVE:
		ck_function(_i, TERM_BIO);
		break;
	case FAULT_DISK_BLOCK:
		ck_block(_i, WRITE_BLOCK);
		fault_disarm(fx.cp, 0);
		ck_block(_i, READ_BLOCK);
		break;
	case FAULT_DISK_COMPLETION:
		ck_completion(_i);
		break;
	default:
		ck_no_test(_i);
	}
}

/* A bad data address is reported although nothing is read. */
TEST(dropped_block_without_a_place)
{
	established(DISK, 512);
	ck_arm(FAULT_DISK_BLOCK, FAULT_DROP);
	put_be64(put_entry(0, READ_BLOCK, 1) + BIOE_BUFFER, UINT64_C(1) << 40);
	put_request(DISK, 1, false);
	ck_250(RW_BIO, 2, 40);
	ck_assert_uint_eq(entry_status(0), 2);
	ck_assert_uint_eq(info_of(0).reads, 0);
}

TEST(others_refused)
{
	ck_others_refused(pairs_of(prefixes));
}
