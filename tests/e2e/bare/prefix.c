/* SPDX-License-Identifier: MIT */
/*
 * An interruption of IUCV waits for a buffer in the prefix area while a read-only
 * segment is loaded over that.  The CPU is enabled for it, and should not get it.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stdint.h>

#include "cp.h"

enum { CONNECT = 0x0b, DECLARE_BUFFER = 0x0c, LOADSHRX = 0x20 };
enum { BUFFER = 0x1800, AREA = 0x2000, SEGMENT = 0x2000000 };
enum { CR0_IUCV = 0x2 };
#define PATTERN UINT64_C(0x5a5a5a5a5a5a5a5a)

void test_main(void);

static void iucv(uint64_t function, const uint8_t *parm)
{
	register uint64_t r0 asm("0") = function;
	register uint64_t r1 asm("1") = (uint64_t)parm;

	asm volatile(".insn s,0xb2f00000,0" : : "d" (r0), "d" (r1) : "cc", "memory");
}

/* Return: the condition code, 1 for a segment inside storage. */
static unsigned int load(void)
{
	unsigned int cc;

	static const char name[] __attribute__((aligned(8))) = "INSIDE  ";
	register uint64_t rx asm("2") = (uint64_t)name;
	register uint64_t ry asm("4") = LOADSHRX;

	asm volatile("diag %1,%2,0x64\n\tipm %0\n\tsrl %0,28"
		     : "=d" (cc), "+d" (rx), "+d" (ry) : : "cc", "memory");
	return cc;
}

static void set_prefix(uint32_t at)
{
	asm volatile("spx %0" : : "Q" (at) : "memory");
}

/* Enabled for a moment, in which all that waits is taken. */
static void open_window(void)
{
	const uint64_t cr0 = CR0_IUCV;
	uint8_t mask;

	asm volatile("lctlg 0,0,%0" : : "QS" (cr0) : "memory");
	asm volatile("stosm %0,1" : "=Q" (mask) : : "memory");
	for (unsigned int i = 0; i < 1000; i++)
		asm volatile("diag 0,0,0x44" : : : "memory");
	asm volatile("stnsm %0,0xfe" : "=Q" (mask) : : "memory");
}

/* Doublewords of the segment's first two pages that are not what they were. */
static unsigned int changed(void)
{
	unsigned int found = 0;

	for (uint64_t i = 0; i < AREA; i += 8)
		found += *(volatile uint64_t *)(SEGMENT + i) != PATTERN;
	return found;
}

void test_main(void)
{
	static uint8_t parm[40] __attribute__((aligned(8)));
	const uint32_t at = BUFFER;
	struct line line = { .len = 0 };
	unsigned int cc;

	for (uint64_t i = 0; i < AREA; i += 8)
		*(volatile uint64_t *)(SEGMENT + i) = PATTERN;
	__builtin_memcpy(parm + 12, &at, sizeof(at));
	iucv(DECLARE_BUFFER, parm);
	__builtin_memset(parm, 0, sizeof(parm));
	__builtin_memcpy(parm + 8, "*MSG    ", 8);
	iucv(CONNECT, parm);
	set_prefix(SEGMENT);
	cc = load();
	open_window();
	set_prefix(0);
	put(&line, OPERATOR "BACK ");
	put_hex(&line, cc, 1);
	put(&line, " CHANGED ");
	put_hex(&line, changed(), 4);
	command(&line);
}
