/* SPDX-License-Identifier: MIT */
/* The read machine of our monreader: which bytes a read gets. */
#include "mon_reader.h"

#define ELEMENTS 3u

/* Offsets of records: any order, lengths of 1 byte, a page and what is between. */
static const u32 records[ELEMENTS][2] = {
	{ 0x1000, 0x1fff }, { 0x300, 0x300 }, { 0x2345, 0x2400 },
};

/* Writes the bytes that a set of these elements at offset 24 must give; returns their number. */
static size_t three_elements(u8 *expected)
{
	size_t len = 0;

	for (unsigned int i = 0; i < ELEMENTS; i++) {
		u32 size = records[i][1] - records[i][0] + 1;

		mr_element(24 + i * MON_ELEMENT_SIZE, records[i][0], records[i][1]);
		memcpy(expected + len, mr_segment + 24 + i * MON_ELEMENT_SIZE, MON_ELEMENT_SIZE);
		memcpy(expected + len + MON_ELEMENT_SIZE, mr_segment + records[i][0], size);
		len += MON_ELEMENT_SIZE + size;
	}
	ck_assert(mr_notify(1, 24, 24 + ELEMENTS * MON_ELEMENT_SIZE - 1));
	return len;
}

CASE("mon_stream", mr_setup, NULL);

TEST(one_read_returns_the_whole_set)
{
	static u8 expected[MR_SIZE];
	size_t len = three_elements(expected);

	ck_assert_int_eq(mr_read(sizeof(mr_buffer)), (int)len);
	ck_assert_mem_eq(mr_buffer, expected, len);
	ck_assert_uint_eq(mr_replies, 0);
	ck_assert_int_eq(mr_read(sizeof(mr_buffer)), 0);
	ck_assert_uint_eq(mr_replies, 1);
	ck_assert_int_eq(mr_read(sizeof(mr_buffer)), MR_AGAIN);
}

TEST(any_buffer_size_gives_the_same_stream)
{
	static u8 expected[MR_SIZE], found[MR_SIZE];

	for (size_t size = 1; size <= 4500; size += size < 64 ? 1 : 61) {
		size_t len = three_elements(expected), got = 0;
		int n;

		while ((n = mr_read(size)) > 0) {
			ck_assert_uint_le(got + (size_t)n, len);
			memcpy(found + got, mr_buffer, (size_t)n);
			got += (size_t)n;
		}
		ck_assert_int_eq(n, 0);
		ck_assert_uint_eq(got, len);
		ck_assert_mem_eq(found, expected, len);
	}
	ck_assert_int_eq(mr_read(1), MR_AGAIN);
}

TEST(twelve_bytes_are_the_element)
{
	ck_assert(mr_simple(1));
	ck_assert_int_eq(mr_read(MON_ELEMENT_SIZE), MON_ELEMENT_SIZE);
	ck_assert_mem_eq(mr_buffer, mr_segment, MON_ELEMENT_SIZE);
	ck_assert_int_eq(mr.state, MON_RECORDS);
	ck_assert_int_eq(mr_read(16), 16);
	ck_assert_mem_eq(mr_buffer, mr_segment + 256, 16);
	ck_assert_int_eq(mr.state, MON_COMPLETE);
	ck_assert_int_eq(mr_read(1), 0);
	ck_assert_int_eq(mr.state, MON_IDLE);
}

/* Behind other bytes there are only whole elements, and the whole of an element's records. */
TEST(what_does_not_fit_is_left_to_the_next_read)
{
	static const struct { size_t size; int reads[6]; } cases[] = {
		{ 11, { 11, 1, 11, 5 } },
		{ 15, { 12, 15, 1 } },
		{ 16, { 12, 16 } },
		{ 27, { 12, 16 } },
		{ 28, { 28 } },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert(mr_simple(i));
		for (const int *n = cases[i].reads; *n; n++)
			ck_assert_int_eq(mr_read(cases[i].size), *n);
		ck_assert_int_eq(mr_read(cases[i].size), 0);
	}
	/* Two elements: 28 bytes and 11 of the second element's would be there. */
	mr_element(0, 256, 271);
	mr_element(MON_ELEMENT_SIZE, 256, 271);
	ck_assert(mr_notify(9, 0, 2 * MON_ELEMENT_SIZE - 1));
	ck_assert_int_eq(mr_read(39), 28);
	ck_assert_int_eq(mr_read(28), 28);
	ck_assert_int_eq(mr_read(39), 0);
}

TEST(sets_do_not_share_a_read)
{
	ck_assert(mr_simple(1));
	ck_assert(mr_simple(2));
	for (u32 id = 1; id <= 2; id++) {
		ck_assert_int_eq(mr_read(1000), 28);
		ck_assert_int_eq(mr_read(1000), 0);
		ck_assert_uint_eq(mr_replied_id, id);
		ck_assert_uint_eq(mr_replied_class, ~id);
	}
	ck_assert_int_eq(mr_read(1000), MR_AGAIN);
}

/* In no state does a read of no bytes change anything. */
TEST(size_zero_has_no_effect)
{
	ck_assert_int_eq(mr_read(0), 0);
	ck_assert(mr_simple(1));
	ck_assert_int_eq(mr_read(0), 0);
	ck_assert_int_eq(mr.state, MON_IDLE);
	ck_assert_int_eq(mr_read(5), 5);
	ck_assert_int_eq(mr_read(0), 0);
	ck_assert_int_eq(mr.state, MON_ELEMENT);
	ck_assert_int_eq(mr_read(7), 7);
	ck_assert_int_eq(mr_read(0), 0);
	ck_assert_int_eq(mr.state, MON_RECORDS);
	ck_assert_int_eq(mr_read(100), 16);
	ck_assert_int_eq(mr_read(0), 0);
	ck_assert_int_eq(mr.state, MON_COMPLETE);
	ck_assert_uint_eq(mr_replies, 0);
	ck_assert_int_eq(mr_read(1), 0);
	ck_assert_uint_eq(mr_replies, 1);
	mr_element(0, 256, 255);
	ck_assert(mr_notify(2, 0, MON_ELEMENT_SIZE - 1));
	ck_assert_int_eq(mon_stream_begin(&mr), MON_BEGIN_SET);
	ck_assert_int_eq(mr_read(0), 0);
	ck_assert_int_eq(mr.state, MON_INVALID);
	mon_stream_sever(&mr);
	ck_assert_int_eq(mr_read(0), 0);
}

/* Records right before, right behind, around and inside the control area. */
TEST(no_layout_confuses_the_position)
{
	static const u32 layouts[][2] = {
		{ 0x0f0, 0x0ff }, { 0x10c, 0x110 }, { 0x0f0, 0x120 }, { 0x102, 0x103 }, { 0x100, 0x10b },
	};

	for (unsigned int i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		u32 first = layouts[i][0], last = layouts[i][1];
		int len = (int)(last - first + 1);

		mr_element(0x100, first, last);
		ck_assert(mr_notify(i, 0x100, 0x10b));
		ck_assert_int_eq(mr_read(MON_ELEMENT_SIZE), MON_ELEMENT_SIZE);
		ck_assert_int_eq(mr_read(1000), len);
		ck_assert_mem_eq(mr_buffer, mr_segment + first, (size_t)len);
		ck_assert_int_eq(mr_read(1000), 0);
	}
	ck_assert_int_eq(mr_read(1000), MR_AGAIN);
}

TEST(edges_of_the_segment)
{
	/* The highest segment there can be: the address behind it needs 33 bits. */
	mr_setup_at(0x100000000 - MR_SIZE);
	mr_element(MR_SIZE - MON_ELEMENT_SIZE, 0, MR_SIZE - 1);
	ck_assert(mr_notify(1, MR_SIZE - MON_ELEMENT_SIZE, MR_SIZE - 1));
	ck_assert_int_eq(mr_read(sizeof(mr_buffer)), MON_ELEMENT_SIZE + MR_SIZE);
	ck_assert_mem_eq(mr_buffer + MON_ELEMENT_SIZE, mr_segment, MR_SIZE);
	ck_assert_int_eq(mr_read(1), 0);
	/* The lowest. */
	mr_setup_at(0);
	mr_element(0, 0, 0);
	ck_assert(mr_notify(1, 0, MON_ELEMENT_SIZE - 1));
	ck_assert_int_eq(mr_read(100), 13);
	ck_assert_int_eq(mr_read(1), 0);
}

TEST(segments_that_addresses_cannot_reach)
{
	ck_assert(mon_stream_init(&mr, mr_segment, 0, 0xffffffff));
	ck_assert(!mon_stream_init(&mr, mr_segment, 0, 0x100000000));
	ck_assert(!mon_stream_init(&mr, mr_segment, 0x100000000, 0x100000fff));
	ck_assert(!mon_stream_init(&mr, mr_segment, 0x1000, 0x1000));
	ck_assert(!mon_stream_init(&mr, mr_segment, 0x1000, 0xfff));
}

TEST(fault_changes_nothing)
{
	static const int offsets[] = { 0, 5, 12, 20 };

	for (unsigned int i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		int at = offsets[i], rest = 28 - at;

		ck_assert(mr_simple(i));
		mr_skip((size_t)at);
		mr_mapped = 0;
		ck_assert_int_eq(mr_read(100), MR_FAULT);
		ck_assert_int_eq(mr_read(1), MR_FAULT);
		mr_mapped = sizeof(mr_buffer);
		ck_assert_int_eq(mr_read(100), rest);
		ck_assert_int_eq(mr_read(100), 0);
	}
}

/* The element fits into what is mapped, its records do not. */
TEST(fault_behind_the_first_span)
{
	ck_assert(mr_simple(1));
	mr_mapped = 20;
	ck_assert_int_eq(mr_read(100), MON_ELEMENT_SIZE);
	mr_mapped = 8;
	ck_assert_int_eq(mr_read(100), MR_FAULT);
	mr_mapped = 20;
	ck_assert_int_eq(mr_read(100), 16);
	ck_assert_mem_eq(mr_buffer, mr_segment + 256, 16);
}

TEST(failed_reply_is_an_error_and_the_next_set_is_there)
{
	ck_assert(mr_simple(1));
	ck_assert(mr_simple(2));
	ck_assert_int_eq(mr_read(100), 28);
	mr_reply_fails = true;
	ck_assert_int_eq(mr_read(100), MR_IO);
	mr_reply_fails = false;
	ck_assert_int_eq(mr_read(100), 28);
	ck_assert_int_eq(mr_read(100), 0);
	ck_assert_uint_eq(mr_replied_id, 2);
	ck_assert_uint_eq(mr.counts.sets, 1);
	ck_assert_uint_eq(mr.counts.bytes, 56);
	ck_assert_uint_eq(mr.counts.invalid_sets, 0);
}

/* CP writes into an element that has been begun: what was validated is delivered. */
TEST(elements_are_copied_once)
{
	u8 element[MON_ELEMENT_SIZE];

	ck_assert(mr_simple(1));
	memcpy(element, mr_segment, sizeof(element));
	ck_assert_int_eq(mr_read(1), 1);
	memset(mr_segment, 0xff, sizeof(element));
	ck_assert_int_eq(mr_read(11), 11);
	ck_assert_mem_eq(mr_buffer, element + 1, 11);
	ck_assert_int_eq(mr_read(100), 16);
	ck_assert_mem_eq(mr_buffer, mr_segment + 256, 16);
	ck_assert_int_eq(mr_read(100), 0);
}

TEST(asking_again_gives_the_same_answer)
{
	struct mon_span first, second;

	ck_assert_int_eq(mon_stream_next(&mr, 8, 0, &first), MON_NEXT_SET);
	ck_assert(mr_simple(1));
	ck_assert_int_eq(mon_stream_begin(&mr), MON_BEGIN_SET);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(mon_stream_next(&mr, 100, 0, &first), MON_NEXT_SPAN);
		ck_assert_int_eq(mon_stream_next(&mr, 100, 0, &second), MON_NEXT_SPAN);
		ck_assert_ptr_eq(first.addr, second.addr);
		ck_assert_uint_eq(first.len, second.len);
		mon_stream_copied(&mr, &first);
	}
	ck_assert_int_eq(mon_stream_next(&mr, 100, 28, &first), MON_NEXT_DONE);
	ck_assert_int_eq(mon_stream_next(&mr, 100, 0, &first), MON_NEXT_REPLY);
	ck_assert_int_eq(mon_stream_next(&mr, 100, 0, &first), MON_NEXT_REPLY);
	ck_assert_uint_eq(mon_stream_note(&mr)->id, 1);
}
