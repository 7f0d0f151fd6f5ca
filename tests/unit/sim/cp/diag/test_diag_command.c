/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'08', in the form and with the registers that Linux uses. */
#include "fixture.h"
#include "zvmlab/fault.h"

#define COMMAND 0x3000u
#define BUFFER 0x5000u
#define RESPOND UINT64_C(0x40000000)

static size_t put_command(const char *text)
{
	ebcdic_encode(fx_at(COMMAND, 240), text, strlen(text));
	return strlen(text);
}

/* Rx = 2, Ry = 4. */
static struct cp_result respond(const char *text, uint64_t buffer, uint64_t room)
{
	fx.gr[2] = COMMAND;
	fx.gr[3] = buffer;
	fx.gr[4] = put_command(text) | RESPOND;
	fx.gr[5] = room;
	return fx_diag(2, 4, 0x08);
}

static const char *response(uint64_t len)
{
	static char text[4096];

	ck_assert_uint_lt(len, sizeof(text));
	ebcdic_decode(text, fx_at(BUFFER, len), len);
	text[len] = '\0';
	return text;
}

FX_REPLAY_TRACES;

CASE("command", fx_setup, fx_teardown);

TEST(response_fits)
{
	ck_cc(respond("QUERY USERID", BUFFER, 1024), 0);
	ck_assert_uint_eq(fx.gr[4], 0);
	ck_assert_uint_eq(fx.gr[5], 19);
	ck_assert_str_eq(response(fx.gr[5]), "LINUX001 AT ZVMLAB\n");
	ck_assert_uint_eq(*fx_at(BUFFER + 18, 1), 0x15);
	ck_assert_uint_eq(*fx_at(BUFFER + 19, 1), 0);
	ck_assert_uint_eq(fx.gr[2], COMMAND);
	ck_assert_uint_eq(fx.gr[3], BUFFER);
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 0);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"diag.08\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"command\":\"QUERY USERID\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"gr5\":\"13\""));
}

TEST(response_just_fits)
{
	ck_cc(respond("QUERY USERID", BUFFER, 19), 0);
	ck_assert_uint_eq(fx.gr[5], 19);
}

TEST(only_whole_lines_are_stored)
{
	/* Two commands: two lines of 19 bytes. */
	ck_cc(respond("QUERY USERID\nQUERY USERID", BUFFER, 37), 1);
	ck_assert_uint_eq(fx.gr[4], 0);
	ck_assert_uint_eq(fx.gr[5], 1);
	ck_assert_str_eq(response(19), "LINUX001 AT ZVMLAB\n");
	ck_assert_uint_eq(*fx_at(BUFFER + 19, 1), 0);
	memset(fx_at(BUFFER, 64), 0, 64);
	ck_cc(respond("QUERY USERID", BUFFER, 18), 1);
	ck_assert_uint_eq(fx.gr[5], 1);
	ck_assert_uint_eq(*fx_at(BUFFER, 1), 0);
	ck_cc(respond("QUERY USERID", BUFFER, 0), 1);
	ck_assert_uint_eq(fx.gr[5], 19);
}

/* Bytes of a longer response remain behind the end of this one. */
TEST(response_after_a_longer_one)
{
	ck_cc(respond("QUERY USERID\nQUERY USERID\nQUERY USERID", BUFFER, 1024), 0);
	ck_assert_uint_eq(fx.gr[5], 57);
	memset(fx_at(BUFFER, 64), 0, 64);
	ck_cc(respond("QUERY USERID", BUFFER, 57), 0);
	ck_assert_uint_eq(fx.gr[5], 19);
	ck_assert_uint_eq(*fx_at(BUFFER + 19, 1), 0);
}

TEST(return_code_is_cps_message)
{
	ck_cc(respond("NONSENSE", BUFFER, 1024), 0);
	ck_assert_uint_eq(fx.gr[4], 1);
	ck_assert_str_eq(response(fx.gr[5]), "HCPCMD001E Unknown CP command: NONSENSE\n");
}

TEST(no_command)
{
	ck_cc(respond("", BUFFER, 1024), 0);
	ck_assert_uint_eq(fx.gr[4], 0);
	ck_assert_uint_eq(fx.gr[5], 0);
}

TEST(response_across_pages)
{
	ck_cc(respond("QUERY USERID", 0x5ff8, 1024), 0);
	ck_assert_uint_eq(*fx_at(0x6000 + 10, 1), 0x15);
}

TEST(response_of_several_pages)
{
	char command[241] = "";

	/* 117 times the same message. */
	for (int i = 0; i < 117; i++)
		strcat(command, "Q\n");
	ck_cc(respond(command, BUFFER, 8192), 0);
	ck_assert_uint_gt(fx.gr[5], 4096);
	ck_assert_uint_eq(*fx_at(BUFFER + fx.gr[5] - 1, 1), 0x15);
	ck_assert_uint_eq(*fx_at(BUFFER + fx.gr[5], 1), 0);
	ck_assert_uint_eq(fx.gr[5] % 117, 0);
	ck_assert_mem_eq(fx_at(BUFFER, 10), fx_at(BUFFER + fx.gr[5] / 117 * 116, 10), 10);
}

TEST(without_a_buffer_the_console_gets_it)
{
	fx.gr[2] = COMMAND;
	fx.gr[4] = put_command("QUERY USERID\nQUERY USERID");
	ck_assert_int_eq(fx_diag(2, 4, 0x08).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 2);
	ck_assert_str_eq(fx.last_name, "LINUX001");
	ck_assert_str_eq(fx.last_text, "LINUX001 AT ZVMLAB");
	/* Neither pairs nor register 15 matter in this form. */
	fx.gr[15] = COMMAND;
	fx.gr[14] = put_command("NONSENSE");
	ck_assert_int_eq(fx_diag(15, 14, 0x08).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[14], 1);
}

TEST(long_lines_come_in_pieces_on_the_console)
{
	char command[240] = "";

	memset(command, 'X', sizeof(command) - 1);
	fx.gr[2] = COMMAND;
	fx.gr[4] = put_command(command);
	ck_assert_int_eq(fx_diag(2, 4, 0x08).how, CP_DONE);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 2);
	ck_assert_uint_eq(strlen(fx.last_text), strlen("HCPCMD001E Unknown CP command: ") - 1);
}

TEST(longest_command)
{
	char command[242] = "";

	memset(command, ' ', 241);
	memcpy(command + 228, "QUERY USERID", 12);
	command[240] = '\0';
	ck_cc(respond(command, BUFFER, 1024), 0);
	ck_assert_uint_eq(fx.gr[5], 19);
	command[240] = ' ';
	ck_pgm(respond(command, BUFFER, 1024), PGM_SPECIFICATION);
}

static const struct { unsigned int r1, r3; } wrong_pairs[] = {
	{ 15, 4 }, { 4, 15 }, { 2, 2 }, { 2, 3 }, { 3, 2 },
};

TEST_EACH(registers_of_the_buffer_form, wrong_pairs)
{
	for (unsigned int i = 0; i < 16; i++)
		fx.gr[i] = RESPOND;
	ck_pgm(fx_diag(wrong_pairs[_i].r1, wrong_pairs[_i].r3, 0x08), PGM_SPECIFICATION);
}

static const struct {
	uint64_t command, operand, buffer, room;
	uint16_t pgm;
} hostile[] = {
	{ COMMAND, 12 | 0x80000000u, BUFFER, 64, PGM_SPECIFICATION },
	{ COMMAND, 12 | 0x41000000u, BUFFER, 64, PGM_SPECIFICATION },
	{ COMMAND, UINT64_MAX, BUFFER, 64, PGM_SPECIFICATION },
	{ 0x400000, 12 | RESPOND, BUFFER, 64, PGM_ADDRESSING },
	{ 0x3ffffa, 12 | RESPOND, BUFFER, 64, PGM_ADDRESSING },
	{ UINT64_MAX, 12 | RESPOND, BUFFER, 64, PGM_ADDRESSING },
	{ COMMAND, 12 | RESPOND, 0x400000, 64, PGM_ADDRESSING },
	{ COMMAND, 12 | RESPOND, 0x3fffff, 2, PGM_ADDRESSING },
	{ COMMAND, 12 | RESPOND, UINT64_MAX, 64, PGM_ADDRESSING },
	{ COMMAND, 12 | RESPOND, 0x380000, UINT64_MAX, PGM_ADDRESSING },
};

TEST_EACH(hostile_operands, hostile)
{
	put_command("QUERY USERID");
	fx.gr[2] = hostile[_i].command;
	fx.gr[3] = hostile[_i].buffer;
	fx.gr[4] = hostile[_i].operand;
	fx.gr[5] = hostile[_i].room;
	ck_pgm(fx_diag(2, 4, 0x08), hostile[_i].pgm);
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 0);
	ck_assert_uint_eq(fx.gr[4], hostile[_i].operand);
	ck_assert_uint_eq(fx.gr[5], hostile[_i].room);
}

TEST(huge_buffer_is_not_walked_to_its_end)
{
	/* 1 MiB is all that a response can need. */
	ck_cc(respond("QUERY USERID", 0x300000, UINT64_MAX), 0);
	ck_assert_uint_eq(fx.gr[5], 19);
}

/* A command can take away the storage that its own response was to go to. */
TEST(command_takes_the_buffer_away)
{
	ck_pgm(respond("DEFINE STORAGE 2M", 0x300000, 1024), PGM_ADDRESSING);
	ck_assert_uint_eq(fx.gr[4], strlen("DEFINE STORAGE 2M") | RESPOND);
	ck_assert_uint_eq(fx.gr[5], 1024);
	ck_assert_uint_eq(*fx_at(0x300000, 1), 0);
	/* It has been carried out all the same. */
	ck_pgm(respond("QUERY USERID", 0x300000, 1024), PGM_ADDRESSING);
	ck_cc(respond("QUERY USERID", 0x1ff000, 1024), 0);
}

TEST(amode_31)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 31 };

	fx.gr[2] = UINT64_C(0xffffffff80000000) | COMMAND;
	fx.gr[3] = UINT64_C(0xffffffff80000000) | BUFFER;
	fx.gr[4] = UINT64_C(0xffffffff00000000) | RESPOND | put_command("QUERY USERID");
	fx.gr[5] = UINT64_C(0xffffffff00000040);
	ck_cc(cp_diagnose(fx.cp, &insn, 2, 4, 0x08), 0);
	ck_assert_uint_eq(fx.gr[4], UINT64_C(0xffffffff00000000));
	ck_assert_uint_eq(fx.gr[5], UINT64_C(0xffffffff00000013));
}

static void arm(enum fault_kind kind, uint32_t value)
{
	ck_arm(FAULT_DIAG_COMMAND, kind, .value = value);
}

TEST_LOOP(faults, 0, 4)
{
	static const struct {
		enum fault_kind kind;
		uint32_t value;
		struct cp_result result;
		uint64_t gr4, gr5;
	} fault[] = {
		{ FAULT_CC, 3, { CP_CC, 3, 0 }, 12 | RESPOND, 64 },
		{ FAULT_RC, 45, { CP_CC, 0, 0 }, 45, 0 },
		{ FAULT_PGM, 5, { CP_PROGRAM, 0, 5 }, 12 | RESPOND, 64 },
		{ FAULT_DROP, 0, { CP_CC, 0, 0 }, 0, 0 },
	};
	struct cp_result r;

	arm(fault[_i].kind, fault[_i].value);
	r = respond("QUERY USERID", BUFFER, 64);
	ck_assert_int_eq(r.how, fault[_i].result.how);
	ck_assert_uint_eq(r.cc, fault[_i].result.cc);
	ck_assert_uint_eq(r.pgm, fault[_i].result.pgm);
	ck_assert_uint_eq(fx.gr[4], fault[_i].gr4);
	ck_assert_uint_eq(fx.gr[5], fault[_i].gr5);
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_FAULT], 1);
	ck_assert_uint_eq(*fx_at(BUFFER, 1), 0);
}

TEST(fault_without_a_buffer)
{
	arm(FAULT_RC, 7);
	fx.gr[2] = COMMAND;
	fx.gr[4] = put_command("QUERY USERID");
	fx.gr[5] = 99;
	ck_assert_int_eq(fx_diag(2, 4, 0x08).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 7);
	ck_assert_uint_eq(fx.gr[5], 99);
}
