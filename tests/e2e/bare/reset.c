/* SPDX-License-Identifier: MIT */
/*
 * Begins three times, as kexec does: DIAGNOSE X'308', subcodes 0 and 1, reset the
 * machine and take the PSW at address 0.  Each time it says how often it has begun,
 * what DECLARE BUFFER gives, and the code for the parameters of a load.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "again.h"
#include "cp.h"

/* ESA/390 PSW, 31-bit addresses: how a load begins. */
#define PSW_31 UINT64_C(0x0008000080000000)

void test_main(void);
extern char _start[];

void test_main(void)
{
	static uint8_t block[4096] __attribute__((aligned(4096)));
	static const uint64_t how[] = { RESET_CLEAR, RESET_NORMAL };
	static unsigned int begun;
	struct line line = { .len = 0 };

	put(&line, OPERATOR "BEGUN ");
	put_hex(&line, begun, 2);
	put(&line, " ");
	put_hex(&line, declare_buffer(), 2);
	put(&line, " ");
	put_hex(&line, (uint32_t)diagnose_308(STORE_PARAMETERS, block), 4);
	command(&line);
	if (begun < sizeof(how) / sizeof(how[0])) {
		asm volatile("stg %0,0" : : "d" (PSW_31 | (uint64_t)_start) : "memory");
		diagnose_308(how[begun++], block);
	}
}
