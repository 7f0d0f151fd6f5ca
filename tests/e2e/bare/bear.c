/* SPDX-License-Identifier: MIT */
/*
 * BEAR-enhancement facility: LOAD BEAR, STORE BEAR, LOAD PSW EXTENDED (LPSWEY), as the
 * Principles of Operation has them.  A breaking event is a branch that is taken, or LPSWE;
 * its address is in the breaking-event-address register (BEAR).
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "processor.h"

enum { FACILITY = 193, PRIVILEGED = 2, ADDRESSING = 5, SPECIFICATION = 6 };
enum { SVC_NEW_PSW = 0x1c0, BEAR_AT_INTERRUPTION = 0x110, TIMES = 200 };
#define HOLE UINT64_C(0x8400000)	/* between the guest's storage and the segment */
#define PSW_PROBLEM UINT64_C(0x0001000180000000)
#define PSW_CC_2 UINT64_C(0x0000200180000000)
#define LBEAR(operand) ".insn s,0xb2000000," operand "\n\t"
#define STBEAR(operand) ".insn s,0xb2010000," operand "\n\t"
#define LPSWEY(operand) ".insn siy,0xeb0000000071," operand ",0\n\t"

extern volatile uint32_t program_code;	/* set by the handler in start.S */
static uint64_t psw[2] __attribute__((aligned(8)));
static uint64_t state = 0x9e3779b97f4a7c15;

void test_main(void);

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static unsigned int facility_is_missing(void)
{
	uint64_t list[4] = { 0 };
	register uint64_t last asm("0") = 3;

	asm volatile(".insn s,0xb2b00000,%0" : "=Q" (list), "+d" (last) : : "cc", "memory");
	return !(list[FACILITY / 64] >> (63 - FACILITY % 64) & 1);
}

static unsigned int load_and_store(void)
{
	const uint64_t value = random64();
	uint64_t found = 0;

	asm volatile(LBEAR("%1") STBEAR("%0") : "=Q" (found) : "Q" (value) : "memory");
	return found != value;
}

/* A doubleword boundary is needed; nothing is stored, and the BEAR is told as it was. */
static unsigned int boundaries(void)
{
	static uint64_t words[3] = { 1, 2, 3 };
	const uint64_t value = random64(), odd = (uint64_t)words + 1 + random64() % 7;
	uint64_t told;
	unsigned int wrong;

	program_code = 0;
	asm volatile(LBEAR("%0") LBEAR("0(%1)") : : "Q" (value), "a" (odd) : "memory");
	wrong = program_code != SPECIFICATION;
	asm volatile("lg %0,%1(0)" : "=d" (told) : "i" (BEAR_AT_INTERRUPTION) : "memory");
	wrong |= told != value;
	program_code = 0;
	asm volatile(STBEAR("0(%0)") : : "a" (odd) : "memory");
	wrong |= program_code != SPECIFICATION || words[0] != 1 || words[1] != 2 || words[2] != 3;
	program_code = 0;
	asm volatile(LPSWEY("0(%0)") : : "a" (odd) : "memory");
	return wrong | (program_code != SPECIFICATION);
}

static unsigned int storage_that_is_not_there(void)
{
	const uint64_t value = random64();
	uint64_t told;
	unsigned int wrong;

	program_code = 0;
	asm volatile(LBEAR("%0") LBEAR("0(%1)") : : "Q" (value), "a" (HOLE) : "memory");
	wrong = program_code != ADDRESSING;
	asm volatile("lg %0,%1(0)" : "=d" (told) : "i" (BEAR_AT_INTERRUPTION) : "memory");
	wrong |= told != value;
	program_code = 0;
	asm volatile(STBEAR("0(%0)") : : "a" (HOLE) : "memory");
	wrong |= program_code != ADDRESSING;
	program_code = 0;
	asm volatile(LPSWEY("0(%0)") : : "a" (HOLE) : "memory");
	return wrong | (program_code != ADDRESSING);
}

/* To problem state, one instruction, and back by SUPERVISOR CALL. */
#define IN_PROBLEM_STATE(insn) \
	({ \
		const uint64_t back = PSW_64; \
		program_code = 0; \
		psw[0] = PSW_PROBLEM; \
		asm volatile("larl %%r1,1f\n\tstg %%r1,8+%0\n\tlarl %%r1,2f\n\tstg %%r1,%1+8(0)\n\t" \
			     "mvc %1(8,0),%2\n\tlpswe %0\n1:\t" insn "svc 0\n2:" \
			     : "+Q" (psw) : "i" (SVC_NEW_PSW), "Q" (back), "a" (&state) \
			     : "1", "memory"); \
		program_code != PRIVILEGED; \
	})

static unsigned int problem_state(void)
{
	return IN_PROBLEM_STATE(LBEAR("0(%3)")) | IN_PROBLEM_STATE(STBEAR("0(%3)")) |
	       IN_PROBLEM_STATE(LPSWEY("0(%3)"));
}

/* A branch that is taken sets it; one that is not taken, and other instructions, do not. */
static unsigned int branches(void)
{
	const uint64_t value = random64();
	uint64_t taken, left, branch;

	asm volatile(LBEAR("%3") "cr 0,0\n\tlarl %0,1f\n1:\tj 2f\n\tnopr\n2:\t" STBEAR("%1")
		     LBEAR("%3") "cr 0,0\n\tjne 3f\n\tla %0,0(%0)\n3:\t" STBEAR("%2")
		     : "=&a" (branch), "=Q" (taken), "=Q" (left) : "Q" (value) : "cc", "memory");
	return taken != branch || left != value;
}

static unsigned int lpswe(void)
{
	const uint64_t value = random64();
	uint64_t found, at;

	psw[0] = PSW_64;
	asm volatile("larl %0,2f\n\tstg %0,8+%2\n\tlarl %0,1f\n\t" LBEAR("%3")
		     "1:\tlpswe %2\n2:\t" STBEAR("%1")
		     : "=&d" (at), "=Q" (found), "+Q" (psw) : "Q" (value) : "cc", "memory");
	return found != at;
}

/* LPSWEY keeps it, and has a signed displacement of 20 bits. */
static unsigned int lpswey(void)
{
	const uint64_t value = random64();
	uint64_t found, after;
	unsigned int cc, wrong = 0;

	psw[0] = PSW_CC_2;
	asm volatile("larl %0,2f\n\tstg %0,8+%3\n\t" LBEAR("%4") "cr 0,0\n\t" LPSWEY("%3")
		     "2:\tipm %2\n\tsrl %2,28\n\t" STBEAR("%1")
		     : "=&d" (after), "=Q" (found), "=&d" (cc), "+Q" (psw) : "Q" (value)
		     : "cc", "memory");
	wrong |= found != value || cc != 2;
	asm volatile("larl %0,2f\n\tstg %0,8(%3)\n\t" LBEAR("%2") "lay %0,-70000(%3)\n\t"
		     LPSWEY("70000(%0)") "2:\t" STBEAR("%1")
		     : "=&a" (after), "=Q" (found) : "Q" (value), "a" (psw) : "cc", "memory");
	wrong |= found != value;
	asm volatile("larl %0,2f\n\tstg %0,8(%3)\n\t" LBEAR("%2") "lay %0,70000(%3)\n\t"
		     LPSWEY("-70000(%0)") "2:\t" STBEAR("%1")
		     : "=&a" (after), "=Q" (found) : "Q" (value), "a" (psw) : "cc", "memory");
	return wrong | (found != value);
}

/* SUPERVISOR CALL is no breaking event: its handler finds what was before. */
static unsigned int svc(void)
{
	const uint64_t value = random64(), back = PSW_64;
	uint64_t found = 0, address;

	asm volatile("larl %1,1f\n\tstg %1,%2+8(0)\n\tmvc %2(8,0),%3\n\t" LBEAR("%4") "svc 0\n"
		     "1:\t" STBEAR("%0")
		     : "=Q" (found), "=&d" (address) : "i" (SVC_NEW_PSW), "Q" (back), "Q" (value)
		     : "memory");
	return found != value;
}

static void say(const char *what, unsigned int (*is_wrong)(void))
{
	struct line line = { .len = 0 };
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < TIMES; i++)
		wrong += is_wrong();
	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " WRONG ");
	put_hex(&line, wrong, 4);
	command(&line);
}

void test_main(void)
{
	say("FACILITY", facility_is_missing);
	say("LBEAR STBEAR", load_and_store);
	say("BOUNDARIES", boundaries);
	say("NO STORAGE", storage_that_is_not_there);
	say("PROBLEM STATE", problem_state);
	say("BRANCHES", branches);
	say("LPSWE", lpswe);
	say("LPSWEY", lpswey);
	say("SVC", svc);
}
