/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'288': the time bomb.  If the guest does not set it again in time, CP gives a command
 * on its behalf.
 *
 * Rx: function, with CONCEAL in bit 32; Rx+1: interval in seconds.  Ry: real address of the
 * command, Ry+1: its length.  As Linux's diag288_wdt uses them.
 */
#include <string.h>

#include "command/command_private.h"
#include "diag_private.h"
#include "ebcdic.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/iucv.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"
#include "zvmlab/watchdog.h"

enum { FUNCTION_INIT = 0, FUNCTION_CHANGE = 1, FUNCTION_CANCEL = 2 };
#define CONCEAL 0x80000000u
/* A second of the TOD clock: bit 51 is a microsecond (PoP, "Time-of-Day Clock"). */
#define TOD_SECOND (UINT64_C(1000000) << 12)

static void arm_timer(struct cp *cp)
{
	cp_set_timer(cp, CP_TIMER_WATCHDOG, cp->watchdog.active ? cp->watchdog.due : 0);
}

static void cancel(struct cp *cp)
{
	if (!cp->watchdog.active)
		return;
	cp->watchdog = (struct watchdog){ .active = false };
	arm_timer(cp);
}

static void start(struct cp *cp, uint32_t seconds)
{
	struct watchdog *w = &cp->watchdog;

	assert(seconds >= WATCHDOG_MIN_SECONDS);
	w->active = true;
	w->seconds = seconds;
	w->due = cp_tod(cp) + seconds * TOD_SECOND;
	/* 0 would be no time at all. */
	w->due += w->due == 0;
	arm_timer(cp);
}

/* A new command, which is read now. */
static uint16_t init(struct cp *cp, const struct cp_insn *insn, unsigned int r1, unsigned int r3)
{
	const uint32_t seconds = (uint32_t)insn->gr[r1 + 1];
	const uint64_t len = diag_operand(insn, r3 + 1);
	uint8_t ebcdic[CPCMD_MAX_COMMAND];
	struct watchdog *w = &cp->watchdog;
	uint16_t pgm;

	if (seconds < WATCHDOG_MIN_SECONDS || len == 0 || len > sizeof(ebcdic))
		return PGM_SPECIFICATION;
	pgm = storage_read(cp, (int)insn->cpu, diag_address(insn, r3), ebcdic, len);
	if (pgm != 0)
		return pgm;
	memset(w->command, 0, sizeof(w->command));
	ebcdic_decode(w->command, ebcdic, len);
	/* Linux counts the zero at the end in some versions. */
	for (size_t i = 0; i < len; i++)
		if (w->command[i] == '\0')
			w->command[i] = ' ';
	w->length = (uint8_t)len;
	w->conceal = ((uint32_t)insn->gr[r1] & CONCEAL) != 0;
	start(cp, seconds);
	return 0;
}

static uint16_t change(struct cp *cp, const struct cp_insn *insn, unsigned int r1)
{
	const uint32_t seconds = (uint32_t)insn->gr[r1 + 1];

	if (!cp->watchdog.active || seconds < WATCHDOG_MIN_SECONDS)
		return PGM_SPECIFICATION;
	start(cp, seconds);
	return 0;
}

/* A fault takes the place of the function; Linux sees program interruptions only. */
static bool failed(struct cp *cp, uint32_t function, struct cp_result *result)
{
	static const enum fault_point points[] = {
		[FUNCTION_INIT] = FAULT_DIAG288_INIT, [FUNCTION_CHANGE] = FAULT_DIAG288_CHANGE,
		[FUNCTION_CANCEL] = FAULT_DIAG288_CANCEL,
	};
	const struct fault_action action = fault_of_guest(cp, points[function], "");

	*result = action.kind == FAULT_PGM ? cp_program((uint16_t)action.value) : cp_done();
	return action.kind != FAULT_NONE;
}

struct cp_result diag_288_time_bomb(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				    unsigned int r3)
{
	const uint32_t function = (uint32_t)insn->gr[r1] & ~CONCEAL;
	struct cp_result result;
	uint16_t pgm = 0;

	if (r1 % 2 != 0 || r3 % 2 != 0 || function > FUNCTION_CANCEL)
		return cp_program(PGM_SPECIFICATION);
	if (failed(cp, function, &result))
		return result;
	if (function == FUNCTION_INIT)
		pgm = init(cp, insn, r1, r3);
	else if (function == FUNCTION_CHANGE)
		pgm = change(cp, insn, r1);
	else
		cancel(cp);
	return pgm != 0 ? cp_program(pgm) : cp_done();
}

/* The command of the time bomb that has just gone off. */
static void run(struct cp *cp, const struct watchdog *expired)
{
	const struct cpcmd_response *response =
		cpcmd_run(cp, CPCMD_GUEST, expired->command, expired->length);

	cpcmd_to_console(cp, response);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_WATCHDOG, .name = cp->config.userid,
					  .text = expired->command,
					  .value = (uint64_t)response->rc });
}

/* In a record of the trace, whose fields those of the command are. */
static void expire(struct cp *cp)
{
	const struct watchdog expired = cp->watchdog;
	struct fault_action fault;

	assert(expired.active && expired.length > 0 && expired.length <= CPCMD_MAX_COMMAND);
	/* It goes off once. */
	cancel(cp);
	fault = fault_of_guest(cp, FAULT_WATCHDOG_EXPIRE, "");
	if (fault.kind == FAULT_DROP)
		return;
	run(cp, &expired);
	if (fault.kind == FAULT_DUPLICATE)
		run(cp, &expired);
}

static bool is_due(struct cp *cp)
{
	/* Right across the clock's wrap. */
	return cp->watchdog.active && (int64_t)(cp_tod(cp) - cp->watchdog.due) >= 0;
}

static bool watchdog_timer(struct cp *cp)
{
	if (!is_due(cp)) {
		arm_timer(cp);
		return false;
	}
	TRACE_INPUT(cp, watchdog_timer);
	expire(cp);
	trace_end(cp);
	return true;
}

bool watchdog_expire(struct cp *cp)
{
	const bool active = cp->watchdog.active;

	TRACE_INPUT(cp, watchdog_expire);
	if (active)
		expire(cp);
	trace_end(cp);
	iucv_dispatch(cp);
	return active;
}

const struct watchdog *watchdog_of(const struct cp *cp)
{
	return &cp->watchdog;
}

/* The virtual machine that was to be watched is no more. */
static void watchdog_reset(struct cp *cp)
{
	cancel(cp);
}

static bool valid(const struct watchdog *w)
{
	if (!w->active)
		return w->length == 0 && w->seconds == 0 && w->due == 0 && !w->conceal;
	return w->length > 0 && w->due != 0 && w->seconds >= WATCHDOG_MIN_SECONDS &&
	       !memchr(w->command, '\0', w->length);
}

static void watchdog_state(struct cp *cp, struct state *state)
{
	struct watchdog *w = &cp->watchdog;

	state_tag(state, "CBOM");
	state_bool(state, &w->active);
	state_bool(state, &w->conceal);
	state_u32(state, &w->seconds);
	state_u64(state, &w->due);
	state_u8(state, &w->length);
	state_require(state, w->length <= CPCMD_MAX_COMMAND);
	if (state->loading)
		memset(w->command, 0, sizeof(w->command));
	if (!state->failed)
		state_bytes(state, w->command, w->length);
	if (!state->failed)
		state_require(state, valid(w));
	if (state->failed)
		*w = (struct watchdog){ .active = false };
	if (state->loading)
		arm_timer(cp);
}

const struct cp_part watchdog_part = {
	.reset = watchdog_reset,
	.state = watchdog_state,
	.timer = watchdog_timer,
};
