/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'250': block I/O.  Rx: real address of the parameter list (BIOPL); Ry: function; Rx+1:
 * return code.  CP Programming Services (SC24-6272), "DIAGNOSE Code X'250'".
 */
#include <string.h>

#include "diag_private.h"
#include "bytes.h"
#include "zvmlab/disk.h"
#include "zvmlab/storage.h"

enum { INITIALIZE = 0, READ_WRITE = 1, REMOVE = 2 };

enum {
	LIST_DEVICE = 0,	/* 2 */
	LIST_FLAGS = 2,		/* 1: X'80', formats with 64 bits */
	LIST_SIZE = 64,
	/* INITIALIZE. */
	INIT_BLOCK_SIZE = 24,	/* 4 */
	INIT_OFFSET_31 = 28, INIT_START_31 = 32, INIT_END_31 = 36,	/* 4 each */
	INIT_OFFSET_64 = 32, INIT_START_64 = 40, INIT_END_64 = 48,	/* 8 each */
	/* READ_WRITE. */
	IO_KEY = 24, IO_FLAGS = 25,	/* 1 each */
	IO_COUNT = 28,		/* 4 */
	IO_ALET = 32,		/* 4 */
	IO_LIST_31 = 36, IO_PARAMETER_31 = 40,	/* 4 each */
	IO_PARAMETER_64 = 40, IO_LIST_64 = 48,	/* 8 each */
};
#define FORMAT_64 0x80
#define KEY_RESERVED 0x0f
#define IO_ASYNC 0x02
#define IO_NO_CACHE 0x01
#define PGM_ALET_SPECIFICATION 0x28
#define PGM_ALEN_TRANSLATION 0x29

/* Bytes that are 0, in a list of this kind: from the first to before the second. */
struct gap {
	uint8_t from, to;
};
static const struct gap gaps[3][2][4] = {
	[INITIALIZE] = { { { 3, 24 }, { 40, 64 } }, { { 3, 24 }, { 28, 32 }, { 56, 64 } } },
	[READ_WRITE] = { { { 3, 24 }, { 26, 28 }, { 44, 64 } },
			 { { 3, 24 }, { 26, 28 }, { 36, 40 }, { 56, 64 } } },
	[REMOVE] = { { { 2, 64 } } },
};

static bool reserved_used(unsigned int function, bool format64, const uint8_t *list)
{
	for (unsigned int i = 0; i < 4; i++) {
		const struct gap *gap = &gaps[function][format64][i];

		for (unsigned int at = gap->from; at < gap->to; at++)
			if (list[at] != 0)
				return true;
	}
	return (list[LIST_FLAGS] & ~FORMAT_64) != 0;
}

static uint8_t cc_of(uint32_t rc)
{
	if (rc <= DISK_RC_STARTED)
		return 0;
	return rc == DISK_RC_SOME ? 1 : 2;
}

static struct cp_result end(const struct cp_insn *insn, unsigned int r1, uint32_t rc)
{
	diag_set(insn, r1 + 1, rc);
	return cp_cc(cc_of(rc));
}

static struct cp_result initialize(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				   uint8_t *list)
{
	const bool format64 = (list[LIST_FLAGS] & FORMAT_64) != 0;
	const uint64_t addr = diag_address(insn, r1);
	const int64_t offset = format64 ? (int64_t)get_be64(list + INIT_OFFSET_64) :
					  (int32_t)get_be32(list + INIT_OFFSET_31);
	int64_t first, last;
	enum disk_code rc;
	uint16_t pgm;

	rc = disk_init(cp, get_be16(list + LIST_DEVICE), get_be32(list + INIT_BLOCK_SIZE), offset,
		       &first, &last);
	if (cc_of(rc) != 0)
		return end(insn, r1, rc);
	if (format64) {
		put_be64(list + INIT_START_64, (uint64_t)first);
		put_be64(list + INIT_END_64, (uint64_t)last);
	} else {
		put_be32(list + INIT_START_31, (uint32_t)first);
		put_be32(list + INIT_END_31, (uint32_t)last);
	}
	pgm = storage_write(cp, (int)insn->cpu, addr, list, LIST_SIZE);
	assert(pgm == 0);
	(void)pgm;
	return end(insn, r1, rc);
}

static struct cp_result read_write(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				   const uint8_t *list)
{
	const bool format64 = (list[LIST_FLAGS] & FORMAT_64) != 0;
	const uint32_t alet = get_be32(list + IO_ALET);
	struct disk_request request = {
		.device = get_be16(list + LIST_DEVICE), .format64 = format64,
		.async = (list[IO_FLAGS] & IO_ASYNC) != 0, .count = get_be32(list + IO_COUNT),
	};
	enum disk_code rc;
	uint16_t pgm;

	if ((list[IO_KEY] & KEY_RESERVED) != 0 || (list[IO_FLAGS] & ~(IO_ASYNC | IO_NO_CACHE)) != 0)
		return cp_program(PGM_SPECIFICATION);
	/* The guest has no access list, and bits 0 to 6 of an ALET are 0. */
	if (alet != 0)
		return cp_program(alet >> 25 != 0 ? PGM_ALET_SPECIFICATION : PGM_ALEN_TRANSLATION);
	if (format64) {
		request.list = get_be64(list + IO_LIST_64);
		request.parameter = get_be64(list + IO_PARAMETER_64);
	} else {
		request.list = get_be32(list + IO_LIST_31) & 0x7fffffff;
		request.parameter = get_be32(list + IO_PARAMETER_31);
	}
	rc = disk_io(cp, &request, &pgm);
	return pgm != 0 ? cp_program(pgm) : end(insn, r1, rc);
}

/* Does a fault take the place of the function?  Then @result is how the instruction ends. */
static bool fault(struct cp *cp, const struct cp_insn *insn, unsigned int r1, unsigned int function,
		  struct cp_result *result)
{
	static const enum fault_point points[] = {
		[INITIALIZE] = FAULT_DIAG250_INIT, [READ_WRITE] = FAULT_DIAG250_IO,
		[REMOVE] = FAULT_DIAG250_REMOVE,
	};
	const struct fault_action action = diag_fault(cp, points[function]);

	if (action.kind == FAULT_NONE)
		return false;
	if (action.kind == FAULT_PGM)
		*result = cp_program((uint16_t)action.value);
	else
		*result = end(insn, r1, action.kind == FAULT_RC ? action.value : 0);
	if (action.kind == FAULT_CC)
		*result = cp_cc((uint8_t)action.value);
	return true;
}

struct cp_result diag_250_blocks(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3)
{
	const uint32_t function = (uint32_t)insn->gr[r3];
	const uint64_t addr = diag_address(insn, r1);
	struct cp_result result;
	uint8_t list[LIST_SIZE];
	uint16_t pgm;

	if (r1 == 15 || addr % 8 != 0 || function > REMOVE)
		return cp_program(PGM_SPECIFICATION);
	pgm = storage_read(cp, (int)insn->cpu, addr, list, sizeof(list));
	if (pgm == 0)
		pgm = storage_check(cp, (int)insn->cpu, addr, sizeof(list), true);
	if (pgm != 0)
		return cp_program(pgm);
	if (reserved_used(function, function != REMOVE && (list[LIST_FLAGS] & FORMAT_64) != 0, list))
		return cp_program(PGM_SPECIFICATION);
	if (fault(cp, insn, r1, function, &result))
		return result;
	if (function == INITIALIZE)
		return initialize(cp, insn, r1, list);
	if (function == READ_WRITE)
		return read_write(cp, insn, r1, list);
	return end(insn, r1, disk_remove(cp, get_be16(list + LIST_DEVICE)));
}
