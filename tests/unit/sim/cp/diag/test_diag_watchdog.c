/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'288': the time bomb. */
#include <stdlib.h>

#include "command_check.h"
#include "state_check.h"
#include "zvmlab/fault.h"
#include "zvmlab/monitor.h"
#include "zvmlab/watchdog.h"

#define TEXT 0x3000
/* PoP, "Time-of-Day Clock": bit 51 is a microsecond. */
#define SECOND (UINT64_C(1000000) << 12)

enum { INIT = 0, CHANGE = 1, CANCEL = 2 };

static struct cp_result call(uint64_t function, uint64_t seconds, uint64_t addr, uint64_t len)
{
	fx.gr[2] = function;
	fx.gr[3] = seconds;
	fx.gr[4] = addr;
	fx.gr[5] = len;
	return fx_diag(2, 4, 0x288);
}

static void put(const char *command)
{
	ebcdic_encode(fx_at(TEXT, strlen(command)), command, strlen(command));
}

/* As Linux sets it, and puts it off. */
static void set(const char *command, uint64_t seconds)
{
	put(command);
	ck_assert_int_eq(call(INIT, seconds, TEXT, strlen(command)).how, CP_DONE);
	ck_assert(watchdog_of(fx.cp)->active);
	ck_assert_uint_eq(fx.timer, fx.tod + seconds * SECOND);
}

/* Time passes, and the host's timer with it. */
static void wait_for(uint64_t tod)
{
	fx.tod = tod;
	cp_timer(fx.cp);
}

FX_REPLAY_TRACES;

CASE("watchdog", fx_setup, fx_teardown);

TEST(goes_off)
{
	set("MSG * BANG", 15);
	wait_for(fx.tod + 15 * SECOND - 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 0);
	ck_assert_uint_eq(fx.timer, fx.tod + 1);
	wait_for(fx.tod + 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 1);
	ck_assert_str_eq(fx.last_name, "LINUX001");
	ck_assert_str_eq(fx.last_text, "MSG * BANG");
	ck_assert_uint_eq(fx.last_event.value, 0);
	/* Once. */
	ck_assert(!watchdog_of(fx.cp)->active);
	ck_assert_uint_eq(fx.timer, 0);
	wait_for(fx.tod + 1000 * SECOND);
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 1);
}

TEST(put_off)
{
	set("QUERY USERID", 30);
	fx.tod += 29 * SECOND;
	set("QUERY TIME", 20);
	wait_for(fx.tod + 19 * SECOND);
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 0);
	/* The command stays, the time begins anew. */
	ck_assert_int_eq(call(CHANGE, 100, 0, 0).how, CP_DONE);
	ck_assert_uint_eq(fx.timer, fx.tod + 100 * SECOND);
	wait_for(fx.tod + 100 * SECOND);
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 1);
	ck_assert_str_eq(fx.last_text, "QUERY TIME");
}

TEST(cancelled)
{
	ck_assert_int_eq(call(CANCEL, 0, 0, 0).how, CP_DONE);
	set("QUERY USERID", 15);
	ck_assert_int_eq(call(CANCEL, 0, 0, 0).how, CP_DONE);
	ck_assert_uint_eq(fx.timer, 0);
	wait_for(fx.tod + 15 * SECOND);
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 0);
	set("QUERY USERID", 15);
	cp_reset(fx.cp);
	ck_assert_uint_eq(fx.timer, 0);
	ck_assert(!watchdog_of(fx.cp)->active);
}

/* Linux 7.2 counts the zero at the end; a response goes to the console. */
TEST(command)
{
	put("QUERY USERID");
	*fx_at(TEXT + 12, 1) = 0;
	ck_assert_int_eq(call(INIT | 0x80000000u, 15, TEXT, 13).how, CP_DONE);
	ck_assert(watchdog_of(fx.cp)->conceal);
	ck_assert(watchdog_expire(fx.cp));
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_assert_str_eq(fx.last_text, "QUERY USERID ");
	ck_assert(!watchdog_expire(fx.cp));
	/* Another one is a blank, wherever it is. */
	put(" UERY USERID");
	*fx_at(TEXT, 1) = 0;
	ck_assert_int_eq(call(INIT, 15, TEXT, 12).how, CP_DONE);
	ck_assert_str_eq(watchdog_of(fx.cp)->command, " UERY USERID");
	/* With the guest's classes, and its return code. */
	set("ACNT ALL", 15);
	ck_assert(!watchdog_of(fx.cp)->conceal);
	ck_assert(watchdog_expire(fx.cp));
	ck_assert_uint_eq(fx.last_event.value, 1);
}

TEST(wrong)
{
	char longest[CPCMD_MAX_COMMAND + 1];

	put("BEGIN");
	ck_pgm(call(3, 15, TEXT, 5), PGM_SPECIFICATION);
	ck_pgm(call(0x40000000, 15, TEXT, 5), PGM_SPECIFICATION);
	ck_pgm(call(INIT, 14, TEXT, 5), PGM_SPECIFICATION);
	ck_pgm(call(INIT, 0, TEXT, 5), PGM_SPECIFICATION);
	ck_pgm(call(INIT, 15, TEXT, 0), PGM_SPECIFICATION);
	ck_pgm(call(INIT, 15, TEXT, 241), PGM_SPECIFICATION);
	ck_pgm(call(INIT, 15, TEXT, UINT64_C(1) << 32 | 5), PGM_SPECIFICATION);
	ck_pgm(call(INIT, 15, UINT64_C(1) << 40, 5), PGM_ADDRESSING);
	ck_pgm(call(CHANGE, 15, 0, 0), PGM_SPECIFICATION);
	ck_pgm(fx_diag(3, 4, 0x288), PGM_SPECIFICATION);
	ck_pgm(fx_diag(2, 5, 0x288), PGM_SPECIFICATION);
	ck_assert(!watchdog_of(fx.cp)->active);
	memset(longest, 'A', CPCMD_MAX_COMMAND);
	longest[CPCMD_MAX_COMMAND] = '\0';
	set(longest, UINT32_MAX);
	ck_pgm(call(CHANGE, 14, 0, 0), PGM_SPECIFICATION);
	ck_assert(watchdog_expire(fx.cp));
	ck_assert_uint_eq(fx.last_event.value, 1);
}

/* One timer of the host serves the monitor, too: the first of both times. */
TEST(beside_the_monitor)
{
	ck_operator("MONITOR SAMPLE INTERVAL 60 SECONDS", 0, "");
	cpcmd_run(fx.cp, CPCMD_OPERATOR, "MONITOR SAMPLE START", 20);
	ck_assert_uint_eq(fx.timer, fx.tod + 60 * SECOND);
	set("QUERY USERID", 15);
	wait_for(fx.tod + 15 * SECOND);
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 1);
	ck_assert_uint_eq(fx.timer, fx.tod + 45 * SECOND);
	put("QUERY USERID");
	ck_assert_int_eq(call(INIT, 100, TEXT, 12).how, CP_DONE);
	ck_assert_uint_eq(fx.timer, fx.tod + 45 * SECOND);
	/* Both at once, since the machine was stopped. */
	wait_for(fx.tod + 200 * SECOND);
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 2);
}

static void arm(enum fault_point point, enum fault_kind kind, uint32_t value)
{
	ck_arm(point, kind, .times = 1, .value = value);
}

TEST(faults)
{
	put("QUERY USERID");
	arm(FAULT_DIAG288_INIT, FAULT_PGM, 6);
	ck_pgm(call(INIT, 15, TEXT, 12), 6);
	arm(FAULT_DIAG288_INIT, FAULT_DROP, 0);
	ck_assert_int_eq(call(INIT, 15, TEXT, 12).how, CP_DONE);
	ck_assert(!watchdog_of(fx.cp)->active);
	set("QUERY USERID", 15);
	arm(FAULT_DIAG288_CHANGE, FAULT_DROP, 0);
	ck_assert_int_eq(call(CHANGE, 99, 0, 0).how, CP_DONE);
	ck_assert_uint_eq(watchdog_of(fx.cp)->seconds, 15);
	arm(FAULT_DIAG288_CANCEL, FAULT_PGM, 1);
	ck_pgm(call(CANCEL, 0, 0, 0), 1);
	ck_assert(watchdog_of(fx.cp)->active);
	arm(FAULT_WATCHDOG_EXPIRE, FAULT_DROP, 0);
	ck_assert(watchdog_expire(fx.cp));
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 0);
	set("QUERY USERID", 15);
	arm(FAULT_WATCHDOG_EXPIRE, FAULT_DUPLICATE, 0);
	ck_assert(watchdog_expire(fx.cp));
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 2);
}

TEST(save_load)
{
	uint8_t *image;
	size_t len;
	char err[256];

	set("QUERY TIME", 15);
	image = fx_save(&len);
	/* Nothing of another command is left. */
	set("QUERY USERID AND MORE", 99);
	fx_load(image, len);
	ck_assert_uint_eq(fx.timer, fx.tod + 15 * SECOND);
	ck_assert_str_eq(watchdog_of(fx.cp)->command, "QUERY TIME");
	wait_for(fx.tod + 15 * SECOND);
	ck_assert_str_eq(fx.last_text, "QUERY TIME");
	fx_load(image, len);
	ck_assert_int_eq(call(CANCEL, 0, 0, 0).how, CP_DONE);
	ck_assert_uint_eq(fx.timer, 0);
	/* Active, conceal, seconds (4), due (8), length, command. */
	for (size_t at = 0; at <= 14; at += 14) {
		image[state_find(image, len, "CBOM") + 4 + at] ^= 0xff;
		state_sign(image, len);
		ck_refused(image, len, err, sizeof(err));
		image[state_find(image, len, "CBOM") + 4 + at] ^= 0xff;
	}
	free(image);
}

/* After its tag: active, conceal, seconds (4), due (8), length, command. */
enum { AT_ACTIVE = 0, AT_CONCEAL = 1, AT_SECONDS = 2, AT_DUE = 6, AT_COMMAND = 15 };

static const struct { bool set; size_t at; uint8_t is, value; bool good; } members[] = {
	/* A bomb with the shortest command that there is. */
	{ true, AT_ACTIVE, 1, 0, false }, { true, AT_CONCEAL, 0, 1, true },
	{ true, AT_SECONDS + 3, 16, 15, true }, { true, AT_SECONDS + 3, 16, 14, false },
	{ true, AT_COMMAND, 'Q', 0, false }, { true, AT_COMMAND, 'Q', 'R', true },
	/* None: it has no time and no members. */
	{ false, AT_ACTIVE, 0, 1, false }, { false, AT_CONCEAL, 0, 1, false },
	{ false, AT_SECONDS + 3, 0, 1, false }, { false, AT_DUE + 7, 0, 1, false },
};

TEST_EACH(bombs_in_an_image, members)
{
	uint8_t *image, *bomb;
	char err[256];
	size_t len;

	if (members[_i].set)
		set("Q", 16);
	image = fx_save(&len);
	bomb = image + state_find(image, len, "CBOM") + 4;
	ck_assert_uint_eq(bomb[members[_i].at], members[_i].is);
	bomb[members[_i].at] = members[_i].value;
	state_sign(image, len);
	if (members[_i].good)
		fx_load(image, len);
	else
		ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* A bomb goes off at some time. */
TEST(bomb_without_a_time)
{
	uint8_t *image, *bomb;
	char err[256];
	size_t len;

	set("Q", 16);
	image = fx_save(&len);
	bomb = image + state_find(image, len, "CBOM") + 4;
	ck_assert_uint_eq(get_be64(bomb + AT_DUE), fx.tod + 16 * SECOND);
	put_be64(bomb + AT_DUE, 1);
	state_sign(image, len);
	fx_load(image, len);
	put_be64(bomb + AT_DUE, 0);
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}
