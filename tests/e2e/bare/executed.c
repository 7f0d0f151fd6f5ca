/* SPDX-License-Identifier: MIT */
/*
 * Every instruction with a relative operand or branch target as the target of EXECUTE: what is
 * relative counts from the target, and what comes next is behind the EXECUTE.  Each is tried from
 * several places, of targets in several others, near and far, with EXECUTE and EXECUTE RELATIVE
 * LONG, modified and as it is.  The same EXECUTE is given one target after the other, so that a
 * translation that has one of them in it is found out.  Expected values follow from the
 * Principles of Operation.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stdbool.h>

#include "cp.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HOLE UINT64_C(0x8400000)	/* between the guest's storage and the segment */
#define EXECUTE_EXCEPTION 3u
#define ADDRESSING 5u
#define MODE_31 UINT64_C(0x80000000)	/* in a link */

extern volatile uint32_t program_code;	/* set by the handler in start.S */
void test_main(void);

/* Where the code comes by, as it says in GR0. */
enum { FELL_THROUGH = 1, BRANCHED, WENT_ON_AT_TARGET, RELATIVE_TO_EXECUTE };

/* Storage that nothing else is in.  Some instructions lie in two pages. */
static const uint64_t executes[] = { 0x2000100, 0x2000ffc, 0x6000400 };
static const uint64_t targets[] = { 0x2000140, 0x2001ffc, 0x2003208, 0x6000448 };
static const int64_t near_by[] = { 0x80, -0x60, 0x7f00 };
static const int64_t far_away[] = { 0x80, -0x60, 0x1800020, -0x1800020 };

/* What is loaded before, and stored after; GR6 is the target's address, GR7 the link. */
static struct {
	uint64_t r[8];
	uint64_t mask;		/* as SET PROGRAM MASK has it */
} given, found;

/* What an instruction is, with zeros in its relative field. */
struct instruction {
	uint64_t code;		/* left-aligned in six bytes */
	unsigned int bits;	/* of that field: 16, 32, or 0 if there is none */
};

/* How it is executed. */
struct way {
	bool relative;		/* EXRL, not EX */
	bool modified;		/* part of its second byte is in GR1 */
	bool mode31;
};

/* Store only what is not there: code that stays has its translation kept. */
static void put_bytes(uint64_t at, uint64_t left_aligned, unsigned int count)
{
	uint8_t *to = (uint8_t *)at;

	for (unsigned int i = 0; i < count; i++) {
		const uint8_t byte = (uint8_t)(left_aligned >> (56 - 8 * i));

		if (to[i] != byte)
			to[i] = byte;
	}
}

/* LOAD HALFWORD IMMEDIATE of @where into GR0, BRANCH to GR13. */
static void put_landing(uint64_t at, unsigned int where)
{
	put_bytes(at, UINT64_C(0xa709000007fd0000) | (uint64_t)where << 32, 6);
}

/* Such that an operand is aligned. */
static int64_t distance_from(uint64_t target, int64_t distance)
{
	return distance - (int64_t)(target % 8);
}

static uint64_t with_distance(struct instruction insn, int64_t distance)
{
	const uint64_t field = (uint64_t)(distance / 2) & ((UINT64_C(1) << insn.bits) - 1);

	return (insn.code | field << (32 - insn.bits)) << 16;
}

static void put_target(uint64_t target, struct instruction insn, int64_t distance,
		       struct way way)
{
	uint64_t code = with_distance(insn, distance);

	if (way.modified)
		code &= ~(UINT64_C(0xf0) << 48);
	put_bytes(target, code, 6);
	put_landing(target + ((code >> 62) == 3 ? 6 : 4), WENT_ON_AT_TARGET);
}

/* Of the last program interruption: the instruction's length, at X'8D' of the prefix area. */
static unsigned int interrupted_length(void)
{
	uint64_t length;

	asm volatile("llgc %0,0x8d" : "=d" (length) : : "memory");
	return (unsigned int)length;
}

static unsigned int execute_length(struct way way)
{
	return way.relative ? 6 : 4;
}

static void put_execute(uint64_t from, uint64_t target, struct way way)
{
	const uint64_t r1 = way.modified ? 1 : 0;
	const uint64_t halfwords = (uint64_t)((int64_t)(target - from) / 2) & 0xffffffff;

	if (way.relative)
		put_bytes(from, UINT64_C(0xc600) << 48 | r1 << 52 | halfwords << 16, 6);
	else
		put_bytes(from, UINT64_C(0x44006000) << 32 | r1 << 52, 4);
	put_landing(from + execute_length(way), FELL_THROUGH);
}

#define RUN(mode)									\
	asm volatile("lg %%r0,64(%[given])\n\tspm %%r0\n\tlmg %%r0,%%r7,0(%[given])\n\t"	\
		     mode "\n\tbasr %%r13,%[from]\n\tsam64\n\t"				\
		     "stmg %%r0,%%r7,0(%[found])\n\tipm %%r0\n\tstg %%r0,64(%[found])"	\
		     : : [given] "a" (at), [found] "a" (into), [from] "a" (from_)		\
		     : "0", "1", "2", "3", "4", "5", "6", "7", "13", "cc", "memory")

/* The registers as they are given, but for GR0, GR1 and GR6. */
static void run(uint64_t from, uint64_t target, struct instruction insn, struct way way)
{
	register uint64_t from_ asm("12") = from;
	register uint64_t at asm("11") = (uint64_t)&given;
	register uint64_t into asm("10") = (uint64_t)&found;

	given.r[0] = 0;
	given.r[1] = UINT64_C(0xffffffffffffff00) | (way.modified ? insn.code >> 32 & 0xf0 : 0);
	given.r[6] = target;
	program_code = 0;
	if (way.mode31)
		RUN("sam31");
	else
		RUN("sam64");
}

static bool only_these_changed(unsigned int registers)
{
	bool same = true;

	for (unsigned int i = 1; i < 8; i++)
		same &= found.r[i] == given.r[i] || (registers >> i & 1) != 0;
	return same;
}

/* A kind of test: what it needs there, and what has to come out of it. */
struct kind {
	const char *name;
	unsigned int count;
	struct instruction (*insn)(unsigned int n);
	void (*prepare)(unsigned int n, uint64_t from, uint64_t target, int64_t distance);
	bool (*right)(unsigned int n, uint64_t from, uint64_t target, int64_t distance,
		      struct way way);
};

static unsigned int all_targets(const struct kind *kind, unsigned int n, uint64_t from,
				int64_t distance, struct way way)
{
	const struct instruction insn = kind->insn(n);
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < COUNT(targets); i++)
		put_target(targets[i], insn, distance_from(targets[i], distance), way);
	for (unsigned int i = 0; i < COUNT(targets); i++) {
		const int64_t there = distance_from(targets[i], distance);

		kind->prepare(n, from, targets[i], there);
		put_execute(from, targets[i], way);
		run(from, targets[i], insn, way);
		wrong += !kind->right(n, from, targets[i], there, way);
	}
	return wrong;
}

static unsigned int all_distances(const struct kind *kind, unsigned int n, struct way way,
				  unsigned int *cases)
{
	const bool is_long = kind->insn(n).bits == 32;
	const unsigned int count = is_long ? COUNT(far_away) : COUNT(near_by);
	unsigned int wrong = 0;

	for (unsigned int from = 0; from < COUNT(executes); from++)
		for (unsigned int i = 0; i < count; i++) {
			const int64_t distance = is_long ? far_away[i] : near_by[i];

			wrong += all_targets(kind, n, executes[from], distance, way);
			*cases += COUNT(targets);
		}
	return wrong;
}

static void report(const char *name, const char *mode, unsigned int cases, unsigned int wrong)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, name);
	put(&line, mode);
	put(&line, " ");
	put_hex(&line, cases, 4);
	put(&line, " WRONG ");
	put_hex(&line, wrong, 4);
	command(&line);
}

static void test(const struct kind *kind, bool mode31)
{
	unsigned int cases = 0, wrong = 0;

	for (unsigned int n = 0; n < kind->count; n++)
		for (unsigned int w = 0; w < 4; w++) {
			const struct way way = { .relative = (w & 1) != 0, .modified = w > 1,
						 .mode31 = mode31 };

			wrong += all_distances(kind, n, way, &cases);
		}
	report(kind->name, mode31 ? " 31" : " 64", cases, wrong);
}

/* Branches: operands in GR2 to GR5, and GR2 afterwards. */
static const struct branch {
	struct instruction insn;
	unsigned int cc;
	bool taken;
	uint64_t r2, r3, r4, r5, r2_after;
} branches[] = {
	/* BRANCH RELATIVE ON CONDITION (LONG): equal, always, never. */
	{ { 0xa78400000000, 16 }, 0, true, 0, 0, 0, 0, 0 },
	{ { 0xa78400000000, 16 }, 1, false, 0, 0, 0, 0, 0 },
	{ { 0xa7f400000000, 16 }, 3, true, 0, 0, 0, 0, 0 },
	{ { 0xa70400000000, 16 }, 2, false, 0, 0, 0, 0, 0 },
	{ { 0xc02400000000, 32 }, 2, true, 0, 0, 0, 0, 0 },
	{ { 0xc02400000000, 32 }, 0, false, 0, 0, 0, 0, 0 },
	{ { 0xc0f400000000, 32 }, 1, true, 0, 0, 0, 0, 0 },
	{ { 0xc00400000000, 32 }, 1, false, 0, 0, 0, 0, 0 },
	/* BRANCH RELATIVE ON COUNT: the right word, all, the left word. */
	{ { 0xa72600000000, 16 }, 0, true, 0x500000002, 0, 0, 0, 0x500000001 },
	{ { 0xa72600000000, 16 }, 0, false, 0x500000001, 0, 0, 0, 0x500000000 },
	{ { 0xa72700000000, 16 }, 0, true, 0x500000001, 0, 0, 0, 0x500000000 },
	{ { 0xa72700000000, 16 }, 0, false, 1, 0, 0, 0, 0 },
	{ { 0xcc2600000000, 32 }, 0, true, 0x200000005, 0, 0, 0, 0x100000005 },
	{ { 0xcc2600000000, 32 }, 0, false, 0x100000005, 0, 0, 0, 5 },
	/* BRANCH RELATIVE ON INDEX HIGH, LOW OR EQUAL: GR2 and GR4 beside GR5. */
	{ { 0x842400000000, 16 }, 0, true, 5, 0, 2, 6, 7 },
	{ { 0x842400000000, 16 }, 0, false, 5, 0, 1, 6, 6 },
	{ { 0x852400000000, 16 }, 0, true, 5, 0, 1, 6, 6 },
	{ { 0x852400000000, 16 }, 0, false, 5, 0, 2, 6, 7 },
	{ { 0xec2400000044, 16 }, 0, true, 1, 0, 0x100000000, 0x100000000, 0x100000001 },
	{ { 0xec2400000044, 16 }, 0, false, 0, 0, 0x100000000, 0x100000000, 0x100000000 },
	{ { 0xec2400000045, 16 }, 0, true, 0, 0, 0x100000000, 0x100000000, 0x100000000 },
	{ { 0xec2400000045, 16 }, 0, false, 1, 0, 0x100000000, 0x100000000, 0x100000001 },
	/* COMPARE (LOGICAL) AND BRANCH RELATIVE, 32 and 64 bits: GR2 high. */
	{ { 0xec2300002076, 16 }, 0, true, 1, 0xffffffff, 0, 0, 1 },
	{ { 0xec2300002076, 16 }, 0, false, 0xffffffff, 1, 0, 0, 0xffffffff },
	{ { 0xec2300002064, 16 }, 0, true, 1, -1ULL, 0, 0, 1 },
	{ { 0xec2300002064, 16 }, 0, false, -1ULL, 1, 0, 0, -1ULL },
	{ { 0xec2300002077, 16 }, 0, true, 0xffffffff, 1, 0, 0, 0xffffffff },
	{ { 0xec2300002077, 16 }, 0, false, 0x100000001, 0xffffffff, 0, 0, 0x100000001 },
	{ { 0xec2300002065, 16 }, 0, true, -1ULL, 1, 0, 0, -1ULL },
	{ { 0xec2300002065, 16 }, 0, false, 1, -1ULL, 0, 0, 1 },
	/* COMPARE (LOGICAL) IMMEDIATE AND BRANCH RELATIVE: GR2 low beside 5. */
	{ { 0xec240000057e, 16 }, 0, true, 0xffffffff, 0, 0, 0, 0xffffffff },
	{ { 0xec240000057e, 16 }, 0, false, 5, 0, 0, 0, 5 },
	{ { 0xec240000057c, 16 }, 0, true, -1ULL, 0, 0, 0, -1ULL },
	{ { 0xec240000057c, 16 }, 0, false, 0xffffffff, 0, 0, 0, 0xffffffff },
	{ { 0xec240000057f, 16 }, 0, true, 0x100000004, 0, 0, 0, 0x100000004 },
	{ { 0xec240000057f, 16 }, 0, false, 0xffffffff, 0, 0, 0, 0xffffffff },
	{ { 0xec240000057d, 16 }, 0, true, 4, 0, 0, 0, 4 },
	{ { 0xec240000057d, 16 }, 0, false, 0x100000004, 0, 0, 0, 0x100000004 },
};

static struct instruction branch_insn(unsigned int n)
{
	return branches[n].insn;
}

static void put_branch_targets(uint64_t from, uint64_t target, int64_t distance)
{
	put_landing(from + (uint64_t)distance, RELATIVE_TO_EXECUTE);
	put_landing(target + (uint64_t)distance, BRANCHED);
}

static void branch_prepare(unsigned int n, uint64_t from, uint64_t target, int64_t distance)
{
	const struct branch *branch = &branches[n];

	given.r[2] = branch->r2;
	given.r[3] = branch->r3;
	given.r[4] = branch->r4;
	given.r[5] = branch->r5;
	given.r[7] = 0;
	given.mask = (uint64_t)branch->cc << 28;
	put_branch_targets(from, target, distance);
}

static bool branch_right(unsigned int n, uint64_t from, uint64_t target, int64_t distance,
			 struct way way)
{
	const struct branch *branch = &branches[n];

	(void)from, (void)target, (void)distance, (void)way;
	return found.r[0] == (branch->taken ? BRANCHED : FELL_THROUGH) &&
	       found.r[2] == branch->r2_after && only_these_changed(1 << 2) &&
	       (found.mask >> 28 & 3) == branch->cc && program_code == 0;
}

/* BRANCH RELATIVE AND SAVE (LONG). */
static struct instruction save_insn(unsigned int n)
{
	return n == 0 ? (struct instruction){ 0xa77500000000, 16 }
		      : (struct instruction){ 0xc07500000000, 32 };
}

static void save_prepare(unsigned int n, uint64_t from, uint64_t target, int64_t distance)
{
	(void)n;
	given.r[7] = 0;
	given.mask = 0;
	put_branch_targets(from, target, distance);
}

static bool save_right(unsigned int n, uint64_t from, uint64_t target, int64_t distance,
		       struct way way)
{
	(void)n, (void)target, (void)distance;
	return found.r[0] == BRANCHED && only_these_changed(1 << 7) && program_code == 0 &&
	       found.r[7] == from + execute_length(way) + (way.mode31 ? MODE_31 : 0);
}

/* What is there, and where it would be if it were relative to the EXECUTE. */
#define THERE UINT64_C(0x8765432112345678)
#define ELSEWHERE UINT64_C(0x1111111111111111)
#define BEFORE UINT64_C(0xaaaaaaaabbbbbbbb)

static uint64_t *doubleword(uint64_t at, int64_t distance)
{
	return (uint64_t *)(at + (uint64_t)distance);
}

static void put_operands(uint64_t from, uint64_t target, int64_t distance)
{
	const uint64_t elsewhere = ELSEWHERE, there = THERE;

	__builtin_memcpy(doubleword(from, distance), &elsewhere, sizeof(elsewhere));
	__builtin_memcpy(doubleword(target, distance), &there, sizeof(there));
	given.r[7] = 0;
	given.mask = UINT64_C(3) << 28;
}

/* Loads into GR2. */
static const struct {
	uint64_t code, after;
} loads[] = {
	{ 0xc42d00000000, 0xaaaaaaaa87654321 },	/* LRL */
	{ 0xc42800000000, THERE },		/* LGRL */
	{ 0xc42c00000000, 0xffffffff87654321 },	/* LGFRL */
	{ 0xc42500000000, 0xaaaaaaaaffff8765 },	/* LHRL */
	{ 0xc42400000000, 0xffffffffffff8765 },	/* LGHRL */
	{ 0xc42e00000000, 0x87654321 },		/* LLGFRL */
	{ 0xc42200000000, 0xaaaaaaaa00008765 },	/* LLHRL */
	{ 0xc42600000000, 0x8765 },		/* LLGHRL */
	{ 0xc02000000000, 0 },			/* LARL: its address */
	{ 0xc62200000000, BEFORE },		/* PFDRL: nothing */
};

static struct instruction load_insn(unsigned int n)
{
	return (struct instruction){ loads[n].code, 32 };
}

static void load_prepare(unsigned int n, uint64_t from, uint64_t target, int64_t distance)
{
	(void)n;
	given.r[2] = BEFORE;
	put_operands(from, target, distance);
}

static bool load_right(unsigned int n, uint64_t from, uint64_t target, int64_t distance,
		       struct way way)
{
	const uint64_t after = loads[n].after ? loads[n].after : target + (uint64_t)distance;

	(void)from, (void)way;
	return found.r[0] == FELL_THROUGH && found.r[2] == after && only_these_changed(1 << 2) &&
	       found.mask >> 28 == 3 && program_code == 0;
}

/* Stores of GR2. */
static const struct {
	uint64_t code, after;
} stores[] = {
	{ 0xc42f00000000, 0xbbbbbbbb12345678 },	/* STRL */
	{ 0xc42b00000000, BEFORE },		/* STGRL */
	{ 0xc42700000000, 0xbbbb432112345678 },	/* STHRL */
};

static struct instruction store_insn(unsigned int n)
{
	return (struct instruction){ stores[n].code, 32 };
}

static bool store_right(unsigned int n, uint64_t from, uint64_t target, int64_t distance,
			struct way way)
{
	uint64_t elsewhere;

	(void)way;
	__builtin_memcpy(&elsewhere, doubleword(from, distance), sizeof(elsewhere));
	return found.r[0] == FELL_THROUGH && only_these_changed(0) && found.mask >> 28 == 3 &&
	       *doubleword(target, distance) == stores[n].after && elsewhere == ELSEWHERE &&
	       program_code == 0;
}

/* Comparisons of GR2: equal (condition code 0) and one more (2) in turn. */
static const struct {
	uint64_t code, equal;
} compares[] = {
	{ 0xc62d00000000, 0xaaaaaaaa87654321 },	/* CRL */
	{ 0xc62800000000, THERE },		/* CGRL */
	{ 0xc62c00000000, 0xffffffff87654321 },	/* CGFRL */
	{ 0xc62500000000, 0xaaaaaaaaffff8765 },	/* CHRL */
	{ 0xc62400000000, 0xffffffffffff8765 },	/* CGHRL */
	{ 0xc62f00000000, 0xaaaaaaaa87654321 },	/* CLRL */
	{ 0xc62a00000000, THERE },		/* CLGRL */
	{ 0xc62e00000000, 0x87654321 },		/* CLGFRL */
	{ 0xc62700000000, 0xaaaaaaaa00008765 },	/* CLHRL */
	{ 0xc62600000000, 0x8765 },		/* CLGHRL */
};

static struct instruction compare_insn(unsigned int n)
{
	return (struct instruction){ compares[n / 2].code, 32 };
}

static void compare_prepare(unsigned int n, uint64_t from, uint64_t target, int64_t distance)
{
	put_operands(from, target, distance);
	given.r[2] = compares[n / 2].equal + n % 2;
}

static bool compare_right(unsigned int n, uint64_t from, uint64_t target, int64_t distance,
			  struct way way)
{
	(void)from, (void)target, (void)distance, (void)way;
	return found.r[0] == FELL_THROUGH && only_these_changed(0) && program_code == 0 &&
	       found.mask >> 28 == (n % 2 ? 2 : 0);
}

/* Exceptions: EXRL and EX executed, and a relative operand that is not there. */
static struct instruction refused_insn(unsigned int n)
{
	return n == 0 ? (struct instruction){ 0xc62000000000, 32 }
		      : (struct instruction){ 0x442060000000, 0 };
}

static bool refused_right(unsigned int n, uint64_t from, uint64_t target, int64_t distance,
			  struct way way)
{
	(void)n, (void)from, (void)target, (void)distance;
	return found.r[0] == FELL_THROUGH && only_these_changed(0) &&
	       program_code == EXECUTE_EXCEPTION && interrupted_length() == execute_length(way);
}

static void nowhere(void)
{
	const struct instruction lgrl = { 0xc42800000000, 32 };
	unsigned int wrong = 0, cases = 0;

	for (unsigned int i = 0; i < 2 * COUNT(targets); i++, cases++) {
		const struct way way = { .relative = i % 2 != 0 };
		const uint64_t target = targets[i / 2];

		load_prepare(1, executes[0], target, 0x80);
		put_target(target, lgrl, (int64_t)(HOLE - target), way);
		put_execute(executes[0], target, way);
		run(executes[0], target, lgrl, way);
		wrong += found.r[0] != FELL_THROUGH || !only_these_changed(0) ||
			 program_code != ADDRESSING || interrupted_length() != execute_length(way);
	}
	report("NOWHERE", " 64", cases, wrong);
}

void test_main(void)
{
	static const struct kind kinds[] = {
		{ "BRANCH", COUNT(branches), branch_insn, branch_prepare, branch_right },
		{ "SAVE", 2, save_insn, save_prepare, save_right },
		{ "LOAD", COUNT(loads), load_insn, load_prepare, load_right },
		{ "STORE", COUNT(stores), store_insn, load_prepare, store_right },
		{ "COMPARE", 2 * COUNT(compares), compare_insn, compare_prepare, compare_right },
		{ "EXECUTE", 2, refused_insn, load_prepare, refused_right },
	};

	for (unsigned int i = 0; i < COUNT(kinds); i++)
		test(&kinds[i], false);
	/* In 31-bit mode, what LARL leaves of its register is another matter. */
	test(&kinds[0], true);
	test(&kinds[1], true);
	nowhere();
}
