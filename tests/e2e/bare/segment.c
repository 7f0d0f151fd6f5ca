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
enum { SET_PREFIX = 0x0d, STORE_STATUS = 0x0e };
/* Functions of KVM's hypercall: one that tells where storage ends, and none. */
enum { STORAGE_LIMIT = 4, NO_FUNCTION = 9 };

static const char name[] __attribute__((aligned(8))) = "MONDCSS ";

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

static uint32_t probe_prefix(uint64_t at)
{
	const uint32_t prefix = (uint32_t)at;

	program_code = 0;
	asm volatile("spx %0" : : "Q" (prefix) : "memory");
	return program_code;
}

static uint32_t probe_hypercall(uint64_t code)
{
	register uint64_t function asm("1") = code;
	register uint64_t argument asm("2") = 0;

	program_code = 0;
	asm volatile("diag %0,4,0x500" : "+d" (argument) : "d" (function) : "cc", "memory");
	return program_code;
}

/* An order that names a place to CPU 1, which is stopped.  Return: was the place refused? */
static uint32_t refused(unsigned int order, uint64_t at)
{
	enum { INVALID_PARAMETER = 0x100, BUSY = 2 };
	register uint64_t parameter asm("1") = at;
	register uint64_t address asm("2") = 1;
	unsigned int cc = BUSY;

	while (cc == BUSY)
		asm volatile("sigp %1,%2,0(%3)\n\tipm %0\n\tsrl %0,28"
			     : "=d" (cc), "+d" (parameter) : "d" (address), "a" (order)
			     : "cc", "memory");
	return cc == 1 && (uint32_t)parameter == INVALID_PARAMETER;
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

/* Interruption codes: 4 protection, 5 addressing, 6 specification, 0 none. */
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
	/* A prefix area is storage, all of it. */
	report("PREFIX", probe_prefix(last + 1), probe_prefix(first - 4096));
	report("SET PREFIX", refused(SET_PREFIX, first), refused(SET_PREFIX, last + 1));
	report("STORE STATUS", refused(STORE_STATUS, 0x10000), refused(STORE_STATUS, first));
	/* Storage is CP's to tell of (DIAGNOSE X'260'). */
	report("HYPERCALL", probe_hypercall(STORAGE_LIMIT), probe_hypercall(NO_FUNCTION));
}
