/* SPDX-License-Identifier: MIT */
/*
 * The 3215 that CP has: commands of GA24-3550, lines that are typed, TERMINAL's settings, and what
 * of CP appears there.
 */
#include <stdlib.h>

#include "command_check.h"
#include "state_check.h"
#include "zvmlab/console.h"
#include "zvmlab/event.h"
#include "zvmlab/unit.h"

#define CONSOLE 0x0009

FX_REPLAY_TRACES;

static void console_setup(void)
{
	fx_setup_with((const char *const[]){ "conmode", "3215", NULL });
	run_as(CPCMD_GUEST, "TERMINAL AUTOCR OFF", 0);
}

/* What it has shown since it was asked last. */
static const char *shown(void)
{
	static char text[sizeof(fx.shown) + 1];

	memcpy(text, fx.shown, fx.shown_len);
	text[fx.shown_len] = '\0';
	fx.shown_len = 0;
	return text;
}

static struct cp_unit_io command(uint8_t code, const char *text, bool more)
{
	struct cp_unit_io io = { .device = CONSOLE, .command = code, .more = more };

	io.length = (uint32_t)strlen(text);
	ebcdic_encode(io.data, text, io.length);
	cp_unit(fx.cp, &io);
	return io;
}

static void write_text(uint8_t code, const char *text)
{
	ck_assert_uint_eq(command(code, text, false).status, 0x0c);
}

/* All keys are taken. */
static void type(const char *keys)
{
	ck_assert_uint_eq(console_type(fx.cp, keys, strlen(keys)), strlen(keys));
}

static struct cp_unit_io read_line(uint32_t room)
{
	struct cp_unit_io io = { .device = CONSOLE, .command = 0x0a, .room = room };

	cp_unit(fx.cp, &io);
	return io;
}

/* Linux' READ INQUIRY finds this line. */
static void ck_line(const char *expected)
{
	const struct cp_unit_io io = read_line(160);
	char text[161];

	ck_assert_uint_eq(io.status, 0x0c);
	ebcdic_decode(text, io.data, io.length);
	text[io.length] = '\0';
	ck_assert_str_eq(text, expected);
}

static void ck_no_line(void)
{
	ck_assert(!console_has_line(fx.cp));
	ck_assert_uint_eq(read_line(160).status, CP_UNIT_WAITS);
}

CASE("a 3215", console_setup, fx_teardown);

static const struct {
	uint8_t command;
	enum cp_unit_way way;
} commands[] = {
	{ 0x01, CP_UNIT_TAKES }, { 0x09, CP_UNIT_TAKES }, { 0x0a, CP_UNIT_GIVES },
	{ 0x0b, CP_UNIT_NO_DATA }, { 0x02, CP_UNIT_REJECT }, { 0x05, CP_UNIT_REJECT },
	{ 0x0d, CP_UNIT_REJECT }, { 0x41, CP_UNIT_REJECT }, { 0x63, CP_UNIT_REJECT },
};

TEST_EACH(commands_that_it_knows, commands)
{
	ck_assert_int_eq(cp_unit_way(fx.cp, CONSOLE, commands[_i].command), commands[_i].way);
	ck_assert_int_eq(cp_unit_way(fx.cp, 0x000a, commands[_i].command), CP_UNIT_REJECT);
}

TEST(text_as_the_guest_writes_it)
{
	write_text(0x01, "no end");
	ck_assert_str_eq(shown(), "no end");
	write_text(0x01, ", end\nnext");
	ck_assert_str_eq(shown(), ", end\nnext");
	write_text(0x09, " line");
	ck_assert_str_eq(shown(), " line\n");
	write_text(0x09, "");
	ck_assert_str_eq(shown(), "\n");
	/* Pieces of one command have one end. */
	command(0x09, "a", true);
	write_text(0x09, "b");
	ck_assert_str_eq(shown(), "ab\n");
	write_text(0x0b, "");
	ck_assert_str_eq(shown(), "\a");
}

TEST(autocr_ends_lines)
{
	run_as(CPCMD_GUEST, "TERMINAL AUTOCR ON", 0);
	write_text(0x01, "one");
	write_text(0x01, "two\n");
	command(0x01, "th", true);
	write_text(0x01, "ree");
	ck_assert_str_eq(shown(), "one\ntwo\nthree\n");
}

TEST(lines_are_whole_or_as_long_as_linesize)
{
	char line[301], broken[320];

	memset(line, 'x', 300);
	line[300] = '\0';
	write_text(0x09, line);
	ck_assert_str_eq(strchr(shown(), '\n'), "\n");
	run_as(CPCMD_GUEST, "TERMINAL LINESIZE 130", 0);
	write_text(0x01, "abc");
	write_text(0x09, line);
	snprintf(broken, sizeof(broken), "abc%.127s\n%.130s\n%.43s\n", line, line, line);
	ck_assert_str_eq(shown(), broken);
	/* One that is as long has no empty one behind it. */
	line[130] = '\0';
	write_text(0x09, line);
	snprintf(broken, sizeof(broken), "%s\n", line);
	ck_assert_str_eq(shown(), broken);
	run_as(CPCMD_GUEST, "TERMINAL LINESIZE OFF", 0);
}

TEST(lines_are_read_in_their_order)
{
	ck_no_line();
	type("first\nse");
	ck_assert(console_has_line(fx.cp));
	type("cond\r\n");
	ck_line("first");
	ck_line("second");
	ck_line("");
	ck_no_line();
	/* What is typed is shown, as a 3215 prints it. */
	ck_assert_str_eq(shown(), "first\nsecond\n\n");
}

TEST(a_read_of_less_than_the_line)
{
	struct cp_unit_io io;

	type("0123456789\n");
	io = read_line(4);
	ck_assert_uint_eq(io.length, 4);
	ck_assert(io.left);
	ck_assert_mem_eq(io.data, "\xf0\xf1\xf2\xf3", 4);
	ck_no_line();
	type("0123\n");
	io = read_line(4);
	ck_assert(!io.left);
}

static const struct {
	const char *keys, *line, *next;
} keys[] = {
	{ "\x03", "^c", NULL }, { "lost\x03", "^c", NULL }, { "\x1a", "^z", NULL },
	{ "\x04", "^d", NULL }, { "kept\x04", "kept^n", "^d" },
};

TEST_EACH(keys_that_a_3215_does_not_have, keys)
{
	type(keys[_i].keys);
	ck_line(keys[_i].line);
	if (keys[_i].next)
		ck_line(keys[_i].next);
	ck_no_line();
}

TEST(more_than_the_guest_reads)
{
	for (unsigned int i = 0; i < CONSOLE_LINES; i++)
		type("x\n");
	ck_assert_uint_eq(console_type(fx.cp, "ab\ncd\n", 6), 2);
	ck_assert_uint_eq(console_type(fx.cp, "\n", 1), 0);
	ck_assert_uint_eq(console_type(fx.cp, "\x03", 1), 0);
	ck_line("x");
	ck_assert_uint_eq(console_type(fx.cp, "\ncd\n", 4), 3);
	for (unsigned int i = 1; i < CONSOLE_LINES; i++)
		ck_line("x");
	ck_line("ab");
	ck_assert_uint_eq(console_type(fx.cp, "\n", 1), 1);
	ck_line("cd");
	/* An end of file behind text is two lines. */
	for (unsigned int i = 1; i < CONSOLE_LINES; i++)
		type("x\n");
	ck_assert_uint_eq(console_type(fx.cp, "e\x04", 2), 1);
	ck_line("x");
	ck_assert_uint_eq(console_type(fx.cp, "\x04", 1), 1);
}

TEST(a_line_too_long_is_cut)
{
	char text[200], expected[161];

	memset(text, 'y', sizeof(text));
	text[199] = '\n';
	ck_assert_uint_eq(console_type(fx.cp, text, sizeof(text)), sizeof(text));
	memset(expected, 'y', 160);
	expected[160] = '\0';
	ck_line(expected);
	/* With an end of file behind it, ^n has room. */
	text[199] = '\x04';
	ck_assert_uint_eq(console_type(fx.cp, text, sizeof(text)), sizeof(text));
	memcpy(expected + 158, "^n", 2);
	ck_line(expected);
	ck_line("^d");
}

/* CP's editing: LINEND #, CHARDEL @, LINEDEL [, ESCAPE ". */
static const struct {
	const char *typed, *line, *next;
} edited[] = {
	{ "one#two", "one", "two" }, { "#", "", "" }, { "ab@c", "ac", NULL }, { "@@x", "x", NULL },
	{ "a#@b", "a", "b" }, { "abc[d", "d", NULL }, { "a#b[c", "a", "c" },
	{ "a\"#b\"\"\"@", "a#b\"@", NULL }, { "a\"", "a\"", NULL }, { "#cpx", "", "cpx" },
	{ " #cp q time", " ", "cp q time" }, { "cp q time", "cp q time", NULL },
	{ "\"#cp q time", "#cp q time", NULL },
};

TEST_EACH(lines_are_edited, edited)
{
	type(edited[_i].typed);
	type("\n");
	ck_line(edited[_i].line);
	if (edited[_i].next)
		ck_line(edited[_i].next);
	ck_no_line();
}

TEST(editing_is_what_terminal_says)
{
	run_as(CPCMD_GUEST, "TERMINAL LINEND % CHARDEL OFF LINEDEL OFF ESCAPE OFF", 0);
	type("a#b@[\"%c\n");
	ck_line("a#b@[\"");
	ck_line("c");
	shown();
	type("%cp query userid\n#cp q userid\n");
	ck_assert_str_eq(shown(), "%cp query userid\nLINUX001 AT ZVMLAB\n#cp q userid\n");
	ck_line("#cp q userid");
	run_as(CPCMD_GUEST, "TERMINAL LINEND OFF", 0);
	type("%cp q userid\n");
	ck_line("%cp q userid");
}

TEST(more_lines_than_there_is_room_for)
{
	type("1#2#3#4#5#6#7#8#9#10#11#12#13#14#15#16#17\n");
	ck_assert_ptr_nonnull(strstr(shown(), "NOT ACCEPTED\n"));
	ck_line("1");
	for (unsigned int i = 1; i < CONSOLE_LINES; i++)
		read_line(160);
	ck_no_line();
}

static const struct {
	const char *typed, *answer;
} cp_lines[] = {
	{ "#cp query userid", "LINUX001 AT ZVMLAB\n" },
	{ "#CP Q USERID#Q USERID", "LINUX001 AT ZVMLAB\nLINUX001 AT ZVMLAB\n" },
	{ "#cp#q userid", "LINUX001 AT ZVMLAB\n" },
	{ "#cp nonsense", "HCPCMD001E Unknown CP command: NONSENSE\n" },
	{ "#cp", "" },
	{ "#cp q usx@erid", "LINUX001 AT ZVMLAB\n" },
};

TEST_EACH(commands_for_cp, cp_lines)
{
	char expected[200];

	snprintf(expected, sizeof(expected), "%s\n%s", cp_lines[_i].typed, cp_lines[_i].answer);
	type(cp_lines[_i].typed);
	type("\n");
	ck_assert_str_eq(shown(), expected);
	ck_no_line();
}

/* Of a guest that does not read, CP can still be reached. */
TEST(cp_is_reached_behind_lines_that_nobody_reads)
{
	for (unsigned int i = 0; i < CONSOLE_LINES; i++)
		type("x\n");
	shown();
	type("#cp q userid\n");
	ck_assert_str_eq(shown(), "#cp q userid\nLINUX001 AT ZVMLAB\n");
}

TEST(cp_writes_lines_of_its_own)
{
	write_text(0x01, "login: ");
	shown();
	run_as(CPCMD_OPERATOR, "MSG LINUX001 hello", 0);
	ck_assert_str_eq(strstr(shown(), "* MSG FROM OPERATOR: hello\n"),
			 "* MSG FROM OPERATOR: hello\n");
	run_as(CPCMD_OPERATOR, "MSGNOH LINUX001 plain", 0);
	ck_assert_str_eq(shown(), "plain\n");
	run_as(CPCMD_OPERATOR, "WARNING LINUX001 down", 0);
	ck_assert_ptr_nonnull(strstr(shown(), "* WNG FROM OPERATOR: down\n"));
	/* To somebody else. */
	run_as(CPCMD_OPERATOR, "MSGNOH OPERATOR plain", 0);
	ck_assert_str_eq(shown(), "");
	/* An unfinished line is ended first. */
	write_text(0x01, "login: ");
	run_as(CPCMD_OPERATOR, "MSGNOH LINUX001 plain", 0);
	ck_assert_str_eq(shown(), "login: \nplain\n");
}

TEST(a_reset_forgets_what_was_typed)
{
	type("line\nand");
	cp_reset(fx.cp);
	ck_no_line();
	type("new\n");
	ck_line("new");
}

TEST(saved_with_its_lines)
{
	uint8_t *image;
	size_t len;

	write_text(0x01, "abc");
	type("one\ntwo\nthr");
	image = fx_save(&len);
	ck_line("one");
	type("other\nx");
	fx_load(image, len);
	type("ee\n");
	ck_line("one");
	ck_line("two");
	ck_line("three");
	ck_no_line();
	free(image);
}

/* An image's console is as it was made here, or the image is refused. */
TEST(images_that_are_refused)
{
	enum { COLUMN = 4, TYPED = 8, LINES = 9 };
	char err[256];
	uint8_t *image;
	size_t len, at;

	image = fx_save(&len);
	at = state_find(image, len, "CONS");
	image[at + TYPED] = CONSOLE_LINE + 1;
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	image[at + TYPED] = 0;
	put_be32(image + at + LINES, CONSOLE_LINES + 1);
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

TEST(query_terminal_names_it)
{
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY TERMINAL", 0),
				     "\nCONMODE 3215, BREAKIN IMMED"));
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY TERMINAL", 0), "LINESIZE OFF"));
}

CASE("the emulator's console", fx_setup, fx_teardown);

TEST(no_3215)
{
	ck_assert_int_eq(cp_unit_way(fx.cp, CONSOLE, 0x01), CP_UNIT_REJECT);
	run_as(CPCMD_OPERATOR, "MSGNOH LINUX001 plain", 0);
	ck_assert_uint_eq(fx.shown_len, 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_assert_ptr_null(strstr(run_as(CPCMD_GUEST, "QUERY TERMINAL", 0), "CONMODE"));
}
