/* SPDX-License-Identifier: MIT */
/*
 * Random channel programs, for devices of SPOOL and MDISK statements: any chaining, loops, indirect
 * lists, bad addresses, and every instruction of the channel subsystem at any time, with I/O
 * interruptions disabled.  Each seed gives the same programs and instructions.
 *
 * What is asserted holds whatever a program does (z/Architecture Principles of Operation, "I/O
 * Interruptions", "Basic I/O Functions"):
 *   - a subchannel has at most one interruption pending;
 *   - TEST SUBCHANNEL stores status once, and that says so;
 *   - a program that ends without a check ends behind one of its CCWs;
 *   - no program, list or block is changed, and nothing but the data areas that CCWs name.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "channel.h"
#include "cp.h"

#define ALL_SUBCLASSES UINT64_C(0xff000000)
#define CCWS 16u
#define LISTS 4u
#define ENTRIES 66u		/* of a list: those that 65,535 bytes need, and more */
#define OPERATIONS 64u		/* instructions of a seed */
#define LIFE 8u			/* and with one program */
#define DEVICES_MAX 8u
#define CHUNK 4096u
#define CHUNKS 96u		/* data areas begin in the second third; the others are guards */
#define FIRST (CHUNKS / 3)
#define MIDDLE (CHUNKS / 3)
#define ARENA UINT32_C(0x800000)	/* also within 24 bits */
#define BEYOND UINT32_C(0x8400000)	/* storage ends below, and the segment begins above */
#define PATTERN UINT64_C(0xa5c3964b5a3c69b4)
#define REPORT 64u		/* seeds */

enum { CCW_DATA = 0x80 };
enum { FORMAT_2_LISTS = 0x0002, BLOCKS_OF_2K = 0x0001 };
enum { STATUS_PENDING = 0x01, START_FUNCTION = 0x4000 };
enum broken {
	TWICE_PENDING = 1,
	STATUS_TWICE,
	NO_STATUS,
	WRONG_END,
	CHANGED_PROGRAM,
	CHANGED_DATA,
};

void test_main(void);

extern uint32_t program_code;

/* The test writes both before the guest begins: it looks for the text. */
static struct {
	char mark[8] __attribute__((nonstring));
	uint64_t seed, seeds;
} volatile parameters __attribute__((used, aligned(8))) = { "PROGRAMS", 1, 1 };

/* What CP reads: no data area leads here. */
static struct given {
	struct ccw program[CCWS], end;	/* command 0 is none */
	uint64_t lists[LISTS][ENTRIES];
	struct orb orb;
	struct schib schib;
} given, kept;

static struct irb irb;
static uint64_t state;
static uint8_t named[CHUNKS];
static uint32_t devices[DEVICES_MAX];
static unsigned int device_count;
static uint64_t seed, ended;

CHANNEL_INSTRUCTION(rsch, "0xb2380000")

/* xorshift64*; the multiplier is the one that Vigna's paper gives. */
static uint64_t any(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(0x2545f4914f6cdd1d);
}

static unsigned int below(unsigned int limit)
{
	return (unsigned int)(any() >> 33) % limit;
}

static void say(const char *what, uint64_t value, unsigned int more, uint64_t detail)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " ");
	put_hex(&line, value, 16);
	put(&line, " ");
	put_hex(&line, more, 4);
	put(&line, " ");
	put_hex(&line, detail, 8);
	command(&line);
}

static void broken(enum broken what, uint64_t detail)
{
	say("BROKEN", seed, what, detail);
}

static void name(uint32_t from, uint32_t to)
{
	for (uint32_t chunk = (from - ARENA) / CHUNK; chunk <= (to - ARENA) / CHUNK; chunk++)
		named[chunk] = 1;
}

static uint32_t data_address(void)
{
	const uint32_t at = ARENA + (FIRST + below(MIDDLE)) * CHUNK;

	switch (below(4)) {
	case 0:
		return at;
	case 1:
		return at + CHUNK - 1 - below(8);
	default:
		return at + below(CHUNK);
	}
}

static uint16_t length(void)
{
	static const uint16_t usual[] = { 0, 1, 2, 8, 24, 80, 132, 160, 512, 4095, 4096, 0xffff };

	return below(4) ? usual[below(sizeof(usual) / sizeof(*usual))] : (uint16_t)any();
}

/* Words or doublewords: addresses of blocks in the arena, now and then bad ones. */
static void fill_list(unsigned int which, int wide)
{
	uint32_t *const words = (uint32_t *)given.lists[which];

	for (unsigned int i = 0; i < ENTRIES; i++) {
		uint32_t address = data_address();

		if (i > 0 && below(16))
			address &= -2048U;
		if (below(64) == 0)
			address = BEYOND + below(64);
		else
			name(address, address | (CHUNK - 1));
		if (wide)
			given.lists[which][i] = below(128) ? address : any() | UINT64_C(1) << 40;
		else
			words[i] = below(128) ? address : address | 0x80000000;
	}
}

/* In the format of the ORB: bytes of format 0 are command, address (24 bits), flags, 0, count. */
static void put_ccw(unsigned int at, int format_1, struct ccw ccw)
{
	uint8_t *const bytes = (uint8_t *)&given.program[at];

	if (format_1) {
		given.program[at] = ccw;
		return;
	}
	given.program[at].address = (uint32_t)ccw.flags << 24 | ccw.count;
	bytes[0] = ccw.command;
	bytes[1] = (uint8_t)(ccw.address >> 16);
	bytes[2] = (uint8_t)(ccw.address >> 8);
	bytes[3] = (uint8_t)ccw.address;
}

static uint32_t program_at(unsigned int index)
{
	return (uint32_t)(uint64_t)&given.program[index];
}

static struct ccw any_ccw(int format_1)
{
	static const uint8_t commands[] = {
		/* what all devices have; reader, punch, printer; fixed-block disk */
		CCW_NOP, CCW_SENSE, CCW_SENSE_ID, CCW_NOP, CCW_SENSE, CCW_SENSE_ID, CCW_SENSE,
		CCW_SENSE_ID, 0x02, 0x42, 0x01, 0x41, 0x09, 0x11, 0x0b, 0x8b, 0x43, 0x63, 0x64,
	};
	static const uint8_t usual[] = {
		CCW_CHAIN | CCW_SLI, CCW_CHAIN | CCW_SLI, CCW_CHAIN | CCW_SLI, CCW_SLI, CCW_CHAIN,
		CCW_DATA | CCW_SLI, CCW_CHAIN | CCW_SLI | CCW_INDIRECT, CCW_SLI | CCW_INDIRECT,
	};
	const uint32_t nowhere = format_1 ? BEYOND : ARENA / 2;	/* or nothing but zeros */
	struct ccw ccw = {
		.command = below(16) ? commands[below(sizeof(commands))] : (uint8_t)any(),
		.flags = below(8) ? usual[below(sizeof(usual))] : (uint8_t)any(),
		.count = length(),
		.address = data_address(),
	};

	if ((ccw.command & 0x0f) == CCW_TIC || below(8) == 0) {
		/* All of these are in format 0, one of them in format 1. */
		ccw.command = (uint8_t)((below(32) ? 0 : any() & 0xf0) | CCW_TIC);
		ccw.flags = below(16) ? 0 : ccw.flags & ~CCW_INDIRECT;
		ccw.count = below(16) ? 0 : ccw.count;
		ccw.address = below(16) ? program_at(below(CCWS)) : nowhere;
		return ccw;
	}
	if (ccw.flags & CCW_INDIRECT) {
		ccw.address = (uint32_t)(uint64_t)given.lists[below(LISTS)];
	} else if (below(64) == 0 && format_1) {
		ccw.address = BEYOND + below(64);
	} else {
		/* Commands that read backward end at the address. */
		name(ccw.address - ccw.count, ccw.address + ccw.count);
	}
	return ccw;
}

/* A few CCWs that all devices carry out, with data where it may be. */
static void fill_tame(int format_1)
{
	static const uint8_t commands[] = { CCW_NOP, CCW_SENSE };
	const unsigned int last = below(CCWS);

	for (unsigned int i = 0; i <= last; i++) {
		struct ccw ccw = {
			.command = commands[below(sizeof(commands))],
			.flags = (uint8_t)(CCW_SLI | (i < last ? CCW_CHAIN : 0)),
			.count = (uint16_t)(1 + length() % 0xffff),
			.address = data_address(),
		};

		if (below(4) == 0) {
			ccw.flags |= CCW_INDIRECT;
			ccw.address = (uint32_t)(uint64_t)given.lists[below(LISTS)];
		} else {
			name(ccw.address, ccw.address + ccw.count);
		}
		put_ccw(i, format_1, ccw);
	}
	given.orb.program = program_at(0);
}

static void fill_program(void)
{
	const int format_1 = below(4) != 0, endless = below(64) == 0;

	given.orb = (struct orb){
		.control = (uint16_t)(any() & (FORMAT_2_LISTS | BLOCKS_OF_2K)),
		.paths = below(16) ? 0xff : (uint8_t)any(),
		.program = program_at(below(4) ? 0 : below(CCWS)),
	};
	if (format_1)
		given.orb.control |= ORB_FORMAT_1;
	if (below(8) == 0)
		given.orb.control |= (uint16_t)(any() & 0x0f7f & ~ORB_FORMAT_1);
	if (below(32) == 0)
		given.orb.program = BEYOND + below(64);
	for (unsigned int i = 0; i < LISTS; i++)
		fill_list(i, given.orb.control & FORMAT_2_LISTS);
	for (unsigned int i = 0; i < CCWS; i++)
		put_ccw(i, format_1, any_ccw(format_1));
	if (below(2))
		fill_tame(format_1);
	if (endless) {
		put_ccw(0, format_1, (struct ccw){
			.command = CCW_NOP, .flags = CCW_CHAIN | CCW_SLI, .count = 1,
			.address = ARENA + FIRST * CHUNK,
		});
		name(ARENA + FIRST * CHUNK, ARENA + FIRST * CHUNK);
		put_ccw(1, format_1, (struct ccw){ .command = CCW_TIC, .address = program_at(0) });
		given.orb.program = program_at(0);
	}
	kept = given;
}

/* @known: the program that was started last is still the one that is there. */
static void test(uint32_t device, int known)
{
	unsigned int cc;

	program_code = 0;
	cc = tsch(device, &irb);
	if (program_code || cc > 1)
		return;
	if (cc == 1) {
		if (irb.control & STATUS_PENDING)
			broken(STATUS_TWICE, irb.control);
		return;
	}
	if (!(irb.control & STATUS_PENDING))
		broken(NO_STATUS, irb.control);
	if (known && (irb.control & START_FUNCTION) && irb.subchannel_status == 0 &&
	    irb.device_status == (CHANNEL_END | DEVICE_END) &&
	    (irb.program <= program_at(0) || irb.program > program_at(CCWS) || irb.program % 8))
		broken(WRONG_END, irb.program);
	ended += known && irb.device_status == (CHANNEL_END | DEVICE_END);
	if (tsch(device, &irb) == 0)
		broken(STATUS_TWICE, irb.control);
}

static void count_pending(void)
{
	static uint32_t code[3] __attribute__((aligned(8)));
	unsigned int count = 0;

	while (count <= DEVICES_MAX && tpi(0, code) == 1)
		count++;
	if (count > device_count)
		broken(TWICE_PENDING, count);
}

static void modify(uint32_t device)
{
	if (stsch(device, &given.schib) != 0)
		return;
	given.schib.flags = (given.schib.flags & ~(SCHIB_SUBCLASS | SCHIB_ENABLED)) |
			    (uint16_t)(any() & SCHIB_SUBCLASS) | (below(8) ? SCHIB_ENABLED : 0);
	if (below(16) == 0)
		given.schib.flags ^= (uint16_t)(any() & 0xff7e);
	kept.schib = given.schib;
	msch(device, &given.schib);
}

/* One instruction.  Return: was the program started at this device? */
static int operate(uint32_t device)
{
	static uint32_t crw __attribute__((aligned(4)));

	switch (below(16)) {
	case 0:
		csch(device, &irb);
		return 0;
	case 1:
		hsch(device, &irb);
		return 0;
	case 2:
		xsch(device, &irb);
		return 0;
	case 3:
		rsch(device, &irb);
		return 0;
	case 4:
		modify(device);
		return 0;
	case 5:
		count_pending();
		return 0;
	case 6:
		stcrw(0, &crw);
		return 0;
	case 7:
		if (below(8) == 0)
			rchp(given.schib.chpid[0], &irb);
		return 0;
	case 8:
	case 9:
	case 10:
		test(device, 0);
		return 0;
	default:
		program_code = 0;
		return ssch(device, &given.orb) == 0 && !program_code;
	}
}

/* Enabled, idle, without status: as the next seed is to find it. */
static void quiet(void)
{
	for (unsigned int i = 0; i < device_count; i++) {
		struct schib schib;

		stsch(devices[i], &schib);
		schib.flags = (schib.flags & ~SCHIB_SUBCLASS) | SCHIB_ENABLED;
		for (unsigned int tries = 0; tries < 4; tries++) {
			csch(devices[i], &irb);
			tsch(devices[i], &irb);
			if (msch(devices[i], &schib) == 0)
				break;
		}
	}
}

static void check_storage(void)
{
	const uint64_t *const words = (const uint64_t *)(uint64_t)ARENA;
	const uint8_t *const now = (const uint8_t *)&given, *const before = (const uint8_t *)&kept;

	for (unsigned int i = 0; i < sizeof(given); i++)
		if (now[i] != before[i]) {
			broken(CHANGED_PROGRAM, i);
			break;
		}
	for (unsigned int i = 0; i < CHUNKS * CHUNK / sizeof(*words); i++)
		if (words[i] != PATTERN && !named[i * sizeof(*words) / CHUNK]) {
			broken(CHANGED_DATA, ARENA + i * sizeof(*words));
			break;
		}
}

static void carry_out(void)
{
	uint64_t *const words = (uint64_t *)(uint64_t)ARENA;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (unsigned int i = 0; i < CHUNKS * CHUNK / sizeof(*words); i++)
		if (named[i * sizeof(*words) / CHUNK])
			words[i] = PATTERN;
	for (unsigned int i = 0; i < CHUNKS; i++)
		named[i] = 0;
	for (unsigned int i = 0; i < OPERATIONS; i++) {
		const uint32_t device = devices[below(device_count)];

		if (i % LIFE == 0)
			fill_program();
		if (operate(device) && below(2))
			test(device, 1);
	}
	count_pending();
	quiet();
	check_storage();
}

void test_main(void)
{
	const uint64_t subclasses = ALL_SUBCLASSES;

	asm volatile("lctlg %%c6,%%c6,%0" : : "S" (subclasses) : "memory");
	while (device_count < DEVICES_MAX) {
		devices[device_count] = channel_device(device_count, &given.schib);
		if (!devices[device_count])
			break;
		device_count++;
	}
	say("DEVICES", device_count, 0, 0);
	for (unsigned int i = 0; i < CHUNKS; i++)
		named[i] = 1;
	for (uint64_t i = 0; i < parameters.seeds; i++) {
		seed = parameters.seed + i;
		if (i % REPORT == 0)
			say("SEED", seed, 0, 0);
		carry_out();
	}
	say("DONE", ended, 0, 0);
}
