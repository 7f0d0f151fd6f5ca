/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'64': the guest loads, finds and gives back saved segments.
 *
 * Rx: address of the name, or for SEGEXT of a parameter list; Ry: subcode.
 * With cc 2 Ry becomes the return code.
 */

#include "segment/dcss_private.h"
#include "diag_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "zvmlab/fault.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

struct request {
	const struct cp_insn *insn;
	unsigned int rx, ry;
	bool wide;		/* addresses of 64 bits in the answer */
	bool exclusive;
	char name[CP_NAME_LEN + 1];
	struct fault_action action;
};

/* SEGEXT parameter list. */
enum {
	QIN_OPCODE = 0,		/* FINDSEGA: active segments */
	QIN_RC = 4,		/* answer: return code */
	QIN_NAME = 8,		/* 8 */
	QIN_ADDRESS = 16,	/* 4: where the answer goes, below 2 GiB */
	QIN_LENGTH = 20,	/* 2: its length */
	QIN_SIZE = 24,
};
#define FINDSEGA 0x0c
/* Answer: first byte, last byte, ranges, ranges listed (4 each); then pairs of addresses. */
#define QOUT_MAX (24 + CP_MAX_RANGES * 16)

static struct cp_result refuse(const struct request *request, uint64_t rc)
{
	assert(request->rx != request->ry);
	diag_set(request->insn, request->ry, rc);
	return cp_cc(2);
}

/* Faults that take the place of the function; FAULT_DROP is the function's own. */
static bool fault(struct cp *cp, struct request *request, enum fault_point point,
		  struct cp_result *result)
{
	const struct fault_action action = fault_of_guest(cp, point, request->name);

	request->action = action;
	if (action.kind == FAULT_NONE || action.kind == FAULT_DROP)
		return false;
	if (action.kind == FAULT_CC)
		*result = cp_cc((uint8_t)action.value);
	else if (action.kind == FAULT_RC)
		*result = refuse(request, action.value);
	else
		*result = cp_program((uint16_t)action.value);
	assert(action.kind <= FAULT_PGM);
	return true;
}

static bool dropped(const struct request *request)
{
	return request->action.kind == FAULT_DROP;
}

/* The segment the guest has by that name, or could load; NULL: there is none. */
static struct dcss *find(struct cp *cp, const struct request *request)
{
	struct dcss *segment = dcss_find_loaded(cp, request->name);

	if (!segment)
		segment = dcss_find(cp, request->name);
	return segment && segment->cls != DCSS_SKELETON ? segment : NULL;
}

/* Do the addresses of the answer fit into the form that was asked for? */
static bool fits(const struct request *request, const struct dcss *segment)
{
	return request->wide || dcss_end(segment) <= 0x7fffffff;
}

static void answer(const struct request *request, const struct dcss *segment)
{
	const struct cp_insn *insn = request->insn;
	uint64_t start = dcss_start(segment), end = dcss_end(segment);

	assert(start < end && fits(request, segment));
	if (request->wide) {
		insn->gr[request->rx] = start;
		insn->gr[request->ry] = end;
	} else {
		diag_set(insn, request->rx, start);
		diag_set(insn, request->ry, end);
	}
}

/* Fault: a byte of the segment changes before the guest sees it. */
static void spoil(struct cp *cp, const struct dcss *segment)
{
	const struct fault_action action = fault_of_guest(cp, FAULT_SEGMENT_LOAD, segment->config.name);
	const uint64_t size = dcss_end(segment) - dcss_start(segment) + 1;
	uint8_t *byte;

	assert(segment->defined && !dcss_loaded(cp, segment));
	if (action.kind != FAULT_CORRUPT)
		return;
	/* NULL: between two ranges, or in the guest's own storage. */
	byte = dcss_map(cp, segment, action.offset % size, 1);
	if (!byte)
		return;
	*byte ^= (uint8_t)action.value;
	dcss_dirty(cp, segment, action.offset % size, 1);
}

static struct cp_result load(struct cp *cp, struct request *request)
{
	enum fault_point point = request->exclusive ? FAULT_DIAG64_LOADNSR : FAULT_DIAG64_LOADSHR;
	struct dcss *segment = find(cp, request);
	struct cp_result result;
	uint16_t rc;

	if (fault(cp, request, point, &result))
		return result;
	if (!segment)
		return refuse(request, DCSS_RC_NOT_FOUND);
	if (!fits(request, segment))
		return refuse(request, DCSS_RC_BAD_SUBCODE);
	if (dcss_loaded(cp, segment))
		rc = dcss_exclusive(cp, segment) == request->exclusive ? 0 : DCSS_RC_IN_USE;
	else
		rc = dcss_load_refused(cp, segment, request->exclusive);
	if (rc != 0)
		return refuse(request, rc);
	if (!dcss_loaded(cp, segment) && !dropped(request)) {
		spoil(cp, segment);
		rc = dcss_load(cp, segment, request->exclusive);
	}
	if (rc != 0)
		return refuse(request, rc);
	assert(dcss_loaded(cp, segment) || dropped(request));
	answer(request, segment);
	return cp_cc(dcss_in_storage(cp, segment) ? 1 : 0);
}

static struct cp_result purge(struct cp *cp, struct request *request)
{
	struct dcss *segment = find(cp, request);
	struct cp_result result;

	if (fault(cp, request, FAULT_DIAG64_PURGESEG, &result))
		return result;
	if (!segment)
		return refuse(request, DCSS_RC_NOT_FOUND);
	if (!dcss_loaded(cp, segment))
		return cp_cc(1);
	if (!dropped(request))
		dcss_unload(cp, segment);
	assert(dcss_loaded(cp, segment) == dropped(request));
	return cp_cc(0);
}

static struct cp_result findseg(struct cp *cp, struct request *request)
{
	struct dcss *segment = find(cp, request);
	struct cp_result result;

	if (fault(cp, request, FAULT_DIAG64_FINDSEG, &result))
		return result;
	if (!segment)
		return refuse(request, DCSS_RC_NOT_FOUND);
	if (!fits(request, segment))
		return refuse(request, DCSS_RC_BAD_SUBCODE);
	if (!dropped(request))
		answer(request, segment);
	return cp_cc(dcss_loaded(cp, segment) ? 0 : 1);
}

static void put_address(uint8_t **at, bool wide, uint64_t value)
{
	assert(wide || value <= UINT32_MAX);
	if (wide)
		put_be64(*at, value);
	else
		put_be32(*at, (uint32_t)value);
	*at += wide ? 8 : 4;
}

/* Answer of SEGEXT with as many ranges as fit into @room; return: its length. */
static size_t list_ranges(const struct dcss *segment, bool wide, size_t room, uint8_t *out)
{
	size_t head = wide ? 24 : 16, entry = wide ? 16 : 8;
	size_t listed = (room - head) / entry;
	uint8_t *at = out;

	assert(room >= head);
	if (listed > segment->config.ranges)
		listed = segment->config.ranges;
	put_address(&at, wide, dcss_start(segment));
	put_address(&at, wide, dcss_end(segment));
	put_be32(at, segment->config.ranges);
	put_be32(at + 4, (uint32_t)listed);
	at += 8;
	for (size_t i = 0; i < listed; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];

		put_address(&at, wide, dcss_range_start(range) | (uint8_t)range->type);
		put_address(&at, wide, (uint64_t)range->last * CP_PAGE_SIZE);
	}
	assert((size_t)(at - out) == head + listed * entry);
	return (size_t)(at - out);
}

static struct cp_result segext_answer(struct cp *cp, const struct request *request,
				      const uint8_t qin[QIN_SIZE], const struct dcss *segment)
{
	int cpu = (int)request->insn->cpu;
	size_t room = get_be16(qin + QIN_LENGTH);
	uint8_t out[QOUT_MAX], rc = 0;
	size_t len = list_ranges(segment, request->wide, room, out);
	uint16_t pgm = storage_write(cp, cpu, get_be32(qin + QIN_ADDRESS), out, len);

	assert(len <= sizeof(out) && len <= room);
	if (pgm == 0)
		pgm = storage_write(cp, cpu, diag_address(request->insn, request->rx) + QIN_RC,
				    &rc, 1);
	return pgm != 0 ? cp_program(pgm) : cp_cc(dcss_loaded(cp, segment) ? 0 : 1);
}

static struct cp_result segext(struct cp *cp, struct request *request)
{
	uint64_t addr = diag_address(request->insn, request->rx);
	int cpu = (int)request->insn->cpu;
	struct cp_result result;
	struct dcss *segment;
	uint8_t qin[QIN_SIZE], rc = 0;
	uint16_t pgm;

	if (addr % 8 != 0 || addr % CP_PAGE_SIZE > CP_PAGE_SIZE - QIN_SIZE)
		return cp_program(PGM_SPECIFICATION);
	pgm = storage_read(cp, cpu, addr, qin, sizeof(qin));
	if (pgm != 0)
		return cp_program(pgm);
	if (get_be32(qin + QIN_ADDRESS) > 0x7fffffff ||
	    (int16_t)get_be16(qin + QIN_LENGTH) < (request->wide ? 24 : 16))
		return cp_program(PGM_SPECIFICATION);
	ebcdic_to_name(request->name, qin + QIN_NAME);
	trace_text(cp, "segment", request->name);
	if (fault(cp, request, FAULT_DIAG64_SEGEXT, &result))
		return result;
	segment = find(cp, request);
	if (!segment)
		rc = DCSS_RC_NOT_FOUND;
	else if (qin[QIN_OPCODE] != FINDSEGA || !fits(request, segment))
		rc = DCSS_RC_BAD_SUBCODE;
	if (rc == 0 && dropped(request))
		return cp_cc(dcss_loaded(cp, segment) ? 0 : 1);
	if (rc == 0)
		return segext_answer(cp, request, qin, segment);
	pgm = storage_write(cp, cpu, addr + QIN_RC, &rc, 1);
	return pgm != 0 ? cp_program(pgm) : refuse(request, rc);
}

typedef struct cp_result subcode_function(struct cp *cp, struct request *request);

static const struct subcode {
	uint8_t code;
	bool wide, exclusive;
	subcode_function *run;
} subcodes[] = {
	{ 0x00, false, false, load },	/* LOADSHR */
	{ 0x04, false, true, load },	/* LOADNSR */
	{ 0x08, true, false, purge },	/* PURGESEG: has no address to answer */
	{ 0x0c, false, false, findseg },	/* FINDSEG */
	{ 0x18, false, false, segext },	/* SEGEXT */
	{ 0x20, true, false, load },	/* LOADSHRX */
	{ 0x24, true, true, load },	/* LOADNSRX */
	{ 0x2c, true, false, findseg },	/* FINDSEGX */
	{ 0x38, true, false, segext },	/* SEGEXTX */
};

static uint16_t fetch_name(struct cp *cp, struct request *request)
{
	uint64_t addr = diag_address(request->insn, request->rx);
	uint8_t name[CP_NAME_LEN];
	uint16_t pgm;

	if (request->wide && addr % 8 != 0)
		return PGM_SPECIFICATION;
	pgm = storage_read(cp, (int)request->insn->cpu, addr, name, sizeof(name));
	if (pgm != 0)
		return pgm;
	ebcdic_to_name(request->name, name);
	trace_text(cp, "segment", request->name);
	return 0;
}

struct cp_result diag_64_segments(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				  unsigned int r3)
{
	struct request request = { .insn = insn, .rx = r1, .ry = r3 };
	uint64_t subcode = diag_operand(insn, r3);
	uint16_t pgm;

	if (r1 == r3)
		return cp_program(PGM_SPECIFICATION);
	for (size_t i = 0; i < sizeof(subcodes) / sizeof(subcodes[0]); i++) {
		if (subcodes[i].code != subcode)
			continue;
		/* The old forms answer with addresses that AMODE 64 has no use for. */
		if (!subcodes[i].wide && insn->amode == 64)
			return cp_program(PGM_SPECIFICATION);
		request.wide = subcodes[i].wide;
		request.exclusive = subcodes[i].exclusive;
		if (subcodes[i].run == segext)
			return segext(cp, &request);
		pgm = fetch_name(cp, &request);
		return pgm != 0 ? cp_program(pgm) : subcodes[i].run(cp, &request);
	}
	return refuse(&request, DCSS_RC_BAD_SUBCODE);
}
