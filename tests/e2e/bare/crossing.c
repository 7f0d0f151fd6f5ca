/* SPDX-License-Identifier: MIT */
/*
 * One CPU executes an instruction that lies across two pages, translated anew each time, and the
 * second page has to be found first: CP is to be asked for it, or its page table is where no
 * storage is.  CP stores into the first page meanwhile, for the other CPU.  Neither waits for the
 * other forever.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "dat.h"
#include "second.h"

#define ROUNDS 2000u
#define SECONDS UINT64_C(10)
#define PROGRAM_NEW_PSW 0x1d0

enum { LOADSHRX = 0x20, PURGESEG = 0x08, IDENTIFICATION = 40, MEGABYTE = 0x100000, PAGE = 0x1000 };
enum { EXECUTED = 1, ADDRESSING = 5 };

/* CP stores into this page, in which an instruction begins that leaves EXECUTED in GR2. */
extern uint8_t crossing_page[], crossing_entry[], crossing_insn[], crossing_refused[];

asm("	.pushsection .data\n"
    "	.balign	4096\n"
    "crossing_page:\n"
    "	.space	64\n"
    "crossing_entry:\n"
    "	j	crossing_insn\n"
    "	.org	crossing_page + 4094\n"
    "crossing_insn:\n"
    "	lghi	%r2,1\n"
    "	br	%r14\n"
    "	.balign	4096\n"
    "	.popsection\n"
    /* A program interruption instead: its code is in GR2. */
    "crossing_refused:\n"
    "	llgh	%r2,0x8e\n"
    "	br	%r14\n");

static struct space space;
static uint64_t (*volatile turn)(void);
static volatile uint64_t turns, wrong, stop;

void test_main(void);

static uint64_t call(uint64_t code)
{
	register uint64_t found asm("2");

	asm volatile("basr %%r14,%1" : "=d" (found) : "a" (code) : "14", "cc", "memory");
	return found;
}

/* A store into the instruction: what was translated of it is out of date. */
static void rewrite(void)
{
	volatile uint16_t *insn = (volatile uint16_t *)crossing_insn;
	const uint16_t same = *insn;

	*insn = same;
}

/* In storage as it is. */
static uint64_t run(void)
{
	rewrite();
	return call((uint64_t)crossing_entry) != EXECUTED;
}

/* In an address space in which the second page's segment has a table, but where no storage is. */
static uint64_t run_without_table(void)
{
	rewrite();
	dat(1);
	return call(WINDOW + MEGABYTE - PAGE + (uint64_t)crossing_entry % PAGE) != ADDRESSING;
}

static void make_space(void)
{
	const uint64_t psw[2] = { PSW_64, (uint64_t)crossing_refused };

	space_init(&space);
	space.window[PAGES - 1] = (uint64_t)crossing_page;
	space.segments[WINDOW / MEGABYTE + 1] = UINT64_C(0x700000000000);
	asm volatile("mvc %0(16,0),%1" : : "i" (PROGRAM_NEW_PSW), "Q" (psw) : "memory");
}

void second(void)
{
	LOAD_CONTROL(1, space_asce(&space));
	for (; !stop; turns++)
		wrong += turn();
}

static void segment(uint64_t subcode)
{
	static const char name[] __attribute__((aligned(8))) = "MONDCSS ";
	register uint64_t rx asm("2") = (uint64_t)name;
	register uint64_t ry asm("4") = subcode;

	asm volatile("diag %0,%1,0x64" : "+d" (rx), "+d" (ry) : : "cc", "memory");
}

/* DIAGNOSE X'00', several times: CP stores at the beginning of the page. */
static void store(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		register uint64_t at asm("2") = (uint64_t)crossing_page;
		register uint64_t len asm("4") = IDENTIFICATION;

		asm volatile("diag %0,%1,0" : "+d" (at), "+d" (len) : : "cc", "memory");
	}
}

/* With another segment, CP forgets what it has told of all pages. */
static void together(const char *name, uint64_t (*what)(void))
{
	const uint64_t before = turns;
	uint64_t limit = clock_now() + PATIENCE;
	struct line line = { .len = 0 };

	turn = what;
	while (turns < before + 2 && clock_now() < limit)
		;
	limit = clock_now() + SECONDS * TOD_SECOND;
	for (unsigned int i = 0; i < ROUNDS && clock_now() < limit; i++) {
		segment(LOADSHRX);
		store();
		segment(PURGESEG);
		store();
	}
	put(&line, OPERATOR);
	put(&line, name);
	put(&line, turns >= before + 2 ? " BOTH RAN, WRONG " : " ONE STOOD STILL, WRONG ");
	put_hex(&line, wrong, 8);
	command(&line);
}

void test_main(void)
{
	make_space();
	turn = run;
	start_second();
	together("ASKED", run);
	together("NO TABLE", run_without_table);
	stop = 1;
}
