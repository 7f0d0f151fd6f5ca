/* SPDX-License-Identifier: MIT */
/* Traces of several machines: whose record it is, in which order, and what names another. */
#include <stdlib.h>

#include "iucv_guest.h"

enum { ALICE, BOB };

static uint16_t alice, bob;

static void setup(void)
{
	static const char *const options[] = {
		"directory", "IUCV ANY", "trace-data", "full", "cpus", "2", NULL,
	};

	fx_system(NULL);
	fx_logon(ALICE, "ALICE", options);
	fx_declare(0);
	fx_logon(BOB, "BOB", options);
	fx_declare(1);
	fx_use(ALICE);
	alice = connected_to("BOB", 0);
	fx_use(BOB);
	bob = get_be16(fx_take(1) + IPPATHID);
	ck_cc(on_path(IUCV_ACCEPT, bob, 0), 0);
	fx_use(ALICE);
	take(IUCV_COMPLETE, alice);
}

FX_REPLAY_TRACES;

CASE("trace machines", setup, fx_teardown);

/* The last line of the trace of the machine in use. */
static const char *last_line(void)
{
	const char *line = fx.trace;

	for (const char *at = fx.trace; *at; at++)
		if (at[0] == '\n' && at[1] != '\0')
			line = at + 1;
	return line;
}

static uint64_t number(const char *line, const char *member)
{
	const char *at = strstr(line, member);

	ck_assert_ptr_nonnull(at);
	return strtoull(at + strlen(member), NULL, 10);
}

#define ck_has(line, part) ck_assert_msg(strstr(line, part), "no %s in %s", part, line)
#define ck_has_not(line, part) ck_assert_msg(!strstr(line, part), "%s in %s", part, line)

/* Numbers of all traces are one sequence; within a trace they are consecutive as ever. */
TEST(order)
{
	uint64_t seq[2], order;

	cp_ipl(fx.cp);
	order = number(last_line(), "\"order\":");
	seq[ALICE] = number(last_line(), "\"seq\":");
	fx_use(BOB);
	cp_ipl(fx.cp);
	ck_assert_uint_eq(number(last_line(), "\"order\":"), order + 1);
	seq[BOB] = number(last_line(), "\"seq\":");
	fx_use(ALICE);
	cp_ipl(fx.cp);
	ck_assert_uint_eq(number(last_line(), "\"order\":"), order + 2);
	ck_assert_uint_eq(number(last_line(), "\"seq\":"), seq[ALICE] + 1);
	fx_use(BOB);
	cp_ipl(fx.cp);
	ck_assert_uint_eq(number(last_line(), "\"order\":"), order + 3);
	ck_assert_uint_eq(number(last_line(), "\"seq\":"), seq[BOB] + 1);
	ck_has(fx.head, "\"seq\":0,\"order\":");
}

/* Storage of the other machine is named, and so are its CPUs that are kicked. */
TEST(another_machine)
{
	size_t before;
	uint32_t id;

	memcpy(fx_at(DATA, 4), "\x01\x02\x03\x04", 4);
	ck_cc(send(alice, 0, DATA, 4, 8), 0);
	id = get_be32(parm() + IPMSGID);
	ck_has(last_line(), "\"call\":\"iucv.send\"");
	ck_has(last_line(), "\"kicks\":{\"BOB\":\"2\"}");
	ck_has_not(last_line(), "\"kick\":");
	ck_has_not(last_line(), "[\"BOB\"");
	before = fx.trace_len;
	fx_use(BOB);
	ck_assert_ptr_nonnull(fx_take(1));
	ck_cc(message(IUCV_RECEIVE, bob, IPFGPID | IPFGMID, id, 0, DATA + 0x40, 4), 0);
	ck_has(last_line(), "[\"ALICE\",\"10000\",\"01020304\"]");
	ck_has(last_line(), "[\"10040\",\"01020304\"]");
	ck_has_not(last_line(), "\"kicks\":");
	ck_cc(message(IUCV_REPLY, bob, 0, id, 0x11111111, DATA + 0x40, 2), 0);
	ck_has(last_line(), "[\"10040\",\"0102\"]");
	ck_has(last_line(), "\"out\":[[\"ALICE\",\"11000\",\"0102\"]");
	ck_has(last_line(), "\"kicks\":{\"ALICE\":\"1\"}");
	fx_use(ALICE);
	/* All that is in the trace of whoever has done it. */
	ck_assert_uint_eq(fx.trace_len, before);
}

/* Time stands still in a record, for the other machine as well. */
TEST(time_of_the_record)
{
	fx_use(BOB);
	fx.tod += 0x5000;
	fx_use(ALICE);
	fx_logoff(ALICE);
	fx_use(BOB);
	ck_cc(send(bob, 0, DATA, 4, 4), 1);
	ck_has(last_line(), "\"tod\":\"d000000000005000\"");
}

/* The last record of a machine that logs off. */
TEST(logoff)
{
	cp_ipl(fx.cp);
	ck_has_not(fx.trace, "\"call\":\"logoff\"");
	fx_logoff(BOB);
	fx_use(ALICE);
	take(IUCV_SEVERED, alice);
	ck_has(last_line(), "\"call\":\"interrupt\"");
}

/* A guest alone has neither of the members. */
TEST(alone)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "trace-data", "full", "directory", "IUCV ANY;IUCV ALLOW",
					     NULL });
	fx_declare(0);
	connected_to("LINUX001", 0);
	ck_has(fx.trace, "\"kick\":\"1\"");
	ck_has_not(fx.trace, "\"order\":");
	ck_has_not(fx.trace, "\"kicks\":");
	ck_has_not(fx.head, "\"order\":");
}
