/* SPDX-License-Identifier: MIT */
/* libmonrec: every rule of elements and records, broken once, told by place and in words. */
#include "monrec_input.h"

#define S MONREC_TYPE_SAMPLE
#define E MONREC_TYPE_EVENT

CASE("rules", mi_setup, mi_teardown);

TEST_LOOP(element_cut, 1, MONREC_ELEMENT_SIZE)
{
	char text[96];

	snprintf(text, sizeof(text),
		 "set 1, offset 0: the set ends %d bytes into a control element [element-cut]", _i);
	mi_room((unsigned int)_i);
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	mi_violation(MONREC_RULE_ELEMENT_CUT, text);
	mi_next(MONREC_SET_LOST);
	ck_assert_int_eq(mi_item.error, 0);
	mi_next(MONREC_END);
}

/* The same behind another element; with the device the next set is whole again. */
TEST(element_cut_later)
{
	for (unsigned int i = 0; i < 2; i++) {
		size_t begin = mi_begin(S, MI_START);

		mi_record(1, MTREND, 20);
		mi_end(begin);
		if (i == 0)
			mi_room(11);
		mi_stop(0);
	}
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_violation(MONREC_RULE_ELEMENT_CUT,
		     "set 1, offset 32, element 1, record 1: the set ends 11 bytes into a control "
		     "element [element-cut]");
	mi_next(MONREC_SET_LOST);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_next(MONREC_SET_END);
}

/* The device gives up a set at its first element: what comes next is another set. */
TEST(first_element_fails)
{
	size_t begin;

	mi_room(5);
	mi_stop(-EIO);
	begin = mi_begin(S, MI_START);
	mi_record(1, MTREND, 20);
	mi_end(begin);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	mi_next(MONREC_SET_LOST);
	ck_assert_int_eq(mi_item.error, EIO);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_next(MONREC_SET_END);
}

TEST(element_type)
{
	mi_mce(0x53, 0x4000, MI_START, 20);
	mi_record(1, MTREND, 20);
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	mi_violation(MONREC_RULE_ELEMENT_TYPE,
		     "set 1, offset 0, element 1: the control element's type is X'53' "
		     "[element-type]");
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_set_ends();
}

TEST_LOOP(element_domains, 0, 5)
{
	static const struct { uint8_t type; uint16_t domains; const char *text; } cases[] = {
		{ S, 0x0000, "the control element names no domain" },
		{ E, 0x0000, "the control element names no domain" },
		{ S, 0x6000, "domains X'6000' are named, of which X'2000' are impossible" },
		{ S, 0x4100, "domains X'4100' are named, of which X'0100' are impossible" },
		{ E, 0xc000, "domains X'C000' are named, of which X'8000' are impossible" },
	};
	char text[200];

	mi_mce(cases[_i].type, cases[_i].domains, MI_START, 20);
	mi_record(1, cases[_i].type == S ? MTREND : MTRSOS, 20);
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	snprintf(text, sizeof(text), "set 1, offset 1, element 1: %s [element-domains]",
		 cases[_i].text);
	mi_violation(MONREC_RULE_ELEMENT_DOMAINS, text);
	mi_next(MONREC_ELEMENT);
	mi_records(1);
	mi_set_ends();
}

/* Nothing behind can be read; with the device up to the end of the set. */
TEST_LOOP(element_range, 0, 2)
{
	put_be32(mi_mce(S, 0x4000, MI_START, 20) + 8, MI_START);
	mi_room(777);
	mi_stop(0);
	mi_open(_i ? MONREC_DEVICE : MONREC_SAVED);
	mi_next(MONREC_SET);
	mi_violation(MONREC_RULE_ELEMENT_RANGE,
		     "set 1, offset 4, element 1: the records reach from 09000000 to "
		     "09000000 [element-range]");
	mi_next(MONREC_SET_LOST);
	if (_i) {
		mi_stop(-EIO);
		mi_next(MONREC_ERROR);
	}
	mi_next(MONREC_END);
}

TEST(records_cut)
{
	mi_mce(S, 0x4000, MI_START, 5000);
	mi_record(1, 4, 184);
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_violation(MONREC_RULE_RECORDS_CUT,
		     "set 1, offset 12, element 1: the set ends 184 bytes into a frame of the "
		     "element's records [records-cut]");
	mi_next(MONREC_SET_LOST);
	mi_next(MONREC_END);
}

TEST(set_empty)
{
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	mi_violation(MONREC_RULE_SET_EMPTY,
		     "set 1, offset 0: the set has no control element [set-empty]");
	mi_next(MONREC_SET_END);
}

TEST(header_cut)
{
	size_t begin = mi_begin(S, MI_START);

	mi_record(1, MTREND, 20);
	mi_room(19);
	mi_end(begin);
	mi_open_first();
	mi_records(1);
	mi_violation(MONREC_RULE_HEADER_CUT,
		     "set 1, offset 32, element 1, record 2: 19 bytes at the end of the element "
		     "are not a record [header-cut]");
	mi_set_ends();
}

/* Reading goes on with the next frame. */
TEST(record_short)
{
	size_t begin = mi_begin(S, MI_START + 4000);

	put_be16(mi_record(0, 1, 96), 19);
	mi_record(1, MTREND, 20);
	mi_end(begin);
	mi_open_first();
	mi_violation(MONREC_RULE_RECORD_SHORT,
		     "set 1, offset 12, element 1, record 1: the record's length is 19 bytes "
		     "[record-short]");
	mi_records(1);
	mi_set_ends();
}

TEST(record_frame)
{
	size_t begin = mi_begin(S, MI_START + 4000);

	put_be16(mi_record(0, 1, 96), 97);
	mi_record(1, MTREND, 20);
	mi_end(begin);
	mi_open_first();
	mi_violation(MONREC_RULE_RECORD_FRAME,
		     "set 1, offset 12, element 1, record 1: the record of 97 bytes begins 96 "
		     "bytes before its frame ends [record-frame]");
	mi_records(1);
	mi_set_ends();
}

TEST(record_element)
{
	size_t begin = mi_begin(S, MI_START);

	mi_record(1, MTREND, 20);
	put_be16(mi_record(0, 1, 30), 31);
	mi_end(begin);
	mi_open_first();
	mi_records(1);
	mi_violation(MONREC_RULE_RECORD_ELEMENT,
		     "set 1, offset 32, element 1, record 2: the record of 31 bytes begins 30 "
		     "bytes before its element ends [record-element]");
	mi_set_ends();
}

TEST(record_zero)
{
	mi_one_record(S, 0, 1, 116)[3] = 1;
	mi_open_first();
	mi_violation(MONREC_RULE_RECORD_ZERO,
		     "set 1, offset 12, element 1, record 1 (D0R1 SYTSYP): bytes 2 and 3 of the "
		     "header are X'0001' [record-zero]");
	ck_assert_ptr_nonnull(mi_item.record.data);
	ck_assert_uint_eq(mi_item.record.len, 116);
	mi_records(2);
	mi_set_ends();
}

/* Only event data are suspended: what a sample has of it is wrong, but not in the wrong place. */
TEST(suspension_in_a_sample)
{
	unsigned int violations = 0;
	size_t begin = mi_begin(S, MI_START);

	mi_record(0, 99, 40);
	mi_record(1, 3, 24);
	mi_record(1, 11, 20);
	mi_end(begin);
	mi_open(MONREC_SAVED);
	while (monrec_next(mi_reader, &mi_item) != MONREC_END) {
		if (mi_item.kind != MONREC_VIOLATION)
			continue;
		ck_assert_int_eq(mi_item.rule, MONREC_RULE_RECORD_KIND);
		violations++;
	}
	ck_assert_uint_eq(violations, 1);
}

/* There are 16 domains, and an element may name the last one. */
TEST(last_domain)
{
	size_t begin;

	mi_mce(S, 0xc001, MI_START, 0);
	begin = mi.len;
	mi_record(15, 99, 40);
	mi_record(1, 11, 20);
	mi_end(begin);
	mi_open_first();
	mi_records(2);
	mi_set_ends();
}

TEST_LOOP(record_domain, 0, 2)
{
	mi_one_record(S, _i ? 200 : 3, 99, 40);
	mi_open_first();
	mi_violation(MONREC_RULE_RECORD_DOMAIN,
		     _i ? "set 1, offset 12, element 1, record 1 (D200R99): domain 200 is not "
			  "among those that the element names, X'C800' [record-domain]" :
			  "set 1, offset 12, element 1, record 1 (D3R99): domain 3 is not among "
			  "those that the element names, X'C800' [record-domain]");
	mi_records(2);
	mi_set_ends();
}

TEST_LOOP(record_kind, 0, 2)
{
	mi_one_record(_i ? E : S, 4, _i ? 3 : 1, 40);
	mi_open_first();
	mi_violation(MONREC_RULE_RECORD_KIND,
		     _i ? "set 1, offset 12, element 1, record 1 (D4R3 USEACT): a sample record "
			  "in event data [record-kind]" :
			  "set 1, offset 12, element 1, record 1 (D4R1 USELON): an event record in "
			  "sample data [record-kind]");
	mi_records(_i ? 1 : 2);
	mi_set_ends();
}

TEST(record_length)
{
	mi_one_record(S, 0, 1, 96);
	mi_open_first();
	monrec_set_release(mi_reader, 530);
	mi_violation(MONREC_RULE_RECORD_LENGTH,
		     "set 1, offset 12, element 1, record 1 (D0R1 SYTSYP): the record has 96 "
		     "bytes, in its release 116 [record-length]");
	mi_records(2);
	mi_set_ends();
	monrec_close(mi_reader);
	mi.pos = 0;
	mi_open_first();
	monrec_set_release(mi_reader, 510);
	mi_records(2);
	mi_set_ends();
}

/* The length of a record that data follow is the least. */
TEST_LOOP(record_length_variable, 0, 2)
{
	mi_one_record(S, 1, 10, _i ? 31 : 60);
	mi_open_first();
	monrec_set_release(mi_reader, 530);
	if (_i)
		mi_violation(MONREC_RULE_RECORD_LENGTH,
			     "set 1, offset 12, element 1, record 1 (D1R10 MTRSCM): the record has "
			     "31 bytes, in its release 32 [record-length]");
	mi_records(2);
	mi_set_ends();
}

TEST(profile)
{
	mi_one_record(S, 1, 14, 28)[20] = E;
	mi_open_first();
	mi_violation(MONREC_RULE_PROFILE,
		     "set 1, offset 12, element 1, record 1 (D1R14 MTRDDR): its profile is X'C5', "
		     "the element's type X'E2' [profile]");
	mi_records(2);
	mi_set_ends();
}

TEST(words)
{
	struct monrec_item item = { .kind = MONREC_VIOLATION };
	char line[256], cut[30];

	for (unsigned int rule = 0; rule < MONREC_RULES; rule++) {
		for (unsigned int other = 0; other < rule; other++)
			ck_assert_str_ne(monrec_rule_name(rule), monrec_rule_name(other));
		ck_assert_uint_gt(strlen(monrec_rule_text(rule)), 10);
		item.rule = rule;
		item.at = (struct monrec_place){ UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX };
		item.value[0] = UINT64_MAX;
		item.value[1] = UINT64_MAX;
		ck_assert_ptr_eq(monrec_describe(&item, line, sizeof(line)), line);
		ck_assert_uint_lt(strlen(line), sizeof(line) - 1);
		monrec_describe(&item, cut, sizeof(cut));
		ck_assert_uint_eq(strlen(cut), sizeof(cut) - 1);
		ck_assert_mem_eq(cut, line, sizeof(cut) - 1);
	}
	ck_assert_ptr_null(monrec_rule_name(MONREC_RULES));
	ck_assert_ptr_null(monrec_rule_text(MONREC_RULES));
}
