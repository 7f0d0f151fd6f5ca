/* SPDX-License-Identifier: MIT */
/* Faults of the 3215: every kind at every point. */
#include <string.h>

#include "ebcdic.h"
#include "fault_pairs.h"
#include "zvmlab/console.h"
#include "zvmlab/unit.h"

#define CONSOLE 0x0009
/* Equipment check (GA24-3550). */
#define EQUIPMENT 0x10

static const char *const prefixes[] = { "console.", NULL };

static void console_setup(void)
{
	fx_setup_with((const char *const[]){ "conmode", "3215", NULL });
}

static struct cp_unit_io write_text(const char *text)
{
	struct cp_unit_io io = { .device = CONSOLE, .command = 0x09 };

	io.length = (uint32_t)strlen(text);
	ebcdic_encode(io.data, text, io.length);
	cp_unit(fx.cp, &io);
	return io;
}

static struct cp_unit_io read_line(void)
{
	struct cp_unit_io io = { .device = CONSOLE, .command = 0x0a, .room = 160 };

	cp_unit(fx.cp, &io);
	return io;
}

static void ck_shown(const char *text)
{
	ck_assert_uint_eq(fx.shown_len, strlen(text));
	ck_assert_mem_eq(fx.shown, text, fx.shown_len);
	fx.shown_len = 0;
}

static void ck_check(const struct cp_unit_io *io)
{
	ck_assert_uint_eq(io->status, 0x0e);
	ck_assert_uint_eq(io->sense[0], EQUIPMENT);
	ck_assert_uint_eq(io->length, 0);
}

/* One line is read by the faulty command, the next as always. */
static void ck_console_read(int i)
{
	const bool fails = pair[i].kind == FAULT_RC;
	struct cp_unit_io io;

	ck_assert_uint_eq(console_type(fx.cp, "aa\nbb\n", 6), 6);
	arm_pair(i, fails ? EQUIPMENT : 1, fails ? 0 : 3);
	io = read_line();
	if (fails) {
		ck_check(&io);
	} else if (pair[i].kind == FAULT_CORRUPT) {
		ck_assert_uint_eq(io.status, 0x0c);
		ck_assert_uint_eq(io.length, 2);
		ck_assert_mem_eq(io.data, "\x81\x80", 2);	/* a is 81 */
	} else {
		ck_no_test(i);
	}
	io = read_line();
	ck_assert_uint_eq(io.length, 2);
	ck_assert_mem_eq(io.data, "\x82\x82", 2);
	ck_assert(!console_has_line(fx.cp));
}

static void ck_console_write(int i)
{
	struct cp_unit_io io;

	arm_pair(i, pair[i].kind == FAULT_DROP ? 0 : pair[i].kind == FAULT_RC ? EQUIPMENT : 1,
		 pair[i].kind == FAULT_CORRUPT ? 3 : 0);
	io = write_text("aa");
	switch (pair[i].kind) {
	case FAULT_RC:
		ck_check(&io);
		ck_shown("");
		break;
	case FAULT_DROP:
		ck_assert_uint_eq(io.status, 0x0c);
		ck_shown("");
		break;
	case FAULT_CORRUPT:
		ck_assert_uint_eq(io.status, 0x0c);
		ck_shown("a\xd8\n");	/* EBCDIC 80 is a capital O with a stroke */
		break;
	default:
		ck_no_test(i);
	}
	write_text("bb");
	ck_shown("bb\n");
}

FX_REPLAY_TRACES;

CASE("console", console_setup, fx_teardown);

TEST_LOOP(every_kind, 0, pairs_of(prefixes))
{
	if (pair[_i].point == FAULT_CONSOLE_READ)
		ck_console_read(_i);
	else if (pair[_i].point == FAULT_CONSOLE_WRITE)
		ck_console_write(_i);
	else
		ck_no_test(_i);
	ck_fired();
}

/* A READ that waits for a line, and the second piece of a text, are no call of their own. */
TEST(calls_that_count)
{
	struct cp_unit_io io = { .device = CONSOLE, .command = 0x01, .again = true, .length = 1,
				 .data = { 0x81 } };

	ck_arm(FAULT_CONSOLE_READ, FAULT_RC, .value = EQUIPMENT);
	ck_arm(FAULT_CONSOLE_WRITE, FAULT_RC, .value = EQUIPMENT);
	ck_assert_uint_eq(read_line().status, CP_UNIT_WAITS);
	cp_unit(fx.cp, &io);
	ck_assert_uint_eq(io.status, 0x0c);
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_CONSOLE_READ), 0);
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_CONSOLE_WRITE), 0);
}

/* An empty line, and none of its characters can be changed. */
TEST(nothing_to_change)
{
	ck_arm(FAULT_CONSOLE_READ, FAULT_CORRUPT, .value = 1);
	ck_arm(FAULT_CONSOLE_WRITE, FAULT_CORRUPT, .value = 1);
	ck_assert_uint_eq(console_type(fx.cp, "\n", 1), 1);
	fx.shown_len = 0;
	ck_assert_uint_eq(read_line().status, 0x0c);
	ck_assert_uint_eq(write_text("").status, 0x0c);
	ck_shown("\n");
}

TEST(others_refused)
{
	ck_others_refused(pairs_of(prefixes));
}
