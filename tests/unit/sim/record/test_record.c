/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include "record.h"

#define FRAMES 3u

static uint8_t buffer[FRAMES * RECORD_FRAME_SIZE];
static struct record_writer w;

static void setup(void)
{
	memset(buffer, 0xff, sizeof(buffer));
	record_writer_init(&w, buffer, sizeof(buffer), UINT64_C(0xd012345678abcdef));
}

CASE("writer", setup, NULL);

static void ck_header(uint32_t at, uint32_t len, unsigned int domain, unsigned int number)
{
	ck_assert_uint_eq(get_be16(buffer + at), len);
	ck_assert_uint_eq(get_be16(buffer + at + 2), 0);
	ck_assert_uint_eq(buffer[at + 4], domain);
	ck_assert_uint_eq(buffer[at + 5], 0);
	ck_assert_uint_eq(get_be16(buffer + at + 6), number);
	ck_assert_uint_eq(get_be64(buffer + at + 8), UINT64_C(0xd012345678abcdef));
	ck_assert_uint_eq(get_be32(buffer + at + 16), 0);
}

TEST(header)
{
	uint8_t *record = record_add(&w, 4, 3, 440);

	ck_assert_ptr_eq(record, buffer);
	ck_header(0, 440, 4, 3);
	for (unsigned int i = 20; i < 440; i++)
		ck_assert_uint_eq(record[i], 0);
	ck_assert_uint_eq(w.pos, 440);
	ck_assert_uint_eq(w.domains, 0x0800);
}

/* A record fits if D1R13 still fits behind it. */
TEST(end_of_frame)
{
	ck_assert_ptr_nonnull(record_add(&w, 0, 1, 4000));
	ck_assert_ptr_eq(record_add(&w, 0, 2, 76), buffer + 4000);
	ck_assert_uint_eq(w.pos, 4076);
	ck_assert_ptr_eq(record_add(&w, 0, 3, 20), buffer + 4096);
	ck_header(4076, 20, 1, MTREOF);
	ck_assert_uint_eq(w.pos, 4116);
	ck_assert_uint_eq(w.domains, 0xc000);
}

TEST(end_of_frame_leaves_zeros)
{
	ck_assert_ptr_nonnull(record_add(&w, 0, 1, 4000));
	ck_assert_ptr_eq(record_add(&w, 0, 2, 77), buffer + 4096);
	ck_header(4000, 20, 1, MTREOF);
	for (unsigned int i = 4020; i < 4096; i++)
		ck_assert_uint_eq(buffer[i], 0);
}

TEST(never_straddles)
{
	uint32_t seen = 0, at = 0;

	while (record_fits(&w, 300))
		ck_assert_ptr_nonnull(record_add(&w, 3, 1, 300));
	record_close(&w, MTREND);
	while (at < w.pos) {
		uint32_t len = get_be16(buffer + at);

		ck_assert_uint_ge(len, 20);
		ck_assert_uint_eq(at / 4096, (at + len - 1) / 4096);
		seen += buffer[at + 4] == 3;
		if (buffer[at + 4] == 1 && get_be16(buffer + at + 6) == MTREOF)
			at = (at / 4096 + 1) * 4096;
		else
			at += len;
	}
	/* 13 records of 300 bytes and D1R13 or D1R11 to a frame. */
	ck_assert_uint_eq(seen, FRAMES * 13);
	ck_assert_uint_eq(w.pos, 2 * 4096 + 13 * 300 + 20);
	ck_header(w.pos - 20, 20, 1, MTREND);
}

TEST(close_fits_always)
{
	for (unsigned int i = 0; i < FRAMES; i++)
		ck_assert_ptr_nonnull(record_add(&w, 2, 4, RECORD_MAX_SIZE));
	ck_assert(!record_fits(&w, 20));
	ck_assert(!w.overflow);
	ck_assert_ptr_null(record_add(&w, 2, 4, 20));
	ck_assert(w.overflow);
	record_close(&w, MTRSOS);
	ck_assert_uint_eq(w.pos, sizeof(buffer));
	ck_header(w.pos - 20, 20, 1, MTRSOS);
	ck_assert(!record_fits(&w, 20));
}

/* The last frame has no other behind it: a record that fills it exactly fits, a longer one does not. */
TEST(the_last_frame_is_filled)
{
	for (unsigned int i = 1; i < FRAMES; i++)
		ck_assert_ptr_nonnull(record_add(&w, 2, 4, RECORD_MAX_SIZE));
	ck_assert_ptr_nonnull(record_add(&w, 2, 4, 4000));
	ck_assert(!record_fits(&w, 77));
	ck_assert(record_fits(&w, 76));
	ck_assert_ptr_eq(record_add(&w, 2, 4, 76), buffer + 2 * 4096 + 4000);
	ck_assert(!w.overflow);
	record_close(&w, MTREND);
	ck_assert_uint_eq(w.pos, sizeof(buffer));
}

TEST(lengths)
{
	ck_assert(!record_fits(&w, 19));
	ck_assert(record_fits(&w, 20));
	ck_assert(record_fits(&w, 4076));
	ck_assert(!record_fits(&w, 4077));
}

TEST(append)
{
	uint8_t record[100] = { 0, 100, 0, 0, 11, 0, 0, 4 };

	record[99] = 0x5a;
	ck_assert(record_valid(record, 100, 11));
	ck_assert(!record_valid(record, 100, 10));
	ck_assert(!record_valid(record, 99, 11));
	ck_assert(!record_valid(record, 19, 11));
	ck_assert(record_append(&w, record, 100));
	ck_assert_mem_eq(buffer, record, 100);
	ck_assert_uint_eq(w.domains, 0x0010);
	record[4] = 16;
	ck_assert(!record_valid(record, 100, 16));
	ck_assert(!record_append(&w, record, 100));
	ck_assert(w.overflow);
	ck_assert_uint_eq(w.pos, 100);
	/* Nothing but a header is a record; less is none, nor is more than a frame has room for. */
	record[4] = 15;
	record[1] = 20;
	ck_assert(record_valid(record, 20, 15));
	record[1] = 19;
	ck_assert(!record_valid(record, 19, 15));
	put_be16(record, 4076);
	ck_assert(record_valid(record, 4076, 15));
	put_be16(record, 4077);
	ck_assert(!record_valid(record, 4077, 15));
}
