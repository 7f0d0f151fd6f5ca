/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'DC': application monitor data.  The parameter list has 16 bytes with addresses of
 * 31 bits, or, for functions from X'80' on, 32 bytes with addresses of 64 bits.
 */
#include "diag_private.h"
#include "bytes.h"
#include "zvmlab/appldata.h"
#include "zvmlab/fault.h"
#include "zvmlab/storage.h"

enum {
	LIST_CODE = 0,		/* 2: X'00DC' */
	LIST_FUNCTION = 2,
	LIST_LENGTH = 3,	/* of the list */
	LIST_HEAD = 4,
	LIST_BUFFER_LENGTH = 10,	/* 2, in both lists */
};
/* The short list; what both leave out Linux does not clear, so that it is ignored. */
enum { SHORT_PRODUCT = 4, SHORT_BUFFER = 12, SHORT_SIZE = 16 };
enum { LONG_PRODUCT = 16, LONG_BUFFER = 24, LONG_SIZE = 32 };
#define ADDRESS_31 0x7fffffffu

enum function { START_INTERVAL, STOP, EVENT, START_CONFIG, FUNCTIONS };
#define FUNCTION_LONG 0x80

static const enum fault_point points[FUNCTIONS] = {
	[START_INTERVAL] = FAULT_DIAGDC_START, [STOP] = FAULT_DIAGDC_STOP,
	[EVENT] = FAULT_DIAGDC_EVENT, [START_CONFIG] = FAULT_DIAGDC_CONFIG,
};

static enum appldata_rc judge(const uint8_t head[LIST_HEAD])
{
	uint8_t function = head[LIST_FUNCTION];

	if (get_be16(head + LIST_CODE) != 0xdc)
		return APPLDATA_BAD_CODE;
	if ((function & ~FUNCTION_LONG) >= FUNCTIONS)
		return APPLDATA_BAD_FUNCTION;
	if (head[LIST_LENGTH] != (function & FUNCTION_LONG ? LONG_SIZE : SHORT_SIZE))
		return APPLDATA_BAD_LIST;
	return APPLDATA_OK;
}

/* The contents of the list.  STOP's buffer need not be storage any more. */
static uint16_t read_buffer(struct cp *cp, const struct cp_insn *insn, const uint8_t *list,
			    struct appldata_buffer *buffer)
{
	const bool wide = list[LIST_FUNCTION] & FUNCTION_LONG;
	const uint64_t product = wide ? get_be64(list + LONG_PRODUCT) :
					get_be32(list + SHORT_PRODUCT) & ADDRESS_31;
	const uint16_t pgm = storage_read(cp, (int)insn->cpu, product, buffer->product,
					  sizeof(buffer->product));

	buffer->address = wide ? get_be64(list + LONG_BUFFER) :
				 get_be32(list + SHORT_BUFFER) & ADDRESS_31;
	assert(buffer->length > 0 && buffer->length <= APPLDATA_MAX_LENGTH);
	if (pgm != 0 || (list[LIST_FUNCTION] & ~FUNCTION_LONG) == STOP)
		return pgm;
	return storage_check(cp, (int)insn->cpu, buffer->address, buffer->length, false);
}

static enum appldata_rc carry_out(struct cp *cp, enum function function,
				  const struct appldata_buffer *buffer)
{
	switch (function) {
	case START_INTERVAL:
		return appldata_start(cp, buffer, APPLDATA_INTERVAL);
	case START_CONFIG:
		return appldata_start(cp, buffer, APPLDATA_CONFIG);
	case STOP:
		return appldata_stop(cp, buffer);
	case EVENT:
	case FUNCTIONS:
		break;
	}
	assert(function == EVENT);
	appldata_event(cp, buffer);
	return APPLDATA_OK;
}

static struct cp_result answer(const struct cp_insn *insn, unsigned int r3, uint64_t rc)
{
	diag_set(insn, r3, rc);
	return cp_done();
}

static struct cp_result act(struct cp *cp, const struct cp_insn *insn, unsigned int r3,
			    enum function function, const struct appldata_buffer *buffer)
{
	char name[APPLDATA_PRODUCT_NUMBER + 1];
	struct fault_action fault;

	appldata_name(buffer->product, name);
	fault = fault_of_guest(cp, points[function], name);
	switch (fault.kind) {
	case FAULT_CC:
		return cp_cc((uint8_t)fault.value);
	case FAULT_PGM:
		return cp_program((uint16_t)fault.value);
	case FAULT_RC:
		return answer(insn, r3, fault.value);
	case FAULT_DROP:
		return answer(insn, r3, APPLDATA_OK);
	default:
		return answer(insn, r3, carry_out(cp, function, buffer));
	}
}

/* Rx: parameter list; Ry: becomes the return code. */
struct cp_result diag_dc_appldata(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				  unsigned int r3)
{
	const uint64_t addr = diag_address(insn, r1);
	struct appldata_buffer buffer;
	uint8_t list[LONG_SIZE];
	enum appldata_rc rc;
	uint16_t pgm = storage_read(cp, (int)insn->cpu, addr, list, LIST_HEAD);

	if (pgm != 0)
		return cp_program(pgm);
	rc = judge(list);
	if (rc != APPLDATA_OK)
		return answer(insn, r3, rc);
	pgm = storage_read(cp, (int)insn->cpu, addr, list, list[LIST_LENGTH]);
	if (pgm != 0)
		return cp_program(pgm);
	if (!cp->config.applmon)
		return answer(insn, r3, APPLDATA_NOT_AUTHORISED);
	buffer.length = get_be16(list + LIST_BUFFER_LENGTH);
	if (buffer.length == 0 || buffer.length > APPLDATA_MAX_LENGTH)
		return answer(insn, r3, APPLDATA_BAD_LENGTH);
	pgm = read_buffer(cp, insn, list, &buffer);
	if (pgm != 0)
		return cp_program(pgm);
	return act(cp, insn, r3, (enum function)(list[LIST_FUNCTION] & ~FUNCTION_LONG), &buffer);
}
