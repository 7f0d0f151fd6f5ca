/* SPDX-License-Identifier: MIT */
/*
 * Channel programs of a guest that takes no I/O interruption: how many are pending after what it
 * does, and what becomes of a program that has no end.
 *
 * Says one line for each; then it starts a program without an end again and again.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "channel.h"
#include "cp.h"
#include "processor.h"

#define OFTEN 2000u
#define STATUS_CONTROL 0x1fu
#define ALL_SUBCLASSES UINT64_C(0xff000000)
#define TOD_20_MS (UINT64_C(20000) << 12)
#define LONG UINT32_C(0x1000000)	/* a program of so many CCWs lies there */
#define LONG_CCWS 0x20000u

void test_main(void);

static struct schib schib;
static struct irb irb;
static uint32_t device;
static uint8_t data[8] __attribute__((aligned(8)));

static struct ccw nop[] = { { .command = CCW_NOP, .flags = CCW_SLI, .count = 1 } };
static struct ccw refused[] = { { .command = 0, .count = 1 } };
static struct ccw suspended[] = {
	{ .command = CCW_NOP, .flags = CCW_SLI | CCW_SUSPEND, .count = 1 },
};
static struct ccw endless[] = {
	{ .command = CCW_NOP, .flags = CCW_CHAIN | CCW_SLI, .count = 1 },
	{ .command = CCW_TIC },
};

/* Too long a program, of commands that are chained in storage. */
static const struct ccw *chain(void)
{
	struct ccw *const program = (struct ccw *)(uint64_t)LONG;

	for (unsigned int i = 0; i < LONG_CCWS; i++) {
		program[i] = nop[0];
		program[i].flags |= i + 1 < LONG_CCWS ? CCW_CHAIN : 0;
	}
	return program;
}

static void say(const char *what, unsigned int value)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " ");
	put_hex(&line, value, 4);
	command(&line);
}

static unsigned int start(const struct ccw *program, uint16_t control)
{
	struct orb orb = {
		.control = ORB_FORMAT_1 | control, .paths = 0xff,
		.program = (uint32_t)(uint64_t)program,
	};

	return ssch(device, &orb);
}

/* Interruptions that are pending; none is afterwards. */
static unsigned int pending(void)
{
	static uint32_t code[3] __attribute__((aligned(8)));
	unsigned int count = 0;

	while (count < 0xffff && tpi(0, code) == 1)
		count++;
	return count;
}

static void status_without_interruption(void)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < OFTEN; i++) {
		wrong += start(nop, 0) != 0 || tsch(device, &irb) != 0 ||
			 irb.device_status != (CHANNEL_END | DEVICE_END);
	}
	say("WRONG", wrong);
	say("AFTER TSCH", pending());
}

static void interruption_before_status(void)
{
	start(nop, 0);
	say("AFTER SSCH", pending());
	say("STATUS", tsch(device, &irb));
	for (unsigned int i = 0; i < OFTEN; i++)
		csch(device, &irb);
	say("AFTER CSCH", pending());
	say("STATUS", tsch(device, &irb));
	start(nop, 0);
	csch(device, &irb);
	say("AFTER SSCH CSCH", pending());
	say("STATUS", tsch(device, &irb));
}

/* Of the status before nothing is left: status control has the lowest bit alone. */
static void cleared_status(void)
{
	start(refused, 0);
	csch(device, &irb);
	say("AFTER REFUSED CSCH", pending());
	say("STATUS", tsch(device, &irb));
	say("CLEARED", irb.control & STATUS_CONTROL);
}

static void modified(void)
{
	start(suspended, ORB_SUSPEND);
	say("XSCH", xsch(device, &irb));
	say("MSCH", msch(device, &schib));
	say("AFTER MSCH", pending());
}

/* One machine check: offsets in the prefix area are those of the Principles of Operation. */
extern char machine_check[];
asm("	.pushsection .text\n"
    "machine_check:\n"
    "	mvi	0x400,1\n"
    "	ni	0x161,0xfb\n"
    "	lpswe	0x160\n"
    "	.popsection\n");

/* Return: was one pending? */
static unsigned int take_machine_check(void)
{
	static uint64_t psw[2] = { UINT64_C(0x0004000180000000) };
	const uint64_t channel_reports = 0x10000000;
	uint64_t *volatile new_psw = (uint64_t *)0x1e0;
	volatile uint8_t *volatile taken = (uint8_t *)0x400;

	new_psw[0] = UINT64_C(0x0000000180000000);
	new_psw[1] = (uint64_t)machine_check;
	*taken = 0;
	asm volatile("lctlg %%c14,%%c14,%1\n\tlarl %%r1,0f\n\tstg %%r1,8+%0\n\tlpswe %0\n"
		     "0:\tnopr" : "+Q" (psw) : "S" (channel_reports) : "1", "memory");
	return *taken;
}

/* The CPU timer that the last machine check stored, some time ago, against what it is now. */
static unsigned int saved_timer_is_off(void)
{
	const int64_t saved = *(volatile int64_t *)0x1328;
	int64_t timer;

	asm volatile("stpt %0" : "=Q" (timer) : : "memory");
	return timer > saved || saved - timer > (int64_t)PATIENCE;
}

static void reports(void)
{
	static struct { uint16_t flags, source; } crw __attribute__((aligned(4)));
	enum { OVERFLOW = 0x2000 };
	unsigned int count = 0;

	for (unsigned int i = 0; i < OFTEN; i++)
		rchp(schib.chpid[0], &irb);
	while (count < 0xffff && stcrw(0, &crw) == 0)
		count++;
	say("MACHINE CHECK", take_machine_check());
	say("TIMER IS OFF", saved_timer_is_off());
	say("REPORTS", count);
	rchp(schib.chpid[0], &irb);
	stcrw(0, &crw);
	say("OVERFLOW", crw.flags & OVERFLOW);
	say("NO MORE", stcrw(0, &crw));
	say("MACHINE CHECK", take_machine_check());
}

void test_main(void)
{
	const uint64_t subclasses = ALL_SUBCLASSES;

	asm volatile("lctlg %%c6,%%c6,%0" : : "S" (subclasses) : "memory");
	endless[0].address = nop[0].address = (uint32_t)(uint64_t)data;
	endless[1].address = (uint32_t)(uint64_t)endless;
	device = channel_device(0, &schib);
	say("DEVICE", schib.device);
	status_without_interruption();
	interruption_before_status();
	cleared_status();
	modified();
	reports();
	say("ENDLESS", start(endless, 0));
	say("STATUS", tsch(device, &irb));
	say("SUBCHANNEL", irb.subchannel_status);
	say("LONG", start(chain(), 0));
	say("STATUS", tsch(device, &irb));
	say("SUBCHANNEL", irb.subchannel_status);
	while (1) {
		const uint64_t until = clock_now() + TOD_20_MS;

		start(endless, 0);
		tsch(device, &irb);
		while (clock_now() < until)
			;
	}
}
