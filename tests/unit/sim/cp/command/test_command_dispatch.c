/* SPDX-License-Identifier: MIT */
/* The command processor: tables, abbreviations, classes, hostile text, trace, state. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "command/command_private.h"
#include "command_check.h"
#include "zvmlab/state.h"

CASE("dispatch", fx_setup, fx_teardown);

TEST(unknown)
{
	ck_guest("XYZ", 1, UNKNOWN("XYZ"));
	ck_guest("  xyz abc", 1, UNKNOWN("XYZ"));
	ck_guest("QUERYX USERID", 1, UNKNOWN("QUERYX"));
	ck_operator("XYZ", 1, UNKNOWN("XYZ"));
}

TEST(nothing)
{
	ck_guest("", 0, "");
	ck_guest("    ", 0, "");
	ck_guest("\n\n \n", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 6);
}

static const struct {
	const char *shortest, *too_short;
	int rc;			/* of the shortest: it is known, whatever it lacks */
} abbreviations[] = {
	{ "Q TIME", NULL, 0 },
	{ "QU TIME", NULL, 0 },
	{ "TERM HOLD ON", "TER HOLD ON", 0 },
	{ "SET RUN ON", "SE RUN ON", 0 },
	{ "DEF STOR", "DE STOR", 26 },
	{ "DEFSEG", "DEFSE", 26 },
	{ "SAVESEG", "SAVESE", 26 },
	{ "PUR", "PU", 26 },
	{ "MON", "MO", 26 },
	{ "M", NULL, 20 },
	{ "MESS", NULL, 20 },
	{ "MSG", "MS", 20 },
	{ "MSGNOH", "MSGNO", 20 },
	{ "SM", "S", 20 },
};

TEST_EACH(abbreviation, abbreviations)
{
	run_as(CPCMD_OPERATOR, abbreviations[_i].shortest, abbreviations[_i].rc);
	if (abbreviations[_i].too_short)
		run_as(CPCMD_OPERATOR, abbreviations[_i].too_short, 1);
}

static const struct {
	const char *shortest, *too_short;
} options[] = {
	{ "Q CON", "Q CO" },
	{ "Q TERM", "Q TER" },
	{ "Q USERID", "Q USERI" },
	{ "Q CPLEVEL", "Q CPLEVE" },
	{ "Q V ST", "Q V S" },
	{ "Q VIRT STOR", "Q VIRTUALS STOR" },
	{ "Q V CON", "Q V CO" },
	{ "Q NSS", "Q NS" },
	{ "Q MON", "Q MO" },
	{ "Q N", NULL },
	{ "Q NAMES", "Q NAMEZ" },
	{ "Q T", NULL },
	{ "Q PRIV", "Q PRIVX" },
	{ "Q SET", "Q SE" },
	{ "Q U OPERATOR", "Q UX OPERATOR" },
};

TEST_EACH(query_abbreviation, options)
{
	run_as(CPCMD_GUEST, options[_i].shortest, 0);
	if (options[_i].too_short)
		run_as(CPCMD_GUEST, options[_i].too_short, 3);
}

TEST(several)
{
	ck_guest("q userid\nXYZ\nq xyz\nQ USERID", 3,
		 "LINUX001 AT ZVMLAB\n" UNKNOWN("XYZ") INVALID("CQV", "XYZ")
		 "LINUX001 AT ZVMLAB\n");
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 4);
	ck_assert_str_eq(fx.last_text, "Q USERID");
	ck_assert_uint_eq(fx.last_event.value, 0);
	ck_guest("XYZ\nQ USERID\n", 1, UNKNOWN("XYZ") "LINUX001 AT ZVMLAB\n");
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 7);
}

TEST(many)
{
	char text[CPCMD_MAX_COMMAND];
	const struct cpcmd_response *r;

	memset(text, '\n', sizeof(text));
	r = cpcmd_run(fx.cp, CPCMD_GUEST, text, sizeof(text));
	ck_assert_int_eq(r->rc, 0);
	ck_assert_uint_eq(r->len, 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], CPCMD_MAX_COMMAND + 1);
	for (size_t i = 0; i < sizeof(text); i += 2)
		text[i] = 'X';
	r = cpcmd_run(fx.cp, CPCMD_GUEST, text, sizeof(text));
	ck_assert_int_eq(r->rc, 1);
	ck_assert_uint_eq(r->len, CPCMD_MAX_COMMAND / 2 * strlen(UNKNOWN("X")));
}

TEST(longest)
{
	char text[CPCMD_MAX_COMMAND + 1];
	char expected[CPCMD_MAX_COMMAND + 64];
	const struct cpcmd_response *r;

	memset(text, 'x', sizeof(text));
	r = cpcmd_run(fx.cp, CPCMD_GUEST, text, CPCMD_MAX_COMMAND);
	ck_assert_int_eq(r->rc, 1);
	memset(text, 'X', sizeof(text));
	snprintf(expected, sizeof(expected), "HCPCMD001E Unknown CP command: %.240s\n", text);
	ck_assert_uint_eq(r->len, strlen(expected));
	ck_assert_mem_eq(r->text, expected, r->len);

	static const char too_long[] = "HCPCMD026E Operand missing or invalid - the command is "
				       "longer than 240 characters\n";
	for (int issuer = CPCMD_GUEST; issuer <= CPCMD_OPERATOR; issuer++) {
		r = cpcmd_run(fx.cp, (enum cpcmd_issuer)issuer, text, sizeof(text));
		ck_assert_int_eq(r->rc, 26);
		ck_assert_uint_eq(r->len, strlen(too_long));
		ck_assert_mem_eq(r->text, too_long, r->len);
	}
}

TEST(binary)
{
	const char text[] = "Q\0USERID";
	char all[240];
	const struct cpcmd_response *r;

	/* NUL is a blank. */
	r = cpcmd_run(fx.cp, CPCMD_GUEST, text, sizeof(text));
	ck_assert_int_eq(r->rc, 0);
	ck_assert_uint_eq(r->len, strlen("LINUX001 AT ZVMLAB\n"));
	ck_guest("Q\tUSERID", 1, UNKNOWN("Q.USERID"));
	ck_assert_str_eq(fx.last_text, "Q.USERID");
	ck_guest("\x01\x7f\xff%s%n", 1, UNKNOWN("...%S%N"));
	ck_assert_str_eq(fx.last_text, "...%s%n");
	for (unsigned int i = 0; i < sizeof(all); i++)
		all[i] = (char)(i + 16);
	r = cpcmd_run(fx.cp, CPCMD_GUEST, all, sizeof(all));
	ck_assert_int_eq(r->rc, 1);
	for (size_t i = 0; i < r->len; i++)
		ck_assert(r->text[i] == '\n' || (r->text[i] >= 0x20 && r->text[i] < 0x7f));
}

TEST(overflow)
{
	struct cpcmd_response *r = &fx.cp->command->response;
	const size_t capacity = r->capacity;

	/* One line and a half; then a shorter line, which must not be stored either. */
	r->capacity = strlen(UNKNOWN("ABCDEFGHI")) + strlen(UNKNOWN("ABC")) - 1;
	ck_guest("ABCDEFGHI\nABC\nA", 1, UNKNOWN("ABCDEFGHI"));
	r->capacity++;
	ck_guest("ABCDEFGHI\nABC\nA", 1, UNKNOWN("ABCDEFGHI") UNKNOWN("ABC"));
	r->capacity = 0;
	ck_guest("ABC", 1, "");
	r->capacity = capacity;
	ck_guest("ABC", 1, UNKNOWN("ABC"));
}

TEST(trace)
{
	const char *line, *second;

	run_as(CPCMD_OPERATOR, "q wrong", 3);
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 0);
	run_as(CPCMD_GUEST, "Q\"X", 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 1);
	line = fx.trace;
	second = strchr(line, '\n') + 1;
	ck_assert_ptr_eq(strchr(second, '\n'), fx.trace + fx.trace_len - 1);
	ck_assert_ptr_nonnull(strstr(line, "\"call\":\"command\",\"issuer\":\"operator\","
					   "\"text\":\"q wrong\",\"length\":7,\"rc\":3,"
					   /* "HCPCQV003E I…" */
					   "\"response\":\"484350435156303033452049"));
	ck_assert_ptr_nonnull(strstr(second, "\"call\":\"command\",\"issuer\":\"guest\","
					     "\"text\":\"Q\\\"X\",\"length\":3,\"rc\":1,"));
}

/* DEFINE STORAGE resets the guest: its fields are in the command's record. */
TEST(trace_of_reset)
{
	run_as(CPCMD_OPERATOR, "DEF STOR 4M", 0);
	ck_assert_ptr_eq(strchr(fx.trace, '\n'), fx.trace + fx.trace_len - 1);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"command\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"reset\""));
}

static void command_state(struct state *s)
{
	cpcmd_part.state_system(fx.cp, s);
	cpcmd_part.state(fx.cp, s);
}

TEST(state)
{
	struct state s = { .loading = false };

	ck_operator("TERM HOLD OFF LINESIZE 132\nSET RUN ON\nDEFSEG A 700-7FF SR", 0,
		    "HCPNSD440I Saved segment A was successfully defined in fileid 0002.\n");
	command_state(&s);
	run_as(CPCMD_OPERATOR, "TERM HOLD ON\nSET RUN OFF", 0);
	fx.cp->system->ipl_tod = 0;
	memset(fx.cp->system->filed, 0, CP_MAX_SEGMENTS * sizeof(*fx.cp->system->filed));
	s.loading = true;
	s.pos = 0;
	command_state(&s);
	ck_assert(!s.failed);
	ck_assert_uint_eq(s.pos, s.len);
	ck_assert_uint_eq(fx.cp->system->ipl_tod, fx.tod);
	ck_guest("Q SET", 0, SETTINGS("ON", "OFF"));
	ck_assert_uint_eq(fx.cp->command->term[TERM_HOLD], 0);
	ck_assert_uint_eq(fx.cp->command->term[TERM_LINESIZE], 132);
	ck_assert_str_eq(cpcmd_file(fx.cp, 2)->origin, "OPERATOR");
	free(s.data);
}

/* Settings no TERMINAL command could have made, and an origin without an end. */
TEST_LOOP(state_damaged, 0, 6)
{
	static const struct { enum cpcmd_term setting; uint16_t value; } bad[] = {
		{ TERM_HOLD, 2 }, { TERM_BRKKEY, 4 }, { TERM_PROMPT, 65535 },
		{ TERM_LINESIZE, 256 }, { TERM_LINEND, ' ' }, { TERM_ESCAPE, 0x7f },
	};
	struct state s = { .loading = false };
	/* Of the system: tag 4, IPL TOD 8, files: id 2, TOD 8, origin 9. */
	const size_t origin = 4 + 8 + 2 + 8;
	/* Of the machine: tag 4, log-on TOD 8, RUN 1, its end 1 + 8 + 9, settings of 2 bytes. */
	const size_t settings = 4 + 8 + CP_MAX_SEGMENTS * 19 + 4 + 8 + 1 + 1 + 8 + 9;
	const size_t at = settings + 2 * (size_t)bad[_i].setting;

	command_state(&s);
	s.loading = true;
	put_be16(s.data + at, bad[_i].value);
	s.pos = 0;
	command_state(&s);
	ck_assert(s.failed);
	run_as(CPCMD_GUEST, "Q TERM", 0);
	put_be16(s.data + at, 0);
	put_be16(s.data + settings + 2 * TERM_LINESIZE, 80);
	s.data[origin + CP_NAME_LEN] = 'X';
	s.pos = 0;
	s.failed = false;
	command_state(&s);
	ck_assert(s.failed);
	ck_assert_uint_eq(fx.cp->system->filed[0].origin[CP_NAME_LEN], 0);
	free(s.data);
}

TEST(numbers)
{
	uint64_t n = 7;

	ck_assert(cpcmd_number("0", 10, 0, 9, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert(cpcmd_number("97FF", 16, 0, 0x97ff, &n));
	ck_assert_uint_eq(n, 0x97ff);
	ck_assert(!cpcmd_number("9800", 16, 0, 0x97ff, &n));
	ck_assert(!cpcmd_number("", 10, 0, 9, &n));
	ck_assert(!cpcmd_number("1A", 10, 0, 99, &n));
	ck_assert(!cpcmd_number("-1", 10, 0, 99, &n));
	ck_assert(!cpcmd_number("5", 10, 6, 99, &n));
	ck_assert(!cpcmd_number("99999999999999999999999", 10, 0, UINT64_MAX / 16 - 1, &n));
}

TEST_LOOP(sizes, 0, 11)
{
	static const struct { uint64_t bytes; const char *text; } cases[] = {
		{ 0, "0" }, { 1, "1" }, { 1024, "1K" }, { 1025, "1025" }, { 256u << 20, "256M" },
		{ UINT64_C(2) << 30, "2G" }, { UINT64_C(2049) << 20, "2049M" },
		{ UINT64_C(3) << 40, "3T" }, { UINT64_C(1) << 60, "1E" },
		{ UINT64_C(1) << 63, "8E" }, { UINT64_MAX, "18446744073709551615" },
	};
	char text[CPCMD_SIZE_LEN];

	ck_assert_str_eq(cpcmd_size(cases[_i].bytes, text), cases[_i].text);
}

TEST_LOOP(dates, 0, 8)
{
	static const struct { uint64_t tod; struct clock_time time; } cases[] = {
		{ 0, { 1900, 1, 1, 0, 0, 0, 1 } },
		{ UINT64_C(0xb361183e53dc0000), { 1999, 12, 31, 23, 59, 59, 5 } },
		{ UINT64_C(0xb361183f48000000), { 2000, 1, 1, 0, 0, 0, 6 } },
		{ UINT64_C(0xb3ac8825fbdc0000), { 2000, 2, 29, 23, 59, 59, 2 } },
		{ UINT64_C(0xb3ac8826f0000000), { 2000, 3, 1, 0, 0, 0, 3 } },
		{ UINT64_C(0xe039ff3dd5000000), { 2024, 12, 31, 12, 0, 0, 2 } },
		{ UINT64_C(0xe20588edce000000), { 2026, 1, 1, 0, 0, 0, 4 } },
		{ UINT64_MAX, { 2042, 9, 17, 23, 53, 47, 3 } },
	};
	const struct clock_time t = clock_time(cases[_i].tod), *e = &cases[_i].time;

	ck_assert_uint_eq(t.year, e->year);
	ck_assert_uint_eq(t.month, e->month);
	ck_assert_uint_eq(t.day, e->day);
	ck_assert_uint_eq(t.hour, e->hour);
	ck_assert_uint_eq(t.minute, e->minute);
	ck_assert_uint_eq(t.second, e->second);
	ck_assert_uint_eq(t.weekday, e->weekday);
}

CASE("classes", NULL, NULL);

TEST(classes)
{
	static const char *const class_g[] = { "class", "G", NULL };

	fx_setup_with(class_g);
	ck_guest("DEFSEG A 700-7FF SR", 1, UNKNOWN("DEFSEG"));
	ck_guest("SAVESEG A", 1, UNKNOWN("SAVESEG"));
	ck_guest("PURGE NSS A", 3, INVALID("PUR", "NSS"));
	ck_guest("MONITOR SAMPLE START", 1, UNKNOWN("MONITOR"));
	ck_guest("MSGNOH OPERATOR A", 1, UNKNOWN("MSGNOH"));
	ck_guest("QUERY NSS", 3, INVALID("CQV", "NSS"));
	ck_guest("QUERY MONITOR", 3, INVALID("CQV", "MONITOR"));
	ck_guest("QUERY USERID", 0, "LINUX001 AT ZVMLAB\n");
	run_as(CPCMD_OPERATOR, "QUERY NSS", 0);
	fx_teardown();
}

TEST(classes_other)
{
	static const char *const class_ah[] = { "class", "AH", NULL };

	fx_setup_with(class_ah);
	ck_guest("TERM HOLD ON", 1, UNKNOWN("TERM"));
	ck_guest("SMSG OPERATOR A", 1, UNKNOWN("SMSG"));
	ck_guest("DEF STOR 4M", 1, UNKNOWN("DEF"));
	ck_guest("SET RUN ON", 3, INVALID("CFS", "RUN"));
	ck_guest("Q CON", 3, INVALID("CQV", "CON"));
	run_as(CPCMD_GUEST, "Q TIME", 0);
	run_as(CPCMD_GUEST, "Q MON", 0);
	run_as(CPCMD_GUEST, "MONITOR SAMPLE ENABLE ALL", 0);
	fx_teardown();
}
