/* SPDX-License-Identifier: MIT */
/* libmonrec: every rule of frames, intervals and suspension, broken once. */
#include "monrec_input.h"

#define S MONREC_TYPE_SAMPLE
#define E MONREC_TYPE_EVENT

CASE("frames", mi_setup, mi_teardown);

/* The frame is full, or has room for no more than part of a header. */
TEST_LOOP(frame_open, 0, 2)
{
	size_t begin = mi_begin(S, MI_START + 3896);

	mi_record(0, 1, _i ? 190 : 200);
	mi_room(_i ? 10 : 0);
	mi_record(1, MTREND, 20);
	mi_end(begin);
	mi_open_first();
	mi_records(1);
	mi_violation(MONREC_RULE_FRAME_OPEN,
		     _i ? "set 1, offset 202, element 1, record 2: the frame does not end with "
			  "D1R13 though another one follows [frame-open]" :
			  "set 1, offset 212, element 1, record 1: the frame does not end with "
			  "D1R13 though another one follows [frame-open]");
	ck_assert_uint_eq(mi_item.value[0], _i ? 10 : 0);
	mi_records(1);
	mi_set_ends();
}

TEST(frame_last)
{
	size_t begin = mi_begin(E, MI_START);

	mi_record(4, 1, 96);
	mi_record(1, MTREOF, 20);
	mi_end(begin);
	mi_open_first();
	mi_records(1);
	mi_violation(MONREC_RULE_FRAME_LAST,
		     "set 1, offset 108, element 1, record 2 (D1R13 MTREOF): it ends a frame "
		     "that no frame follows [frame-last]");
	mi_records(1);
	mi_set_ends();
}

TEST(frame_length)
{
	size_t begin = mi_begin(S, MI_START);

	mi_record(1, MTREND, 24);
	mi_end(begin);
	mi_open_first();
	mi_violation(MONREC_RULE_FRAME_LENGTH,
		     "set 1, offset 12, element 1, record 1 (D1R11 MTREND): the record has 24 "
		     "bytes instead of 20 [frame-length]");
	mi_records(1);
	mi_set_ends();
}

/* Told once for an element, however much is behind. */
TEST(behind_end)
{
	size_t begin = mi_begin(S, MI_START);

	mi_record(1, MTREND, 20);
	mi_record(0, 1, 116);
	mi_record(0, 1, 116);
	mi_record(1, MTREND, 20);
	mi_end(begin);
	mi_open_first();
	mi_records(1);
	mi_violation(MONREC_RULE_BEHIND_END,
		     "set 1, offset 32, element 1, record 2 (D0R1 SYTSYP): the element's data had "
		     "ended before [behind-end]");
	mi_records(3);
	mi_set_ends();
}

TEST(interval_open)
{
	size_t begin = mi_begin(S, MI_START);

	mi_record(1, MTREND, 20);
	mi_end(begin);
	begin = mi_begin(S, MI_START);
	mi_record(0, 1, 116);
	mi_end(begin);
	mi_open_first();
	mi_records(1);
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_violation(MONREC_RULE_INTERVAL_OPEN,
		     "set 1, offset 160, element 2, record 1: the set's sample data do not end "
		     "with D1R11 [interval-open]");
	mi_set_ends();
}

/* IBM calls D1R11 an "Event and Sample Record": it may end event data, too, which then end there. */
TEST(interval_event)
{
	size_t begin = mi_begin(E, MI_START);

	mi_record(1, 1, 24);
	mi_record(1, MTREND, 20);
	mi_end(begin);
	mi_open_first();
	mi_records(2);
	mi_set_ends();
}

TEST(suspension_place)
{
	size_t begin = mi_begin(E, MI_START);

	mi_record(4, 1, 96);
	mi_record(1, 3, 24);
	mi_end(begin);
	mi_open_first();
	mi_records(1);
	mi_violation(MONREC_RULE_SUSPENSION_PLACE,
		     "set 1, offset 108, element 1, record 2 (D1R3 MTRSUS): it is not the first "
		     "record of its element [suspension-place]");
	mi_records(1);
	mi_set_ends();
}

/* A block that ends in D1R12, and one that begins with @number of @domain. */
static void suspended_and(unsigned int domain, unsigned int number, unsigned int len)
{
	size_t begin = mi_begin(E, MI_START);

	mi_record(1, MTRSOS, 20);
	mi_end(begin);
	mi_stop(0);
	begin = mi_begin(E, MI_START);
	mi_record(domain, number, len);
	mi_end(begin);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
}

TEST(suspension_open)
{
	suspended_and(4, 1, 96);
	mi_violation(MONREC_RULE_SUSPENSION_OPEN,
		     "set 2, offset 12, element 1, record 1 (D4R1 USELON): event recording was "
		     "suspended, and goes on without D1R3 [suspension-open]");
	mi_records(1);
	mi_next(MONREC_SET_END);
}

TEST_LOOP(suspension_ends, 0, 2)
{
	suspended_and(1, _i ? 1 : 3, 24);
	mi_records(1);
	mi_next(MONREC_SET_END);
}

/* If sets were lost between, so may be the record. */
TEST(suspension_and_loss)
{
	size_t begin = mi_begin(E, MI_START);

	mi_record(1, MTRSOS, 20);
	mi_end(begin);
	mi_stop(0);
	mi_stop(-EOVERFLOW);
	mi_one_record(E, 4, 1, 96);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_OVERFLOW);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_next(MONREC_SET_END);
}
