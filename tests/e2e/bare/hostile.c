/* SPDX-License-Identifier: MIT */
/*
 * A hostile guest of four CPUs: every entry into CP with parameters that are right, nearly
 * right or anything, and any instruction whatever in problem state.  What it does depends
 * on a seed and on how the CPUs meet.
 *
 * Left out is what ends the guest itself: stores into its own code and the interruption
 * PSWs, DIAGNOSE X'308' that loads or resets, orders that reset a CPU's prefix.  So channel
 * programs lie where nobody else stores, and lead to no other ones.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "channel.h"
#include "cp.h"
#include "hostile.h"
#include "one.h"

/* Where this program is, as the linker is told: no address that it makes up lies there. */
#define CODE UINT64_C(0x680000)
#define SANDBOX UINT64_C(0x800000)
#define SANDBOX_SIZE UINT64_C(0x40000)
#define HOLE UINT64_C(0x8400000)	/* between the guest's storage and the segment */
#define SEGMENT UINT64_C(0x9100000)
#define STORAGE_END UINT64_C(0x8000000)
#define ABOVE_CODE UINT64_C(0x10800000)	/* and above all storage; in 24-bit mode, above code */
#define LOWCORE 0xa00u
#define LOWCORE_SIZE 0x500u
#define MIB UINT64_C(0x100000)
#define TABLE_LENGTH UINT64_C(3)	/* 2,048 segments; these are of 1 MiB */
#define INVALID_SEGMENT UINT64_C(0x20)
#define INVALID_PAGE UINT64_C(0x400)
#define PROTECTED UINT64_C(0x200)
#define TOD_SECOND (UINT64_C(1000000) << 12)
#define WILD_TIME (TOD_SECOND / 500)
#define WILD_INSTRUCTIONS 12u
#define CCWS 8u
#define BURST 256u
#define CONSOLE 0x0009		/* Hercules' own: what becomes of its programs is not CP's */
#define UPDATE_MEASUREMENT UINT64_C(0x2)
#define CR0_ALWAYS UINT64_C(0x60000)	/* floating point and vectors */
#define CR0_NEVER UINT64_C(0x10000000)	/* low-address protection */
#define CR0_CLOCK_COMPARATOR UINT64_C(0x800)
#define PSW_SUPERVISOR UINT64_C(0x0000000180000000)
#define PSW_WILD UINT64_C(0x0501000000000000)	/* DAT, external interruptions, problem state */

void test_main(void);

/* The test writes both before the guest begins: it looks for the text. */
static struct {
	char mark[8] __attribute__((nonstring));
	uint64_t seed, seconds;
} volatile parameters __attribute__((used, aligned(8))) = { "HOSTILE!", 1, 5 };

static struct cpu {
	uint64_t random;
	volatile uint64_t rounds;
	uint64_t control;	/* where LCTLG finds what it loads: nobody else can change it */
	struct ccw program[CCWS];	/* likewise */
	uint64_t data[4];	/* of indirect data addresses */
	struct orb orb;
	struct schib schib;
	uint8_t code[2 * PAGE] __attribute__((aligned(4096)));	/* of one.h */
	uint8_t wild[PAGE] __attribute__((aligned(4096)));	/* in problem state */
} cpus[CPUS];

static volatile uint64_t begun, ended;
static unsigned int devices;	/* subchannels that CP's own devices have: from the first one on */

/* What problem state finds: the first MiB and the code's, read-only, and the sandbox. */
static uint64_t segments[2048] __attribute__((aligned(4096)));
static uint64_t first_pages[256] __attribute__((aligned(2048)));
static uint64_t code_pages[256] __attribute__((aligned(2048)));
static uint64_t sandbox_pages[256] __attribute__((aligned(2048)));

static uint64_t clock_now(void)
{
	uint64_t tod;

	asm volatile("stck %0" : "=Q" (tod) : : "cc", "memory");
	return tod;
}

static uint64_t any(struct cpu *cpu)
{
	cpu->random ^= cpu->random << 13;
	cpu->random ^= cpu->random >> 7;
	return cpu->random ^= cpu->random << 17;
}

static unsigned int below(struct cpu *cpu, unsigned int limit)
{
	return (unsigned int)((any(cpu) >> 32) % limit);
}

static uint64_t in_sandbox(struct cpu *cpu)
{
	const uint64_t at = SANDBOX + any(cpu) % SANDBOX_SIZE;

	switch (below(cpu, 4)) {
	case 0:
		return at;
	case 1:
		return at | (PAGE - 1 - below(cpu, 64));
	case 2:
		return at & -(uint64_t)PAGE;
	default:
		return at & -8UL;
	}
}

/* An address that CP may be given, whatever it does with it; never of the guest's own code. */
static uint64_t address(struct cpu *cpu)
{
	switch (below(cpu, 12)) {
	case 0:
		return HOLE + any(cpu) % 0x10000;
	case 1:
		return SEGMENT + any(cpu) % 0x10000;
	case 2:
		return STORAGE_END - below(cpu, 64);
	case 3:
		return ABOVE_CODE | (any(cpu) & 0x7fffffff);
	case 4:
		return in_sandbox(cpu) | any(cpu) << 32;
	case 5:
		return LOWCORE + below(cpu, LOWCORE_SIZE);
	default:
		return in_sandbox(cpu);
	}
}

static uint64_t length(struct cpu *cpu)
{
	static const uint64_t lengths[] = { 0, 1, 7, 8, 9, 39, 40, 4095, 4096, 4097, 65536,
					    0x7fffffff, 0x80000000, 0xffffffff };

	if (below(cpu, 4) == 0)
		return lengths[below(cpu, sizeof(lengths) / sizeof(lengths[0]))];
	return below(cpu, 256);
}

/* What may stand in a register: an address, a small number, or anything. */
static uint64_t content(struct cpu *cpu)
{
	switch (below(cpu, 4)) {
	case 0:
		return below(cpu, 16);
	case 1:
		return length(cpu);
	case 2:
		return any(cpu) | ABOVE_CODE;
	default:
		return address(cpu);
	}
}

static uint64_t *registers(struct cpu *cpu)
{
	uint64_t *const gr = one_data(cpu->code)->in;

	for (unsigned int i = 0; i < 16; i++)
		gr[i] = content(cpu);
	return gr;
}

static void execute(struct cpu *cpu, uint64_t insn)
{
	static const uint16_t modes[] = { SAM64, SAM64, SAM31, SAM24 };

	one_execute(cpu->code, modes[below(cpu, 4)], insn);
}

static uint64_t four(unsigned int opcode, unsigned int rest)
{
	return (uint64_t)(opcode | (rest & 0xffff)) << 16 | NOP;
}

static uint64_t diag(unsigned int r1, unsigned int r3, unsigned int code)
{
	return (uint64_t)(0x83000000 | r1 << 20 | r3 << 16 | code) << 16 | NOP;
}

static void put_word(uint64_t at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

/* A list of 40 bytes, with what belongs into each place most of the time. */
static void fill_list(struct cpu *cpu, uint64_t at, unsigned int function)
{
	static const char names[][9] = { "LINUX001", "*MSG    ", "*MONITOR", "ZVMLAB  ",
					 "OPERATOR", "NOBODY  ", "*       ", "\0\0\0\0\0\0\0\0" };
	static const uint32_t limits[] = { 0, 1, 10, 255, 65535 };
	enum { CONNECT = 0x0b, DECLARE_BUFFER = 0x0c };

	for (unsigned int i = 0; i < 40; i += 4)
		put_word(at + i, (uint32_t)(any(cpu) | ABOVE_CODE));
	if (below(cpu, 16) == 0)
		return;
	put_word(at, below(cpu, 8) << 16 | (uint32_t)(any(cpu) & any(cpu) & 0xff00));
	put_word(at + 4, function == CONNECT ? limits[below(cpu, 5)] << 16 : below(cpu, 200));
	put_word(at + 8, below(cpu, 4));
	put_word(at + 12, (uint32_t)address(cpu));
	put_word(at + 16, (uint32_t)length(cpu));
	put_word(at + 20, below(cpu, 4));
	put_word(at + 28, (uint32_t)address(cpu));
	put_word(at + 32, (uint32_t)length(cpu));
	if (function == CONNECT)
		__builtin_memcpy((void *)(at + 8), names[below(cpu, 8)], 8);
	if (function == DECLARE_BUFFER)
		put_word(at + 12, (uint32_t)in_sandbox(cpu));
	if (function == CONNECT && below(cpu, 2))
		__builtin_memcpy((void *)(at + 16), "MONDCSS ", 8);
}

static void iucv(struct cpu *cpu)
{
	/* Sending, receiving and answering more often than what ends it all. */
	static const uint8_t often[] = { 4, 4, 5, 5, 6, 8, 9, 7, 0x0a, 0x0b, 0x0b, 0x0c, 1, 3 };
	const unsigned int function = below(cpu, 3) ? often[below(cpu, sizeof(often))] : below(cpu, 20);
	uint64_t at = in_sandbox(cpu);
	uint64_t *const gr = registers(cpu);

	if (below(cpu, 8))
		at &= -8UL;
	fill_list(cpu, at & -4UL, function);
	gr[0] = below(cpu, 32) ? function : content(cpu);
	gr[1] = below(cpu, 16) ? at : address(cpu);
	execute(cpu, four(0xb2f00000, (unsigned int)any(cpu)));
}

static unsigned int command_text(struct cpu *cpu, uint64_t at)
{
	static const char words[][16] = {
		"QUERY ", "Q ", "NAMES", "VIRTUAL ", "STORAGE", "NSS ", "MAP", "USERID", "CPLEVEL",
		"TIME", "PRIVCLASS", "MONITOR ", "SAMPLE ", "EVENT ", "ENABLE ", "DISABLE ", "ALL",
		"START", "STOP", "INTERVAL ", "SET ", "RUN ", "ON", "OFF", "TERMINAL ", "CONMODE ",
		"3215", "DEFSEG ", "SAVESEG ", "PURGE ", "NAME ", "MONDCSS", "TESTSEG ", "9000-90FF ",
		"SR", "SC", "EW", "SMSG ", "LINUX001 ", "MSG ", "OPERATOR ", "\"", " ", "*",
	};
	uint8_t *const text = (uint8_t *)at;
	unsigned int len = 0;

	for (unsigned int count = below(cpu, 8); count-- > 0;) {
		const char *word = words[below(cpu, sizeof(words) / sizeof(words[0]))];

		while (*word)
			text[len++] = (uint8_t)*word++;
		if (below(cpu, 8) == 0)
			text[len++] = (uint8_t)any(cpu);
	}
	return len;
}

static void diagnose_command(struct cpu *cpu)
{
	const uint64_t at = in_sandbox(cpu) & ~UINT64_C(0x1ff);
	const unsigned int rx = below(cpu, 16), ry = below(cpu, 16), text = command_text(cpu, at);
	uint64_t *const gr = registers(cpu);

	gr[(rx + 1) % 16] = in_sandbox(cpu);
	gr[(ry + 1) % 16] = below(cpu, 8) ? below(cpu, 8192) : length(cpu);
	gr[rx] = below(cpu, 16) ? at : address(cpu);
	gr[ry] = (below(cpu, 16) ? text : length(cpu)) | (uint64_t)(below(cpu, 2) * 0x40) << 24;
	execute(cpu, diag(rx, ry, 0x08));
}

static void diagnose(struct cpu *cpu)
{
	static const uint16_t codes[] = { 0x00, 0x0c, 0x44, 0x64, 0x64, 0x9c, 0xdc, 0x204,
					  0x210, 0x224, 0x258, 0x258, 0x260, 0x2fc, 0x288, 0x10 };
	const unsigned int r1 = below(cpu, 16), r3 = below(cpu, 16);
	const unsigned int code = codes[below(cpu, sizeof(codes) / sizeof(codes[0]))];
	uint64_t *const gr = registers(cpu);

	if (code == 0x10) {
		gr[r1] = in_sandbox(cpu);
		gr[r3] = in_sandbox(cpu);
	}
	if (code == 0x64 && below(cpu, 2)) {
		__builtin_memcpy((void *)(SANDBOX + SANDBOX_SIZE), "MONDCSS ", 8);
		gr[r1] = SANDBOX + SANDBOX_SIZE;
		gr[r3] = below(cpu, 64);
	}
	if (code == 0x00)
		gr[r3] = length(cpu);
	execute(cpu, diag(r1, r3, code));
}

static void store_system_information(struct cpu *cpu)
{
	const unsigned int b = below(cpu, 16), d = below(cpu, 4) ? 0 : below(cpu, PAGE);
	uint64_t *const gr = registers(cpu);

	gr[0] = below(cpu, 4) ? (uint64_t)below(cpu, 5) << 28 | below(cpu, 4) : any(cpu);
	gr[1] = below(cpu, 4) ? below(cpu, 4) : any(cpu);
	if (b < 2)
		return;
	gr[b] = (below(cpu, 2) ? SANDBOX + (any(cpu) % SANDBOX_SIZE & -(uint64_t)PAGE)
			       : HOLE + below(cpu, 4) * PAGE) - d;
	execute(cpu, four(0xb27d0000, b << 12 | d));
}

static void store_hypervisor_information(struct cpu *cpu)
{
	const unsigned int r1 = below(cpu, 16), r2 = below(cpu, 8) * 2;
	uint64_t *const gr = registers(cpu);

	gr[r1] = below(cpu, 2) ? any(cpu) & ~UINT64_C(0xffff) : below(cpu, 9);
	gr[r2] = below(cpu, 2) ? SANDBOX + (any(cpu) % SANDBOX_SIZE & -(uint64_t)PAGE)
			       : HOLE + below(cpu, 4) * PAGE;
	execute(cpu, four(0xb2560000, r1 << 4 | r2));
}

static void load_control(struct cpu *cpu)
{
	static const uint8_t which[] = { 0, 0, 0, 0, 1, 6, 7, 8, 13 };
	const unsigned int r = which[below(cpu, sizeof(which))];
	uint64_t value = any(cpu) & (below(cpu, 2) ? any(cpu) : -1UL);
	uint64_t *const gr = registers(cpu);

	if (r == 0)
		value = (value & ~CR0_NEVER) | CR0_ALWAYS;
	cpu->control = value;
	gr[2] = (uint64_t)&cpu->control;
	execute(cpu, (uint64_t)0xeb << 40 | (uint64_t)(r << 4 | r) << 32 | 0x2000002f);
}

static void signal(struct cpu *cpu, unsigned int self)
{
	enum { SENSE = 1, STOP = 5, RESTART = 6, STOP_STORE = 9, RESET = 12, SET_PREFIX = 13,
	       STORE_STATUS = 14, SET_ARCHITECTURE = 18 };
	static const uint8_t orders[] = { SENSE, 2, 3, 4, STOP, RESTART, STOP_STORE, RESET, SET_PREFIX,
					  STORE_STATUS, 16, SET_ARCHITECTURE, 19, 21, 23, 0, 255 };
	const unsigned int order = orders[below(cpu, sizeof(orders))];
	unsigned int target = below(cpu, 8);
	uint64_t *const gr = registers(cpu);

	if ((target == 0 || target == self) &&
	    (order == STOP || order == STOP_STORE || order == RESET || order == RESTART))
		target = CPUS;
	gr[2] = gr[3] = in_sandbox(cpu);
	if (order == SET_PREFIX)
		gr[2] = gr[3] = HOLE;
	if (order == SET_ARCHITECTURE)
		gr[2] = gr[3] = 1;
	gr[4] = target | (below(cpu, 16) ? 0 : any(cpu) << 16);
	execute(cpu, four(0xae000000, 0) | (uint64_t)0x24 << 32 | (uint64_t)order << 16);
}

static void protection(struct cpu *cpu)
{
	static const uint32_t opcodes[] = { 0xb2290000, 0xb22a0000, 0xb22b0000 };
	uint64_t *const gr = registers(cpu);
	const unsigned int which = below(cpu, 4);

	gr[3] = address(cpu);
	if (which == 3) {
		execute(cpu, (uint64_t)0xe5013000 << 16 | below(cpu, 0x1000));
		return;
	}
	execute(cpu, four(opcodes[which], 0x23));
}

/* Commands that the devices have, nearly have, or do not have; at places where data may be. */
static void fill_program(struct cpu *cpu)
{
	static const uint8_t commands[] = { CCW_NOP, CCW_NOP, CCW_SENSE, CCW_SENSE_ID, 0x02, 0x42, 0x01,
					    0x41, 0x09, 0x11, 0x0b, 0x8b, CCW_TIC, CCW_TIC };

	for (unsigned int i = 0; i < CCWS; i++) {
		struct ccw *const ccw = &cpu->program[i];

		*ccw = (struct ccw){
			.command = below(cpu, 16) ? commands[below(cpu, sizeof(commands))]
						  : (uint8_t)any(cpu),
			.flags = CCW_CHAIN | CCW_SLI, .count = (uint16_t)length(cpu),
			.address = (uint32_t)address(cpu) & 0x7fffffff,
		};
		if (below(cpu, 4) == 0)
			ccw->flags = (uint8_t)any(cpu);
		if (ccw->flags & CCW_INDIRECT)
			ccw->address = (uint32_t)(uint64_t)&cpu->data[below(cpu, 4)];
		if (ccw->command != CCW_TIC)
			continue;
		ccw->address = below(cpu, 4) ? (uint32_t)HOLE + below(cpu, 64)
					      : (uint32_t)(uint64_t)&cpu->program[below(cpu, CCWS)];
		ccw->flags = 0;
		ccw->count = below(cpu, 8) == 0;
	}
	/* One that certainly has no end takes as long as CP lets it. */
	if (below(cpu, 16) == 0) {
		cpu->program[0].command = CCW_NOP;
		cpu->program[0].flags = CCW_CHAIN | CCW_SLI;
		cpu->program[1] = (struct ccw){
			.command = CCW_TIC, .address = (uint32_t)(uint64_t)cpu->program,
		};
	}
	/* Words of 31 bits; doublewords of this kind lead nowhere. */
	for (unsigned int i = 0; i < 4; i++)
		cpu->data[i] = (address(cpu) & 0x7fffffff) << 32 | (address(cpu) & 0x7fffffff);
}

static void fill_orb(struct cpu *cpu)
{
	cpu->orb = (struct orb){
		.control = below(cpu, 8) ? ORB_FORMAT_1 : ORB_FORMAT_1 | (uint16_t)any(cpu),
		.paths = below(cpu, 16) ? 0xff : (uint8_t)any(cpu),
		.more = below(cpu, 16) ? 0 : (uint8_t)any(cpu),
		.program = below(cpu, 16) ? (uint32_t)(uint64_t)&cpu->program[below(cpu, CCWS)]
					  : (uint32_t)HOLE + below(cpu, 64),
	};
}

static void fill_schib(struct cpu *cpu)
{
	cpu->schib = (struct schib){
		.parameter = (uint32_t)any(cpu),
		.flags = (below(cpu, 16) ? SCHIB_ENABLED : 0) | (any(cpu) & 0x3938),
		.paths = { [0] = 0xff, [4] = (uint8_t)any(cpu), [6] = 0xff },
		.more = below(cpu, 4) ? 0 : any(cpu) & 0x7,
		.model = { 0, (uint32_t)in_sandbox(cpu) & -64u, 0 },
	};
	if (below(cpu, 2))
		cpu->schib.model[1] = (uint32_t)HOLE;
}

/* The same over and over: what is told of it and never looked at must not pile up. */
static void burst(struct cpu *cpu)
{
	const uint32_t which = SUBCHANNEL_0 + below(cpu, devices);
	const unsigned int kind = below(cpu, 3);
	struct irb irb;

	cpu->program[0] = (struct ccw){ .command = CCW_NOP, .flags = CCW_SLI, .count = 1 };
	cpu->orb = (struct orb){
		.control = ORB_FORMAT_1, .paths = 0xff,
		.program = (uint32_t)(uint64_t)cpu->program,
	};
	for (unsigned int i = 0; i < BURST; i++) {
		if (kind == 0)
			ssch(which, &cpu->orb);
		else if (kind == 1)
			csch(which, &irb);
		else
			rchp(which & 3, &irb);
		if (kind != 2)
			tsch(which, &irb);
	}
}

/* Register 1 says of what, the operand lies where the instruction may store. */
static void channel(struct cpu *cpu)
{
	enum { CSCH = 0x30, HSCH, MSCH, SSCH, STSCH, TSCH, TPI, SAL, RSCH, STCRW, STCPS, RCHP, SCHM,
	       XSCH = 0x76 };
	static const uint8_t often[] = { SSCH, SSCH, SSCH, SSCH, TSCH, TSCH, TSCH, CSCH, HSCH, MSCH,
					 STSCH, TPI, SAL, RSCH, STCRW, STCPS, RCHP, SCHM, XSCH };
	const unsigned int which = often[below(cpu, sizeof(often))], b = 2 + below(cpu, 14);
	uint64_t *gr;

	if (below(cpu, 16) == 0) {
		burst(cpu);
		return;
	}
	gr = registers(cpu);
	gr[1] = below(cpu, 32) ? SUBCHANNEL_0 + below(cpu, devices + 1) : content(cpu);
	gr[b] = address(cpu);
	if (which == SSCH) {
		fill_program(cpu);
		fill_orb(cpu);
		gr[b] = (uint64_t)&cpu->orb;
	} else if (which == MSCH) {
		fill_schib(cpu);
		gr[b] = (uint64_t)&cpu->schib;
	} else if (which == RCHP) {
		gr[1] = below(cpu, 4);
	} else if (which == SCHM) {
		gr[1] = below(cpu, 4) ? UPDATE_MEASUREMENT : 0;
		gr[2] = in_sandbox(cpu) & -32UL;
	} else if (which == TPI && below(cpu, 2)) {
		gr[b] = 0;
	}
	execute(cpu, four(0xb2000000 | which << 16, b << 12));
}

/* A moment of waiting or running with all that CR0 lets interrupt. */
static void interruptions(void)
{
	asm volatile("stosm 0x3f0(0),3\n\tstnsm 0x3f0(0),0xfc" : : : "memory");
}

/* Instructions of problem state: some are CP's, most are anything. */
static void wild(struct cpu *cpu)
{
	struct own *volatile own = (struct own *)OWN;
	const uint64_t space = (uint64_t)segments | TABLE_LENGTH;
	const uint64_t limit = clock_now() + WILD_TIME;
	uint16_t *code = (uint16_t *)(cpu->wild + 2 * below(cpu, PAGE / 4));
	uint64_t cr0;

	own->psw[1] = (uint64_t)code;
	own->psw[0] = PSW_WILD | (below(cpu, 4) ? 0x180000000 : 0x80000000);
	own->psw[0] |= (any(cpu) & 0x3f) << 40;	/* condition code, program mask */
	for (unsigned int i = 0; i < 16; i++)
		own->gr[i] = content(cpu);
	for (unsigned int i = 0; i < WILD_INSTRUCTIONS; i++) {
		*code++ = below(cpu, 8) ? (uint16_t)any(cpu) : below(cpu, 2) ? 0xb2f0 : 0x8324;
		*code++ = (uint16_t)any(cpu);
		if (below(cpu, 2))
			*code++ = (uint16_t)any(cpu);
	}
	*code = 0x0a00;
	asm volatile("stctg %%c0,%%c0,%0" : "=S" (cr0));
	cr0 |= CR0_CLOCK_COMPARATOR;
	asm volatile("lctlg %%c0,%%c0,%0\n\tlctlg %%c1,%%c1,%1\n\tlctlg %%c7,%%c7,%1\n\t"
		     "lctlg %%c13,%%c13,%1\n\tsckc %2"
		     : : "S" (cr0), "S" (space), "Q" (limit) : "memory");
	own->wild = 1;
	go_wild();
}

/* CP may have been told to store into the prefix area. */
static void mend_prefix_area(void)
{
	struct own *volatile own = (struct own *)OWN;
	uint64_t *volatile new_psw = (uint64_t *)0x1a0;
	char *const entries[] = { restart_entry, external_handler, svc_handler, program_handler,
				  again, again };

	for (unsigned int i = 0; i < 6; i++) {
		new_psw[2 * i] = PSW_SUPERVISOR;
		new_psw[2 * i + 1] = (uint64_t)entries[i];
	}
	own->wild = 0;
	own->never = -1UL;
	own->long_time = -1UL >> 1;
}

static void set_up(unsigned int self)
{
	mend_prefix_area();
	asm volatile("sckc 0x410(0)\n\tspt 0x418(0)" : : : "memory");
	if (cpus[self].random == 0) {
		cpus[self].random = (parameters.seed + self + 1) * UINT64_C(0x9e3779b97f4a7c15);
		__builtin_memcpy(cpus[self].code, one_code, sizeof(one_code));
	}
}

static unsigned int order(unsigned int order, unsigned int cpu)
{
	register uint64_t parameter asm("1") = 0;
	register uint64_t address asm("2") = cpu;
	unsigned int cc;

	asm volatile("sigp %1,%2,0(%3)\n\tipm %0\n\tsrl %0,28"
		     : "=d" (cc), "+d" (parameter) : "d" (address), "a" (order) : "cc", "memory");
	return cc == 1 ? (unsigned int)parameter & 0x40 : cc;
}

/* CPU 0 begins what others have stopped, and says every second that it lives. */
static void look_after(void)
{
	static uint64_t next;
	const uint64_t now = clock_now();
	struct line line = { .len = 0 };

	for (unsigned int i = 1; i < CPUS; i++)
		if (order(1, i) == 0x40)
			order(6, i);
	if (now < next)
		return;
	next = now + TOD_SECOND;
	ended = now > begun + parameters.seconds * TOD_SECOND;
	put(&line, ended ? OPERATOR "ENDED" : OPERATOR "ALIVE");
	for (unsigned int i = 0; i < CPUS; i++) {
		put(&line, " ");
		put_hex(&line, cpus[i].rounds, 8);
	}
	command(&line);
}

static void stop(unsigned int self)
{
	for (unsigned int i = self == 0 ? 1 : CPUS; i < CPUS; i++)
		while (order(5, i) != 0x40 && order(1, i) != 0x40)
			;
	while (1)
		order(5, self);
}

void hostile_cpu(unsigned int self)
{
	struct cpu *const cpu = &cpus[self];

	set_up(self);
	while (!ended) {
		if (self == 0 && cpu->rounds % 64 == 0)
			look_after();
		cpu->rounds++;
		mend_prefix_area();
		switch (below(cpu, 16)) {
		case 0:
			if (below(cpu, 2))
				store_system_information(cpu);
			else
				store_hypervisor_information(cpu);
			break;
		case 1:
			load_control(cpu);
			break;
		case 2:
			signal(cpu, self);
			break;
		case 3:
			protection(cpu);
			break;
		case 4:
			interruptions();
			break;
		case 5:
			diagnose_command(cpu);
			break;
		case 6:
		case 7:
			diagnose(cpu);
			break;
		case 8:
		case 9:
			wild(cpu);
			break;
		case 10:
			if (devices > 0) {
				channel(cpu);
				break;
			}
			/* fallthrough */
		default:
			iucv(cpu);
		}
	}
	stop(self);
}

static void make_space(void)
{
	for (unsigned int i = 0; i < 2048; i++)
		segments[i] = INVALID_SEGMENT;
	segments[0] = (uint64_t)first_pages;
	segments[CODE / MIB] = (uint64_t)code_pages;
	segments[SANDBOX / MIB] = (uint64_t)sandbox_pages;
	for (unsigned int i = 0; i < 256; i++) {
		first_pages[i] = i * PAGE | PROTECTED;
		code_pages[i] = (CODE / MIB * MIB + i * PAGE) | PROTECTED;
		sandbox_pages[i] = i < SANDBOX_SIZE / PAGE ? SANDBOX + i * PAGE : INVALID_PAGE;
	}
}

void test_main(void)
{
	struct schib schib;

	make_space();
	while (channel_device(devices, &schib) != 0 && schib.device != CONSOLE)
		devices++;
	begun = clock_now();
	for (unsigned int i = 1; i < CPUS; i++) {
		uint64_t *volatile psw = (uint64_t *)0x1a0;

		psw[0] = PSW_SUPERVISOR;
		psw[1] = (uint64_t)restart_entry;
		while (order(6, i) == 2)
			;
		while (cpus[i].rounds == 0)
			;
	}
	((void (*)(void))restart_entry)();
}
