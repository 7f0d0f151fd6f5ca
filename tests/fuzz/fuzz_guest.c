// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: a hostile guest of one to four CPUs, with hostile peers and perhaps a neighbour
 * beside it, at the core's entry points.  An input is a head and operations of 12 bytes; every
 * input is valid.  After each operation the core's tables must agree with each other
 * (world_check.c), and with a model of IUCV as long as nothing has happened that the model does
 * not know (model_iucv.c), which a neighbour is.
 */
#include "fuzz_target.h"

#include <assert.h>
#include <string.h>

#include "world.h"
#include "zvmlab/page.h"
#include "bytes.h"
#include "zvmlab/command.h"
#include "zvmlab/dcss.h"
#include "zvmlab/disk.h"
#include "ebcdic.h"
#include "zvmlab/fault.h"
#include "zvmlab/guests.h"
#include "zvmlab/hmc.h"
#include "zvmlab/monitor.h"
#include "zvmlab/recording.h"
#include "zvmlab/spool.h"
#include "zvmlab/watchdog.h"

#define OPERATION 12
#define MOST_OPERATIONS 96
#define DATA 0x8000u		/* areas of the guest that can be used */
#define TEXT 0x6000u		/* commands, names and blocks for DIAGNOSE */
#define BUFFERS 0x2000u		/* interrupt buffers */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* An operation's bytes, named by what most kinds take them for. */
struct operation {
	uint8_t kind, actor, function, path, flags, limit, message, class, area, length, answer,
		value;
};
static_assert(sizeof(struct operation) == OPERATION, "bytes of an input");

enum kind {
	GUEST, PEER, TAKE, LOGON, LOGOFF, POLICY, POKE, RESET, SAVE, LOAD, CLOCK, COMMAND,
	/* From here on the model does not follow. */
	MODELLED, RAW = MODELLED, LIST, DIAGNOSE, SEGMENT, STSI, FAULT, MONITOR, TAMPERED, PREFIX,
	SERVICE,
	KINDS
};

static const uint32_t lengths[] = {
	0, 1, 7, 8, 9, 24, 40, 100, 255, 256, 4095, 4096, 4097, 8192,
	/* From here on not for areas that must be good. */
	65535, 65536, 0x100000, 0x7fffffff, 0x80000000, 0xffffffff,
};
#define LENGTHS_KEPT 14
static const uint32_t addresses[] = {
	0, 8, WORLD_PARM, WORLD_PARM + 64, 0xff8, 0x1ffc, BUFFERS, TEXT, DATA, DATA + 1, 0xffff8,
	0xffff0, 0x100000, 0x11fff8, 0x120000, 0x13fff8, 0x140000, 0x7fffffd8, 0x7ffffff8,
	0x80000000, 0xfffffff8, 0xf0000, 0x200000,
};
/* Of the TOD clock: from its least step to more than it holds. */
static const uint64_t steps[] = {
	1, 4096, UINT64_C(4096) * 1000, UINT64_C(4096000000), UINT64_C(4096000000) * 6,
	UINT64_C(4096000000) * 60, UINT64_C(4096000000) * 3600, UINT64_C(1) << 60,
};
static const char *const names[] = {
	"LINUX001", "PEER1", "PEER2", "PEER3", "NOBODY", "*NONE", "*MSG", "*MONITOR",
};
#define NAMES_KEPT 6
static const char *const segment_names[] = {
	"MONDCSS", "DATA", "WRITE", "INNER", "READ", "NEW", "", "LONGNAME",
};
static const uint8_t modes[] = { 64, 31, 24 };

static uint32_t area_length(uint8_t selector)
{
	return lengths[selector % (world.keep ? LENGTHS_KEPT : COUNT(lengths))];
}

static uint32_t area_address(uint8_t selector)
{
	if (world.keep || selector & 0x80)
		return DATA + (selector & 0x7f) * 0x80u;
	return addresses[selector % COUNT(addresses)];
}

/* A small number that comes again, or a large one. */
static uint32_t class_of(uint8_t selector)
{
	return selector < 0xf0 ? selector % 3 : selector * 0x01010101u;
}

static bool has_data(enum iucv_function function)
{
	return function == IUCV_SEND || function == IUCV_RECEIVE || function == IUCV_REPLY;
}

static void decode_control(const struct operation *op, enum iucv_function function,
			   struct iucv_parm *parm)
{
	memset(parm->ipuser, op->value, sizeof(parm->ipuser));
	parm->msglim = op->limit < 0xf0 ? op->limit % 12 : (uint16_t)(op->limit * 257u);
	if (function != IUCV_CONNECT)
		return;
	strcpy(parm->vmid, names[op->class % (world.keep ? NAMES_KEPT : COUNT(names))]);
	if (op->message & 0x40)
		strcpy(parm->target, "ELSE");
}

static struct iucv_parm decode(const struct operation *op, enum iucv_function function)
{
	struct iucv_parm parm = {
		.path = op->path & 0x80 && !world.keep ? (uint16_t)(op->path * 257u) : op->path % 9,
		.flags = op->flags,
		.msgid = op->message & 0x80 ? class_of(op->message) : world.ids[op->message % 8],
		.trgcls = class_of(op->class), .srccls = class_of(op->class >> 4),
		.msgtag = op->class, .mask = op->flags,
	};

	memset(parm.rmmsg, op->value, sizeof(parm.rmmsg));
	if (function == IUCV_CONNECT || function == IUCV_ACCEPT || function == IUCV_SEVER ||
	    function == IUCV_QUIESCE || function == IUCV_RESUME)
		decode_control(op, function, &parm);
	if (world.keep && has_data(function))
		parm.flags &= (uint8_t)~(IPBUFLST | (function == IUCV_SEND ? IPANSLST : 0));
	return parm;
}

static void guest(const struct operation *op)
{
	const enum iucv_function function = (enum iucv_function)(op->function % IUCV_FUNCTIONS);
	struct iucv_parm parm = decode(op, function);

	if (has_data(function)) {
		parm.buffer = (struct iucv_area){
			.addr = area_address(op->area), .len = area_length(op->length),
			.list = parm.flags & IPBUFLST,
		};
		parm.answer = (struct iucv_area){
			.addr = area_address(op->area ^ 0x40), .len = area_length(op->answer),
			.list = parm.flags & IPANSLST,
		};
	}
	if (function == IUCV_DECLARE_BUFFER)
		parm.buffer.addr = world.keep || op->area & 0x80 ?
					   BUFFERS + (op->area & 0x3f) * 8u :
					   addresses[op->area % COUNT(addresses)];
	world_guest_call(world_cpu(op->actor), function, &parm);
}

static void peer(const struct operation *op)
{
	const enum iucv_function function = (enum iucv_function)(op->function % IUCV_FUNCTIONS);
	const struct iucv_parm parm = decode(op, function);
	uint32_t len = 0, answer_len = 0;

	if (has_data(function))
		len = lengths[op->length % LENGTHS_KEPT];
	if (function == IUCV_SEND)
		answer_len = lengths[op->answer % LENGTHS_KEPT];
	world_peer_call(&world.peer[op->actor % WORLD_PEERS], function, &parm, len, answer_len,
			op->value);
}

/* B2F0 as it comes: any list, function, mode and state. */
static void raw(const struct operation *op)
{
	struct cp_insn insn = {
		.cpu = world_cpu(op->actor), .gr = world.gr, .amode = modes[op->flags % 3],
		.problem = op->flags & 0x80,
	};

	world.gr[0] = op->function & 0x80 ? op->value * UINT64_C(0x0101010101010101)
					  : op->function % 0x14;
	world.gr[1] = area_address(op->area) + op->path % 16 +
		      (op->flags & 0x40 ? UINT64_C(0x1200000000) : 0);
	cp_iucv(world.cp, &insn);
}

/* Entries of a list of areas; they may lead to the list itself. */
static void list(const struct operation *op)
{
	uint8_t entry[8];

	for (unsigned int i = 0; i < op->limit % 6u + 1; i++) {
		put_be32(entry, area_address((uint8_t)(op->answer + i * op->path)));
		put_be32(entry + 4, lengths[(op->length + i * op->class) % COUNT(lengths)]);
		world_poke(area_address(op->area) % 0x100000 + i * 8, entry, sizeof(entry));
	}
}

static void diagnose(const struct operation *op, uint16_t code, unsigned int r1, unsigned int r3)
{
	struct cp_insn insn = {
		.cpu = world_cpu(op->actor), .gr = world.gr, .amode = modes[op->flags % 3],
		.problem = op->flags == 0xff, .dat = op->flags & 0x40,
		.asce = area_address(op->class) | (op->limit & 0x2f),
	};
	const struct cp_result result = cp_diagnose(world.cp, &insn, r1, r3, code);

	if (result.how == CP_CC && result.cc > 3)
		world_fail("DIAGNOSE X'%X' ends with condition code %u", code, result.cc);
}

/* The block that some codes take, with a byte that may be wrong. */
static void put_block(const struct operation *op, uint16_t code)
{
	const bool token = op->path % 3 == 0;
	uint8_t block[40] = { 0 };

	put_be16(block, code);
	if (code == 0x258) {
		block[3] = op->path % 3;
		block[5] = 5;
		block[7] = 2;
		put_be32(block + 12, token ? area_address(op->answer) : 0);
		block[32] = token ? 0x80 : 0;
	} else if (code == 0xdc) {
		const bool wide = op->path & 0x80;

		/* Few products and buffers, so that STOP finds what START has declared. */
		block[2] = op->path & (op->class & 0x20 ? 0xff : 0x83);
		block[3] = wide ? 32 : 16;
		put_be16(block + 10, op->class & 0x40 ? (uint16_t)lengths[op->length % COUNT(lengths)]
						      : op->length % 4u + 1);
		put_be32(block + (wide ? 20 : 4), op->class & 0x80 ? area_address(op->value) : DATA);
		put_be32(block + (wide ? 28 : 12), area_address(op->answer));
	} else if (code == 0x210) {
		put_be16(block, op->path & 1 ? 9 : world.spool ? 0xc + op->path % 8 : op->path);
		put_be16(block + 2, op->length);
	} else if (code == 0x2fc) {
		ebcdic_name(block, op->path & 1 ? names[op->path % COUNT(names)] : "*");
		ebcdic_name(block + 8, op->path & 2 ? "" : "*");
		put_be64(block + 16, area_address(op->answer));
		put_be32(block + 24, op->path & 4 ? 112 * (op->path >> 3) : area_length(op->length));
		put_be32(block + 28, 2);
	}
	if (code == 0x288)
		ebcdic_encode(block, "QUERY USERID", 12);
	if (op->limit < sizeof(block))
		block[op->limit] ^= op->value;
	world_poke(TEXT, block, sizeof(block));
}

static const char *const file_names[] = {
	"file", "/dir/file", "dir", "", "/", "dir/", "a//b", "dir/file/x",
};

/* The list of X'2C4': few files, so that they meet. */
static void put_drive_list(const struct operation *op)
{
	uint8_t list[256] = { 0 };
	const char *name = file_names[op->class % COUNT(file_names)];

	put_be64(list, op->area & 1 ? DATA : area_address(op->area));
	put_be64(list + 8, area_length(op->length));
	put_be64(list + 16, op->answer < 0xf0 ? op->answer % 12 : class_of(op->answer));
	memcpy(list + 64, name, strlen(name));
	if (op->limit >= 0xe0)
		memset(list + 64, op->value, 192);
	world_poke(TEXT, list, sizeof(list));
}

/* The list of X'250', with two blocks, and few disks and numbers, so that they meet. */
static void put_disk_list(const struct operation *op, uint32_t function)
{
	const bool wide = op->class & 1;
	uint8_t list[64] = { 0 }, entries[2][24] = { { 0 } };

	put_be16(list, op->class & 0x70 ? 0x10 + (op->class >> 1 & 1) : op->path);
	list[2] = wide && function < 2 ? 0x80 : 0;
	if (function == 0) {
		put_be32(list + 24, 512u << (op->answer & 3));
		put_be32(list + (wide ? 36 : 28), op->answer >> 4);
	} else if (function == 1) {
		list[25] = op->class >> 2 & 3;
		put_be32(list + 28, op->length < 0xf0 ? op->length % 3u : op->length);
		put_be32(list + (wide ? 52 : 36), op->answer & 1 ? DATA : area_address(op->area));
	}
	for (unsigned int i = 0; i < 2; i++) {
		entries[i][0] = op->flags % 4;
		put_be32(entries[i] + (wide ? 12 : 4), op->answer >> 2);
		put_be32(entries[i] + (wide ? 20 : 12), op->answer & 2 ? DATA : area_address(op->area));
		world_poke(DATA + i * (wide ? 24 : 16), entries[i], wide ? 24 : 16);
	}
	if (op->limit < sizeof(list))
		list[op->limit] ^= op->value;
	world_poke(TEXT, list, sizeof(list));
}

static void diagnose_any(const struct operation *op)
{
	static const uint16_t codes[] = {
#define DIAG_CODE(digits, what) 0x##digits,
#include "zvmlab/diag_codes.def"
#undef DIAG_CODE
	};
	static const uint32_t subcodes[] = { 0x10, 0x0c, 0x00, 0x40000010, 0x20, 0x40 };
	static const uint32_t positions[] = { 0x0000, 0x0028, 0x0fff, 0x0004 };
	const uint16_t code = codes[op->function % COUNT(codes)];
	const unsigned int r1 = op->message & 15, r3 = op->message >> 4;

	put_block(op, code);
	world.gr[r1] = op->area & 1 ? TEXT + (op->class & 0x10 ? op->class & 15u : 0)
				    : area_address(op->area);
	world.gr[r3] = op->path & 0x40 ? area_length(op->length)
				       : subcodes[op->path % COUNT(subcodes)];
	if (code == 0x2c4) {
		put_drive_list(op);
		world.gr[r3] = op->path % 9;
	}
	/* Ry is a device or a file's number, Ry+1 the subcode. */
	if (code == 0x14 && world.spool) {
		world.gr[r1] = op->area & 1 ? DATA : area_address(op->area);
		world.gr[r3] = op->path % 4 + (op->class & 1 ? 0xcu : 0u);
	}
	if (code == 0x250) {
		world.gr[r3] = op->path % 4;
		put_disk_list(op, op->path % 4);
	}
	if (code == 0x204 && op->path & 1)
		world.gr[r3] = 4;
	world.gr[(r1 + 1) & 15] = op->flags & 4 ? area_length(op->answer) : 128;
	world.gr[(r3 + 1) & 15] = area_length(op->answer);
	if (code == 0x14 && world.spool)
		world.gr[(r3 + 1) & 15] = positions[op->limit % COUNT(positions)];
	/* An interval that is long enough, an address and a length. */
	if (code == 0x288 && op->path & 1) {
		world.gr[r1] = op->path >> 1 & 3;
		world.gr[(r1 + 1) & 15] = 10 + op->length;
		world.gr[r3] = TEXT;
		world.gr[(r3 + 1) & 15] = op->answer;
	}
	diagnose(op, code, r1, r3);
}

/* DIAGNOSE X'64', whose functions work together. */
static void segment(const struct operation *op)
{
	static const uint8_t subcodes[] = {
		0x20, 0x24, 0x08, 0x38, 0x00, 0x04, 0x0c, 0x10, 0x18, 0x2c, 0x33,
	};
	const uint8_t subcode = subcodes[op->function % COUNT(subcodes)];
	uint8_t parameters[24] = { 0x0c };

	ebcdic_name(parameters + 8, segment_names[op->class % COUNT(segment_names)]);
	put_be32(parameters + 16, op->area ? area_address(op->area) : DATA);
	put_be16(parameters + 20, op->length < 0xc0 ? 120 : (uint16_t)(op->length - 0xc0));
	if (op->limit >= 0xf0)
		parameters[op->limit & 7] ^= op->value;
	world_poke(TEXT, parameters, sizeof(parameters));
	world.gr[2] = TEXT + (subcode == 0x38 || subcode == 0x18 ? 0 : 8) +
		      (op->path >= 0xf0 ? op->path - 0xf0u : 0);
	world.gr[3] = subcode;
	diagnose(op, 0x64, 2, op->message == 0xff ? 2 : 3);
}

/* SERVICE CALL: elements and increments, of which there may be none. */
static void sclp(const struct operation *op)
{
	static const uint32_t codes[] = { 0x00040001, 0x00080001, 0x000c0001, 0x000d0001 };
	const uint32_t command = codes[op->class % COUNT(codes)] | (op->limit % 4u) << 8;
	const unsigned int length = op->path & 1 ? 4096 : 8 + op->length % 64u;
	static uint8_t sccb[4096];
	const struct cp_increments has = cp_increments(world.cp);

	if (has.count == 0)
		return;
	memset(sccb, op->value, sizeof(sccb));
	put_be16(sccb, (uint16_t)length);
	put_be16(sccb + 8, op->area % 8u);
	cp_sclp(world.cp, world_cpu(op->actor), command, sccb);
	for (unsigned int i = length; i < sizeof(sccb); i++)
		if (sccb[i] != op->value)
			world_fail("SCLP stores behind its block of %u bytes", length);
	if (cp_increments(world.cp).count != has.count)
		world_fail("SCLP changes the number of increments");
}

/* Registers, code and address may be wrong. */
static void sthyi(const struct operation *op)
{
	const unsigned int r1 = op->path & 15, r2 = op->path >> 4;
	struct cp_insn insn = {
		.cpu = world_cpu(op->actor), .gr = world.gr, .amode = modes[op->flags % 3],
		.problem = op->flags & 0x80,
	};
	static uint8_t response[4096];
	struct cp_result result;

	world.gr[r1] = op->function < 0xf0 ? op->function % 9 : class_of(op->function);
	world.gr[r2] = area_address(op->area);
	result = cp_sthyi(world.cp, &insn, r1, r2, response);
	if (result.how == CP_CC && result.cc != 3 * (world.gr[r2 + 1] != 0))
		world_fail("STHYI ends with condition code %u", result.cc);
	if (result.how == CP_CC && result.cc == 0 && get_be16(response + 8) > sizeof(response))
		world_fail("STHYI stores %u bytes", get_be16(response + 8));
}

/* Pages go out and come in, and CPUs meet them; what these are told must be there to be taken. */
static void paging(const struct operation *op)
{
	static const uint8_t block[512] = { 1 };
	const unsigned int cpu = world_cpu(op->actor);
	struct cp_external external;
	char err[256];

	switch (op->function % 12) {
	case 0:
		(void)page_out(world.cp, area_address(op->area) & ~UINT64_C(0xfff), op->class % 8,
			       op->path & 1, err, sizeof(err));
		break;
	case 1:
		(void)page_in(world.cp, area_address(op->area), op->class,
			      op->path & 1 ? (uint16_t)cpu : PAGE_ANY_CPU);
		break;
	case 2:
		(void)page_release(world.cp, op->value);
		break;
	case 3:
		page_thrash(world.cp, op->class, op->value);
		break;
	case 4:
		if (!cp_page_held(world.cp, cpu) &&
		    cp_page_fault(world.cp, cpu, area_address(op->area), UINT64_C(1) << 48,
				  op->path & 1) == CP_PAGE_INITIAL &&
		    (!cp_external_take(world.cp, cpu, &external) ||
		     external.subcode != PAGE_EXT_INITIAL))
			world_fail("there is no initial interruption for CPU %u", cpu);
		break;
	case 5:
		if (cp_external_pending(world.cp, cpu) !=
		    cp_external_take(world.cp, cpu, &external))
			world_fail("an external interruption of CPU %u is not what it seemed", cpu);
		break;
	case 6:
		(void)hmc_drive(world.cp, op->class * 16u, op->path & 1, err, sizeof(err));
		break;
	case 7:
		(void)hmc_write(world.cp, file_names[op->class % COUNT(file_names)], op,
				op->length % (sizeof(*op) + 1), err, sizeof(err));
		break;
	case 8:
		(void)hmc_remove(world.cp, file_names[op->class % COUNT(file_names)]);
		break;
	case 9:
		hmc_hold(world.cp, op->path & 1);
		(void)hmc_complete(world.cp);
		break;
	case 10:
		disk_hold(world.cp, op->path & 1);
		(void)disk_complete(world.cp, op->value);
		break;
	case 11:
		(void)disk_write(world.cp, 0x10 + (op->class & 1), op->answer % 17u, block,
				 sizeof(block), err, sizeof(err));
		break;
	}
}

/* Half of the extents and of the blocks that are located are ones that the disks have. */
static void unit_data(const struct operation *op, struct cp_unit_io *io)
{
	memset(io->data, op->value, io->length);
	if (op->flags & 1)
		return;
	memset(io->data, 0, 16);
	if (io->command == 0x63) {
		io->length = 16;
		io->data[15] = op->area % 8;
	} else if (io->command == 0x43) {
		io->length = 8;
		io->data[0] = op->flags & 2 ? 0x06 : 0x05;
		io->data[3] = 1 + op->area % 4;
		io->data[7] = op->value % 8;
	}
}

/* One command of a channel program, as a port gives it: of records that are full, or not. */
static void unit(const struct operation *op)
{
	static const uint16_t devices[] = { 0x9, 0xc, 0xd, 0xe, 0xf, 0x10, 0x11 };
	static const uint8_t unit_commands[] = {
		0x02, 0x42, 0x01, 0x09, 0x11, 0x0b, 0x8b, 0x41, 0x0a, 0x43, 0x63, 0x64,
	};
	struct cp_unit_io io = {
		.device = devices[op->path % COUNT(devices)],
		.command = op->limit & 0x80 ? op->value
					    : unit_commands[op->class % COUNT(unit_commands)],
		.chained = op->answer & 1, .again = op->answer & 2, .more = op->answer & 4,
	};
	const enum cp_unit_way way = cp_unit_way(world.cp, io.device, io.command);
	uint32_t length;

	if (way == CP_UNIT_REJECT)
		return;
	length = area_length(op->length) % (cp_unit_length(world.cp, io.device, io.command) + 1);
	if (way == CP_UNIT_GIVES) {
		io.room = length % (CP_UNIT_DATA + 1);
	} else if (way == CP_UNIT_TAKES) {
		io.length = length % (CP_UNIT_DATA + 1);
		unit_data(op, &io);
	}
	cp_unit(world.cp, &io);
	if ((io.status & CP_UNIT_ENDED) != (io.status == CP_UNIT_WAITS ? 0 : CP_UNIT_ENDED) ||
	    (way == CP_UNIT_GIVES && io.length > io.room) ||
	    !(io.status & CP_UNIT_CHECK) != (io.sense[0] == 0 && io.sense[1] == 0))
		world_fail("command %02X of unit %X ends with %02X, sense %02X%02X, %u bytes",
			   io.command, io.device, io.status, io.sense[0], io.sense[1], io.length);
}

/* All files are as long as they say, and are what is accounted. */
static void check_spool(void)
{
	const struct spool_use use = spool_use(world.cp);
	static uint8_t room[10 * SPOOL_MAX_RECORD];
	struct spool_file_info file;
	uint32_t pages = 0, files = 0;

	for (; spool_file(world.cp, files, &file); files++) {
		const int found = spool_records(world.cp, file.owner, file.queue, file.id, 0, room,
						sizeof(room));
		const uint32_t fit = (uint32_t)sizeof(room) / file.record_length;
		const uint32_t wanted = file.records < fit ? file.records : fit;

		pages += file.pages;
		if (found >= 0 && !file.open && (uint32_t)found != wanted)
			world_fail("file %u has %u records, %d are read", file.id, file.records,
				   found);
	}
	if (pages != use.pages || files != use.files)
		world_fail("%u pages of %u files, %u of %u are accounted", pages, files, use.pages,
			   use.files);
}

static void spooling(const struct operation *op)
{
	static const uint8_t data[3 * 4096] = { 0xc1, 0x40 };
	const struct spool_put file = {
		.user = names[op->answer % 4], .queue = (enum spool_queue)(op->path % SPOOL_QUEUES),
		.origin = op->class & 1 ? "OPERATOR" : NULL,
		.name = op->class & 2 ? "NAME" : NULL, .type = op->class & 4 ? "TYPE" : NULL,
		.spool_class = op->class & 8 ? 'B' : 'A', .hold = op->class & 0x10,
		.system_hold = op->class & 0x20,
		.record_length = 1 + op->limit % SPOOL_MAX_RECORD,
		.data = data, .len = area_length(op->length) % (sizeof(data) + 1),
	};
	char err[256];

	switch (op->function % 8) {
	case 0:
		(void)spool_put(world.cp, &file, err, sizeof(err));
		break;
	case 1:
		spool_limits(world.cp, op->class & 1 ? op->length : SPOOL_PAGES,
			     op->class & 2 ? op->limit : SPOOL_MAX_FILES);
		break;
	default:
		unit(op);
		break;
	}
	check_spool();
}

static void stsi(const struct operation *op)
{
	struct cp_insn insn = { .cpu = world_cpu(op->actor), .gr = world.gr, .amode = 64 };
	static uint8_t sysib[4096];

	if (world.spool && op->flags & 8) {
		spooling(op);
		return;
	}
	if (op->flags & 0x20) {
		if (op->flags & 4)
			sclp(op);
		else
			sthyi(op);
		return;
	}
	if (op->flags & 0x10) {
		paging(op);
		return;
	}
	world.gr[0] = (uint64_t)(op->function & 3) << 28 | (op->path & 3) |
		      (op->flags & 0x80 ? 0x100 : 0);
	world.gr[1] = (op->limit & 3) | (op->flags & 0x40 ? 0x10000 : 0);
	cp_stsi(world.cp, &insn, sysib);
}

static const char *const commands[] = {
	"QUERY USERID", "QUERY CPLEVEL", "QUERY VIRTUAL STORAGE", "QUERY VIRTUAL CONSOLE",
	"QUERY NSS", "QUERY NSS MAP", "QUERY NSS NAME MONDCSS MAP", "QUERY MONITOR",
	"QUERY MONITOR SAMPLE", "QUERY MONITOR EVENT", "QUERY NAMES", "QUERY USERS",
	"QUERY USERS LINUX001", "QUERY TIME", "QUERY PRIVCLASS", "QUERY SET", "QUERY TERMINAL",
	"QUERY CONSOLE", "QUERY", "TERMINAL LINEND # CONMODE 3215 HOLD ON", "TERMINAL MORE 50 10",
	"TERMINAL BRKKEY PF12", "SET SMSG IUCV", "SET SMSG ON", "SET SMSG OFF", "SET RUN ON",
	"SMSG LINUX001 hello there", "MSG * text", "MSG PEER1 text", "MSGNOH LINUX001 text",
	"SMSG PEER1 text", "MSG OPERATOR x", "DEFSEG NEW 108-10B SR",
	"DEFSEG NEW 100-103 EN 104-107 EW LOADNSHR", "DEFSEG MONDCSS 100-10F SC RSTD",
	"SAVESEG NEW", "SAVESEG MONDCSS", "PURGE NSS NAME NEW", "PURGE NSS NAME MONDCSS",
	"PURGE NSS 1", "QUERY VIRTUAL ALL", "QUERY DASD ALL", "QUERY FRAMES", "QUERY STORAGE",
	"QUERY 0009", "QUERY VSWITCH DETAILS", "QUERY ALLOC PAGE", "QUERY QUICKDSP *",
	"QUERY MEMASSIST FOR USER LINUX001",
	"INDICATE LOAD", "INDICATE USER *", "INDICATE SPACES", "DETACH 9 191", "MONITOR SAMPLE START", "MONITOR EVENT START", "MONITOR SAMPLE STOP",
	"MONITOR EVENT STOP", "MONITOR START", "MONITOR STOP", "MONITOR SAMPLE ENABLE ALL",
	"MONITOR EVENT ENABLE ALL", "MONITOR SAMPLE ENABLE USER ALL",
	"MONITOR EVENT ENABLE USER CLASS G", "MONITOR SAMPLE DISABLE STORAGE",
	"MONITOR EVENT DISABLE ALL", "MONITOR EVENT ENABLE SEEKS VOLUME ABCDEF",
	"MONITOR SAMPLE INTERVAL 6 SECONDS", "MONITOR SAMPLE RATE 1 SECOND",
	"MONITOR SAMPLE CONFIG SIZE 2", "MONITOR EVENT CONFIG SIZE 1",
	"MONITOR EVENT BLOCK 1 PARTITION 4", "MONITOR SAMPLE CONFIG LIMIT 1 MINUTE",
	"MONITOR EVENT PARTITION 16", "MONITOR SAMPLE RATE STOP", "DEFINE STORAGE 1M",
	"DEFINE STORAGE CONFIG 0.1M", "DEFINE STORAGE CONFIG 0.64K", "DEFINE STORAGE 2G",
	"RECORDING ACCOUNT ON", "RECORDING ACCOUNT OFF PURGE", "RECORDING EREP ON LIMIT 3",
	"RECORDING SYMPTOM PURGE ON", "RECORDING ACCOUNT ON QID PEER1", "QUERY RECORDING",
	"QUERY COMMANDS RECORDING", "COMMANDS", "ACNT ALL", "SYSTEM RESTART", "LOGOFF",
	"SIGNAL SHUTDOWN * WITHIN 5", "QUERY CPUID", "QUERY VIRTUAL CPUS", "QUERY VIRTUAL 9",
	"QUERY VIRTUAL DASD", "QUERY SHARE PEER1", "CPU ALL QUERY USERID", "CPU 0",
	"XAUTOLOG PEER2 IPL 190 SYNCH", "DEFINE CPU 1", "DETACH CPU 1", "DEFINE CPU 2-3 TYPE CP",
	"DETACH CPU 1-3", "DEFINE CPU 1 2 3", "CPU 1 QUERY VIRTUAL CPUS",
	"DEFINE STORAGE 1M STANDBY 1M RESERVED 1M", "DEFINE STORAGE STANDBY 2M",
	"DEFINE STORAGE INITIAL STANDBY REMAINDER", "DEFINE STORAGE 1M RESERVED 1M",
};

static const char *const spool_commands[] = {
	"QUERY RDR ALL", "QUERY PUN", "QUERY PRT * ALL ISODATE", "QUERY VIRTUAL C",
	"QUERY VIRTUAL UR", "SPOOL C CLASS B CONT HOLD", "SPOOL C CLASS * NOCONT NOHOLD",
	"SPOOL D TO PEER1", "SPOOL D TO *", "SPOOL D OFF CONT", "SPOOL D NOCONT KEEP COPY 3 FORM F",
	"SPOOL E TO PEER2 RDR NAME ONE TWO", "CLOSE C", "CLOSE C HOLD", "CLOSE D", "CLOSE D NAME A B",
	"CLOSE D PURGE", "CLOSE E TO *", "PURGE RDR ALL", "PURGE RDR 1", "PURGE ALL", "ORDER RDR 2 1 2",
	"CHANGE RDR 1 NOHOLD", "CHANGE RDR ALL CLASS B NAME X Y", "TRANSFER RDR 1 TO PEER1",
	"TRANSFER PUN ALL TO * RDR", "TAG DEV D some text", "LINK PEER1 191 191 RR",
	"VMDUMP", "VMDUMP 0-FFF 3000.10 TO * FORMAT X *a note", "DETACH C", "DETACH D 10 E",
	"QUERY RDR USERID *", "QUERY PUN U PEER1 ALL",
};

/* A command, or two, with a byte that may be another. */
static size_t command_text(const struct operation *op, char text[CPCMD_MAX_COMMAND + 1])
{
	size_t len;

	if (world.spool && op->flags & 0x10)
		strcpy(text, spool_commands[op->function % COUNT(spool_commands)]);
	else
		strcpy(text, commands[op->function % COUNT(commands)]);
	len = strlen(text);
	if (op->path)
		text[op->path % len] = (char)(op->value ? op->value : '?');
	if (op->limit >= 0x80)
		len = op->limit % (len + 1);
	if (op->message >= 0x80) {
		text[len++] = op->message & 1 ? '\n' : ' ';
		strcpy(text + len, commands[op->class % COUNT(commands)]);
		len += strlen(text + len);
	}
	text[len] = '\0';
	return len;
}

/* By the operator, by others, or by DIAGNOSE X'08'. */
static void command(const struct operation *op)
{
	char text[CPCMD_MAX_COMMAND + 1];
	uint8_t ebcdic[CPCMD_MAX_COMMAND];
	const size_t len = command_text(op, text);

	if (op->flags & 0x80) {
		cpcmd_run(world.cp, op->flags & 0x40 ? CPCMD_OPERATOR : CPCMD_GUEST, text, len);
		return;
	}
	ebcdic_encode(ebcdic, text, len);
	world_poke(TEXT, ebcdic, (uint32_t)len);
	world.gr[2] = TEXT;
	world.gr[4] = len | (op->flags & 0x20 ? 0x40000000u : 0);
	world.gr[3] = area_address(op->area);
	world.gr[5] = area_length(op->length);
	diagnose(op, 8, 2, 4);
}

static void fault(const struct operation *op)
{
	struct fault_rule rule = {
		.point = (enum fault_point)(op->function % FAULT_POINTS),
		.path = op->path & 0x80 ? FAULT_ANY_PATH : op->path % 8,
		.when = (enum fault_when)(op->flags & 3), .n = op->limit,
		.times = op->message & 7, .kind = (enum fault_kind)(op->class % FAULT_KINDS),
		.value = op->value, .offset = op->length,
		.type = (uint8_t)(op->area & 0x80 ? op->area % 11 : 0),
	};
	char err[256];

	if (op->flags == 0xff) {
		fault_disarm(world.cp, op->limit % 8);
		return;
	}
	if (op->flags & 4)
		strcpy(rule.user, names[op->answer % COUNT(names)]);
	if (op->flags & 8)
		strcpy(rule.name, names[op->answer / 8 % COUNT(names)]);
	if (rule.when == FAULT_PROBABILITY)
		rule.n *= 4000;
	fault_arm(world.cp, &rule, err, sizeof(err));
}

/* Records that are delivered: zeros. */
static const uint8_t records[20000];

static void deliver(const struct operation *op)
{
	const enum mon_kind kind = (enum mon_kind)(op->path % (MON_KINDS + 1u));
	struct mon_element elements[8];
	enum mon_fate fate;
	char err[256];

	for (unsigned int i = 0; i < COUNT(elements); i++)
		elements[i] = (struct mon_element){
			.type = op->class & 1 ? MCE_EVENT : MCE_SAMPLE,
			.domains = (uint16_t)(op->flags * 257u), .byte3 = op->area, .data = records,
			.phase = (uint32_t)op->value * (op->value & 1 ? 17 : 16),
			.len = lengths[op->length % LENGTHS_KEPT] * 2 + (op->answer & 7),
		};
	if (op->limit & 0x80)
		monitor_repeat(world.cp, kind, elements, op->message % 9u, op->limit & 7,
			       op->area & 15, err, sizeof(err));
	else
		monitor_deliver(world.cp, kind, elements, op->message % 9u,
				op->area & 1 ? &fate : NULL, err, sizeof(err));
}

static void event(const struct operation *op)
{
	const uint32_t len = 20 + op->length % 44u;
	uint8_t record[64] = { 0 };

	put_be16(record, (uint16_t)len);
	record[4] = op->class % MON_DOMAINS;
	record[7] = op->value;
	if (op->limit >= 0xf0)
		record[op->limit & 15] ^= op->value;
	monitor_event(world.cp, (enum mon_domain)(op->class % MON_DOMAINS), record, len);
}

static void store_segment(const struct operation *op)
{
	const struct dcss *at = dcss_find(world.cp, segment_names[op->class % COUNT(segment_names)]);
	uint8_t bytes[256];

	memset(bytes, op->value, sizeof(bytes));
	if (at)
		dcss_write(world.cp, at, area_length(op->answer), bytes, op->length);
}

/* What CP records for others, and what happens to their paths. */
static void recording(const struct operation *op, const char *user)
{
	static const uint8_t record[REC_MAX_RECORD] = { 0xd9, 0xc5 };
	const enum rec_service service = (enum rec_service)(op->path % REC_SERVICES);
	const uint32_t len = 1 + area_length(op->length) % REC_MAX_RECORD;

	switch (op->class & 3) {
	case 0:
		recording_sever(world.cp, service, user, op->value);
		break;
	case 1:
		recording_quiesce(world.cp, service, user, op->value & 1);
		break;
	default:
		recording_add(world.cp, service, record, len);
		break;
	}
}

/* Another virtual machine, as a test describes it, or none any more. */
static void describe(const struct operation *op)
{
	const struct guest_description other = {
		.name = names[op->answer % COUNT(names)],
		.cpu_us = (uint64_t)op->length << op->area % 60, .online_us = (uint64_t)op->value << 20,
		.cpu_percent = op->limit * 3u, .cpus = op->path % 70u, .operating = op->flags % 70u,
		.storage_min = op->area, .storage_max = op->message * 1024u,
		.storage_share = op->limit, .storage_used = op->class * 4u,
		.share = op->message * 50u, .share_max = op->class * 50u,
		.capped = op->flags & 3, .dedicated = op->flags & 4,
		.cpu_use = op->value, .cpu_delay = op->path, .page_wait = op->limit,
		.idle = op->area, .other = op->length,
	};
	char err[256];

	if (op->actor & 1)
		(void)guests_forget(world.cp, other.name);
	else
		(void)guests_describe(world.cp, &other, err, sizeof(err));
}

static void monitor(const struct operation *op)
{
	const char *user = op->answer & 0x80 ? names[op->answer % 4] : NULL;
	const uint32_t at = area_address(op->area);
	enum mon_fate fate;
	char err[256];

	if (op->function >= 0xf0) {
		describe(op);
		return;
	}
	switch (op->function % 10) {
	case 0:
		deliver(op);
		break;
	case 1:
		event(op);
		break;
	case 2:
		monitor_tick(world.cp);
		break;
	case 3:
		monitor_message_raw(world.cp, (enum mon_kind)(op->path % (MON_KINDS + 1u)), at,
				    at + op->length, &fate, err, sizeof(err));
		break;
	case 4:
		monitor_sever(world.cp, user, op->value);
		break;
	case 5:
		monitor_quiesce(world.cp, user, op->value & 1);
		break;
	case 6:
		monitor_set_manual(world.cp, op->value & 1);
		break;
	case 7:
		watchdog_expire(world.cp);
		break;
	case 8:
		recording(op, user);
		break;
	default:
		store_segment(op);
		break;
	}
}

/* A connection to a service of CP, with all that they want of it or nearly so. */
static void service(const struct operation *op)
{
	struct iucv_parm parm = {
		.flags = op->flags & 0x80 ? op->flags : IPRMDATA, .msglim = op->limit,
		.ipuser = { 1, 0xc0 },
	};

	strcpy(parm.vmid, op->class & 2 ? rec_service_info[op->path % REC_SERVICES].service :
			  op->class & 1 ? "*MSG" : "*MONITOR");
	ebcdic_name(parm.ipuser + 8, segment_names[op->path & 0x80 ? op->path % COUNT(segment_names)
								   : 0]);
	if (op->value >= 0x80)
		parm.ipuser[op->value & 7] ^= op->length;
	if (op->actor & 0x80)
		world_peer_call(&world.peer[op->actor % WORLD_PEERS], IUCV_CONNECT, &parm, 0, 0, 0);
	else
		world_guest_call(world_cpu(op->actor), IUCV_CONNECT, &parm);
}

static void reset(const struct operation *op)
{
	if (op->function & 1) {
		const unsigned int cpu = world_cpu(op->actor);

		model_reset_cpu(&world.model, cpu);
		cp_reset_cpu(world.cp, cpu);
		cp_cpu_ordered(world.cp, cpu, world_cpu(op->path), op->class % CP_ORDERS);
	} else if (op->function & 2) {
		cp_ipl(world.cp);
	} else {
		cp_reset(world.cp);
	}
}

static void clock_on(const struct operation *op)
{
	world.tod += steps[op->function % COUNT(steps)] * (op->value + UINT64_C(1));
	if ((world.timer && world.tod >= world.timer) || op->path & 1) {
		world.timer = 0;
		cp_timer(world.cp);
	}
	if (world.system && (world.system_timer && world.tod >= world.system_timer)) {
		world.system_timer = 0;
		cp_system_timer(world.system);
	}
}

/* The guest's own storage; what lies in a segment stays as CP has put it there. */
static void poke(const struct operation *op)
{
	world_poke(area_address(op->area) % 0x100000, &op->function, op->length % 8u);
}

static void take(const struct operation *op)
{
	for (unsigned int i = 0; i <= op->limit % 4u; i++)
		world_take(world_cpu(op->actor));
}

static void logon(const struct operation *op)
{
	world_logon(op->actor % WORLD_PEERS, 1 + op->limit % MODEL_PATHS);
}

static void logoff(const struct operation *op)
{
	world_logoff(op->actor % WORLD_PEERS);
}

static void policy(const struct operation *op)
{
	world.peer[op->actor % WORLD_PEERS].policy = op->flags;
	world.peer[op->actor % WORLD_PEERS].length = op->length;
}

static void save(const struct operation *op)
{
	(void)op;
	world_save();
}

static void load(const struct operation *op)
{
	(void)op;
	world_load(NULL, 0, false);
}

static void tampered(const struct operation *op)
{
	world_load(&op->actor, op->kind & 0x80 ? 2 : 1, op->kind & 0x40);
}

static void prefix(const struct operation *op)
{
	world.of->prefix[world_cpu(op->actor)] = (uint64_t)(op->path % 8) * 0x2000;
}

static void (*const run[KINDS])(const struct operation *op) = {
	[GUEST] = guest, [PEER] = peer, [TAKE] = take, [LOGON] = logon, [LOGOFF] = logoff,
	[POLICY] = policy, [POKE] = poke, [RESET] = reset, [SAVE] = save, [LOAD] = load,
	[CLOCK] = clock_on, [COMMAND] = command, [RAW] = raw, [LIST] = list,
	[DIAGNOSE] = diagnose_any, [SEGMENT] = segment, [STSI] = stsi, [FAULT] = fault,
	[MONITOR] = monitor, [TAMPERED] = tampered, [PREFIX] = prefix, [SERVICE] = service,
};

/* Of the neighbour, if the input has one: what a machine does, and that it comes and goes. */
static void act(enum kind kind, const struct operation *op)
{
	static const uint32_t of_machines = 1u << GUEST | 1u << TAKE | 1u << POKE | 1u << RESET |
		1u << COMMAND | 1u << RAW | 1u << LIST | 1u << DIAGNOSE | 1u << SEGMENT | 1u << STSI |
		1u << FAULT | 1u << MONITOR | 1u << PREFIX;

	if (world.system && op->kind & 0x40 && kind == LOGOFF) {
		world_neighbour_logoff();
	} else if (world.system && op->kind & 0x40 && kind == LOGON) {
		world_neighbour_logon();
	} else if (op->kind & 0x40 && of_machines >> kind & 1 && world_neighbour(true)) {
		run[kind](op);
		(void)world_neighbour(false);
	} else {
		run[kind](op);
	}
}

/* Most operations are functions of IUCV: they are what the rest is about. */
static enum kind kind_of(uint8_t byte)
{
	static const uint8_t kinds[32] = {
		GUEST, GUEST, GUEST, GUEST, PEER, PEER, PEER, PEER, TAKE, TAKE, LOGON,
		LOGOFF, POLICY, POKE, RESET, SAVE, LOAD, CLOCK, COMMAND, RAW, LIST, DIAGNOSE,
		SEGMENT, STSI, FAULT, MONITOR, MONITOR, TAMPERED, PREFIX, SERVICE, SERVICE, COMMAND,
	};
	const enum kind kind = (enum kind)kinds[byte % 32];

	return world.keep && kind >= MODELLED ? (enum kind)(byte % 2 ? GUEST : PEER) : kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t nothing[WORLD_HEAD];
	struct operation op;
	size_t count;

	world_start(size < WORLD_HEAD ? nothing : data);
	count = size < WORLD_HEAD ? 0 : (size - WORLD_HEAD) / OPERATION;
	for (size_t i = 0; i < count && i < MOST_OPERATIONS; i++) {
		enum kind kind;

		memcpy(&op, data + WORLD_HEAD + OPERATION * i, sizeof(op));
		kind = kind_of(op.kind);
		if (kind >= MODELLED)
			world.model.lost = true;
		act(kind, &op);
		world_check();
	}
	check_tables(world.cp, true);
	world_end();
	return 0;
}
