/* SPDX-License-Identifier: MIT */
/*
 * Low-address protection: with CR0 bit 35, no instruction stores into the first 512 bytes
 * of real or virtual pages 0 and 1, unless the space is private.  All other bytes of these
 * pages can be stored into, and all bytes can be fetched.  Storage-alteration events (PER)
 * are recognized beside it.
 *
 * The model is the list of bytes that a store covers.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "dat.h"
#include "processor.h"

enum { ROUNDS = 4000, PROTECTION = 4, ADDRESSING = 5, PER = 0x80, PRIVATE_SPACE = 0x100 };
enum { EXCEPTION_ID = 0xa8, PER_CODE = 0x96, UNUSED = 0x3a0 };
enum { PER_STORE = 0x2000 };
#define PER_EVENT_STORE UINT64_C(0x20000000)
#define BY_LOW_ADDRESS UINT64_C(0x80)

extern volatile uint32_t program_code;	/* set by the handler in start.S */
static uint64_t state = 0x9e3779b97f4a7c15;
static int protects;		/* is it on, for the space in use? */
static unsigned int untold;	/* exceptions that do not say what protects */

void test_main(void);

static uint32_t below(uint32_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % limit;
}

/* A byte by itself, which is fetched. */
static uint8_t byte_at(uint64_t at)
{
	uint64_t found;

	asm volatile("llgc %0,0(%1)" : "=d" (found) : "a" (at) : "memory");
	return (uint8_t)found;
}

static uint64_t eight_at(uint64_t at)
{
	uint64_t found;

	asm volatile("lg %0,0(%1)" : "=d" (found) : "a" (at) : "memory");
	return found;
}

/* In both pages, at the boundaries; what a store reaches is nobody's (or start.S's for a moment). */
static uint64_t somewhere(void)
{
	static const uint16_t places[] = {
		0x10, 0x40, 0x1f8, 0x2c0, UNUSED, 0x7ff, 0xfe8, 0xff8, 0x1000, 0x1010,
		0x11f0, 0x11fc, 0x1200, 0x1400, 0x1fd0,
	};

	return places[below(sizeof(places) / sizeof(places[0]))] + below(8);
}

static int is_low(uint64_t address)
{
	return address < 512 || (address >= 4096 && address < 4096 + 512);
}

static unsigned int low_bytes(uint64_t at, unsigned int length)
{
	unsigned int low = 0;

	for (unsigned int i = 0; i < length; i++)
		low += (unsigned int)is_low(at + i);
	return low;
}

/* The ways to store bytes that are all equal; each says how many. */
static unsigned int by_stc(uint64_t at, uint64_t bytes)
{
	asm volatile("stc %1,0(%0)" : : "a" (at), "d" (bytes) : "memory");
	return 1;
}

static unsigned int by_mvi(uint64_t at, uint64_t bytes)
{
	(void)bytes;
	asm volatile("oi 0(%0),0xff" : : "a" (at) : "cc", "memory");
	return 1;
}

static unsigned int by_sth(uint64_t at, uint64_t bytes)
{
	asm volatile("sth %1,0(%0)" : : "a" (at), "d" (bytes) : "memory");
	return 2;
}

static unsigned int by_stg(uint64_t at, uint64_t bytes)
{
	asm volatile("stg %1,0(%0)" : : "a" (at), "d" (bytes) : "memory");
	return 8;
}

static unsigned int by_mvc(uint64_t at, uint64_t bytes)
{
	asm volatile("mvc 0(16,%0),%1" : : "a" (at), "Q" (((uint64_t[2]){ bytes, bytes }))
		     : "memory");
	return 16;
}

static unsigned int by_cs(uint64_t at, uint64_t bytes)
{
	uint64_t old = eight_at(at & ~7ULL);

	if (at % 8)
		return by_stg(at, bytes);
	asm volatile("csg %0,%1,0(%2)" : "+d" (old) : "d" (bytes), "a" (at) : "cc", "memory");
	return 8;
}

typedef unsigned int store_way(uint64_t at, uint64_t bytes);
static store_way *const ways[] = { by_stc, by_mvi, by_sth, by_stg, by_mvc, by_cs };

/* One store, which is carried out or refused as a whole. */
static unsigned int store_is_wrong(void)
{
	const uint64_t at = somewhere(), start = at & ~7ULL;
	const uint64_t before[4] = { eight_at(start), eight_at(start + 8), eight_at(start + 16),
				     eight_at(start + 24) };
	const unsigned int way = below(sizeof(ways) / sizeof(ways[0]));
	const uint8_t value = way == 1 ? 0xff : (uint8_t)below(256);
	unsigned int length, refused, wrong = 0;

	program_code = 0;
	length = ways[way](at, value * UINT64_C(0x0101010101010101));
	refused = protects && low_bytes(at, length);
	wrong |= program_code != (refused ? PROTECTION : 0);
	for (unsigned int i = 0; i < 32 && !wrong; i++) {
		const int stored = !refused && start + i >= at && start + i < at + length;
		const uint8_t old = ((const uint8_t *)before)[i];
		const uint64_t byte = start + i;

		/* What the interruption itself stores, and its handler. */
		if (refused && ((byte >= 0x8c && byte < 0x160) || (byte >= 0x200 && byte < 0x210)))
			continue;
		wrong |= byte_at(byte) != (stored ? value : old);
	}
	if (refused)
		untold += (eight_at(EXCEPTION_ID) & BY_LOW_ADDRESS) != BY_LOW_ADDRESS;
	return wrong;
}

static void say(const char *what, unsigned int wrong)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " WRONG ");
	put_hex(&line, wrong, 4);
	command(&line);
}

static void stores(const char *what)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < ROUNDS; i++)
		wrong += store_is_wrong();
	say(what, wrong);
}

/* The page before address 0, which is not there. */
static unsigned int last_page(void)
{
	unsigned int wrong = 0;

	for (uint64_t at = -UINT64_C(4096); at; at += 64) {
		program_code = 0;
		by_stc(at, 0);
		wrong += program_code != ADDRESSING;
	}
	return wrong;
}

/* A store with PER on for the bytes from X'3A0' to X'3AF': it is told if it is there. */
static unsigned int per_is_wrong(uint64_t at)
{
	const uint64_t on[3] = { PER_EVENT_STORE, UNUSED, UNUSED + 15 }, off[3] = { 0, 0, 0 };
	const unsigned int told = at >= UNUSED && at < UNUSED + 16;
	uint8_t mask;

	program_code = 0;
	asm volatile("stosm %0,0x40\n\tlctlg 9,11,%3\n\tstg %1,0(%2)\n\t"
		     "lctlg 9,11,%4\n\tstnsm %0,0xbf"
		     : "=Q" (mask) : "d" (at), "a" (at), "QS" (on), "QS" (off) : "memory");
	return eight_at(at) != at || program_code != (told ? PER : 0) ||
	       (told && (eight_at(PER_CODE & ~7) & PER_STORE) == 0);
}

static void per(const char *what)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < 200; i++)
		wrong += per_is_wrong(UNUSED) + per_is_wrong(UNUSED + 16) + per_is_wrong(UNUSED + 8);
	say(what, wrong);
}

void test_main(void)
{
	static struct space space;
	const uint64_t cr0 = STORE_CONTROL(0);

	space_init(&space);
	LOAD_CONTROL(1, space_asce(&space));
	stores("REAL OFF");
	LOAD_CONTROL(0, cr0 | CR0_LOW_ADDRESS);
	protects = 1;
	stores("REAL ON");
	per("REAL ON PER");
	say("LAST PAGE", last_page());
	dat(1);
	stores("DAT ON");
	per("DAT ON PER");
	protects = 0;
	LOAD_CONTROL(1, space_asce(&space) | PRIVATE_SPACE);
	stores("PRIVATE ON");
	protects = 1;
	LOAD_CONTROL(1, space_asce(&space));
	stores("DAT ON AGAIN");
	protects = 0;
	LOAD_CONTROL(0, cr0);
	stores("DAT OFF");
	per("DAT OFF PER");
	dat(0);
	say("REASON", untold);
}
