/* SPDX-License-Identifier: MIT */
/*
 * Code that was written over is executed as it is now: whatever stored, in the prefix area
 * and elsewhere, within a page and across the boundary of two; and code beside it is not
 * affected.  With low-address protection off and on, DAT off and on.
 *
 * A function is LOAD IMMEDIATE (LGFI) into GR2, BRANCH to GR14; what stores changes some or
 * all of the four bytes that it returns.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "dat.h"
#include "processor.h"

enum { TIMES = 200, RETURN = 0x07fe, LGFI_GR2 = 0xc021 };
/* Assigned storage that interruptions and STFL store into; see the Principles of Operation. */
enum { CPU_ADDRESS = 0x84, SVC_ILC = 0x88, PROGRAM_ILC = 0x8c, FACILITIES = 0xc8 };
enum { SVC_NEW_PSW = 0x1c0, PREFIX_AREA_CODE = 0xb00, FAR = 0x600000 };
enum { OPERATION = 1, EMERGENCY = 0x1201, SIGP_EMERGENCY = 3 };
#define CR0_EMERGENCY UINT64_C(0x4000)

static uint64_t state = 0x9e3779b97f4a7c15;

void test_main(void);
void external_interruption(uint64_t code);

static uint32_t random32(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) & 0x7fffffff;
}

/* Such a function, whose four bytes begin at @at. */
static void make(uint64_t at, uint32_t value)
{
	const uint16_t first = LGFI_GR2, last = RETURN;

	asm volatile("mvc 0(2,%0),%1\n\tmvc 2(4,%0),%2\n\tmvc 6(2,%0),%3"
		     : : "a" (at - 2), "Q" (first), "Q" (value), "Q" (last) : "memory");
}

static uint32_t run(uint64_t at)
{
	return (uint32_t)((uint64_t (*)(void))(at - 2))();
}

static uint32_t stored(uint64_t at)
{
	uint32_t found;

	asm volatile("icm %0,15,0(%1)" : "=d" (found) : "a" (at) : "cc", "memory");
	return found;
}

/* The ways to store four bytes. */
static void by_st(uint64_t at, uint32_t value)
{
	asm volatile("st %1,0(%0)" : : "a" (at), "d" (value) : "memory");
}

static void by_bytes(uint64_t at, uint32_t value)
{
	asm volatile("stcm %1,8,0(%0)\n\tstcm %1,4,1(%0)\n\tstcm %1,2,2(%0)\n\tstc %1,3(%0)"
		     : : "a" (at), "d" (value) : "memory");
}

static void by_mvc(uint64_t at, uint32_t value)
{
	asm volatile("mvc 0(4,%0),%1" : : "a" (at), "Q" (value) : "memory");
}

/* The bytes before keep what they are; the last one is the value's. */
static void by_long_mvc(uint64_t at, uint32_t value)
{
	static uint8_t copy[200];

	asm volatile("mvc 0(196,%0),0(%1)" : : "a" (copy), "a" (at - 196) : "memory");
	__builtin_memcpy(copy + 196, &value, 4);
	asm volatile("mvc 0(200,%0),%1" : : "a" (at - 196), "Q" (copy) : "memory");
}

static void by_xc(uint64_t at, uint32_t value)
{
	const uint32_t both = stored(at) ^ value;

	asm volatile("xc 0(4,%0),%1" : : "a" (at), "Q" (both) : "memory");
}

static void by_mvcl(uint64_t at, uint32_t value)
{
	register uint64_t to asm("2") = at;
	register uint64_t to_len asm("3") = 4;
	register uint64_t from asm("4") = (uint64_t)&value;
	register uint64_t from_len asm("5") = 4;

	asm volatile("mvcl %0,%2" : "+d" (to), "+d" (to_len), "+d" (from), "+d" (from_len)
		     : : "cc", "memory");
}

static void by_stm(uint64_t at, uint32_t value)
{
	register uint64_t kept asm("4");
	register uint64_t new asm("5") = value;

	asm volatile("ly %0,-4(%2)\n\tstmy %0,%1,-4(%2)" : "=&d" (kept) : "d" (new), "a" (at)
		     : "memory");
}

/* Atomically, where that is possible: COMPARE AND SWAP needs a word boundary. */
static void by_cs(uint64_t at, uint32_t value)
{
	uint32_t old = *(volatile uint32_t *)(at & ~3ULL);

	if (at % 4)
		by_st(at, value);
	else
		asm volatile("cs %0,%1,0(%2)" : "+d" (old) : "d" (value), "a" (at) : "cc", "memory");
}

typedef void store_way(uint64_t at, uint32_t value);
static store_way *const ways[] = { by_st, by_bytes, by_mvc, by_long_mvc,
				   by_xc, by_mvcl, by_stm, by_cs };
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* Two functions, the second directly after the first; one of them is changed. */
static unsigned int stores_at(uint64_t at)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < TIMES; i++) {
		const uint32_t value[] = { random32(), random32(), random32() };

		make(at, value[0]);
		make(at + 8, value[1]);
		wrong += run(at) != value[0] || run(at + 8) != value[1];
		ways[i % WAYS](at, value[2]);
		wrong += run(at) != value[2] || run(at + 8) != value[1];
	}
	return wrong;
}

/* MVC of 1 to 256 bytes. */
static void copy(uint64_t to, const uint8_t *from, uint64_t length)
{
	asm volatile("larl %%r1,0f\n\tex %2,0(%%r1)\n\tj 1f\n0:\tmvc 0(1,%0),0(%1)\n1:"
		     : : "a" (to), "a" (from), "a" (length - 1) : "1", "memory");
}

/*
 * A store that ends with a function's first byte, or begins with its last one: LOAD (LR) of
 * GR3 becomes ADD (AR) to GR2, the BRANCH one that is not taken, to a LOAD that follows.
 */
static unsigned int edges_at(uint64_t at)
{
	static const uint16_t code[] = { 0x1823, 0x07fe, 0x1824, 0x07fe };
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < TIMES; i++) {
		typedef uint64_t sum(uint64_t, uint64_t, uint64_t);
		const uint64_t before = 2 + random32() % 254;
		static uint8_t new[256];

		asm volatile("mvc 0(8,%0),%1" : : "a" (at), "Q" (code) : "memory");
		wrong += ((sum *)at)(5, 3, 9) != 3;
		new[before - 1] = 0x1a;
		copy(at + 1 - before, new, before);
		wrong += ((sum *)at)(5, 3, 9) != 8;
		new[0] = 0x0e;
		copy(at + 3, new, 1);
		wrong += ((sum *)at)(5, 3, 9) != 9;
		new[before - 1] = new[0] = 0;
	}
	return wrong;
}

static unsigned int in_prefix_area(void)
{
	return stores_at(PREFIX_AREA_CODE) + stores_at(PREFIX_AREA_CODE + 2) +
	       stores_at(0x1b00) + edges_at(0x1c00);
}

static unsigned int elsewhere(void)
{
	return stores_at(FAR + 0x100) + stores_at(FAR + 0x102) + edges_at(FAR + 0x400);
}

/* The four bytes lie in two pages, or code before and after them does. */
static unsigned int across_pages(void)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i <= 16; i += 2)
		wrong += stores_at(FAR + 0x1000 - 12 + i);
	return wrong;
}

extern char svc_handler[];
asm("svc_handler:\n\tlpswe 0x140\n");

void external_interruption(uint64_t code)
{
	(void)code;
}

static void svc(void)
{
	asm volatile("svc 0x17" : : : "memory");
}

static void program(void)
{
	asm volatile(".short 0" : : : "memory");
}

static void stfl(void)
{
	asm volatile("stfl 0" : : : "memory");
}

/* EMERGENCY SIGNAL to this CPU. */
static void external(void)
{
	uint8_t mask;

	while (signal_processor(SIGP_EMERGENCY, 0) == SIGP_BUSY)
		;
	asm volatile("stosm %0,1\n\tstnsm %0,0xfe" : "=Q" (mask) : : "memory");
}

/* What an interruption stores, into the four bytes; 0: what is there. */
static unsigned int interrupted(uint64_t at, void (*interrupt)(void), uint32_t expected)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < TIMES; i++) {
		const uint32_t before = random32();
		uint32_t now;

		make(at, before);
		wrong += run(at) != before;
		interrupt();
		now = stored(at);
		wrong += run(at) != now || (expected && now != expected);
	}
	return wrong;
}

static unsigned int of_svc(void)
{
	return interrupted(SVC_ILC, svc, 2 << 16 | 0x17);
}

static unsigned int of_program(void)
{
	return interrupted(PROGRAM_ILC, program, 2 << 16 | OPERATION);
}

static unsigned int of_external(void)
{
	return interrupted(CPU_ADDRESS, external, EMERGENCY);
}

static unsigned int of_stfl(void)
{
	return interrupted(FACILITIES, stfl, 0);
}

static unsigned int at_page_1(void)
{
	return stores_at(0x1000 - 2) + stores_at(0x1000);
}

static void say(const char *mode, const char *what, unsigned int (*wrong)(void))
{
	struct line line = { .len = 0 };
	const unsigned int found = wrong();

	put(&line, OPERATOR);
	put(&line, mode);
	put(&line, " ");
	put(&line, what);
	put(&line, " WRONG ");
	put_hex(&line, found, 4);
	command(&line);
}

/* Without low-address protection, the first 512 bytes of both pages can be stored into. */
static void without_protection(const char *mode)
{
	say(mode, "SVC", of_svc);
	say(mode, "PROGRAM", of_program);
	say(mode, "EXTERNAL", of_external);
	say(mode, "STFL", of_stfl);
	say(mode, "PAGE 1", at_page_1);
}

static void anyhow(const char *mode)
{
	say(mode, "PREFIX AREA", in_prefix_area);
	say(mode, "ELSEWHERE", elsewhere);
	say(mode, "ACROSS", across_pages);
}

void test_main(void)
{
	static struct space space;
	const uint64_t psw[2] = { PSW_64, (uint64_t)svc_handler };
	const uint64_t cr0 = STORE_CONTROL(0) | CR0_EMERGENCY;

	asm volatile("mvc %0(16,0),%1" : : "i" (SVC_NEW_PSW), "Q" (psw) : "memory");
	space_init(&space);
	LOAD_CONTROL(1, space_asce(&space));
	/* First while there is no code in the prefix area at all. */
	LOAD_CONTROL(0, cr0 | CR0_LOW_ADDRESS);
	anyhow("REAL PROTECTED");
	dat(1);
	anyhow("DAT PROTECTED");
	LOAD_CONTROL(0, cr0);
	anyhow("DAT");
	without_protection("DAT");
	dat(0);
	anyhow("REAL");
	without_protection("REAL");
}
