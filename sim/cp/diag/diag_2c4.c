/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'2C4': a file of the HMC's drive is transferred.  Rx: real address of the parameter
 * list; Ry: function, then the return code.  As Linux' drivers/s390/char/diag_ftp.c uses it.
 */
#include <string.h>

#include "diag_private.h"
#include "bytes.h"
#include "zvmlab/hmc.h"
#include "zvmlab/storage.h"

enum {
	LIST_BUFFER = 0,	/* 8: real address, of a page */
	LIST_LENGTH = 8,	/* 8 */
	LIST_OFFSET = 16,	/* 8 */
	LIST_INTPARM = 24,	/* 8 */
	/* 32: what CP stores, and a reserved doubleword */
	LIST_NAME = 64,		/* 192: ASCII, ended by a zero */
	LIST_SIZE = 256,
};

/* Return: 0, or the program interruption. */
static uint16_t read_list(struct cp *cp, const struct cp_insn *insn, struct hmc_request *request)
{
	uint8_t list[LIST_SIZE];
	uint16_t pgm;

	_Static_assert(sizeof(request->name) == LIST_SIZE - LIST_NAME, "a name with its zero");
	if (request->list % 8 != 0)
		return PGM_SPECIFICATION;
	pgm = storage_read(cp, (int)insn->cpu, request->list, list, sizeof(list));
	if (pgm == 0)
		pgm = storage_check(cp, (int)insn->cpu, request->list, sizeof(list), true);
	if (pgm != 0)
		return pgm;
	request->buffer = get_be64(list + LIST_BUFFER);
	request->length = get_be64(list + LIST_LENGTH);
	request->offset = get_be64(list + LIST_OFFSET);
	request->intparm = get_be64(list + LIST_INTPARM);
	memcpy(request->name, list + LIST_NAME, sizeof(request->name));
	if (request->buffer % CP_PAGE_SIZE != 0 ||
	    !memchr(request->name, '\0', sizeof(request->name)))
		return PGM_SPECIFICATION;
	return 0;
}

struct cp_result diag_2c4_drive(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				unsigned int r3)
{
	const uint32_t function = (uint32_t)insn->gr[r3];
	struct hmc_request request = {
		.cpu = (uint16_t)insn->cpu, .list = diag_address(insn, r1),
	};
	struct fault_action action;
	uint16_t pgm;

	/* Without the interruption nobody would learn how a transfer ends. */
	if (!cp->host.external || function >= HMC_FUNCTIONS)
		return cp_program(PGM_SPECIFICATION);
	pgm = read_list(cp, insn, &request);
	if (pgm != 0)
		return cp_program(pgm);
	request.function = (enum hmc_function)function;
	action = diag_fault(cp, FAULT_HMC_START);
	if (action.kind == FAULT_PGM)
		return cp_program((uint16_t)action.value);
	if (action.kind == FAULT_NONE)
		diag_set(insn, r3, hmc_start(cp, &request));
	else
		diag_set(insn, r3, action.kind == FAULT_RC ? action.value : 0);
	return cp_done();
}
