/* SPDX-License-Identifier: MIT */
/* libmonrec on files of MONWRITE. */
#include "monrec_input.h"

#define S MONREC_TYPE_SAMPLE
#define E MONREC_TYPE_EVENT

/* A control record for @count elements; element i is written by element(). */
static uint8_t *control(unsigned int count)
{
	uint8_t *at = mi_room(4096);

	at[2] = 0x80;
	at[3] = 9;
	put_be32(at + 4, 77);
	put_be32(at + 12, MI_START);
	put_be32(at + 16, MI_START + count * 12 - 1);
	return at;
}

static void element(uint8_t *control, unsigned int index, uint8_t type, uint32_t start,
		    uint32_t len)
{
	uint8_t *at = control + 40 + index * 12;

	at[0] = type;
	put_be16(at + 1, type == E ? 0x4800 : 0xc800);
	put_be32(at + 4, start);
	put_be32(at + 8, start + len - 1);
}

/* A frame with the record(s) of an element at @phase. */
static void frame(uint32_t phase, bool sample)
{
	memset(mi_room(phase), 0xee, phase);
	if (sample)
		mi_record(1, MTREND, 20);
	else
		mi_record(4, 1, 20);
	memset(mi_room(4096 - 20 - phase), 0xee, 4096 - 20 - phase);
}

static void set(void)
{
	element(control(1), 0, S, MI_START + 0x1000, 20);
	frame(0, true);
}

static void ck_set(uint64_t offset)
{
	mi_next(MONREC_SET);
	ck_assert_uint_eq(mi_item.at.offset, offset);
	ck_assert_uint_eq(get_be32(mi_item.interrupt + 4), 77);
	mi_next(MONREC_ELEMENT);
	ck_assert_uint_eq(mi_item.at.offset, offset + 40);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.at.offset, offset + 4096);
	mi_next(MONREC_SET_END);
}

CASE("monwrite", mi_setup, mi_teardown);

TEST_LOOP(sets, 0, 2)
{
	set();
	set();
	mi_room(4096);
	mi.chunk = _i ? 1000 : 0;
	mi_open(MONREC_MONWRITE);
	ck_set(0);
	ck_set(8192);
	mi_next(MONREC_END);
}

TEST(empty)
{
	mi_room(4096);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_END);
}

/* Each element has frames of its own, from its first to its last byte. */
TEST(elements)
{
	uint8_t *at = control(2);

	element(at, 0, E, MI_START + 0x1064, 20);
	element(at, 1, S, MI_START + 0x1078, 20);
	frame(0x64, false);
	frame(0x78, true);
	mi_room(4096);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.at.offset, 4096 + 0x64);
	ck_assert_uint_eq(mi_item.record.address, MI_START + 0x1064);
	ck_assert_uint_eq(mi_item.record.domain, 4);
	mi_next(MONREC_ELEMENT);
	ck_assert_uint_eq(mi_item.at.offset, 52);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.at.offset, 8192 + 0x78);
	ck_assert_uint_eq(mi_item.record.number, MTREND);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_END);
}

TEST(most_elements)
{
	uint8_t *at = control(338);

	for (unsigned int i = 0; i < 338; i++)
		element(at, i, E, MI_START, 20);
	/* There are frames for the first 20 of them. */
	for (unsigned int i = 0; i < 20; i++)
		frame(0, false);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_SET);
	for (unsigned int i = 0; i < 20; i++) {
		mi_next(MONREC_ELEMENT);
		mi_next(MONREC_RECORD);
	}
	mi_next(MONREC_ELEMENT);
	ck_assert_uint_eq(mi_item.at.element, 21);
	mi_violation(MONREC_RULE_FILE_CUT,
		     "set 1, offset 86016, element 21: the file ends without end of data "
		     "[file-cut]");
	mi_next(MONREC_SET_LOST);
	mi_next(MONREC_END);
}

/* As many as the control area tells, and not one more. */
TEST(all_elements)
{
	uint8_t *at = control(50);

	for (unsigned int i = 0; i < 50; i++) {
		element(at, i, E, MI_START, 20);
		frame(0, false);
	}
	mi_room(4096);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_SET);
	for (unsigned int i = 0; i < 50; i++) {
		mi_next(MONREC_ELEMENT);
		mi_next(MONREC_RECORD);
	}
	mi_next(MONREC_SET_END);
	mi_next(MONREC_END);
}

TEST_LOOP(cut, 0, 4)
{
	static const struct { size_t len; const char *text; } cases[] = {
		{ 0, "offset 0: the file ends without end of data [file-cut]" },
		{ 4095, "offset 0: the file ends 4095 bytes into a 4096-byte record [file-cut]" },
		{ 8192, "set 1, offset 8192: the file ends without end of data [file-cut]" },
		{ 8193, "set 1, offset 8192: the file ends 1 bytes into a 4096-byte record "
			"[file-cut]" },
	};

	set();
	set();
	mi.len = cases[_i].len;
	mi_open(MONREC_MONWRITE);
	if (mi.len >= 8192)
		ck_set(0);
	mi_violation(MONREC_RULE_FILE_CUT, cases[_i].text);
	mi_next(MONREC_END);
}

TEST(cut_in_a_frame)
{
	set();
	mi.len = 4096 + 50;
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_violation(MONREC_RULE_FILE_CUT,
		     "set 1, offset 4096, element 1: the file ends 50 bytes into a 4096-byte "
		     "record [file-cut]");
	mi_next(MONREC_SET_LOST);
	mi_next(MONREC_END);
}

TEST_LOOP(control_area, 0, 4)
{
	static const struct { uint32_t first, last; const char *text; } cases[] = {
		{ 0x1000, 0x0fff, "00001000 to 00000FFF" },
		{ 0x1000, 0x100a, "00001000 to 0000100A" },
		{ 0x1000, 0x1000 + 339 * 12 - 1, "00001000 to 00001FE3" },
		{ 0, 0xffffffff, "00000000 to FFFFFFFF" },
	};
	char text[200];
	uint8_t *at = control(1);

	put_be32(at + 12, cases[_i].first);
	put_be32(at + 16, cases[_i].last);
	mi_room(8192);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_SET);
	snprintf(text, sizeof(text), "set 1, offset 12: the control area reaches from %s "
		 "[control-area]", cases[_i].text);
	mi_violation(MONREC_RULE_CONTROL_AREA, text);
	mi_next(MONREC_SET_LOST);
	mi_next(MONREC_END);
}

TEST_LOOP(interrupt, 0, 2)
{
	set();
	mi.data[2 + (_i != 0)] = _i ? 3 : 0x20;
	mi_room(4096);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_SET);
	mi_violation(MONREC_RULE_INTERRUPT,
		     _i ? "set 1, offset 0: the interruption's type is X'03', its flags X'80' "
			  "[interrupt]" :
			  "set 1, offset 0: the interruption's type is X'09', its flags X'20' "
			  "[interrupt]");
	mi_next(MONREC_ELEMENT);
	mi_next(MONREC_RECORD);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_END);
}

/* The beginning tells; of a device's bytes nothing does. */
TEST(recognised)
{
	uint8_t begin[MONREC_LOOK_AHEAD], changed[MONREC_LOOK_AHEAD];
	const uint8_t zeros[MONREC_LOOK_AHEAD] = { 0 };

	memcpy(begin, control(338), sizeof(begin));
	ck_assert(monrec_is_monwrite(begin));
	ck_assert(monrec_is_monwrite(zeros));
	for (unsigned int type = 0; type < 256; type++) {
		memcpy(changed, begin, sizeof(begin));
		changed[3] = (uint8_t)type;
		ck_assert(monrec_is_monwrite(changed) == (type == 8 || type == 9));
	}
	memcpy(changed, begin, sizeof(begin));
	changed[2] = 0x7f;
	ck_assert(!monrec_is_monwrite(changed));
	for (int wrong = -1; wrong <= 12; wrong++) {
		memcpy(changed, begin, sizeof(begin));
		put_be32(changed + 16, MI_START + 338u * 12u - 1u + (unsigned int)wrong);
		ck_assert(monrec_is_monwrite(changed) == (wrong == 0));
	}
	put_be32(changed + 16, MI_START - 1);
	ck_assert(!monrec_is_monwrite(changed));
	for (unsigned int i = 0; i < 2; i++) {
		memset(changed, 0xff, sizeof(changed));
		changed[0] = i ? E : S;
		changed[3] = 0;
		put_be32(changed + 4, MI_START);
		put_be32(changed + 8, MI_START + 19);
		ck_assert(!monrec_is_monwrite(changed));
	}
}

TEST(behind_data)
{
	mi_room(4097);
	mi_open(MONREC_MONWRITE);
	mi_violation(MONREC_RULE_BEHIND_DATA, "offset 4096: more data follow [behind-data]");
	mi_next(MONREC_END);
}

/* The frames of an element that makes no sense cannot be counted. */
TEST(element_range)
{
	element(control(1), 0, S, MI_START + 0x1000, 1);
	mi_room(8192);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_SET);
	mi_violation(MONREC_RULE_ELEMENT_RANGE,
		     "set 1, offset 44, element 1: the records reach from 09001000 to "
		     "09001000 [element-range]");
	mi_next(MONREC_SET_LOST);
	mi_next(MONREC_END);
}

/* The last frame of the address space. */
TEST(highest_address)
{
	element(control(1), 0, S, 0xfffff000, 4096);
	mi_record(0, 1, 4076);
	mi_record(1, MTREND, 20);
	mi_room(4096);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_next(MONREC_RECORD);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.record.address, 0xfffffff0 - 4);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_END);
}

TEST_LOOP(waiting_and_errors, 0, 2)
{
	mi_stop(-EAGAIN);
	set();
	mi_stop(-EINTR);
	mi_room(4096);
	mi_stop(-EAGAIN);
	mi_stop(_i ? -EIO : 0);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_AGAIN);
	ck_set(0);
	mi_next(MONREC_AGAIN);
	mi_next(MONREC_AGAIN);
	if (_i) {
		mi_next(MONREC_ERROR);
		ck_assert_int_eq(mi_item.error, EIO);
	}
	mi_next(MONREC_END);
}

/* Behind end of data another file is read, from its begin. */
TEST(restart)
{
	set();
	mi_room(4096);
	mi_stop(0);
	set();
	mi_room(4096);
	mi_open(MONREC_MONWRITE);
	ck_set(0);
	mi_next(MONREC_END);
	mi_next(MONREC_END);
	monrec_restart(mi_reader);
	mi.begin = mi.stops[0].at;
	ck_set(0);
	ck_assert_uint_eq(mi_item.at.set, 2);
	mi_next(MONREC_END);
}

TEST(unreadable)
{
	mi_stop(-EISDIR);
	mi_open(MONREC_MONWRITE);
	mi_next(MONREC_ERROR);
	ck_assert_int_eq(mi_item.error, EISDIR);
	mi_next(MONREC_END);
}
