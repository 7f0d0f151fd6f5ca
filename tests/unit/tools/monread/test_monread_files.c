/* SPDX-License-Identifier: MIT */
/* monread: the outputs that are files, whole: a stream and its index, MONWRITE, CSV. */
#include "scratch.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes.h"
#include "ebcdic.h"
#include "index.h"
#include "sink.h"

/* 2026-03-02, midnight: docs/monread.1 says how TOD is shown. */
#define MIDNIGHT ((UINT64_C(2208988800) + 1772409600) * 1000000 * 4096)
#define TIME "2026-03-02T00:00:00.000000Z"

static char path[96], index_path[112];
static struct monrec_item item;
static uint8_t bytes[MONREC_FRAME_SIZE], interrupt[MONREC_INTERRUPT_SIZE];
static uint8_t wanted[20 * MONREC_FRAME_SIZE];
static size_t wanted_len;
static const struct rotation never;

/* Stands in for main.c. */
void complain_about(const char *what, int error)
{
	(void)what;
	(void)error;
}

static void start(void)
{
	folder_make();
	snprintf(path, sizeof(path), "%s/out", folder);
	snprintf(index_path, sizeof(index_path), "%s.idx", path);
	memset(bytes, 0, sizeof(bytes));
	wanted_len = 0;
}

static void stop(void)
{
	unlink(path);
	unlink(index_path);
	ck_assert_int_eq(rmdir(folder), 0);
}

CASE("monread files", start, stop);

static void expect(const void *more, size_t len)
{
	memcpy(wanted + wanted_len, more, len);
	wanted_len += len;
}

static void expect_zeros(size_t len)
{
	memset(wanted + wanted_len, 0, len);
	wanted_len += len;
}

/* The file has what is wanted, and then @tail zeros. */
static void ck_file(size_t tail)
{
	static uint8_t found[sizeof(wanted) + MONREC_FRAME_SIZE];
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(found, 1, sizeof(found), file), wanted_len + tail);
	fclose(file);
	for (size_t i = 0; i < wanted_len + tail; i++)
		ck_assert_msg(found[i] == (i < wanted_len ? wanted[i] : 0), "byte %zu is %02x", i, found[i]);
}

static void ck_text(const char *name, const char *text)
{
	ck_assert_str_eq(file_text(name), text);
}

static int give(struct sink *sink, enum monrec_item_kind kind)
{
	item.kind = kind;
	return sink->ops->item(sink, &item);
}

#define GIVE(kind) ck_assert_int_eq(give(sink, kind), 0)

/* An element at that address, and its 12 bytes as docs/monread.1 has those of the device. */
static void element(struct sink *sink, uint32_t begin, uint32_t len, uint8_t made[12])
{
	item.element = (struct monrec_element){ .type = 0xe2, .domains = 0xc801, .byte3 = 0x5a,
						.start = begin, .end = begin + len - 1 };
	GIVE(MONREC_ELEMENT);
	memcpy(made, (const uint8_t[]){ 0xe2, 0xc8, 0x01, 0x5a }, 4);
	put_be32(made + 4, begin);
	put_be32(made + 8, begin + len - 1);
}

/* An element's bytes in a frame: each has its number as value. */
static void frame(struct sink *sink, uint32_t address, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(i + len + address);
	item.record = (struct monrec_record){ .data = bytes, .len = len, .address = address };
	GIVE(MONREC_FRAME);
}

static void begin_set(struct sink *sink, bool with_interrupt)
{
	memset(&item, 0, sizeof(item));
	for (unsigned int i = 0; i < sizeof(interrupt); i++)
		interrupt[i] = (uint8_t)(0xa0 + i);
	item.interrupt = with_interrupt ? interrupt : NULL;
	GIVE(MONREC_SET);
	item.interrupt = NULL;
}

TEST(streams)
{
	struct sink *sink = stream_sink(path);
	uint8_t made[12];

	ck_assert_ptr_nonnull(sink);
	begin_set(sink, false);
	element(sink, 0x9000ff0, 26, made);
	expect(made, 12);
	frame(sink, 0x9000ff0, 16);
	expect(bytes, 16);
	frame(sink, 0x9001000, 10);
	expect(bytes, 10);
	GIVE(MONREC_RECORD);
	GIVE(MONREC_VIOLATION);
	GIVE(MONREC_SET_END);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	ck_file(0);
	ck_text(index_path, "{\"set\":1,\"offset\":0,\"length\":38}\n");
	/* One that is lost leaves nothing; the next has its interruption in the index. */
	begin_set(sink, true);
	element(sink, 0x9000000, 26, made);
	frame(sink, 0x9000000, 26);
	ck_assert_int_eq(sink->ops->drop(sink), 0);
	ck_file(0);
	begin_set(sink, true);
	element(sink, 0x9000000, 20, made);
	expect(made, 12);
	frame(sink, 0x9000000, 20);
	expect(bytes, 20);
	GIVE(MONREC_SET_END);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	ck_file(0);
	begin_set(sink, false);
	element(sink, 0x9000000, 20, made);
	expect(made, 12);
	frame(sink, 0x9000000, 20);
	expect(bytes, 20);
	GIVE(MONREC_SET_END);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	begin_set(sink, false);
	element(sink, 0x9000000, 20, made);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	ck_file(0);
	ck_text(index_path, "{\"set\":1,\"offset\":0,\"length\":38}\n"
			    "{\"set\":2,\"offset\":38,\"length\":32,\"interrupt\":\""
			    "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
			    "c0c1c2c3c4c5c6c7\"}\n"
			    "{\"set\":3,\"offset\":70,\"length\":32}\n");
}

/* Frames of the file: a control record, then each element's frames, filled up with zeros. */
TEST(monwrite)
{
	struct sink *sink = monwrite_sink(path, &never);
	uint8_t control[MONREC_FRAME_SIZE];

	ck_assert_ptr_nonnull(sink);
	ck_file(4096);
	for (unsigned int set = 0; set < 2; set++) {
		/* Of the interruption: parameter-list data, type 9, last byte of the control area. */
		memset(control, 0, sizeof(control));
		control[2] = 0x80;
		control[3] = 9;
		control[19] = 2 * 12 - 1;
		begin_set(sink, false);
		element(sink, 0x9000ff0, 26, control + 40);
		/* The second element's record is known when the first one is written. */
		element(sink, 0x9000000, 4096, control + 52);
		ck_assert_int_eq(sink->ops->drop(sink), 0);
		begin_set(sink, false);
		element(sink, 0x9000ff0, 26, control + 40);
		put_be32(control + 56, 0x9003000);
		put_be32(control + 60, 0x9003fff);
		expect(control, 4096);
		frame(sink, 0x9000ff0, 16);
		expect_zeros(0xff0);
		expect(bytes, 16);
		frame(sink, 0x9001000, 10);
		expect(bytes, 10);
		expect_zeros(4086);
		element(sink, 0x9003000, 4096, control + 52);
		frame(sink, 0x9003000, 4096);
		expect(bytes, 4096);
		GIVE(MONREC_RECORD);
		GIVE(MONREC_SET_END);
		ck_assert_int_eq(sink->ops->keep(sink), 0);
		ck_file(4096);
	}
	/* A set without an element is none. */
	begin_set(sink, false);
	GIVE(MONREC_SET_END);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	ck_file(4096);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	ck_file(4096);
}

/* An interruption is kept if the control area that it tells of is that of the elements. */
TEST(interruptions)
{
	static const struct { uint32_t first, last; bool fits; } cases[] = {
		{ 0x9000000, 0x9000000 + 23, true }, { 0x9000000, 0x9000000 + 24, false },
		{ 0x9000000, 0x9000000 + 22, false }, { 0, 23, true }, { 0, 11, false },
		{ 0xfffffff0, 7, false }, { 0xffffffe8, 0xffffffff, true },
	};
	struct sink *sink = monwrite_sink(path, &never);

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t control[MONREC_FRAME_SIZE] = { 0 };

		memset(&item, 0, sizeof(item));
		for (unsigned int at = 0; at < sizeof(interrupt); at++)
			interrupt[at] = (uint8_t)(0xa0 + at);
		put_be32(interrupt + 12, cases[i].first);
		put_be32(interrupt + 16, cases[i].last);
		item.interrupt = interrupt;
		GIVE(MONREC_SET);
		element(sink, 0x9000000, 20, control + 40);
		frame(sink, 0x9000000, 20);
		element(sink, 0x9000000, 20, control + 52);
		frame(sink, 0x9000000, 20);
		GIVE(MONREC_SET_END);
		ck_assert_int_eq(sink->ops->keep(sink), 0);
		if (cases[i].fits) {
			memcpy(control, interrupt, 40);
		} else {
			control[2] = 0x80;
			control[3] = 9;
			control[19] = 23;
		}
		expect(control, 4096);
		for (unsigned int at = 0; at < 2; at++) {
			expect(bytes, 20);
			expect_zeros(4076);
		}
		if (i == 4) {
			ck_file(4096);
			ck_assert_int_eq(sink->ops->close(sink), 0);
			sink = monwrite_sink(path, &never);
			wanted_len = 0;
		}
	}
	ck_file(4096);
	ck_assert_int_eq(sink->ops->close(sink), 0);
}

/* 338 elements have room in a control record, and no more. */
TEST(most_elements)
{
	struct sink *sink = monwrite_sink(path, &never);
	uint8_t made[12];

	begin_set(sink, false);
	for (unsigned int i = 0; i < 338; i++)
		element(sink, 0x9000000, 20, made);
	ck_assert_int_eq(give(sink, MONREC_ELEMENT), -E2BIG);
	ck_assert_int_eq(sink->ops->drop(sink), 0);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	ck_file(4096);
}

static uint16_t release = MONREC_REFERENCE;

static void record(struct sink *sink, uint64_t set, unsigned int domain, unsigned int number, uint32_t len)
{
	item = (struct monrec_item){ .kind = MONREC_RECORD, .at = { .set = set } };
	item.record = (struct monrec_record){
		.data = bytes, .len = len, .tod = MIDNIGHT, .domain = (uint8_t)domain,
		.number = (uint16_t)number, .release = release,
	};
	GIVE(MONREC_RECORD);
}

static const char *in_folder(const char *name)
{
	static char made[160];

	snprintf(made, sizeof(made), "%s/%s", path, name);
	return made;
}

#define LOGONS "D4R1-USELON.csv"
#define LOGON_FIELDS "set,time,VMDUSER,VMDCPUAD,VMDMODE,CALSTAT\n"
#define LOST "D1R3-MTRSUS.csv"
#define UNKNOWN "unknown.csv"

/* A file for each type of record; what a record is too short for is empty. */
TEST(csv)
{
	struct sink *sink = csv_sink(path);

	ck_assert_ptr_nonnull(sink);
	GIVE(MONREC_SET);
	ebcdic_name(bytes + 20, "A,\"B");
	record(sink, 7, 4, 1, 96);
	memset(bytes + 20, 0, 4);
	bytes[23] = 77;
	record(sink, 7, 1, 3, 24);
	record(sink, 7, 1, 3, 23);
	bytes[20] = 0xfe;
	record(sink, 7, 4, 250, 22);
	record(sink, 7, 4, 300, 20);
	record(sink, 7, 15, 1, 21);
	GIVE(MONREC_SET_END);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	/* The next set has records of one type only; of another one that is lost nothing is left. */
	bytes[20] = 0;
	record(sink, UINT64_MAX, 1, 3, 24);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	record(sink, 9, 1, 3, 24);
	record(sink, 9, 4, 250, 22);
	ck_assert_int_eq(sink->ops->drop(sink), 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	record(sink, 10, 4, 250, 22);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	ck_text(in_folder(LOGONS), LOGON_FIELDS "7," TIME ",\"A,\"\"B\",0,00,00\n");
	ck_text(in_folder(LOST), "set,time,LOSTRCCT\n7," TIME ",77\n7," TIME ",\n"
				 "18446744073709551615," TIME ",77\n");
	ck_text(in_folder(UNKNOWN), "set,time,domain,record,data\n7," TIME ",4,250,fe00\n"
				    "7," TIME ",4,300,\n7," TIME ",15,1,fe\n");
	unlink(in_folder(LOGONS));
	unlink(in_folder(LOST));
	unlink(in_folder(UNKNOWN));
	ck_assert_int_eq(rmdir(path), 0);
}

/* The field is known from 5.3 to 7.3 (zvmlab records); a layout that is not known has no file. */
TEST(csv_of_a_release)
{
	static const struct { uint16_t release; const char *name, *text; } cases[] = {
		{ 520, LOST, "set,time\n1," TIME "\n" },
		{ 530, LOST, "set,time,LOSTRCCT\n1," TIME ",0\n" },
		{ 730, LOST, "set,time,LOSTRCCT\n1," TIME ",0\n" },
		{ 740, LOST, "set,time\n1," TIME "\n" },
		{ 0, UNKNOWN, "set,time,domain,record,data\n1," TIME ",1,3,00000000\n" },
	};

	for (unsigned int i = 0; i < 5; i++) {
		struct sink *sink = csv_sink(path);

		release = cases[i].release;
		record(sink, 1, 1, 3, 24);
		ck_assert_int_eq(sink->ops->keep(sink), 0);
		ck_assert_int_eq(sink->ops->close(sink), 0);
		ck_text(in_folder(cases[i].name), cases[i].text);
		unlink(in_folder(cases[i].name));
		ck_assert_int_eq(rmdir(path), 0);
	}
	release = MONREC_REFERENCE;
}

/* A folder that is there is taken; a file that is no file is not, with what has come so far. */
TEST(csv_folders)
{
	struct sink *sink;

	ck_assert_int_eq(mkdir(path, 0700), 0);
	sink = csv_sink(path);
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_eq(mkdir(in_folder(LOST), 0700), 0);
	record(sink, 1, 4, 1, 96);
	item = (struct monrec_item){ .kind = MONREC_RECORD };
	item.record = (struct monrec_record){ .data = bytes, .len = 24, .domain = 1, .number = 3,
					       .release = release };
	ck_assert_int_eq(sink->ops->item(sink, &item), -EISDIR);
	ck_assert_int_eq(sink->ops->drop(sink), 0);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	ck_text(in_folder(LOGONS), LOGON_FIELDS);
	unlink(in_folder(LOGONS));
	rmdir(in_folder(LOST));
	ck_assert_int_eq(rmdir(path), 0);
	errno = 0;
	ck_assert_ptr_null(csv_sink("/nowhere/at/all"));
	ck_assert_int_eq(errno, ENOENT);
}
