/* SPDX-License-Identifier: MIT */
/*
 * No translation outlives what ends it: for the data and the code of more address spaces
 * than an emulator keeps apart, each control register that selects one, and each
 * instruction that purges; for this CPU and for others.
 *
 * A window of each space is mapped to frames; each frame has its number in it, and code
 * that returns it.  The model is the table `at`: which frame a window shows.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "cpus.h"
#include "dat.h"

enum { SPACES = 20, FRAMES = 64, FRAME = 4096, CODE_AT = 64, CHANGES = 2000, TOGETHER = 10 };
enum { PREFIX = 0x400000, FRAMES_START = 0x500000, PURGE_TLB = 1, CLEAR_ONLY = 0x800 };
/* The window's page that is real page 0, and a word in it before and after SET PREFIX. */
enum { REAL_0 = WINDOW_PAGES, IN_PREFIX = 0x308, AT_0 = 1000, AT_PREFIX = 2000 };

static struct space spaces[SPACES];
static unsigned int at[SPACES][WINDOW_PAGES];
static uint64_t state = 0x9e3779b97f4a7c15;

void test_main(void);

static unsigned int below(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 33) % limit;
}

static volatile uint64_t *frame(unsigned int number)
{
	return (volatile uint64_t *)(uint64_t)(FRAMES_START + number * FRAME);
}

/* LOAD HALFWORD IMMEDIATE into GR2 and BRANCH to GR14: a function that returns the number. */
static void make_frames(void)
{
	for (unsigned int i = 0; i < FRAMES; i++) {
		*frame(i) = i;
		*(volatile uint64_t *)((uint64_t)frame(i) + CODE_AT) =
			UINT64_C(0xa729000007fe0000) | (uint64_t)i << 32;
	}
}

static void map(unsigned int space, unsigned int page, unsigned int number)
{
	*(volatile uint64_t *)&spaces[space].window[page] = (uint64_t)frame(number);
	at[space][page] = number;
}

static void make_spaces(void)
{
	for (unsigned int i = 0; i < SPACES; i++) {
		space_init(&spaces[i]);
		for (unsigned int j = 0; j < WINDOW_PAGES; j++)
			map(i, j, below(FRAMES));
	}
}

static uint64_t load(unsigned int page)
{
	return *(volatile uint64_t *)(WINDOW + page * FRAME);
}

static uint64_t run(unsigned int page)
{
	return ((uint64_t (*)(void))(WINDOW + page * FRAME + CODE_AT))();
}

/* A store goes to the frame that is mapped, and to no other. */
static unsigned int store_is_wrong(unsigned int page, unsigned int number)
{
	static uint64_t tag;
	volatile uint64_t *real = frame(number) + 1;

	*(volatile uint64_t *)(WINDOW + page * FRAME + 8) = ++tag;
	return *real != tag;
}

/* What this CPU sees of a space, in the mode in which it is the primary one. */
static unsigned int primary_is_wrong(unsigned int space)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < WINDOW_PAGES; i++) {
		wrong |= load(i) != at[space][i] || run(i) != at[space][i];
		wrong |= store_is_wrong(i, at[space][i]);
	}
	return wrong;
}

static void select(unsigned int space)
{
	LOAD_CONTROL(1, space_asce(&spaces[space]));
}

/* LCTLG of CR1, as a kernel that has many processes. */
static unsigned int of_cr1(void)
{
	const unsigned int space = below(SPACES);

	select(space);
	return primary_is_wrong(space);
}

/* LCTL, which changes the right half. */
static unsigned int of_cr1_short(void)
{
	const unsigned int space = below(SPACES);
	const uint32_t right = (uint32_t)space_asce(&spaces[space]);

	asm volatile("lctl 1,1,%0" : : "Q" (right) : "memory");
	return primary_is_wrong(space);
}

/* All registers at once. */
static unsigned int of_all(void)
{
	const unsigned int space = below(SPACES);
	uint64_t all[16];

	asm volatile("stctg 0,15,%0" : "=QS" (all));
	all[1] = space_asce(&spaces[space]);
	asm volatile("lctlg 0,15,%0" : : "QS" (all) : "memory");
	return primary_is_wrong(space);
}

/* In secondary-space mode data are the secondary space's, and code is the primary one's. */
static unsigned int of_cr7(void)
{
	const unsigned int space = below(SPACES), page = below(WINDOW_PAGES);
	uint64_t found, mode = WINDOW + page * FRAME, primary;

	LOAD_CONTROL(7, space_asce(&spaces[space]));
	asm volatile("sacf 256\n\tlg %0,0(%1)\n\tsacf 0" : "=&d" (found) : "a" (mode) : "memory");
	primary = load(page);
	asm volatile("sacf 256\n\tstg %0,16(%1)\n\tsacf 0" : : "d" (primary), "a" (mode) : "memory");
	return found != at[space][page] || frame(at[space][page])[2] != primary;
}

/* MOVE TO PRIMARY and MOVE TO SECONDARY name the spaces themselves. */
static unsigned int of_moves(void)
{
	const unsigned int first = below(SPACES), second = below(SPACES);
	const uint64_t page = below(WINDOW_PAGES), window = WINDOW + page * FRAME;
	uint64_t length = 8, key = 0;

	select(first);
	LOAD_CONTROL(7, space_asce(&spaces[second]));
	asm volatile("mvcp 24(%0,%1),0(%1),%2" : : "d" (length), "a" (window), "d" (key)
		     : "cc", "memory");
	if (frame(at[first][page])[3] != at[second][page])
		return 1;
	asm volatile("mvcs 32(%0,%1),0(%1),%2" : : "d" (length), "a" (window), "d" (key)
		     : "cc", "memory");
	return frame(at[second][page])[4] != at[first][page];
}

/* In home-space mode, all is the home space's. */
static unsigned int of_cr13(void)
{
	const unsigned int space = below(SPACES);
	unsigned int wrong;

	LOAD_CONTROL(13, space_asce(&spaces[space]));
	asm volatile("sacf 768" : : : "memory");
	wrong = primary_is_wrong(space);
	asm volatile("sacf 0" : : : "memory");
	return wrong;
}

static void ipte(uint64_t table, uint64_t address)
{
	asm volatile("ipte %0,%1" : : "a" (table), "a" (address) : "memory");
}

static void idte(uint64_t table, uint64_t what, uint64_t asce)
{
	asm volatile(".insn rrf,0xb98e0000,%0,%1,%2,0" : : "a" (table), "a" (what), "a" (asce)
		     : "memory");
}

static void ptlb(void)
{
	asm volatile("ptlb" : : : "memory");
}

/* COMPARE AND SWAP AND PURGE, of 4 bytes or of 8 (CSPG). */
static void csp(unsigned int wide)
{
	static volatile uint64_t word __attribute__((aligned(16)));
	register uint64_t old asm("2") = 0;
	register uint64_t new asm("3") = 0;
	register uint64_t where asm("4") = (uint64_t)&word | PURGE_TLB;

	if (wide)
		asm volatile(".insn rre,0xb98a0000,%0,%2" : "+d" (old) : "d" (new), "d" (where)
			     : "cc", "memory");
	else
		asm volatile(".insn rre,0xb2500000,%0,%2" : "+d" (old) : "d" (new), "d" (where)
			     : "cc", "memory");
}

/* Which instruction purges. */
enum purge { BY_IPTE, BY_IDTE_SPACE, BY_IDTE_SEGMENT, BY_CSP, BY_CSPG, BY_PTLB, PURGES };

/* Give a page of a space another frame, whoever uses it at the moment. */
static void change(unsigned int space, unsigned int page, enum purge how)
{
	struct space *one = &spaces[space];

	switch (how) {
	case BY_IPTE:
		ipte((uint64_t)one->window, WINDOW + page * FRAME);
		map(space, page, below(FRAMES));
		break;
	case BY_IDTE_SPACE:
		map(space, page, below(FRAMES));
		idte(0, CLEAR_ONLY, space_asce(one));
		break;
	case BY_IDTE_SEGMENT:
		idte((uint64_t)one->segments, WINDOW, 0);
		map(space, page, below(FRAMES));
		*(volatile uint64_t *)&one->segments[WINDOW >> 20] = (uint64_t)one->window;
		break;
	case BY_PTLB:
		map(space, page, below(FRAMES));
		ptlb();
		break;
	default:
		map(space, page, below(FRAMES));
		csp(how == BY_CSPG);
	}
}

static enum purge how_to_purge;

/* The space that is changed is in use, or was not long ago. */
static unsigned int of_purge(void)
{
	const unsigned int changed = below(8), used = below(8);

	select(changed);
	if (primary_is_wrong(changed))
		return 1;
	select(used);
	if (primary_is_wrong(used))
		return 1;
	change(changed, below(WINDOW_PAGES), how_to_purge);
	if (primary_is_wrong(used))
		return 1;
	select(changed);
	return primary_is_wrong(changed);
}

static void set_prefix(uint32_t area)
{
	asm volatile("spx %0" : : "Q" (area) : "memory");
}

/* Each window has a page that is real page 0: SET PREFIX makes it another absolute page. */
static unsigned int of_spx(void)
{
	volatile uint64_t *const word = (volatile uint64_t *)(WINDOW + REAL_0 * FRAME + IN_PREFIX);
	const unsigned int space = below(8), other = below(8);
	unsigned int wrong;

	select(space);
	wrong = *word != AT_0;
	select(other);
	set_prefix(PREFIX);
	select(space);
	wrong |= *word != AT_PREFIX;
	set_prefix(0);
	wrong |= *word != AT_0;
	select(other);
	return wrong | (*word != AT_0);
}

static void make_prefix_areas(void)
{
	asm volatile("mvc 0x200(256,%0),0x200(0)\n\tmvc 0x100(256,%0),0x100(0)"
		     : : "a" ((uint64_t)PREFIX) : "memory");
	*(volatile uint64_t *)(PREFIX + IN_PREFIX) = AT_PREFIX;
	asm volatile("stg %0,%1(0)" : : "d" ((uint64_t)AT_0), "i" (IN_PREFIX) : "memory");
	for (unsigned int i = 0; i < SPACES; i++)
		spaces[i].window[REAL_0] = 0;
}

/* The change bit, which SET STORAGE KEY EXTENDED takes away, comes back with the next store. */
static unsigned int of_sske(void)
{
	const unsigned int space = below(8), page = below(WINDOW_PAGES);
	const unsigned int number = at[space][page];
	uint64_t key = 0;

	select(space);
	if (store_is_wrong(page, number))
		return 1;
	select(below(8));
	asm volatile("sske %0,%1" : : "d" (key), "a" (frame(number)) : "memory");
	select(space);
	if (store_is_wrong(page, number))
		return 1;
	asm volatile("iske %0,%1" : "+d" (key) : "a" (frame(number)));
	return (key & 2) != 2;
}

/* The others look at a space's page again and again; what they have seen counts from here. */
static volatile unsigned int looked_at, wanted_page;
static volatile uint64_t turn, seen[CPUS], stop;

void other_cpu(unsigned int cpu)
{
	unsigned int next = 0;

	LOAD_CONTROL(0, CR0_SECONDARY);
	select(0);
	LOAD_CONTROL(13, space_asce(&spaces[0]));
	dat(1);
	while (!stop) {
		const uint64_t now = turn;

		select(looked_at);
		if (load(wanted_page) == at[looked_at][wanted_page] &&
		    run(wanted_page) == at[looked_at][wanted_page])
			seen[cpu] = now;
		else
			seen[cpu] = 0;
		select(next++ % 8);
		load(wanted_page);
	}
	while (1)
		signal_processor(SIGP_STOP, cpu);
}

/* All have seen what is right, after this turn began, and stay with it. */
static unsigned int others_are_wrong(unsigned int cpus)
{
	const uint64_t limit = clock_now() + PATIENCE;

	turn++;
	for (unsigned int i = 1; i < cpus; i++)
		while (seen[i] != turn)
			if (clock_now() > limit)
				return 1;
	return 0;
}

static void say(const char *what, unsigned int count, unsigned int wrong)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " ");
	put_hex(&line, count, 4);
	put(&line, " WRONG ");
	put_hex(&line, wrong, 4);
	dat(0);
	command(&line);
	dat(1);
}

static void repeat(const char *what, unsigned int (*is_wrong)(void))
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < CHANGES; i++)
		wrong += is_wrong();
	say(what, CHANGES, wrong);
}

static void with_others(const char *what, unsigned int cpus, enum purge how)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < TOGETHER && wrong < 3; i++) {
		wrong += others_are_wrong(cpus);
		looked_at = below(8);
		wanted_page = below(WINDOW_PAGES);
		wrong += others_are_wrong(cpus);
		change(looked_at, wanted_page, how);
		wrong += others_are_wrong(cpus);
	}
	say(what, cpus, wrong);
}

void test_main(void)
{
	static const char *const names[] = { "IPTE", "IDTE SPACE", "IDTE SEGMENT", "CSP",
					     "CSPG", "PTLB" };
	unsigned int cpus;

	make_frames();
	make_spaces();
	make_prefix_areas();
	LOAD_CONTROL(0, STORE_CONTROL(0) | CR0_SECONDARY);
	select(0);
	LOAD_CONTROL(7, space_asce(&spaces[0]));
	LOAD_CONTROL(13, space_asce(&spaces[0]));
	dat(1);
	repeat("LCTLG 1", of_cr1);
	repeat("LCTL 1", of_cr1_short);
	repeat("LCTLG ALL", of_all);
	repeat("LCTLG 7", of_cr7);
	repeat("MVCP MVCS", of_moves);
	repeat("LCTLG 13", of_cr13);
	for (how_to_purge = BY_IPTE; how_to_purge < PURGES; how_to_purge++)
		repeat(names[how_to_purge], of_purge);
	repeat("SPX", of_spx);
	repeat("SSKE", of_sske);
	cpus = start_others();
	for (enum purge how = BY_IPTE; how < BY_PTLB; how++)
		with_others(names[how], cpus, how);
	stop = 1;
	dat(0);
}
