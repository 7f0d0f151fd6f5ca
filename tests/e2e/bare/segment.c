/* SPDX-License-Identifier: MIT */
/*
 * What the guest may do with the pages of MONDCSS, shown without an operating
 * system between: probes the segment before it is loaded, while it is, and
 * after it was purged, and reports by "MSG OPERATOR …" to CP.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stdint.h>

#include "cp.h"

extern volatile uint32_t program_code;	/* set by the handler in start.S */
void test_main(void);

enum { LOADSHRX = 0x20, PURGESEG = 0x08 };

static const char name[8] __attribute__((aligned(8))) = "MONDCSS ";

static uint64_t diag64(uint64_t subcode, uint64_t *end)
{
	register uint64_t rx asm("2") = (uint64_t)name;
	register uint64_t ry asm("4") = subcode;

	asm volatile("diag %0,%1,0x64" : "+d" (rx), "+d" (ry) : : "cc", "memory");
	*end = ry;
	return rx;
}

static uint32_t probe_load(volatile uint64_t *at)
{
	uint64_t value;

	program_code = 0;
	asm volatile("lg %0,%1" : "=d" (value) : "T" (*at) : "memory");
	return program_code;
}

static uint32_t probe_store(volatile uint64_t *at)
{
	program_code = 0;
	asm volatile("stg %1,%0" : "=T" (*at) : "d" (0x5a5a5a5a5a5a5a5aULL) : "memory");
	return program_code;
}

static uint32_t probe_key(uint64_t at)
{
	uint64_t key = 0;

	program_code = 0;
	asm volatile("iske %0,%1" : "+d" (key) : "d" (at) : "memory");
	return program_code;
}

static void report(const char *what, uint32_t load, uint32_t store)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " ");
	put_hex(&line, load, 1);
	put(&line, " ");
	put_hex(&line, store, 1);
	command(&line);
}

/* Interruption codes: 4 protection, 5 addressing, 0 none. */
void test_main(void)
{
	uint64_t last = 0;
	uint64_t first = diag64(LOADSHRX, &last);
	volatile uint64_t *start = (volatile uint64_t *)first;
	volatile uint64_t *end = (volatile uint64_t *)(last - 7);

	report("LOADED START", probe_load(start), probe_store(start));
	report("LOADED END", probe_load(end), probe_store(end));
	diag64(PURGESEG, &last);
	report("PURGED START", probe_load(start), probe_store(start));
	report("PURGED END", probe_load(end), probe_store(end));
	diag64(LOADSHRX, &last);
	report("AGAIN START", probe_load(start), probe_store(start));
	report("BEYOND", probe_load((volatile uint64_t *)(last + 1)),
	       probe_store((volatile uint64_t *)(last + 1)));
	report("KEYS", probe_key(last & -4096UL), probe_key(last + 1));
}
