/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'08': a CP command.
 *
 * Rx: address of the command; Ry: flags in the first byte of the low word,
 * then its length; with RESPONSE_BUFFER Rx+1 and Ry+1: address and length of
 * the buffer.  Ry becomes the return code, Ry+1 the length of the response,
 * or with cc 1 how much longer than the buffer it is.
 */
#include <string.h>

#include "command/command_private.h"
#include "diag_private.h"
#include "smaller.h"
#include "zvmlab/command.h"
#include "ebcdic.h"
#include "zvmlab/fault.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

#define FLAGS(operand) ((operand) & 0xff000000u)
#define LENGTH(operand) ((operand) & 0x00ffffffu)
#define RESPONSE_BUFFER 0x40000000u

struct call {
	const struct cp_insn *insn;
	unsigned int rx, ry;
	bool buffer;		/* the response goes into a buffer … */
	uint64_t addr, room;	/* … there, of that size */
	uint32_t len;		/* of the command */
	char text[CPCMD_MAX_COMMAND + 1];
};

/* Rx and Ry begin pairs that must not share a register. */
static bool pairs_valid(unsigned int rx, unsigned int ry)
{
	return rx < 15 && ry < 15 && rx != ry && rx + 1 != ry && ry + 1 != rx;
}

static uint16_t fetch(struct cp *cp, struct call *call)
{
	const struct cp_insn *insn = call->insn;
	uint32_t operand = (uint32_t)insn->gr[call->ry];
	uint8_t ebcdic[CPCMD_MAX_COMMAND];
	uint16_t pgm;

	call->buffer = FLAGS(operand) == RESPONSE_BUFFER;
	call->len = LENGTH(operand);
	if ((FLAGS(operand) & ~RESPONSE_BUFFER) != 0 || call->len > CPCMD_MAX_COMMAND ||
	    (call->buffer && !pairs_valid(call->rx, call->ry)))
		return PGM_SPECIFICATION;
	pgm = storage_read(cp, (int)insn->cpu, diag_address(insn, call->rx), ebcdic, call->len);
	if (pgm != 0)
		return pgm;
	ebcdic_decode(call->text, ebcdic, call->len);
	call->text[call->len] = '\0';
	if (!call->buffer)
		return 0;
	call->addr = diag_address(insn, call->rx + 1);
	call->room = diag_operand(insn, call->ry + 1);
	if (call->room > CPCMD_MAX_RESPONSE)
		call->room = CPCMD_MAX_RESPONSE;
	assert(call->len <= CPCMD_MAX_COMMAND && call->room <= CPCMD_MAX_RESPONSE);
	/* Before the command has had any effect. */
	return storage_check(cp, (int)insn->cpu, call->addr, call->room, true);
}

/* Bytes of the whole lines that fit into @room. */
static size_t whole_lines(const struct cpcmd_response *response, uint64_t room)
{
	size_t len = response->len;

	if (len <= room)
		return len;
	len = (size_t)room;
	while (len > 0 && response->text[len - 1] != '\n')
		len--;
	return len;
}

static struct cp_result to_buffer(struct cp *cp, const struct call *call,
				  const struct cpcmd_response *response)
{
	size_t len = whole_lines(response, call->room);
	uint8_t part[CP_PAGE_SIZE];

	for (size_t done = 0; done < len;) {
		size_t n = smaller(len - done, sizeof(part));
		uint16_t pgm;

		ebcdic_encode(part, response->text + done, n);
		pgm = storage_write(cp, (int)call->insn->cpu, call->addr + done, part, n);
		/* The command itself may have changed what the guest may store into. */
		if (pgm != 0)
			return cp_program(pgm);
		done += n;
	}
	diag_set(call->insn, call->ry, (uint64_t)response->rc);
	if (response->len <= call->room) {
		diag_set(call->insn, call->ry + 1, response->len);
		return cp_cc(0);
	}
	/* Linux adds this to the length of its buffer: the sum is what it should have been. */
	diag_set(call->insn, call->ry + 1, response->len - call->room);
	return cp_cc(1);
}

/* The name for rules: "QUERY" of "QUERY USERID", as it is spelt there; at most 8 characters. */
static void first_word(const char *text, char word[CP_NAME_LEN + 1])
{
	size_t len;

	text += strspn(text, " ");
	len = strcspn(text, " \n\r");
	if (len > CP_NAME_LEN)
		len = CP_NAME_LEN;
	memcpy(word, text, len);
	word[len] = '\0';
}

/* A fault takes the place of the command. */
static struct cp_result fail(const struct call *call, const struct fault_action *action)
{
	if (action->kind == FAULT_CC)
		return cp_cc((uint8_t)action->value);
	if (action->kind == FAULT_PGM)
		return cp_program((uint16_t)action->value);
	assert(action->kind == FAULT_RC || action->kind == FAULT_DROP);
	diag_set(call->insn, call->ry, action->kind == FAULT_RC ? action->value : 0);
	if (!call->buffer)
		return cp_done();
	diag_set(call->insn, call->ry + 1, 0);
	return cp_cc(0);
}

struct cp_result diag_08_command(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3)
{
	struct call call = { .insn = insn, .rx = r1, .ry = r3 };
	const struct cpcmd_response *response;
	char verb[CP_NAME_LEN + 1];
	struct fault_action action;
	uint16_t pgm = fetch(cp, &call);

	if (pgm != 0)
		return cp_program(pgm);
	trace_text(cp, "command", call.text);
	first_word(call.text, verb);
	action = fault_of_guest(cp, FAULT_DIAG_COMMAND, verb);
	if (action.kind != FAULT_NONE)
		return fail(&call, &action);
	response = cpcmd_run(cp, CPCMD_GUEST, call.text, call.len);
	if (call.buffer)
		return to_buffer(cp, &call, response);
	cpcmd_to_console(cp, response);
	diag_set(insn, r3, (uint64_t)response->rc);
	return cp_done();
}
