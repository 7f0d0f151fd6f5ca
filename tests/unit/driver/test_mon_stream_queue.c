/* SPDX-License-Identifier: MIT */
/* The read machine of our monreader: queue, limit, sever, poll, counts. */
#include "mon_reader.h"

/* Reads one set of mr_simple() to its end. */
static void read_set(u32 id)
{
	ck_assert_int_eq(mr_read(1000), 28);
	ck_assert_int_eq(mr_read(1000), 0);
	ck_assert_uint_eq(mr_replied_id, id);
}

CASE("mon_stream queue", mr_setup, NULL);

TEST(first_in_first_out)
{
	u32 in = 0, out = 0;

	/* Around the ring several times, with every number of sets in it. */
	for (unsigned int fill = 1; fill < MON_LIMIT; fill++) {
		while (in < out + fill)
			ck_assert(mr_simple(in++));
		for (unsigned int i = 0; i < 3 && out < in; i++)
			read_set(out++);
	}
	while (out < in)
		read_set(out++);
	ck_assert_int_eq(mr_read(1), MR_AGAIN);
	ck_assert_uint_eq(mr.counts.sets, out);
	ck_assert_uint_eq(mr.counts.bytes, UINT64_C(28) * out);
	ck_assert_uint_eq(mr.counts.overflows, 0);
}

TEST(limits_that_cp_grants)
{
	static const unsigned int limits[][2] = {
		{ 1, 1 }, { 2, 2 }, { 10, 10 }, { 254, 254 }, { 255, 255 }, { 0, 1 }, { 256, 255 },
		{ 65535, 255 },
	};

	for (unsigned int i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		unsigned int limit = limits[i][1];

		mon_stream_open(&mr);
		mon_stream_limit(&mr, limits[i][0]);
		for (u32 id = 0; id < limit; id++) {
			ck_assert_uint_eq(mr.counts.overflows, i);
			ck_assert(mr_simple(id));
		}
		ck_assert_uint_eq(mr.counts.overflows, i + 1);
		for (u32 id = 0; id < limit; id++)
			read_set(id);
		ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_READABLE);
		ck_assert_int_eq(mr_read(1), MR_OVERFLOW);
		ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_EMPTY);
		ck_assert_int_eq(mr_read(1), MR_AGAIN);
		ck_assert_uint_eq(mr.counts.overflows, i + 1);
	}
}

/* A limit takes the place of the one before, whatever that was. */
TEST(limit_after_another)
{
	static const unsigned int limits[][2] = { { 2, 2 }, { 300, 255 }, { 1, 1 }, { 255, 255 } };

	for (unsigned int i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		mon_stream_limit(&mr, limits[i][0]);
		ck_assert_uint_eq(mr.limit, limits[i][1]);
	}
	mon_stream_limit(&mr, 2);
	mon_stream_open(&mr);
	ck_assert_uint_eq(mr.limit, MON_LIMIT);
}

/* The stream decides whether a message fills the queue: the sender's flag is ignored. */
TEST(full_as_the_sender_has_it)
{
	const struct mon_note note = { .first = MR_START, .last = MR_START + MON_ELEMENT_SIZE - 1,
				       .addressed = true, .full = true };

	mr_element(0, 256, 271);
	ck_assert(mon_stream_notify(&mr, &note));
	ck_assert_int_eq(mr_read(1000), 28);
	ck_assert_int_eq(mr_read(1000), 0);
	ck_assert_int_eq(mr_read(1000), MR_AGAIN);
	ck_assert_uint_eq(mr.counts.overflows, 0);
}

/* Without mon_stream_limit() the limit is what CONNECT asks for. */
TEST(default_limit)
{
	for (u32 id = 0; id < MON_LIMIT; id++) {
		ck_assert_uint_eq(mr.counts.overflows, 0);
		ck_assert(mr_simple(id));
	}
	ck_assert_uint_eq(mr.counts.overflows, 1);
}

TEST(limit_reached_again_is_reported_again)
{
	mon_stream_limit(&mr, 3);
	for (u32 id = 0; id < 3; id++)
		ck_assert(mr_simple(id));
	read_set(0);
	ck_assert(mr_simple(3));	/* three again */
	read_set(1);
	read_set(2);
	ck_assert_int_eq(mr_read(1), MR_OVERFLOW);
	ck_assert(mr_simple(4));	/* two */
	read_set(3);
	ck_assert_int_eq(mr_read(1), MR_OVERFLOW);
	read_set(4);
	ck_assert_int_eq(mr_read(1), MR_AGAIN);
	ck_assert_uint_eq(mr.counts.overflows, 2);
}

/* A set counts until its reply, not until it is begun. */
TEST(set_being_read_is_outstanding)
{
	mon_stream_limit(&mr, 2);
	ck_assert(mr_simple(0));
	ck_assert_int_eq(mr_read(1000), 28);
	ck_assert_uint_eq(mr.counts.overflows, 0);
	ck_assert(mr_simple(1));
	ck_assert_uint_eq(mr.counts.overflows, 1);
	ck_assert_int_eq(mr_read(1000), 0);
	read_set(1);
	ck_assert_int_eq(mr_read(1), MR_OVERFLOW);
}

TEST(overflow_follows_sets_that_failed)
{
	mon_stream_limit(&mr, 1);
	ck_assert(mr_simple(0));
	ck_assert_int_eq(mr_read(1000), 28);
	mr_reply_fails = true;
	ck_assert_int_eq(mr_read(1000), MR_IO);
	mr_reply_fails = false;
	ck_assert_int_eq(mr_read(1000), MR_OVERFLOW);

	ck_assert(mr_notify(1, 0, 10));
	ck_assert_int_eq(mr_read(1000), MR_IO);
	ck_assert_int_eq(mr_read(1000), MR_OVERFLOW);
	ck_assert_int_eq(mr_read(1000), MR_AGAIN);
}

/* A CP that sends more than the queue holds: nothing is overwritten, the loss is told. */
TEST(more_than_the_queue_holds)
{
	for (u32 id = 0; id < MON_LIMIT; id++)
		ck_assert(mr_simple(id));
	ck_assert(!mr_simple(1000));
	ck_assert(!mr_simple(1001));
	ck_assert_uint_eq(mr.counts.overflows, 3);
	for (u32 id = 0; id < MON_LIMIT; id++)
		read_set(id);
	ck_assert_int_eq(mr_read(1), MR_OVERFLOW);
	ck_assert_int_eq(mr_read(1), MR_AGAIN);
}

/* A CP that ignores the limit it granted: each message beyond is an overflow. */
TEST(more_than_the_limit)
{
	mon_stream_limit(&mr, 2);
	for (u32 id = 0; id < 4; id++)
		ck_assert(mr_simple(id));
	read_set(0);
	for (u32 id = 1; id < 4; id++) {
		read_set(id);
		ck_assert_int_eq(mr_read(1), MR_OVERFLOW);
	}
	ck_assert_int_eq(mr_read(1), MR_AGAIN);
}

TEST(sever_comes_behind_the_queue)
{
	ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_EMPTY);
	ck_assert(mr_simple(0));
	ck_assert(mr_simple(1));
	mon_stream_sever(&mr);
	for (u32 id = 0; id < 2; id++) {
		ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_READABLE);
		ck_assert_int_eq(mr_read(1000), 28);
		ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_READABLE);
		ck_assert_int_eq(mr_read(1000), MR_IO);
	}
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_SEVERED);
		ck_assert_int_eq(mr_read(1000), MR_IO);
	}
	ck_assert_uint_eq(mr_replies, 0);
	ck_assert_uint_eq(mr.counts.sets, 0);
	ck_assert_uint_eq(mr.counts.severs, 1);
}

TEST(sever_in_the_middle_of_a_set)
{
	static const size_t offsets[] = { 1, 12, 20, 28 };

	for (unsigned int i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		mon_stream_open(&mr);
		ck_assert(mr_simple(0));
		mr_skip(offsets[i]);
		mon_stream_sever(&mr);
		if (offsets[i] < 28)
			ck_assert_int_eq(mr_read(1000), 28 - (int)offsets[i]);
		ck_assert_int_eq(mr_read(1000), MR_IO);
		ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_SEVERED);
	}
	ck_assert_uint_eq(mr.counts.severs, 4);
}

TEST(overflow_comes_before_the_sever)
{
	mon_stream_limit(&mr, 1);
	ck_assert(mr_simple(0));
	mon_stream_sever(&mr);
	ck_assert_int_eq(mr_read(1000), 28);
	ck_assert_int_eq(mr_read(1000), MR_IO);
	ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_READABLE);
	ck_assert_int_eq(mr_read(1000), MR_OVERFLOW);
	ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_SEVERED);
	ck_assert_int_eq(mr_read(1000), MR_IO);
}

TEST(open_forgets_everything_but_the_counts)
{
	mon_stream_limit(&mr, 2);
	ck_assert(mr_simple(0));
	ck_assert(mr_simple(1));
	read_set(0);
	ck_assert_int_eq(mr_read(5), 5);
	mon_stream_sever(&mr);
	mon_stream_open(&mr);
	ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_EMPTY);
	ck_assert_int_eq(mr_read(1000), MR_AGAIN);
	ck_assert(mr_simple(2));
	ck_assert(mr_simple(3));
	read_set(2);
	read_set(3);
	ck_assert_uint_eq(mr.counts.sets, 3);
	ck_assert_uint_eq(mr.counts.overflows, 1);
	ck_assert_uint_eq(mr.counts.severs, 1);
}

/* Poll in the middle of a set: something to read until its end has been read. */
TEST(poll_within_a_set)
{
	ck_assert(mr_simple(0));
	ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_READABLE);
	for (unsigned int i = 0; i < 28; i++) {
		ck_assert_int_eq(mr_read(1), 1);
		ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_READABLE);
	}
	ck_assert_int_eq(mr_read(1), 0);
	ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_EMPTY);
}
