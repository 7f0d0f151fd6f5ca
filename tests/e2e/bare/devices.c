/* SPDX-License-Identifier: MIT */
/*
 * Channel programs of CP's devices, a 3215 and a virtual disk: ones that are right, and what becomes
 * of the others.  Says a line for each: unit status, subchannel status, residual count.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "channel.h"
#include "cp.h"

enum { WRITE = 0x01, READ_INQUIRY = 0x0a };
enum { DISK_WRITE = 0x41, DISK_READ = 0x42, LOCATE = 0x43, EXTENT = 0x63, CHARACTERISTICS = 0x64 };
enum { CCW_DATA_CHAIN = 0x80 };
#define BLOCK 512u
#define FIRST 3u		/* block of the disk that programs use */
#define NOWHERE 0x7ffff000u	/* no storage */

void test_main(void);

static struct schib schib;
static struct irb irb;
static uint32_t console, disk;
static uint8_t data[8192] __attribute__((aligned(4096)));
static uint8_t extent[16] __attribute__((aligned(8))) = { [3] = 0, [7] = FIRST, [15] = 7 };
static uint8_t locate[8] __attribute__((aligned(8))) = { 0x06, [3] = 1 };
static uint64_t indirect;	/* a list of one address of 64 bits */

static uint32_t address(const void *at)
{
	return (uint32_t)(uint64_t)at;
}

static unsigned int start(uint32_t device, const struct ccw *program)
{
	struct orb orb = {
		.control = ORB_FORMAT_1 | ORB_64_BITS, .paths = 0xff, .program = address(program),
	};

	return ssch(device, &orb);
}

static void say(const char *what, unsigned int first, unsigned int second, unsigned int third)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " ");
	put_hex(&line, first, 2);
	put(&line, " ");
	put_hex(&line, second, 2);
	put(&line, " ");
	put_hex(&line, third, 4);
	command(&line);
}

/* Start, and say how it has ended. */
static void run(const char *what, uint32_t device, const struct ccw *program)
{
	const unsigned int cc = start(device, program);

	if (cc == 0 && tsch(device, &irb) == 0)
		say(what, irb.device_status, irb.subchannel_status, irb.count);
	else
		say(what, 0xff, cc, 0);
}

/* What the device says of the last unit check. */
static void sense(uint32_t device)
{
	static uint8_t bytes[32];
	const struct ccw program = { CCW_SENSE, CCW_SLI, sizeof(bytes), address(bytes) };

	start(device, &program);
	tsch(device, &irb);
	say("SENSE", bytes[0], bytes[1], 0);
}

static void disk_programs(void)
{
	struct ccw p[4] = {
		{ EXTENT, CCW_CHAIN, 16, address(extent) }, { LOCATE, CCW_CHAIN, 8, address(locate) },
		{ DISK_READ, 0, BLOCK, address(data) },
	};

	run("READ", disk, p);
	say("DATA", data[0], data[BLOCK - 1], data[BLOCK]);
	indirect = address(data + 4096);
	for (unsigned int i = 0; i < 256; i++) {
		data[4096 + i] = 0x11;
		data[4096 + 256 + i] = 0x22;
	}
	locate[0] = 0x05;
	p[2] = (struct ccw){ DISK_WRITE, CCW_INDIRECT, BLOCK, address(&indirect) };
	run("INDIRECT", disk, p);
	locate[0] = 0x06;
	p[2] = (struct ccw){ DISK_READ, 0, BLOCK, address(data) };
	run("READ", disk, p);
	say("DATA", data[255], data[256], data[BLOCK]);
	p[2].count = BLOCK - 1;
	run("LESS", disk, p);
	p[2].count = BLOCK + 1;
	run("MORE", disk, p);
	p[2].flags = CCW_SLI;
	run("MORE SLI", disk, p);
	p[2] = (struct ccw){ DISK_READ, 0, BLOCK, NOWHERE };
	run("NOWHERE", disk, p);
	p[2] = (struct ccw){ DISK_READ, CCW_DATA_CHAIN, 256, address(data) };
	p[3] = (struct ccw){ DISK_READ, 0, 256, address(data) };
	run("DATA CHAIN", disk, p);
	run("NOT LOCATED", disk, p + 3);
	sense(disk);
	p[1].flags = 0;
	p[2] = (struct ccw){ DISK_READ, 0, BLOCK, address(data) };
	run("LOCATE", disk, p);
	run("NEXT PROGRAM", disk, p + 2);
	sense(disk);
	locate[7] = 8;
	run("OUTSIDE", disk, p);
	sense(disk);
	locate[7] = 0;
	/* A loop: read for ever. */
	p[0] = (struct ccw){ CHARACTERISTICS, CCW_CHAIN, 32, address(data) };
	p[1] = (struct ccw){ CCW_TIC, 0, 0, address(p) };
	run("LOOP", disk, p);
	run("UNKNOWN", disk, &(struct ccw){ 0xb4, CCW_SLI, 32, address(data) });
	sense(disk);
}

/* The subchannel is busy, and has no status. */
static void wait_for_line(const char *what, const struct ccw *read)
{
	const unsigned int started = start(console, read);
	const unsigned int tested = tsch(console, &irb);

	say(what, started, tested, start(console, read));
}

static void console_programs(void)
{
	static const char text[] = "AT THE CONSOLE";
	const struct ccw write[] = { { WRITE, 0, sizeof(text) - 1, address(text) } };
	const struct ccw read[] = {
		{ READ_INQUIRY, CCW_CHAIN | CCW_SLI, 100, address(data) },
		{ WRITE, 0, 4, address("READ") },
	};

	run("WRITE", console, write);
	/* Nobody has typed anything: the subchannel is busy until it is halted, or cleared. */
	wait_for_line("WAITS", read);
	say("HALT", hsch(console, &irb), 0, 0);
	say("STATUS", tsch(console, &irb), 0, 0);
	say("STATUS", irb.device_status, irb.subchannel_status, 0);
	run("WRITE", console, write);
	wait_for_line("WAITS", read);
	say("CLEAR", csch(console, &irb), 0, 0);
	say("STATUS", tsch(console, &irb), 0, 0);
	say("STATUS", irb.device_status, irb.subchannel_status, 0);
	run("WRITE", console, write);
	/* Somebody types now. */
	wait_for_line("TYPE", read);
	while (tsch(console, &irb) != 0)
		;
	say("TYPED", irb.device_status, irb.subchannel_status, irb.count);
	say("DATA", data[0], data[1], 0);
	/* A line that is there already is told by an attention. */
	while (tsch(console, &irb) != 0)
		;
	say("ATTENTION", irb.device_status, irb.subchannel_status, 0);
	run("READ", console, read);
	say("DATA", data[0], data[1], 0);
	run("UNKNOWN", console, &(struct ccw){ 0x0d, CCW_SLI, 1, address(data) });
	sense(console);
}

void test_main(void)
{
	console = channel_device(0, &schib);
	say("CONSOLE", schib.device >> 8, schib.device & 0xff, 0);
	disk = channel_device(1, &schib);
	say("DISK", schib.device >> 8, schib.device & 0xff, 0);
	disk_programs();
	console_programs();
	while (1)
		;
}
