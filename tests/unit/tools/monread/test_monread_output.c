/* SPDX-License-Identifier: MIT */
/* monread: items as text, as JSON and as a line for each set; outputs that take whole sets. */
#include "unit_test.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "longest_file.h"
#include "anonymise.h"
#include "monread.h"
#include "sink.h"
#include "bytes.h"
#include "ebcdic.h"

/* 2026-03-02, midnight, and some microseconds: docs/monread.1 says how TOD is shown. */
#define MIDNIGHT ((UINT64_C(2208988800) + 1772409600) * 1000000 * 4096)
#define TOD (MIDNIGHT + UINT64_C(123) * 4096)
#define TIME "2026-03-02T00:00:00.000123Z"

static char *text;
static size_t text_len;
static FILE *out;
static struct show show;
static uint8_t bytes[400];
static struct monrec_item item;
static char complaints[200];

/* Stands in for main.c. */
void complain_about(const char *what, int error)
{
	const size_t len = strlen(complaints);

	snprintf(complaints + len, sizeof(complaints) - len, "%s: %s\n", what, strerror(error));
}

static void start(void)
{
	out = open_memstream(&text, &text_len);
	ck_assert_ptr_nonnull(out);
	show = (struct show){ .out = out };
	memset(bytes, 0, sizeof(bytes));
	memset(&item, 0, sizeof(item));
	complaints[0] = '\0';
}

static void stop(void)
{
	fclose(out);
	free(text);
}

CASE("monread output", start, stop);

static struct monrec_item *of_kind(enum monrec_item_kind kind)
{
	memset(&item, 0, sizeof(item));
	item.kind = kind;
	item.at = (struct monrec_place){ .set = 7, .offset = 99 };
	return &item;
}

static void record(unsigned int domain, unsigned int number, uint32_t len)
{
	of_kind(MONREC_RECORD);
	item.at.element = 2;
	item.at.record = 3;
	item.record = (struct monrec_record){ .data = bytes, .len = len, .tod = TOD,
					      .domain = (uint8_t)domain,
					      .number = (uint16_t)number,
					      .release = MONREC_REFERENCE };
}

static void element(uint8_t type, uint16_t domains)
{
	of_kind(MONREC_ELEMENT);
	item.at.element = 2;
	item.element = (struct monrec_element){ .type = type, .domains = domains,
						.start = 0x9000000, .end = 0x9000fff };
}

/* Earlier output is overwritten. */
static void again(void)
{
	fflush(out);
	memset(text, 0, strlen(text));
	rewind(out);
}

/* All that has been written since the last time is this. */
static void is(const char *wanted)
{
	fflush(out);
	ck_assert_str_eq(text, wanted);
	again();
}

static void shown(const char *wanted)
{
	ck_assert_int_eq(text_item(&show, &item), 0);
	is(wanted);
}

TEST(text_of_sets)
{
	of_kind(MONREC_SET);
	shown("set 7\n");
	of_kind(MONREC_SET_END);
	shown("  complete\n");
	of_kind(MONREC_SET_LOST);
	shown("  lost: the rest cannot be read\n");
	item.error = EIO;
	shown("  lost: Input/output error\n");
	of_kind(MONREC_OVERFLOW);
	shown("sets were lost: the message limit was reached\n");
	of_kind(MONREC_VIOLATION);
	item.rule = MONREC_RULE_SET_EMPTY;
	shown("set 7, offset 99: the set has no control element [set-empty]\n");
	ck_assert_int_eq(text_item(&show, of_kind(MONREC_AGAIN)), 0);
	ck_assert_int_eq(ftell(out), 0);
}

/* Domains by name; the catalogue has none of domain 12. */
TEST(text_of_elements)
{
	element(0xe2, 0xc000);
	shown("  element 2: sample, 09000000-09000FFF, system monitor\n");
	element(0xc5, 0x0008);
	shown("  element 2: event, 09000000-09000FFF, 12\n");
	element(0x01, 0x0000);
	shown("  element 2: X'01', 09000000-09000FFF,\n");
	element(0xc5, 0x0001);
	shown("  element 2: event, 09000000-09000FFF, 15\n");
}

TEST(text_of_records)
{
	record(4, 1, 96);
	shown("    D4R1 USELON, 96 bytes, " TIME "\n");
	record(4, 250, 20);
	show.values = true;
	shown("    D4R250 -, 20 bytes, " TIME "\n");
	/* D1R3: a number; a record that is too short for it has none. */
	record(1, 3, 24);
	put_be32(bytes + 20, 77);
	ck_assert_int_eq(text_item(&show, &item), 0);
	fflush(out);
	ck_assert_ptr_nonnull(strstr(text, "\n      LOSTRCCT         77"));
	again();
	item.record.len = 23;
	shown("    D1R3 MTRSUS, 23 bytes, " TIME "\n");
	show.values = false;
	item.record.len = 24;
	shown("    D1R3 MTRSUS, 24 bytes, " TIME "\n");
}

/* D0R2: names in quotation marks, bits in X'', units behind. */
TEST(text_of_values)
{
	show.values = true;
	record(0, 2, 108);
	put_be64(bytes + 32, 4096 * 5);
	ck_assert_int_eq(text_item(&show, &item), 0);
	fflush(out);
	ck_assert_ptr_nonnull(strstr(text, "\n      PFXCPUAD         0\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n      PFXUTIME         20480 1/4096 µs\n"));
	again();
	record(4, 1, 96);
	ebcdic_name(bytes + 20, "LINUX");
	ck_assert_int_eq(text_item(&show, &item), 0);
	fflush(out);
	ck_assert_ptr_nonnull(strstr(text, "\n      VMDUSER          'LINUX'\n"));
}

/* D10R2 of mon_fsstatd: what is printable is from blank to tilde; 64 bits are exact. */
static void application(void)
{
	static const uint8_t product[16] = "LNXAPPL\0\1\0\2\3\4\5\6";
	uint8_t *at = bytes + 52;

	record(10, 2, 155);
	put_be16(bytes + 20, 52);
	put_be16(bytes + 22, 103);
	memcpy(bytes + 32, product, sizeof(product));
	put_be64(at, 1700000000);
	put_be16(at + 8, 91);
	put_be16(at + 10, 12);
	put_be16(at + 12, 4);
	memcpy(at + 14, "\x1f ~\x7f", 4);
	put_be16(at + 18, 1);
	at[20] = '/';
	at += 23;
	for (unsigned int i = 0; i < 9; i++, at += 8)
		put_be64(at, i == 8 ? UINT64_MAX : i == 7 ? INT64_MAX : i == 6 ? INT64_MAX + UINT64_C(1) : i);
	item.record.len = 147;
	put_be16(bytes + 22, 95);
	show.values = true;
}

TEST(text_of_applications)
{
	static const char *const wanted =
		"\n      application      LNXAPPL 0001 0 0203 0405 0600, 95 bytes: fsstat\n"
		"        timestamp      1700000000\n        data_len       91\n"
		"        data_offset    12\n        name           '. ~.'\n        dir            '/'\n"
		"        type           ''\n        bsize          0\n        frsize         1\n"
		"        blocks         2\n        bfree          3\n        bavail         4\n"
		"        files          5\n        ffree          9223372036854775808\n"
		"        favail         9223372036854775807\n        flag           18446744073709551615\n";
	const char *at;

	application();
	ck_assert_int_eq(text_item(&show, &item), 0);
	fflush(out);
	at = strstr(text, "\n      application ");
	ck_assert_ptr_nonnull(at);
	ck_assert_str_eq(at, wanted);
}

static const struct monrec_field *made(uint8_t type, uint16_t offset, uint16_t len)
{
	static struct monrec_field field;

	field = (struct monrec_field){ .name = "MADE", .offset = offset, .len = len, .type = type,
				       .first = 510, .last = 540 };
	return &field;
}

TEST(values)
{
	static const struct { uint8_t type; uint16_t len; const char *text; } cases[] = {
		{ MONREC_UNSIGNED, 2, "65024" }, { MONREC_SIGNED, 2, "-512" },
		{ MONREC_DURATION, 4, "4261412987" }, { MONREC_BITS, 2, "fe00" },
		{ MONREC_BYTES, 4, "fe00007b" }, { MONREC_UNSIGNED, 1, "254" },
	};

	record(0, 2, 40);
	put_be32(bytes + 20, 0xfe00007b);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(value_text(&item.record, made(cases[i].type, 20, cases[i].len)),
				 cases[i].text);
	put_be64(bytes + 20, TOD);
	ck_assert_str_eq(value_text(&item.record, made(MONREC_TOD, 20, 8)), TIME);
	ebcdic_name(bytes + 20, "AB");
	ck_assert_str_eq(value_text(&item.record, made(MONREC_TEXT, 20, 8)), "AB");
}

/* In this release, and all of it in the record. */
TEST(fields_that_are_there)
{
	record(0, 2, 40);
	ck_assert(!field_there(&item.record, made(MONREC_BITS, 36, 5)));
	ck_assert(!field_there(&item.record, made(MONREC_BITS, 37, 4)));
	for (unsigned int release = 509; release <= 541; release++) {
		item.record.release = (uint16_t)release;
		ck_assert(field_there(&item.record, made(MONREC_BITS, 36, 4)) ==
			  (release >= 510 && release <= 540));
	}
	item.record.release = 0;
	ck_assert(!field_there(&item.record, made(MONREC_BITS, 36, 4)));
}

TEST(times_of_day)
{
	char time[TOD_TEXT_SIZE];

	ck_assert_str_eq(tod_text(0, time), "1900-01-01T00:00:00.000000Z");
	ck_assert_str_eq(tod_text(MIDNIGHT - 1, time), "2026-03-01T23:59:59.999999Z");
	ck_assert_str_eq(tod_text(UINT64_MAX, time), "2042-09-17T23:53:47.370495Z");
}

static void is_json(const char *wanted)
{
	json_t *expected = json_loads(wanted, 0, NULL), *got;

	ck_assert_ptr_nonnull(expected);
	ck_assert_int_eq(json_item(&show, &item), 0);
	fflush(out);
	ck_assert_uint_eq(text[text_len - 1], '\n');
	ck_assert_ptr_null(strchr(text, ' '));
	got = json_loads(text, 0, NULL);
	ck_assert_msg(json_equal(expected, got), "%s", text);
	json_decref(expected);
	json_decref(got);
	fclose(out);
	free(text);
	out = open_memstream(&text, &text_len);
	show.out = out;
}

TEST(json_of_items)
{
	of_kind(MONREC_SET);
	is_json("{\"item\":\"set\",\"set\":7,\"offset\":99}");
	of_kind(MONREC_SET_END);
	is_json("{\"item\":\"complete\",\"set\":7,\"offset\":99}");
	of_kind(MONREC_OVERFLOW);
	is_json("{\"item\":\"overflow\",\"set\":7,\"offset\":99}");
	of_kind(MONREC_SET_LOST);
	is_json("{\"item\":\"lost\",\"set\":7,\"offset\":99}");
	element(0xc5, 0x8001);
	is_json("{\"item\":\"element\",\"set\":7,\"offset\":99,\"element\":2,\"type\":\"event\","
		"\"domains\":[0,15],\"start\":150994944,\"end\":150999039}");
	record(4, 250, 20);
	is_json("{\"item\":\"record\",\"set\":7,\"offset\":99,\"element\":2,\"record\":3,"
		"\"domain\":4,\"number\":250,\"length\":20,\"time\":\"" TIME "\"}");
	record(1, 3, 24);
	is_json("{\"item\":\"record\",\"set\":7,\"offset\":99,\"element\":2,\"record\":3,"
		"\"domain\":1,\"number\":3,\"name\":\"MTRSUS\",\"length\":24,\"time\":\"" TIME "\"}");
	of_kind(MONREC_ERROR);
	ck_assert_int_eq(json_item(&show, &item), 0);
	ck_assert_int_eq(ftell(out), 0);
}

TEST(json_of_errors)
{
	json_t *line;

	of_kind(MONREC_SET_LOST);
	item.error = EIO;
	ck_assert_int_eq(json_item(&show, &item), 0);
	of_kind(MONREC_VIOLATION);
	item.rule = MONREC_RULE_SET_EMPTY;
	ck_assert_int_eq(json_item(&show, &item), 0);
	fflush(out);
	line = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	ck_assert_str_eq(json_string_value(json_object_get(line, "error")), "Input/output error");
	json_decref(line);
	line = json_loads(strchr(text, '\n'), 0, NULL);
	ck_assert_str_eq(json_string_value(json_object_get(line, "item")), "violation");
	ck_assert_str_eq(json_string_value(json_object_get(line, "rule")), "set-empty");
	ck_assert_str_eq(json_string_value(json_object_get(line, "text")),
			 "set 7, offset 99: the set has no control element [set-empty]");
	json_decref(line);
}

/* Numbers of 8 bytes are not exact in every program: they are digits. */
TEST(json_of_fields)
{
	json_t *line, *fields;

	show.values = true;
	record(0, 2, 108);
	put_be16(bytes + 20, 300);
	put_be64(bytes + 32, 4096);
	put_be64(bytes + 68, 0x123);
	ck_assert_int_eq(json_item(&show, &item), 0);
	fflush(out);
	line = json_loads(text, 0, NULL);
	fields = json_object_get(line, "fields");
	ck_assert_int_eq(json_integer_value(json_object_get(fields, "PFXCPUAD")), 300);
	ck_assert_str_eq(json_string_value(json_object_get(fields, "PFXUTIME")),
			 "0000000000001000");
	ck_assert_str_eq(json_string_value(json_object_get(fields, "PFXTOTWT")),
			 "0000000000000123");
	json_decref(line);
	again();
	record(4, 1, 28);
	ebcdic_name(bytes + 20, "LINUX");
	ck_assert_int_eq(json_item(&show, &item), 0);
	fflush(out);
	line = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	fields = json_object_get(line, "fields");
	ck_assert_uint_eq(json_object_size(fields), 1);
	ck_assert_str_eq(json_string_value(json_object_get(fields, "VMDUSER")), "LINUX");
	json_decref(line);
}

TEST(json_of_applications)
{
	json_t *line, *wanted = json_loads(
		"{\"product\":\"LNXAPPL\",\"function\":1,\"record\":0,\"version\":515,\"release\":1029,"
		"\"modification\":1536,\"length\":95,\"name\":\"fsstat\",\"values\":{"
		"\"timestamp\":1700000000,\"data_len\":91,\"data_offset\":12,\"name\":\". ~.\","
		"\"dir\":\"/\",\"type\":\"\",\"bsize\":0,\"frsize\":1,\"blocks\":2,\"bfree\":3,"
		"\"bavail\":4,\"files\":5,\"ffree\":\"9223372036854775808\","
		"\"favail\":9223372036854775807,\"flag\":\"18446744073709551615\"}}", 0, NULL);

	ck_assert_ptr_nonnull(wanted);
	application();
	ck_assert_int_eq(json_item(&show, &item), 0);
	fflush(out);
	line = json_loads(text, 0, NULL);
	ck_assert_msg(json_equal(json_object_get(line, "application"), wanted), "%s", text);
	json_decref(line);
	json_decref(wanted);
}

/* A failed write returns -1, whatever the item. */
TEST(outputs_that_cannot_be_written)
{
	show.out = fopen("/dev/full", "w");
	ck_assert_ptr_nonnull(show.out);
	setvbuf(show.out, NULL, _IONBF, 0);
	of_kind(MONREC_SET);
	ck_assert_int_eq(text_item(&show, &item), -1);
	clearerr(show.out);
	ck_assert_int_eq(json_item(&show, &item), -1);
	fclose(show.out);
}

/* The sink's line of a set begins with the set, whatever came before it. */
TEST(summary)
{
	struct sink *sink = summary_sink(out);

	for (unsigned int set = 0; set < 2; set++) {
		ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET)), 0);
		element(0xe2, 1);
		ck_assert_int_eq(sink->ops->item(sink, &item), 0);
		if (set == 0) {
			element(0xc5, 1);
			ck_assert_int_eq(sink->ops->item(sink, &item), 0);
		}
		record(1, 3, 24);
		item.record.tod = MIDNIGHT;
		ck_assert_int_eq(sink->ops->item(sink, &item), 0);
		record(1, 3, 26);
		ck_assert_int_eq(sink->ops->item(sink, &item), 0);
		ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
		is(set ? "set 7, " TIME ": samples, 2 records, 50 bytes; before it 1 lost, 2 overflows\n" :
			 "set 7, " TIME ": samples and events, 2 records, 50 bytes\n");
		ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_LOST)), 0);
		ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_OVERFLOW)), 0);
		ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_OVERFLOW)), 0);
	}
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET)), 0);
	element(0xc5, 1);
	ck_assert_int_eq(sink->ops->item(sink, &item), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
	is("set 7, 1900-01-01T00:00:00.000000Z: events, 0 records, 0 bytes; before it 1 lost, "
	   "2 overflows\n");
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET)), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
	is("set 7, 1900-01-01T00:00:00.000000Z: , 0 records, 0 bytes\n");
	/* One of the two is enough to be told. */
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_LOST)), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET)), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
	is("set 7, 1900-01-01T00:00:00.000000Z: , 0 records, 0 bytes; before it 1 lost, "
	   "0 overflows\n");
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_OVERFLOW)), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET)), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
	is("set 7, 1900-01-01T00:00:00.000000Z: , 0 records, 0 bytes; before it 0 lost, "
	   "1 overflows\n");
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_VIOLATION)), 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	ck_assert_int_eq(sink->ops->drop(sink), 0);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	is("");
}

/* A line for each interval that ends: what has changed since the line before. */
static void interval(struct sink *sink, unsigned int minute)
{
	const uint64_t tod = MIDNIGHT + minute * UINT64_C(60000000) * 4096;
	static const struct { unsigned int domain, number; uint32_t len; } records[] = {
		{ 0, 2, 108 }, { 3, 2, 364 }, { 6, 3, 260 }, { 4, 9, 360 }, { 4, 1, 96 }, { 1, 11, 20 },
	};

	for (unsigned int i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		memset(bytes, 0, sizeof(bytes));
		record(records[i].domain, records[i].number, records[i].len);
		item.record.tod = tod;
		switch (i) {
		case 0: /* PFXUTIME, PFXCPUTY: an IFL, busy 15 s of a minute */
			put_be64(bytes + 32, minute * UINT64_C(15000000) * 4096);
			bytes[104] = 3;
			break;
		case 1: /* PLSPGDRD, PLSPGDWT */
			put_be32(bytes + 236, minute * 30);
			put_be32(bytes + 240, minute * 90);
			break;
		case 2:
			/* SCGSSCH, RDEVDEV */
			put_be32(bytes + 192, minute * 150);
			put_be16(bytes + 200, 0x1f);
			break;
		case 3: /* VMDUSER, VMDTTIME */
			ebcdic_name(bytes + 20, "LINUX");
			put_be64(bytes + 32, minute * UINT64_C(7500000) * 4096);
			break;
		case 4:
			ebcdic_name(bytes + 20, "GUEST");
			break;
		}
		ck_assert_int_eq(sink->ops->item(sink, &item), 0);
	}
}

TEST(activity_lines)
{
	struct sink *sink = activity_sink(out, NULL);

	ck_assert_ptr_nonnull(sink);
	interval(sink, 1);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	is("{\"until\":\"2026-03-02T00:01:00.000000Z\",\"sets\":1,\"records\":6,\"busy\":{},"
	   "\"users\":[],\"devices\":[],\"events\":[\"logon GUEST\"],\"lost\":0,\"overflows\":0,"
	   "\"processors\":[],\"waits\":[],\"paging-users\":[],\"volumes\":[]}\n");
	/* A set in which no interval ends says nothing; one that is lost has not been. */
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	interval(sink, 9);
	ck_assert_int_eq(sink->ops->drop(sink), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_LOST)), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_OVERFLOW)), 0);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_OVERFLOW)), 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	is("");
	interval(sink, 2);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	is("{\"until\":\"2026-03-02T00:02:00.000000Z\",\"sets\":3,\"records\":12,"
	   "\"busy\":{\"IFL\":25.0},\"page-reads\":0.5,\"page-writes\":1.5,\"starts\":2.5,"
	   "\"users\":[{\"user\":\"LINUX\",\"seconds\":7.5}],"
	   "\"devices\":[{\"device\":\"001F\",\"starts\":2.5}],\"events\":[\"logon GUEST\"],"
	   "\"lost\":1,\"overflows\":2,\"processors\":[{\"processor\":0,\"type\":\"IFL\","
	   "\"users\":25.0,\"system\":0.0}],\"waits\":[],\"paging-users\":[],\"volumes\":[]}\n");
	ck_assert_int_eq(sink->ops->close(sink), 0);
}

/* A full disk is told when the line is written. */
TEST(lines_that_cannot_be_written)
{
	FILE *full = fopen("/dev/full", "w");
	struct sink *sink = summary_sink(full);

	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), -ENOSPC);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	sink = activity_sink(full, NULL);
	interval(sink, 1);
	ck_assert_int_eq(sink->ops->item(sink, of_kind(MONREC_SET_END)), 0);
	ck_assert_int_eq(sink->ops->keep(sink), -ENOSPC);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	fclose(full);
}

TEST(tallies)
{
	static const struct { enum monrec_item_kind kind; unsigned int times; } given[] = {
		{ MONREC_SET_END, 2 }, { MONREC_SET_LOST, 3 }, { MONREC_OVERFLOW, 4 },
		{ MONREC_ELEMENT, 5 }, { MONREC_RECORD, 6 }, { MONREC_VIOLATION, 7 },
		{ MONREC_AGAIN, 8 },
	};
	struct tally tally = { 0 };

	for (unsigned int i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		for (unsigned int times = 0; times < given[i].times; times++) {
			of_kind(given[i].kind);
			item.record.len = 100;
			item.rule = MONREC_RULE_SET_EMPTY;
			tally_item(&tally, &item);
		}
	tally_print(&tally, out);
	is("2 sets complete, 3 lost, 4 overflows; 5 elements, 6 records, 600 bytes of records; "
	   "7 violations\n       7 set-empty: A data set has at least one control element.\n");
	memset(&tally, 0, sizeof(tally));
	tally.severs = 9;
	tally_print(&tally, out);
	is("0 sets complete, 0 lost, 0 overflows; 0 elements, 0 records, 0 bytes of records; "
	   "0 violations\n       9 times CP severed, and the device was opened anew\n");
}

/* An output that writes down what it is told to do, and fails when it is to. */
struct told {
	struct sink sink;
	char letter, fails;
};
static char said[200];

static int note(struct sink *sink, char what)
{
	struct told *told = (struct told *)sink;
	const size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%c%c ", told->letter, what);
	return told->fails == what ? -ENOSPC : 0;
}

static int told_item(struct sink *sink, const struct monrec_item *given)
{
	return note(sink, given->kind == MONREC_FRAME ? 'f' : 'i');
}

static int told_keep(struct sink *sink)
{
	return note(sink, 'k');
}

static int told_drop(struct sink *sink)
{
	return note(sink, 'd');
}

static int told_close(struct sink *sink)
{
	return note(sink, 'c');
}

static const struct sink_ops plain = { told_item, told_keep, told_drop, told_close, false };
static const struct sink_ops with_frames = { told_item, told_keep, told_drop, told_close, true };

static void does(struct sinks *sinks, enum monrec_item_kind kind, const char *wanted)
{
	said[0] = '\0';
	sinks_item(sinks, of_kind(kind));
	ck_assert_str_eq(said, wanted);
}

TEST(sinks_take_whole_sets)
{
	struct told a = { { .ops = &plain }, 'A', 0 }, b = { { .ops = &with_frames }, 'B', 0 };
	struct sinks sinks = { 0 };

	ck_assert(sinks_add(&sinks, &a.sink, "first"));
	ck_assert(!sinks.frames);
	ck_assert(sinks_add(&sinks, &b.sink, "second"));
	ck_assert(sinks.frames);
	does(&sinks, MONREC_RECORD, "Bi Ai ");
	does(&sinks, MONREC_FRAME, "Bf ");
	does(&sinks, MONREC_SET_END, "Bi Bk Ai Ak ");
	does(&sinks, MONREC_OVERFLOW, "Bi Bk Ai Ak ");
	does(&sinks, MONREC_SET_LOST, "Bi Bd Ai Ad ");
	said[0] = '\0';
	sinks_close(&sinks);
	ck_assert_str_eq(said, "Bd Bc Ad Ac ");
	ck_assert(!sinks.failed);
	ck_assert_str_eq(complaints, "");
}

/* One that could not be opened is told of, and is none. */
TEST(sinks_that_are_none)
{
	struct sinks sinks = { 0 };

	errno = ENOENT;
	ck_assert(!sinks_add(&sinks, NULL, "output"));
	ck_assert_str_eq(complaints, "output: No such file or directory\n");
	ck_assert_uint_eq(sinks.count, 0);
}

/* One that fails takes no further items, and the others go on. */
TEST(sinks_that_fail)
{
	static const struct { char when; enum monrec_item_kind kind; const char *said; } cases[] = {
		{ 'i', MONREC_SET_END, "Bi Bk Ai Ad Ac " },
		{ 'k', MONREC_SET_END, "Bi Bk Ai Ak Ad Ac " },
		{ 'd', MONREC_SET_LOST, "Bi Bd Ai Ad Ad Ac " },
	};

	for (unsigned int i = 0; i < 3; i++) {
		struct told a = { { .ops = &plain }, 'A', cases[i].when };
		struct told b = { { .ops = &plain }, 'B', 0 };
		struct sinks sinks = { 0 };

		complaints[0] = '\0';
		sinks_add(&sinks, &a.sink, "first");
		sinks_add(&sinks, &b.sink, "second");
		does(&sinks, cases[i].kind, cases[i].said);
		ck_assert(sinks.failed);
		ck_assert_uint_eq(sinks.count, 1);
		ck_assert_str_eq(complaints, "first: No space left on device\n");
		does(&sinks, MONREC_SET_END, "Bi Bk ");
		b.fails = 'c';
		sinks_close(&sinks);
		ck_assert_str_eq(complaints, "first: No space left on device\n"
					     "second: No space left on device\n");
	}
}

static off_t size_of(const char *name)
{
	struct stat status;

	ck_assert_int_eq(stat(name, &status), 0);
	return status.st_size;
}

/* A disk that takes the rows of one file and not those of the other: a set is in both or in none. */
TEST(csv_on_a_full_disk)
{
	char folder[] = "/tmp/zvmlab-test-XXXXXX", small[96], large[96];
	off_t small_size = 0, large_size = 0;
	struct sink *sink;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(small, sizeof(small), "%s/D0R8-SYTUSR.csv", folder);
	snprintf(large, sizeof(large), "%s/D0R1-SYTSYP.csv", folder);
	sink = csv_sink(folder);
	ck_assert_ptr_nonnull(sink);
	for (unsigned int set = 0; set < 2; set++) {
		record(0, 8, 100);
		ck_assert_int_eq(sink->ops->item(sink, &item), 0);
		record(0, 1, 116);
		ck_assert_int_eq(sink->ops->item(sink, &item), 0);
		if (set == 0) {
			ck_assert_int_eq(sink->ops->keep(sink), 0);
			small_size = size_of(small);
			large_size = size_of(large);
		}
	}
	ck_assert_int_lt(small_size * 2, large_size);
	longest_file((rlim_t)large_size);
	ck_assert_int_eq(sink->ops->keep(sink), -EFBIG);
	ck_assert_int_eq(sink->ops->drop(sink), 0);
	ck_assert_int_eq(size_of(small), small_size);
	ck_assert_int_eq(size_of(large), large_size);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	ck_assert_int_eq(size_of(small), small_size);
	longest_file(RLIM_INFINITY);
	ck_assert_int_eq(unlink(small), 0);
	ck_assert_int_eq(unlink(large), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

/* A name of blanks, or of zeros, is nobody's; so is one that ends with its frame. */
TEST(nobody_stays_nobody)
{
	static struct anonymiser anonymiser;

	for (unsigned int i = 0; i < 2; i++) {
		memset(&anonymiser, 0, sizeof(anonymiser));
		record(2, 10, 32);
		item.record.address = 0x1000 - 32;
		memset(bytes + 20, i ? 0x40 : 0, 8);
		anonymise_item(&anonymiser, &item);
		ck_assert_mem_eq(item.record.data + 20, bytes + 20, 8);
		bytes[27] = 0xc1;
		item.record.data = bytes;
		anonymise_item(&anonymiser, &item);
		ck_assert_mem_ne(item.record.data + 20, bytes + 20, 8);
	}
}

/*
 * J.-P. Aumasson, D. J. Bernstein: key 00…0f, bytes 00, 01, …; 15 of them in appendix A, the others
 * in the vectors of their program.
 */
TEST(siphash_of_the_paper)
{
	static const uint64_t key[2] = { UINT64_C(0x0706050403020100),
					 UINT64_C(0x0f0e0d0c0b0a0908) };
	static const struct { uint8_t len; uint64_t value; } cases[] = {
		{ 0, UINT64_C(0x726fdb47dd0e0e31) }, { 7, UINT64_C(0xab0200f58b01d137) },
		{ 8, UINT64_C(0x93f5f5799a932462) }, { 15, UINT64_C(0xa129ca6149be45e5) },
		{ 16, UINT64_C(0x3f2acc7f57c29bdb) },
	};
	uint8_t input[16];

	for (unsigned int i = 0; i < sizeof(input); i++)
		input[i] = (uint8_t)i;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_uint_eq(siphash(key, input, cases[i].len), cases[i].value);
}
