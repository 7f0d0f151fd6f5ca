/* SPDX-License-Identifier: MIT */
/* The read machine of our monreader: malformed sets. */
#include "mon_reader.h"

#define AREA 0x100u
#define LAST (AREA + MON_ELEMENT_SIZE - 1)

/* The set in the queue is malformed that way from its first byte on; the next one is read. */
static void malformed(enum mon_defect defect)
{
	unsigned int replies = mr_replies;
	u64 invalid = mr.counts.invalid_sets;

	ck_assert_int_eq(mr_read(100), MR_IO);
	ck_assert_int_eq(mr.defect, defect);
	ck_assert_uint_eq(mr_replies, replies + 1);
	ck_assert_uint_eq(mr.counts.invalid_sets, invalid + 1);
	ck_assert_int_eq(mr_read(100), MR_AGAIN);
	ck_assert(mr_simple(77));
	ck_assert_int_eq(mr_read(100), 28);
	ck_assert_int_eq(mr_read(100), 0);
	ck_assert_int_eq(mr.defect, MON_DEFECT_NONE);
	ck_assert_uint_eq(mr.counts.invalid_sets, invalid + 1);
}

CASE("mon_stream defects", mr_setup, NULL);

TEST(message_without_addresses)
{
	const struct mon_note note = { .first = MR_START, .last = MR_START + 11 };

	mr_element(0, 256, 271);
	ck_assert(mon_stream_notify(&mr, &note));
	malformed(MON_DEFECT_NO_ADDRESSES);
}

TEST(control_areas)
{
	static const struct {
		u32 first, last;
		enum mon_defect defect;
	} areas[] = {
		{ MR_START + AREA, MR_START + AREA, MON_DEFECT_AREA_EMPTY },
		{ MR_START + AREA, MR_START + AREA - 1, MON_DEFECT_AREA_EMPTY },
		{ 0xffffffff, 0, MON_DEFECT_AREA_EMPTY },
		{ MR_START + AREA, MR_START + AREA + 1, MON_DEFECT_AREA_LENGTH },
		{ MR_START + AREA, MR_START + AREA + 10, MON_DEFECT_AREA_LENGTH },
		{ MR_START + AREA, MR_START + AREA + 12, MON_DEFECT_AREA_LENGTH },
		{ 0, 0xffffffff, MON_DEFECT_AREA_LENGTH },	/* 4 GiB, a multiple of 4 only */
		{ MR_START - 12, MR_START - 1, MON_DEFECT_AREA_BEGIN },
		{ MR_START - 1, MR_START + 10, MON_DEFECT_AREA_BEGIN },
		{ 0, 11, MON_DEFECT_AREA_BEGIN },
		{ 0, 0xfffffffb, MON_DEFECT_AREA_BEGIN },
		{ MR_END - 10, MR_END + 1, MON_DEFECT_AREA_END },
		{ MR_END + 1, MR_END + 12, MON_DEFECT_AREA_END },
		{ 0xfffffff4, 0xffffffff, MON_DEFECT_AREA_END },
	};

	for (unsigned int i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		mr_element(AREA, 256, 271);
		ck_assert(mr_notify(1, areas[i].first - MR_START, areas[i].last - MR_START));
		malformed(areas[i].defect);
	}
}

TEST(element_without_type_or_domain)
{
	mr_element(AREA, 256, 271);
	mr_segment[AREA] = 0;
	ck_assert(mr_notify(1, AREA, LAST));
	malformed(MON_DEFECT_TYPE);

	mr_element(AREA, 256, 271);
	mr_segment[AREA + 1] = 0;
	mr_segment[AREA + 3] = 0xff;	/* is not looked at */
	ck_assert(mr_notify(1, AREA, LAST));
	malformed(MON_DEFECT_DOMAINS);

	/* Each of the two bytes will do. */
	for (unsigned int i = 1; i <= 2; i++) {
		mr_element(AREA, 256, 271);
		mr_segment[AREA + 1] = mr_segment[AREA + 2] = 0;
		mr_segment[AREA + i] = 1;
		ck_assert(mr_notify(1, AREA, LAST));
		ck_assert_int_eq(mr_read(100), 28);
		ck_assert_int_eq(mr_read(100), 0);
	}
}

TEST(records)
{
	static const struct {
		u32 first, last;
		enum mon_defect defect;
	} ranges[] = {
		{ MR_START + 256, MR_START + 255, MON_DEFECT_RECORDS_EMPTY },
		{ 0xffffffff, 0, MON_DEFECT_RECORDS_EMPTY },
		{ MR_END + 2, MR_END + 1, MON_DEFECT_RECORDS_EMPTY },
		{ MR_START - 1, MR_START + 256, MON_DEFECT_RECORDS_BEGIN },
		{ MR_START - 1, MR_START - 1, MON_DEFECT_RECORDS_BEGIN },
		{ 0, 0xffffffff, MON_DEFECT_RECORDS_BEGIN },
		{ MR_START, MR_END + 1, MON_DEFECT_RECORDS_END },
		{ MR_END + 1, MR_END + 1, MON_DEFECT_RECORDS_END },
		{ 0xffffffff, 0xffffffff, MON_DEFECT_RECORDS_END },
	};

	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		mr_element(AREA, ranges[i].first - MR_START, ranges[i].last - MR_START);
		ck_assert(mr_notify(1, AREA, LAST));
		malformed(ranges[i].defect);
	}
}

/* Elements before the malformed one are delivered; then the set ends with the error. */
TEST(defect_behind_good_elements)
{
	mr_element(AREA, 256, 256 + 99);
	mr_element(AREA + 12, 0x400, 0x400);
	mr_element(AREA + 24, 0x500, 0x4ff);
	ck_assert(mr_notify(1, AREA, AREA + 35));
	ck_assert(mr_simple(2));
	ck_assert_int_eq(mr_read(1000), 12 + 100 + 12 + 1);
	ck_assert_int_eq(mr.state, MON_INVALID);
	ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_READABLE);
	ck_assert_int_eq(mr_read(1000), MR_IO);
	ck_assert_int_eq(mr.defect, MON_DEFECT_RECORDS_EMPTY);
	ck_assert_uint_eq(mr.index, 2);
	ck_assert_uint_eq(mr.counts.bytes, 125);
	ck_assert_uint_eq(mr_replied_id, 1);
	ck_assert_int_eq(mr_read(1000), 28);
	ck_assert_int_eq(mr_read(1000), 0);
}

/* A malformed set is one even if the reply fails, or cannot be sent. */
TEST(defect_and_reply)
{
	mr_element(AREA, 256, 255);
	ck_assert(mr_notify(1, AREA, LAST));
	mr_reply_fails = true;
	ck_assert_int_eq(mr_read(1), MR_IO);
	ck_assert_uint_eq(mr.counts.invalid_sets, 1);
	ck_assert(mr_notify(2, AREA, LAST));
	mon_stream_sever(&mr);
	ck_assert_int_eq(mr_read(1), MR_IO);
	ck_assert_uint_eq(mr.counts.invalid_sets, 2);
	ck_assert_uint_eq(mr_replies, 1);
	ck_assert_int_eq(mon_stream_poll(&mr), MON_POLL_SEVERED);
}

/* Opening the stream again forgets the defect of an earlier set. */
TEST(open_forgets_the_defect)
{
	mr_element(AREA, 256, 255);
	ck_assert(mr_notify(1, AREA, LAST));
	ck_assert_int_eq(mon_stream_begin(&mr), MON_BEGIN_SET);
	ck_assert_int_eq(mr.defect, MON_DEFECT_RECORDS_EMPTY);
	mon_stream_open(&mr);
	ck_assert_int_eq(mr.defect, MON_DEFECT_NONE);
	ck_assert_int_eq(mr.state, MON_IDLE);
}

TEST(every_defect_has_its_words)
{
	for (int a = MON_DEFECT_NONE; a <= MON_DEFECT_RECORDS_END; a++) {
		ck_assert_uint_gt(strlen(mon_defect_text((enum mon_defect)a)), 5);
		for (int b = MON_DEFECT_NONE; b < a; b++)
			ck_assert_str_ne(mon_defect_text((enum mon_defect)a),
					 mon_defect_text((enum mon_defect)b));
	}
}
