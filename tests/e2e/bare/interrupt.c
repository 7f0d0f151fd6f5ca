/* SPDX-License-Identifier: MIT */
/*
 * When external interruption X'4000' is taken, shown without an operating system
 * between.  Each report is the name of a case and the codes of the interruptions
 * that were taken, in order; for X'4000' the type follows that CP has stored.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stdint.h>

#include "cp.h"
#include "processor.h"

void test_main(void);
void external_interruption(uint64_t code);

enum { CONNECT = 0x0b, DECLARE_BUFFER = 0x0c, SEVER = 0x0f };
enum { EXT_CALL = 0x1202, EXT_IUCV = 0x4000 };
enum { CR0_EXT_CALL = 0x2000, CR0_IUCV = 0x2 };
enum { PSW_EXT = 0x01, SIGP_EXT_CALL = 2 };
enum { MAX_TAKEN = 4 };

/* IUCV parameter list and interruption buffer. */
struct iucv {
	uint16_t path;
	uint8_t flags;
	uint8_t code;		/* interruption: type */
	uint16_t msglim;
	uint16_t reserved;
	uint8_t vmid[8];	/* DECLARE BUFFER: the address is at 12 */
	uint8_t user[16];
	uint8_t target[8];
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct iucv) == 40, "parameter list");

static struct iucv buffer;
static volatile uint32_t taken[MAX_TAKEN];
static volatile unsigned int count;

static struct iucv iucv(uint64_t function, struct iucv parm)
{
	register uint64_t r0 asm("0") = function;
	register uint64_t r1 asm("1") = (uint64_t)&parm;

	asm volatile(".insn s,0xb2f00000,0" : : "d" (r0), "d" (r1) : "cc", "memory");
	return parm;
}

static void declare_buffer(void)
{
	struct iucv parm = { 0 };
	uint32_t at = (uint32_t)(uint64_t)&buffer;

	__builtin_memcpy((uint8_t *)&parm + 12, &at, sizeof(at));
	iucv(DECLARE_BUFFER, parm);
}

/* One interruption becomes pending: the connection is complete. */
static uint16_t connect(void)
{
	struct iucv parm = { .msglim = 10 };

	__builtin_memcpy(parm.vmid, "*MSG    ", 8);
	return iucv(CONNECT, parm).path;
}

static void sever(uint16_t path)
{
	iucv(SEVER, (struct iucv){ .path = path });
}

static uint64_t cr0(void)
{
	uint64_t value;

	asm volatile("stctg 0,0,%0" : "=QS" (value));
	return value;
}

static void set_cr0(uint64_t value)
{
	asm volatile("lctlg 0,0,%0" : : "QS" (value) : "memory");
}

static void disable(void)
{
	uint8_t mask;

	asm volatile("stnsm %0,0xfe" : "=Q" (mask) : : "memory");
}

static void enable(void)
{
	uint8_t mask;

	asm volatile("stosm %0,%1" : "=Q" (mask) : "i" (PSW_EXT) : "memory");
}

/* Wait for an interruption; the handler takes the wait bit out of the old PSW. */
static void wait(void)
{
	static const uint64_t psw_mask = 0x0102000180000000;
	static uint64_t psw[2] __attribute__((aligned(8)));

	psw[0] = psw_mask;
	asm volatile("	larl	1,0f\n"
		     "	stg	1,8(%0)\n"
		     "	lpswe	0(%0)\n"
		     "0:" : : "a" (psw) : "1", "cc", "memory");
}

/* Called by start.S with all registers saved. */
void external_interruption(uint64_t code)
{
	if (count < MAX_TAKEN)
		taken[count] = (uint32_t)code;
	count++;
}

static void report(const char *what)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	for (unsigned int i = 0; i < count && i < MAX_TAKEN; i++) {
		put(&line, " ");
		put_hex(&line, taken[i], 4);
		if (taken[i] == EXT_IUCV) {
			put(&line, "/");
			put_hex(&line, buffer.code, 2);
		}
	}
	count = 0;
	command(&line);
}

static void external_call_to_myself(void)
{
	while (signal_processor(SIGP_EXT_CALL, 0) == SIGP_BUSY)
		;
}

void test_main(void)
{
	struct line set_smsg = { .len = 0 };
	uint16_t path;

	set_cr0(0);
	declare_buffer();
	enable();
	path = connect();
	report("SUBCLASS OFF");
	set_cr0(CR0_IUCV);
	report("SUBCLASS ON");

	disable();
	sever(path);
	path = connect();
	report("PSW OFF");
	enable();
	report("PSW ON");

	disable();
	sever(path);
	path = connect();
	external_call_to_myself();
	set_cr0(CR0_IUCV | CR0_EXT_CALL);
	report("BOTH OFF");
	enable();
	report("BOTH ON");
	set_cr0(CR0_IUCV);
	report(cr0() == CR0_IUCV ? "CR0 AS LOADED" : "CR0 HAS CHANGED");

	put(&set_smsg, "SET SMSG IUCV");
	command(&set_smsg);
	/* Not before the wait: it would have nothing to end it. */
	disable();
	report("WAITING");
	wait();
	report("WOKEN");
	sever(path);
	disable();
}
