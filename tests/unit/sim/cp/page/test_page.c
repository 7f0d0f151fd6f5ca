/* SPDX-License-Identifier: MIT */
/* Pages that are out: the handshake of X'258', faults, what the guest is told, and when. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "pfault_block.h"
#include "state_check.h"
#include "zvmlab/command.h"
#include "zvmlab/fault.h"
#include "zvmlab/page.h"

#define AREA 0x3000u
#define TOKEN PFAULT_AT
#define PROBLEM PFAULT_PROBLEM
#define PAGE 0x200000u
#define OTHER 0x201000u
#define ANY PAGE_ANY_CPU
#define INITIAL 0x0600u
#define COMPLETION 0x0680u

static char err[256];

static void setup(void)
{
	fx_setup_with((const char *const[]){ "cpus", "3", NULL });
	for (unsigned int cpu = 0; cpu < 3; cpu++)
		fx.prefix[cpu] = cpu * 0x10000;
}

FX_REPLAY_TRACES;

CASE("page", setup, fx_teardown);

/* Rx = 2, Ry = 4.  Return: what is in Ry. */
static uint64_t diag_258(unsigned int cpu, uint16_t function)
{
	struct cp_insn insn = { .cpu = cpu, .gr = fx.gr, .amode = 64 };

	pfault_put(AREA, function);
	fx.gr[2] = AREA;
	fx.gr[4] = 77;
	ck_assert_int_eq(cp_diagnose(fx.cp, &insn, 2, 4, 0x258).how, CP_DONE);
	return fx.gr[4];
}

/* The CPU establishes the handshake, and runs a program with this token. */
static void shake(unsigned int cpu, uint64_t token)
{
	ck_assert_uint_eq(diag_258(cpu, 0), 0);
	put_be64(fx_at(fx.prefix[cpu] + TOKEN, 8), token);
}

static void out(uint64_t addr, bool hold)
{
	ck_assert_int_eq(page_out(fx.cp, addr, 1, hold, err, sizeof(err)), 0);
	ck_assert(cp_page_is_out(fx.cp, addr));
}

static enum cp_paging touch(unsigned int cpu, uint64_t addr)
{
	return cp_page_fault(fx.cp, cpu, addr, PROBLEM, true);
}

static void ck_external(unsigned int cpu, uint16_t subcode, uint64_t token)
{
	const size_t begun = fx.trace_len;
	struct cp_external external;
	char text[64];

	ck_assert(cp_external_pending(fx.cp, cpu));
	ck_assert(cp_external_take(fx.cp, cpu, &external));
	snprintf(text, sizeof(text), "\"subcode\":\"%x\",\"parameter\":\"%" PRIx64 "\"", subcode,
		 token);
	ck_assert_ptr_nonnull(strstr(fx.trace + begun, text));
	ck_assert_uint_eq(external.code, 0x2603);
	ck_assert_uint_eq(external.subcode, subcode);
	ck_assert_uint_eq(external.parameter, token);
}

static void ck_none(unsigned int cpu)
{
	struct cp_external external;

	ck_assert(!cp_external_pending(fx.cp, cpu));
	ck_assert(!cp_external_take(fx.cp, cpu, &external));
}

static void ck_counts(uint64_t initial, uint64_t completion, uint64_t resolved)
{
	ck_assert_uint_eq(page_counts(fx.cp)->initial, initial);
	ck_assert_uint_eq(page_counts(fx.cp)->completion, completion);
	ck_assert_uint_eq(page_counts(fx.cp)->resolved, resolved);
}

static void ck_told(const char *what, unsigned int cpu, uint64_t fault)
{
	ck_assert_int_eq(fx.last_event.kind, CP_EVENT_PAGE);
	ck_assert_str_eq(fx.last_text, what);
	ck_assert_uint_eq(fx.last_event.path, cpu);
	ck_assert_uint_eq(fx.last_event.value, fault);
}

TEST(handshake_of_each_cpu)
{
	ck_assert_uint_eq(diag_258(1, 1), 4);
	ck_assert_uint_eq(diag_258(1, 0), 0);
	ck_assert_uint_eq(diag_258(1, 0), 8);
	ck_assert(!page_handshake(fx.cp, 0)->established);
	ck_assert(page_handshake(fx.cp, 1)->established);
	ck_assert_uint_eq(page_handshake(fx.cp, 1)->token, TOKEN);
	ck_assert_uint_eq(page_handshake(fx.cp, 1)->select, PROBLEM);
	ck_assert_uint_eq(page_handshake(fx.cp, 1)->compare, PROBLEM);
	ck_assert_uint_eq(diag_258(0, 0), 0);
	ck_assert_uint_eq(diag_258(1, 1), 0);
	ck_assert(page_handshake(fx.cp, 0)->established);
	ck_assert(!page_handshake(fx.cp, 1)->established);
	cp_reset_cpu(fx.cp, 0);
	ck_assert_uint_eq(diag_258(0, 0), 0);
	cp_reset(fx.cp);
	ck_assert_uint_eq(diag_258(0, 0), 0);
}

TEST(told_and_told_again)
{
	shake(1, 0x1122334455667788);
	out(PAGE, false);
	ck_assert_uint_eq(fx.page_changes[true], 1);
	ck_assert_int_eq(touch(1, PAGE + 0x123), CP_PAGE_INITIAL);
	ck_assert_uint_eq(fx.externals[1], 1);
	ck_none(0);
	ck_external(1, INITIAL, 0x1122334455667788);
	ck_told("initial", 1, 1);
	ck_none(1);
	ck_assert(cp_page_is_out(fx.cp, PAGE));
	ck_assert_uint_eq(page_in(fx.cp, PAGE, 1, ANY), 1);
	ck_assert(!cp_page_is_out(fx.cp, PAGE));
	ck_assert_uint_eq(fx.page_changes[false], 1);
	ck_assert_uint_eq(fx.externals[0] + fx.externals[2], 2);
	ck_external(2, COMPLETION, 0x1122334455667788);
	ck_told("completion", 2, 1);
	ck_none(1);
	ck_assert_ptr_null(page_fault_at(fx.cp, 0));
	ck_assert_int_eq(touch(1, PAGE), CP_PAGE_IN);
	ck_counts(1, 1, 0);
}

/* Each of what CP asks for, missing. */
TEST_LOOP(not_told, 0, 6)
{
	if (_i != 0)
		shake(1, 5);
	if (_i == 4)
		ck_assert_uint_eq(diag_258(1, 1), 0);
	if (_i == 5)
		fx.prefix[1] = FX_STORAGE;
	out(PAGE, false);
	ck_assert_int_eq(cp_page_fault(fx.cp, _i == 1 ? 2 : 1, PAGE, _i == 2 ? ~PROBLEM : PROBLEM,
				       _i != 3), CP_PAGE_IN);
	ck_told("resolved", _i == 1 ? 2 : 1, 0);
	ck_assert(!cp_page_is_out(fx.cp, PAGE));
	ck_none(1);
	ck_counts(0, 0, 1);
}

TEST(completion_first)
{
	shake(0, 7);
	out(PAGE, true);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_HELD);
	ck_told("held", 0, 1);
	ck_assert(cp_page_held(fx.cp, 0));
	ck_assert(!cp_page_held(fx.cp, 1));
	ck_assert_uint_eq(page_in(fx.cp, PAGE, 1, 2), 1);
	ck_none(0);
	ck_none(1);
	ck_external(2, COMPLETION, 7);
	ck_assert(cp_page_held(fx.cp, 0));
	ck_assert(!page_release(fx.cp, 2));
	fx.externals[0] = 0;
	ck_assert(page_release(fx.cp, 1));
	ck_assert_uint_eq(fx.externals[0], 1);
	ck_assert(!cp_page_held(fx.cp, 0));
	ck_assert(!page_release(fx.cp, 1));
	ck_external(0, INITIAL, 7);
	ck_assert_ptr_null(page_fault_at(fx.cp, 0));
}

TEST(held_once)
{
	shake(0, 7);
	shake(1, 8);
	out(PAGE, true);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_HELD);
	ck_assert_int_eq(touch(1, PAGE), CP_PAGE_INITIAL);
	ck_external(1, INITIAL, 8);
	ck_assert(page_release(fx.cp, 1));
	ck_external(0, INITIAL, 7);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
}

/* A CPU's own initial interruption comes before completions that are older. */
TEST(initial_before_completions)
{
	shake(0, 1);
	shake(1, 2);
	out(PAGE, false);
	out(OTHER, false);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
	ck_external(0, INITIAL, 1);
	page_in(fx.cp, PAGE, 1, ANY);
	ck_assert_int_eq(touch(1, OTHER), CP_PAGE_INITIAL);
	ck_external(1, INITIAL, 2);
	ck_external(1, COMPLETION, 1);
}

/* The first of two faults is over: of the second, which takes its place, each is told once. */
TEST_LOOP(once_in_another_place, 0, 2)
{
	const bool hold = _i == 1;

	shake(0, 1);
	shake(1, 2);
	out(PAGE, false);
	out(OTHER, hold);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
	ck_external(0, INITIAL, 1);
	ck_assert_int_eq(touch(1, OTHER), hold ? CP_PAGE_HELD : CP_PAGE_INITIAL);
	ck_assert_uint_eq(page_in(fx.cp, PAGE, 1, 0), 1);
	if (hold)
		ck_assert_uint_eq(page_in(fx.cp, OTHER, 1, 0), 1);
	ck_external(0, COMPLETION, 1);
	ck_assert_uint_eq(page_fault_at(fx.cp, 0)->id, 2);
	ck_assert_ptr_null(page_fault_at(fx.cp, 1));
	if (hold) {
		ck_external(0, COMPLETION, 2);
		ck_none(0);
		ck_assert(page_release(fx.cp, 2));
		ck_assert(!cp_page_held(fx.cp, 1));
	}
	ck_external(1, INITIAL, 2);
	ck_none(1);
	ck_assert_uint_eq(page_in(fx.cp, OTHER, 1, 1), hold ? 0 : 1);
	if (!hold)
		ck_external(1, COMPLETION, 2);
	ck_none(1);
	ck_counts(2, 2, 0);
}

TEST(several_wait_for_a_page)
{
	shake(0, 1);
	shake(1, 2);
	out(PAGE, false);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		ck_assert_int_eq(touch(cpu, PAGE), CP_PAGE_INITIAL);
		ck_external(cpu, INITIAL, cpu + 1);
	}
	/* The same programs once more: one fault each, two initial interruptions. */
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		ck_assert_int_eq(touch(cpu, PAGE), CP_PAGE_INITIAL);
		ck_external(cpu, INITIAL, cpu + 1);
		ck_assert_uint_eq(page_fault_at(fx.cp, cpu)->id, cpu + 1);
	}
	ck_assert_ptr_null(page_fault_at(fx.cp, 2));
	/* Whoever is not told brings it in for all. */
	ck_assert_int_eq(touch(2, PAGE), CP_PAGE_IN);
	ck_external(0, COMPLETION, 2);
	ck_external(0, COMPLETION, 1);
	ck_none(0);
	ck_counts(4, 2, 1);
}

TEST(cancelled)
{
	shake(0, 1);
	shake(1, 2);
	for (unsigned int i = 0; i < 3; i++)
		out(PAGE + i * 0x1000, false);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
	ck_external(0, INITIAL, 1);
	ck_assert_int_eq(touch(0, PAGE + 0x1000), CP_PAGE_INITIAL);
	ck_external(0, INITIAL, 1);
	ck_assert_int_eq(touch(1, PAGE + 0x2000), CP_PAGE_INITIAL);
	ck_external(1, INITIAL, 2);
	ck_assert_uint_eq(page_in(fx.cp, PAGE, 1, ANY), 1);
	ck_assert_uint_eq(diag_258(0, 1), 0);
	/* What is pending stays, what waits is forgotten; the page stays out. */
	ck_assert_uint_eq(page_in(fx.cp, PAGE + 0x1000, 2, ANY), 1);
	ck_external(0, COMPLETION, 1);
	ck_external(0, COMPLETION, 2);
	ck_none(0);
}

TEST_LOOP(a_reset_lets_go, 0, 2)
{
	shake(0, 1);
	shake(2, 3);
	out(PAGE, true);
	out(OTHER, false);
	ck_assert_int_eq(touch(2, PAGE), CP_PAGE_HELD);
	ck_assert_int_eq(touch(0, OTHER), CP_PAGE_INITIAL);
	memset(fx.externals, 0, sizeof(fx.externals));
	if (_i == 0) {
		cp_reset(fx.cp);
		ck_assert(!cp_page_is_out(fx.cp, PAGE));
		ck_none(0);
	} else {
		cp_reset_cpu(fx.cp, 2);
		ck_assert(cp_page_is_out(fx.cp, PAGE));
		ck_external(0, INITIAL, 1);
	}
	ck_assert_uint_eq(fx.externals[2], 1);
	ck_assert_uint_eq(fx.externals[0], 0);
	ck_assert(!cp_page_held(fx.cp, 2));
	ck_none(2);
}

/* A CPU that has been detached takes nothing: another one gets what was meant for it. */
TEST(cpu_that_goes)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "cpus", "3", "directory",
					     "IUCV ALLOW;CPU 00 BASE;CPU 01;CPU 02", NULL });
	shake(0, 5);
	out(PAGE, false);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
	ck_external(0, INITIAL, 5);
	ck_assert_uint_eq(page_in(fx.cp, PAGE, 1, 1), 1);
	ck_none(0);
	memset(fx.externals, 0, sizeof(fx.externals));
	ck_assert_int_eq(cpcmd_run(fx.cp, CPCMD_GUEST, "DETACH CPU 1", 12)->rc, 0);
	ck_assert_uint_eq(fx.externals[0], 1);
	ck_assert_uint_eq(fx.externals[1], 0);
	ck_assert_uint_eq(fx.externals[2], 1);
	ck_external(0, COMPLETION, 5);
	ck_none(2);
}

static const struct { uint64_t addr, pages; const char *text; } refused[] = {
	{ PAGE + 1, 1, "X'200001' and 1 pages: the address must be that of a page, and at most 1024 "
		       "pages can be out" },
	{ PAGE, 1025, "X'200000' and 1025 pages: the address must be that of a page, and at most "
		      "1024 pages can be out" },
	{ 0x3ff000, 2, "the guest has no page at absolute X'400000'" },
	{ UINT64_MAX - 0xfff, 2, "the guest has no page at absolute X'fffffffffffff000'" },
	{ 0, 512, "513 pages are out, and at most 1024 can be" },
};

TEST_EACH(cannot_go_out, refused)
{
	ck_assert_int_eq(page_out(fx.cp, PAGE, 512, false, err, sizeof(err)), 0);
	out(0xc00000, false);
	fx.page_changes[true] = 0;
	ck_assert_int_eq(page_out(fx.cp, refused[_i].addr, refused[_i].pages, false, err,
				  sizeof(err)), -1);
	ck_assert_str_eq(err, refused[_i].text);
	ck_assert_uint_eq(fx.page_changes[true], 0);
	ck_assert_ptr_nonnull(page_at(fx.cp, 512));
	ck_assert_ptr_null(page_at(fx.cp, 513));
	/* As many as there is room for, and one that is out already. */
	ck_assert_int_eq(page_out(fx.cp, 0x1000, 512, false, err, sizeof(err)), 0);
}

/* An emulator that cannot intercept accesses to a page has all of them in. */
TEST(emulator_that_cannot)
{
	fx_teardown();
	fx_no_external = true;
	setup();
	fx_no_external = false;
	ck_assert_int_eq(page_out(fx.cp, PAGE, 1, false, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "this emulator cannot intercept the guest's accesses to a single "
			      "page; QEMU can");
	ck_assert(!cp_page_is_out(fx.cp, PAGE));
	ck_assert_ptr_null(page_at(fx.cp, 0));
}

TEST(as_many_as_there_is_room_for)
{
	shake(0, 0);
	ck_assert_int_eq(page_out(fx.cp, 0, 1024, false, err, sizeof(err)), 0);
	ck_assert_int_eq(page_out(fx.cp, 0x100000, 512, false, err, sizeof(err)), 0);
	for (uint64_t i = 0; i < PAGE_MAX_FAULTS; i++) {
		put_be64(fx_at(TOKEN, 8), i);
		ck_assert_int_eq(touch(0, 0x100000), CP_PAGE_INITIAL);
		ck_external(0, INITIAL, i);
	}
	put_be64(fx_at(TOKEN, 8), UINT64_MAX);
	ck_assert_int_eq(touch(0, 0x101000), CP_PAGE_IN);
	ck_assert_uint_eq(page_in(fx.cp, 0, UINT32_MAX, ANY), PAGE_MAX_FAULTS);
	ck_assert_ptr_null(page_at(fx.cp, 0));
}

static void arm(enum fault_point point, enum fault_kind kind, uint32_t value, uint32_t offset)
{
	ck_arm(point, kind, .value = value, .offset = offset, .times = 1);
}

TEST_LOOP(faults_of_the_handshake, 0, 2)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 64 };
	const enum fault_point point = _i == 0 ? FAULT_PAGE_HANDSHAKE : FAULT_PAGE_CANCEL;

	if (_i == 1)
		shake(0, 1);
	arm(point, FAULT_RC, 99, 0);
	ck_assert_uint_eq(diag_258(0, (uint16_t)_i), 99);
	arm(point, FAULT_DROP, 0, 0);
	ck_assert_uint_eq(diag_258(0, (uint16_t)_i), 0);
	arm(point, FAULT_PGM, PGM_OPERATION, 0);
	pfault_put(AREA, (uint16_t)_i);
	fx.gr[2] = AREA;
	ck_pgm(cp_diagnose(fx.cp, &insn, 2, 4, 0x258), PGM_OPERATION);
	/* None of these has had an effect. */
	ck_assert_uint_eq(diag_258(0, (uint16_t)_i), 0);
}

TEST(faults_of_the_initial_interruption)
{
	shake(0, 0x10);
	out(PAGE, false);
	arm(FAULT_PAGE_INITIAL, FAULT_CORRUPT, 0xff, 7);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
	ck_external(0, INITIAL, 0xef);
	arm(FAULT_PAGE_INITIAL, FAULT_DROP, 0, 0);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_IN);
	ck_external(0, COMPLETION, 0x10);
	ck_none(0);
}

/* Three faults; the completion of the second has a fault. */
static void three(enum fault_kind kind, uint32_t value)
{
	shake(0, 0);
	for (uint64_t i = 1; i <= 3; i++) {
		out(PAGE + i * 0x1000, false);
		put_be64(fx_at(TOKEN, 8), i);
		ck_assert_int_eq(touch(0, PAGE + i * 0x1000), CP_PAGE_INITIAL);
		ck_external(0, INITIAL, i);
	}
	page_in(fx.cp, PAGE + 0x1000, 1, ANY);
	arm(FAULT_PAGE_COMPLETION, kind, value, 0);
	page_in(fx.cp, PAGE + 0x2000, 1, ANY);
	page_in(fx.cp, PAGE + 0x3000, 1, ANY);
}

static const struct { enum fault_kind kind; uint32_t value; uint64_t token[5]; } completions[] = {
	{ FAULT_DROP, 0, { 1, 3 } },
	{ FAULT_DUPLICATE, 0, { 1, 2, 2, 3 } },
	{ FAULT_CORRUPT, 0x80, { 1, UINT64_C(0x8000000000000002), 3 } },
	{ FAULT_REORDER, 0, { 1, 2, 3 } },
	{ FAULT_DELAY, 2, { 1, 3, 2 } },
};

TEST_EACH(faults_of_the_completion, completions)
{
	three(completions[_i].kind, completions[_i].value);
	for (unsigned int i = 0; completions[_i].token[i] != 0; i++)
		ck_external(0, COMPLETION, completions[_i].token[i]);
	ck_none(0);
	ck_assert_ptr_null(page_fault_at(fx.cp, 0));
}

/* As many as are to come, none lost: each is told of twice, and in the end all pages are in. */
TEST(turns)
{
	uint64_t initial[8] = { 0 }, completion[8] = { 0 }, since[8] = { 0 };
	bool asleep[8] = { false };
	unsigned int next = 0, sleeping, overtaken = 0;

	shake(0, 0);
	ck_assert_int_eq(page_out(fx.cp, PAGE, 8, false, err, sizeof(err)), 0);
	page_thrash(fx.cp, 1000, 3);
	while (page_thrashing(fx.cp) > 0) {
		struct cp_external external;

		for (sleeping = 0; asleep[next] && sleeping < 8; sleeping++)
			next = (next + 1) % 8;
		ck_assert_uint_lt(sleeping, 8);
		put_be64(fx_at(TOKEN, 8), next);
		if (cp_page_is_out(fx.cp, PAGE + next * 0x1000)) {
			ck_assert_int_eq(touch(0, PAGE + next * 0x1000), CP_PAGE_INITIAL);
			if (page_thrashing(fx.cp) == 0)
				ck_told("turns-end", 0, 0);
			ck_external(0, INITIAL, next);
			initial[next]++;
			asleep[next] = true;
			since[next] = page_thrashing(fx.cp);
		}
		while (cp_external_take(fx.cp, 1, &external)) {
			ck_assert_uint_eq(external.subcode, COMPLETION);
			ck_assert(asleep[external.parameter]);
			asleep[external.parameter] = false;
			/* What is left to come becomes less: who began before has more. */
			for (unsigned int i = 0; i < 8; i++)
				if (asleep[i] && since[i] > since[external.parameter]) {
					overtaken++;
					break;
				}
			completion[external.parameter]++;
		}
		next = (next + 1) % 8;
	}
	for (unsigned int i = 0; i < 8; i++) {
		ck_assert(!asleep[i]);
		ck_assert_uint_gt(initial[i], 50);
		ck_assert_uint_eq(initial[i], completion[i]);
		ck_assert(!cp_page_is_out(fx.cp, PAGE + i * 0x1000));
	}
	/* Who waits longest is not always the first. */
	ck_assert_uint_gt(overtaken, 100);
	ck_assert_uint_lt(overtaken, 900);
	ck_counts(1000, 1000, 0);
	ck_assert_ptr_null(page_at(fx.cp, 0));
	ck_assert_ptr_null(page_fault_at(fx.cp, 0));
}

/* As many as there is room for: what stands behind them is not one of them. */
TEST(turns_of_all_that_can_be_out)
{
	shake(0, 7);
	ck_assert_int_eq(page_out(fx.cp, 0, PAGE_MAX_OUT, false, err, sizeof(err)), 0);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
	page_thrash(fx.cp, 10, 3);
	for (unsigned int i = 0; i < PAGE_MAX_OUT; i++)
		ck_assert(page_at(fx.cp, i)->turns);
	ck_assert_uint_eq(page_fault_at(fx.cp, 0)->addr, PAGE);
	ck_assert_ptr_null(page_fault_at(fx.cp, 1));
	page_thrash(fx.cp, 0, 0);
	ck_external(0, INITIAL, 7);
	ck_external(0, COMPLETION, 7);
	ck_assert_ptr_null(page_at(fx.cp, 0));
}

TEST(turns_end_early)
{
	shake(0, 5);
	out(PAGE, false);
	page_thrash(fx.cp, 10, 3);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
	ck_external(0, INITIAL, 5);
	ck_none(0);
	/* Out since then: it takes no turns, and stays. */
	out(PAGE + 0x1000, false);
	page_thrash(fx.cp, 0, 0);
	ck_external(0, COMPLETION, 5);
	ck_assert_uint_eq(page_thrashing(fx.cp), 0);
	ck_assert(!cp_page_is_out(fx.cp, PAGE));
	ck_assert(cp_page_is_out(fx.cp, PAGE + 0x1000));
	ck_assert_uint_eq(page_at(fx.cp, 0)->addr, PAGE + 0x1000);
	ck_assert_ptr_null(page_at(fx.cp, 1));
}

TEST(saved_and_loaded)
{
	uint8_t *image;
	size_t len;

	shake(0, 1);
	shake(1, 2);
	out(PAGE, true);
	out(OTHER, false);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_HELD);
	ck_assert_int_eq(touch(1, OTHER), CP_PAGE_INITIAL);
	page_in(fx.cp, PAGE, 1, ANY);
	image = fx_save(&len);
	cp_reset(fx.cp);
	memset(fx.externals, 0, sizeof(fx.externals));
	fx_load(image, len);
	ck_assert_uint_eq(fx.externals[1], 1);
	ck_assert_uint_eq(fx.externals[2], 1);
	ck_assert(cp_page_is_out(fx.cp, OTHER));
	ck_assert(!cp_page_is_out(fx.cp, PAGE));
	ck_assert_uint_eq(diag_258(0, 0), 8);
	ck_external(1, INITIAL, 2);
	ck_assert(cp_page_held(fx.cp, 0));
	/* Whoever is held takes nothing, not even what anybody may take. */
	ck_none(0);
	ck_external(1, COMPLETION, 1);
	ck_assert(page_release(fx.cp, 1));
	ck_external(0, INITIAL, 1);
	free(image);
}

/* Offsets after the tag, of an image with one page and one fault. */
enum {
	IMAGE_TOKEN = 4 + 1 + 7,		/* of CPU 0: its last byte */
	IMAGE_LAST_FAULT = 4 + 3 * 25,		/* 4 */
	IMAGE_PAGES = IMAGE_LAST_FAULT + 44,	/* 4, and as many faults; then the page */
	IMAGE_PAGE = IMAGE_PAGES + 8,		/* 8, and three flags */
	IMAGE_FAULT = IMAGE_PAGE + 11,		/* 4: its number */
	IMAGE_FAULT_ADDR = IMAGE_FAULT + 4,
	IMAGE_FAULT_CPU = IMAGE_FAULT + 36,	/* 2, and who is told */
	IMAGE_FAULT_INITIAL = IMAGE_FAULT + 40,
};

static const struct { unsigned int offset; uint8_t value; } damage[] = {
	{ IMAGE_TOKEN, 1 }, { IMAGE_LAST_FAULT + 3, 0 }, { IMAGE_PAGES + 2, 5 },
	{ IMAGE_PAGES + 6, 5 }, { IMAGE_PAGE + 7, 1 }, { IMAGE_PAGE + 8, 0 }, { IMAGE_PAGE + 8, 2 },
	/* Beyond the emulator's 16 MiB of storage. */
	{ IMAGE_PAGE, 0xff }, { IMAGE_PAGE + 4, 1 },
	{ IMAGE_FAULT + 3, 0 }, { IMAGE_FAULT + 3, 2 }, { IMAGE_FAULT_ADDR + 7, 1 },
	{ IMAGE_FAULT_CPU + 1, 3 }, { IMAGE_FAULT_CPU + 3, 3 }, { IMAGE_FAULT_INITIAL, 3 },
	{ IMAGE_FAULT_INITIAL + 1, 3 }, { IMAGE_FAULT_INITIAL + 1, 2 },
};

TEST_EACH(damaged_image, damage)
{
	uint8_t *image;
	size_t len, at;

	shake(0, 1);
	out(PAGE, false);
	ck_assert_int_eq(touch(0, PAGE), CP_PAGE_INITIAL);
	ck_external(0, INITIAL, 1);
	image = fx_save(&len);
	at = state_find(image, len, "PAGE");
	ck_assert_uint_eq(get_be64(image + at + IMAGE_PAGE), PAGE);
	ck_assert_uint_eq(get_be64(image + at + IMAGE_FAULT_ADDR), PAGE);
	image[at + damage[_i].offset] = damage[_i].value;
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}
