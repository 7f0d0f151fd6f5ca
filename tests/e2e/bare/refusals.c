/* SPDX-License-Identifier: MIT */
/*
 * Machines that Hercules cannot save at the moment.  Before each state, and in it, the program
 * says so and waits for a message; what is to be done from outside is done then.
 *
 * Operation codes and blocks are those of the z/Architecture Principles of Operation; for the
 * service processor they are those that Linux uses (drivers/s390/char/sclp.h).
 */
#include <stdint.h>

#include "cp.h"

void test_main(void);
void external_interruption(uint64_t code);

enum { CONNECT = 0x0b, DECLARE_BUFFER = 0x0c };
enum { CR0_SERVICE_SIGNAL = 0x200, CR0_IUCV = 0x2 };
enum { EXT_IUCV = 0x4000, EXT_SERVICE_SIGNAL = 0x2401 };
enum { FINE_STEERING_RATE = 0x42 };
enum { MEASUREMENT_BLOCKS = 2 };
enum { CONSOLE = 0x00010000 };
enum { NO_OPERATION = 0x03, READ_INQUIRY = 0x0a, SUPPRESS_LENGTH = 0x20 };
enum { READ_EVENT_DATA = 0x00770005, WRITE_EVENT_MASK = 0x00780005 };
enum { OPERATOR_COMMANDS = 0x80000000 };

/* IUCV parameter list and interruption buffer. */
struct iucv {
	uint16_t path;
	uint8_t flags, code;
	uint16_t msglim;
	uint16_t reserved;
	uint8_t vmid[8];
	uint8_t user[16];
	uint8_t target[8];
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct iucv) == 40, "parameter list");

/* Command-information block: its first word has the flag that it is enabled, in byte 5. */
struct subchannel {
	uint32_t parameter;
	uint8_t flag4, flag5;
	uint8_t rest[46];
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct subchannel) == 52 + 4, "SCHIB, rounded");

struct ccw {			/* format 1 */
	uint8_t command, flags;
	uint16_t count;
	uint32_t address;
} __attribute__((aligned(8)));

struct orb {
	uint32_t parameter;
	uint8_t key, format, path_mask, rest;
	uint32_t program;
	uint32_t extension[5];
} __attribute__((aligned(8)));

struct sccb {
	uint16_t length;
	uint8_t function, control[3];
	uint16_t response;
	uint16_t reserved, mask_length;
	uint32_t masks[4];	/* the program's: receive, send; the service processor's */
} __attribute__((aligned(8)));

static struct iucv buffer;
static struct sccb sccb __attribute__((aligned(4096)));
static uint8_t rest_of_page[4096 - sizeof(struct sccb)] __attribute__((used));
static struct ccw ccw;
static struct orb orb;
static char typed[80];
static volatile unsigned int woken, signalled;

static void iucv(uint64_t function, struct iucv *parm)
{
	register uint64_t r0 asm("0") = function;
	register uint64_t r1 asm("1") = (uint64_t)parm;

	asm volatile(".insn s,0xb2f00000,0" : : "d" (r0), "d" (r1) : "cc", "memory");
}

static void set_cr0(uint64_t value)
{
	asm volatile("lctlg 0,0,%0" : : "QS" (value) : "memory");
}

/* Until an interruption of this subclass has been taken; the handler ends the wait. */
static void wait_for(uint64_t subclass, const volatile unsigned int *count)
{
	static const uint64_t mask = 0x0102000180000000;
	static uint64_t psw[2] __attribute__((aligned(8)));
	const unsigned int before = *count;

	set_cr0(subclass);
	psw[0] = mask;
	while (*count == before)
		asm volatile("	larl	1,0f\n"
			     "	stg	1,8(%0)\n"
			     "	lpswe	0(%0)\n"
			     "0:	stnsm	0x208,0xfc" : : "a" (psw) : "1", "cc", "memory");
}

void external_interruption(uint64_t code)
{
	if (code == EXT_IUCV)
		woken++;
	if (code == EXT_SERVICE_SIGNAL)
		signalled++;
}

static void say(const char *what)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	command(&line);
	wait_for(CR0_IUCV, &woken);
}

static void steer(int32_t rate)
{
	register uint64_t r0 asm("0") = FINE_STEERING_RATE;
	register uint64_t r1 asm("1") = (uint64_t)&rate;

	asm volatile(".insn e,0x0104" : : "d" (r0), "d" (r1) : "cc", "memory");
}

static void measure(uint64_t mode)
{
	register uint64_t r1 asm("1") = mode;
	register uint64_t r2 asm("2") = 0;

	asm volatile(".insn s,0xb23c0000,0" : : "d" (r1), "d" (r2) : "cc", "memory");
}

static void enable_console(void)
{
	register uint64_t r1 asm("1") = CONSOLE;
	struct subchannel block;

	asm volatile(".insn s,0xb2340000,%0" : "=Q" (block) : "d" (r1) : "cc", "memory");
	block.flag5 |= 0x80;
	asm volatile(".insn s,0xb2320000,%0" : : "Q" (block), "d" (r1) : "cc", "memory");
}

static void start_io(uint8_t code)
{
	register uint64_t r1 asm("1") = CONSOLE;

	ccw = (struct ccw){ .command = code, .flags = SUPPRESS_LENGTH, .count = sizeof(typed),
			    .address = (uint32_t)(uint64_t)typed };
	orb = (struct orb){ .format = 0x80, .path_mask = 0xff,
			    .program = (uint32_t)(uint64_t)&ccw };
	asm volatile(".insn s,0xb2330000,%0" : : "Q" (orb), "d" (r1) : "cc", "memory");
}

/* Condition code 0: there was a status, and it has been taken. */
static unsigned int test_console(void)
{
	static uint8_t status[96] __attribute__((aligned(8)));
	register uint64_t r1 asm("1") = CONSOLE;
	unsigned int cc;

	asm volatile(".insn s,0xb2350000,%1\n\tipm %0\n\tsrl %0,28"
		     : "=d" (cc), "=Q" (status) : "d" (r1) : "cc", "memory");
	return cc;
}

static void end_io(void)
{
	while (test_console() != 0)
		;
	/* Another one may have come for the attention; this one is not waited for. */
	test_console();
}

static void call_service(uint32_t code)
{
	register uint64_t r1 asm("1") = code;
	register uint64_t r2 asm("2") = (uint64_t)&sccb;

	asm volatile(".insn rre,0xb2200000,%0,%1" : : "d" (r1), "d" (r2) : "cc", "memory");
	wait_for(CR0_SERVICE_SIGNAL, &signalled);
}

static void listen(void)
{
	sccb = (struct sccb){ .length = sizeof(sccb), .mask_length = 4,
			      .masks = { OPERATOR_COMMANDS } };
	call_service(WRITE_EVENT_MASK);
}

static void take_event(void)
{
	wait_for(CR0_SERVICE_SIGNAL, &signalled);
	sccb = (struct sccb){ .length = 4096 };
	call_service(READ_EVENT_DATA);
}

void test_main(void)
{
	struct iucv parm = { .msglim = 255 };
	struct iucv declare = { 0 };
	struct line set_smsg = { .len = 0 };
	uint32_t at = (uint32_t)(uint64_t)&buffer;

	set_cr0(0);
	__builtin_memcpy((uint8_t *)&declare + 12, &at, sizeof(at));
	iucv(DECLARE_BUFFER, &declare);
	put(&set_smsg, "SET SMSG IUCV");
	command(&set_smsg);
	__builtin_memcpy(parm.vmid, "*MSG    ", 8);
	iucv(CONNECT, &parm);
	wait_for(CR0_IUCV, &woken);	/* the connection is complete */
	enable_console();

	say("BEGINS");
	steer(1 << 20);
	say("STEERS");
	steer(0);
	say("STEERS NO MORE");
	measure(MEASUREMENT_BLOCKS);
	say("MEASURES");
	measure(0);
	say("MEASURES NO MORE");
	start_io(NO_OPERATION);
	say("IO");
	end_io();
	say("IO ENDED");
	start_io(READ_INQUIRY);
	say("READS");
	end_io();
	say("READ");
	listen();
	say("LISTENS");
	take_event();
	say("EVENT TAKEN");
}
