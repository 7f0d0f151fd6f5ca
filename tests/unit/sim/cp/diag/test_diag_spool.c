/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'14' and X'210' as Linux' vmur gives them: fields of a file's block and of its pages
 * are where that driver and s390-tools' vmur look for them.
 */
#include "spool_check.h"

#define BUFFER 0x8000u
#define BLOCK 0x3000u

/* The instruction in AMODE 31: Rx, Ry, Ry+1. */
static struct cp_result diag14(uint64_t rx, uint64_t ry, uint64_t subcode)
{
	struct cp_insn insn = { .gr = fx.gr, .amode = 31 };

	fx.gr[1] = rx;
	fx.gr[2] = ry;
	fx.gr[3] = subcode;
	return cp_diagnose(fx.cp, &insn, 1, 2, 0x14);
}

static struct cp_result read_page(uint16_t device) { return diag14(BUFFER, device, 0); }
static struct cp_result position(uint32_t page) { return diag14(page, READER, 0x28); }
static struct cp_result next_file(uint32_t id) { return diag14(BLOCK, id, 0xfff); }

static void ck_text(uint64_t addr, const char *expected, size_t len)
{
	char text[64];

	ck_assert_uint_lt(len, sizeof(text));
	ebcdic_decode(text, fx_at(addr, len), len);
	text[len] = '\0';
	ck_assert_str_eq(text, expected);
}

FX_REPLAY_TRACES;

CASE("diag spool", spool_setup, fx_teardown);

TEST(an_empty_queue)
{
	ck_cc(next_file(0), 1);
	ck_cc(next_file(7), 2);
	ck_cc(read_page(READER), 2);
	ck_cc(position(1), 2);
}

/* Text of @len bytes with blanks behind it. */
static void put_text(uint8_t *to, const char *text, size_t size)
{
	memset(to, 0x40, size);
	ebcdic_encode(to, text, strlen(text));
}

/* The whole block of file 1 with these in it. */
static void ck_block(uint8_t status, uint8_t device, uint32_t records, uint16_t length,
		     uint16_t copies, const char *dist)
{
	uint8_t expected[304] = { 0 };

	put_text(expected + 8, "LINUX001", 8);
	put_text(expected + 16, device == 0x41 ? "LINUX001" : OTHER, 8);
	put_be32(expected + 24, records);
	put_be16(expected + 28, length);
	put_be16(expected + 30, 1);
	expected[32] = status;
	expected[33] = device;
	put_text(expected + 40, "NAME", 12);
	put_text(expected + 52, "TEXT", 12);
	/* When the fixture's clock stands, and the test's files are made. */
	put_text(expected + 64, "12/15/15", 8);
	put_text(expected + 72, "13:24:57", 8);
	put_be16(expected + 84, copies);
	put_text(expected + 86, "Q", 1);
	put_text(expected + 88, dist, 8);
	memset(fx_at(BLOCK, 304 + 8), 0xee, 304 + 8);
	ck_cc(next_file(0), 0);
	ck_assert_mem_eq(fx_at(BLOCK, 304), expected, 304);
	ck_assert_uint_eq(*fx_at(BLOCK + 304, 1), 0xee);
}

/* Bits of the status: in use, records complete, held by the user, opened, held by the system. */
TEST(every_field_of_a_block)
{
	const uint8_t letter = 0x81;
	struct spool_put put = {
		.user = "LINUX001", .queue = SPOOL_RDR, .origin = OTHER, .name = "NAME",
		.type = "TEXT", .spool_class = 'Q', .record_length = 77, .data = &letter, .len = 1,
	};
	char err[256];

	ck_assert_int_eq(spool_put(fx.cp, &put, err, sizeof(err)), 1);
	ck_block(0x40, 0x82, 1, 77, 1, "LINUX001");
	ck_cc(read_page(READER), 0);
	ck_block(0xc8, 0x82, 1, 77, 1, "LINUX001");
	ck_guest("CLOSE RDR HOLD", 0, "");
	ck_block(0x60, 0x82, 1, 77, 1, "LINUX001");
	ck_guest("PURGE RDR ALL", 0, "0001 FILE PURGED\n");
	put.system_hold = true;
	ck_assert_int_eq(spool_put(fx.cp, &put, err, sizeof(err)), 1);
	ck_block(0x44, 0x82, 1, 77, 1, "LINUX001");
	ck_guest("PURGE RDR ALL", 0, "0001 FILE PURGED\n");
	ck_guest("SPOOL E COPY 9 CLASS Q DIST BIN7 NAME NAME TEXT", 0, "");
	unit_write(PRINTER, 0x09, "one");
	unit_write(PRINTER, 0x09, "two");
	run_as(CPCMD_GUEST, "CLOSE E TO * RDR", 0);
	ck_block(0x40, 0x41, 2, 132, 9, "BIN7");
}

/* A date in another century, with numbers of one digit. */
TEST(dates_in_a_block)
{
	/* 2000-01-02 03:04:05: 36525 days after 1900-01-01, in units of which 4096 are 1 us. */
	const uint64_t seconds = ((UINT64_C(36525) * 24 + 3) * 60 + 4) * 60 + 5;

	fx.tod = seconds * 1000000 << 12;
	spool_send("A", "a", 'A', false);
	ck_cc(next_file(0), 0);
	ck_text(BLOCK + 64, "01/02/0003:04:05", 16);
}

TEST(a_files_block)
{
	const uint8_t *block;

	spool_send("NAME", "x", 'Q', true);
	ck_cc(next_file(0), 0);
	block = fx_at(BLOCK, 304);
	ck_text(BLOCK + 8, "LINUX001", 8);
	ck_text(BLOCK + 16, "OPERATOR", 8);
	ck_assert_uint_eq(get_be32(block + 24), 1);
	ck_assert_uint_eq(get_be16(block + 28), 80);
	ck_assert_uint_eq(get_be16(block + 30), 1);
	ck_assert_uint_eq(block[32] & 0xa4, 0x20);
	ck_text(BLOCK + 40, "NAME        ", 12);
	ck_text(BLOCK + 52, "TEXT        ", 12);
	ck_text(BLOCK + 86, "Q", 1);
	ck_cc(next_file(1), 1);
	ck_guest("CHANGE RDR 1 NOHOLD", 0, "0001 FILE CHANGED\n");
	ck_cc(read_page(READER), 0);
	ck_cc(next_file(0), 0);
	ck_assert_uint_eq(fx_at(BLOCK, 304)[32] & 0xa4, 0x80);
}

TEST(files_in_their_order)
{
	spool_send("A", "a", 'A', false);
	spool_send("B", "b", 'A', false);
	spool_send("C", "c", 'A', false);
	ck_guest("ORDER RDR 3", 0, "0001 FILE ORDERED\n");
	ck_cc(next_file(0), 0);
	ck_assert_uint_eq(get_be16(fx_at(BLOCK + 30, 2)), 3);
	ck_cc(next_file(3), 0);
	ck_assert_uint_eq(get_be16(fx_at(BLOCK + 30, 2)), 1);
	ck_cc(next_file(1), 0);
	ck_assert_uint_eq(get_be16(fx_at(BLOCK + 30, 2)), 2);
	ck_cc(next_file(2), 1);
}

/* Records as vmur takes them apart: a CCW, 2 bytes, the length up to the next one, data. */
TEST(a_page_of_records)
{
	char cards[161];
	const uint8_t *page;

	snprintf(cards, sizeof(cards), "%-80s%-80s", "Hello", "");
	spool_send("A", cards, 'A', false);
	ck_cc(read_page(READER), 0);
	page = fx_at(BUFFER, CP_PAGE_SIZE);
	ck_assert_uint_eq(get_be32(page), 0);
	ck_assert_uint_eq(get_be32(page + 12), 2);
	ck_assert_uint_eq(page[16], 0x01);
	ck_assert_uint_eq(page[20] & 0x10, 0);
	ck_assert_uint_eq(get_be16(page + 22), 5);
	ck_assert_uint_eq(get_be16(page + 26), 24);
	ck_text(BUFFER + 28, "Hello", 5);
	/* A card without anything is one blank. */
	ck_assert_uint_eq(get_be16(page + 16 + 24 + 6), 1);
	ck_assert_uint_eq(page[16 + 24 + 12], 0x40);
	ck_assert_uint_eq(get_be16(page + 4088), 1);
	ck_cc(read_page(READER), 1);
	ck_cc(read_page(READER), 1);
}

/* The calls of Linux' read(): position by page, read to the end, position behind the last page. */
TEST(pages_by_number)
{
	static char cards[50 * 80 + 1];

	for (unsigned int i = 0; i < 50; i++)
		snprintf(cards + i * 80, 81, "%02u%078u", i, 0u);
	spool_send("A", cards, 'A', false);
	ck_cc(position(1), 2);
	ck_cc(read_page(READER), 0);
	ck_cc(read_page(READER), 0);
	ck_text(BUFFER + 28, "42", 2);
	ck_cc(read_page(READER), 1);
	ck_cc(position(3), 3);
	ck_cc(position(0), 3);
	ck_cc(position(1), 0);
	ck_cc(read_page(READER), 0);
	ck_text(BUFFER + 28, "00", 2);
	ck_cc(position(2), 0);
	ck_cc(read_page(READER), 0);
	ck_assert_uint_eq(get_be32(fx_at(BUFFER + 12, 4)), 8);
}

static void ck_number(unsigned int number)
{
	char card[81];

	snprintf(card, sizeof(card), "%02u%078u", number, 0u);
	ck_card(card);
}

/* Cards that a channel program reads come from the page where X'14' has left off, all of it. */
TEST(cards_and_pages)
{
	static char cards[50 * 80 + 1];

	for (unsigned int i = 0; i < 50; i++)
		snprintf(cards + i * 80, 81, "%02u%078u", i, 0u);
	spool_send("A", cards, 'A', false);
	ck_number(0);
	ck_number(1);
	ck_cc(position(1), 0);
	ck_number(0);
	ck_number(1);
	ck_cc(read_page(READER), 0);
	ck_text(BUFFER + 28, "00", 2);
	for (unsigned int i = 42; i < 50; i++)
		ck_number(i);
	ck_cc(position(2), 0);
	for (unsigned int i = 42; i < 50; i++)
		ck_number(i);
}

/* A reader that goes on (SPOOL CONT) takes the next file at the end of one. */
TEST(a_reader_that_goes_on)
{
	ck_guest("SPOOL 00C CONT", 0, "");
	spool_send("A", "first", 'A', false);
	spool_send("B", "second", 'A', false);
	ck_cc(read_page(READER), 0);
	ck_cc(read_page(READER), 0);
	ck_text(BUFFER + 28, "second", 6);
	ck_cc(read_page(READER), 1);
	ck_assert_uint_eq(spool_files(), 0);
}

TEST(wrong_operands)
{
	struct cp_insn insn = { .gr = fx.gr, .amode = 31 };

	spool_send("A", "first", 'A', false);
	ck_cc(read_page(0x123), 3);
	ck_assert_uint_eq(fx.gr[3], 4);
	ck_cc(read_page(PUNCH), 3);
	ck_assert_uint_eq(fx.gr[3], 8);
	ck_cc(diag14(BUFFER, 0x1000c, 0), 3);
	ck_cc(diag14(1, PUNCH, 0x28), 2);
	ck_pgm(diag14(BUFFER, READER, 0x0c), PGM_SPECIFICATION);
	ck_pgm(diag14(BUFFER + 8, READER, 0), PGM_SPECIFICATION);
	ck_pgm(diag14(BLOCK + 4, 0, 0xfff), PGM_SPECIFICATION);
	ck_pgm(diag14(0x7ffff000, READER, 0), PGM_ADDRESSING);
	ck_pgm(diag14(0x7ffff000, 0, 0xfff), PGM_ADDRESSING);
	ck_pgm(cp_diagnose(fx.cp, &insn, 1, 15, 0x14), PGM_SPECIFICATION);
	/* None of this has opened the file. */
	ck_assert(!spool_info("LINUX001", SPOOL_RDR, 1).open);
}

static struct cp_result diag210(uint16_t device)
{
	uint8_t *block = fx_at(BLOCK, 12);

	memset(block, 0, 12);
	put_be16(block, device);
	put_be16(block + 2, 12);
	fx.gr[2] = BLOCK;
	return fx_diag(2, 0, 0x210);
}

/* Classes and types by which Linux knows a 2540 and a 1403 (drivers/s390/cio/device_id.c). */
TEST(devices)
{
	ck_cc(diag210(READER), 2);
	ck_assert_uint_eq(get_be16(fx_at(BLOCK + 4, 2)), 0x2082);
	ck_cc(diag210(PUNCH), 2);
	ck_assert_uint_eq(get_be16(fx_at(BLOCK + 4, 2)), 0x1082);
	ck_cc(diag210(PRINTER), 2);
	ck_assert_uint_eq(get_be16(fx_at(BLOCK + 4, 2)), 0x1041);
	ck_cc(diag210(0x0009), 2);
	ck_assert_uint_eq(get_be16(fx_at(BLOCK + 4, 2)), 0x8000);
	ck_cc(diag210(0x000f), 3);
}
