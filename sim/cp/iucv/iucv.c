/* SPDX-License-Identifier: MIT */
/*
 * IUCV: the instruction B2F0 and its twin for services and peers.
 *
 * Everything the guest supplies is checked before the function has any effect;
 * after that the result can always be stored.
 */
#include "iucv_private.h"
#include "zvmlab/input.h"
#include "zvmlab/storage.h"

#define REACH UINT64_C(0x80000000)	/* parameter lists are below 2 GiB */

/* A function's condition for being called. */
enum need { NEED_NOTHING, NEED_BUFFER, NEED_OWN_BUFFER };
/* The field of the list that names whom a fault rule can match. */
enum whom { WHOM_NOBODY, WHOM_PATH, WHOM_PATH_IF, WHOM_PATH_UNLESS_ALL, WHOM_VMID };

static const struct function {
	const char *name;
	enum fault_point point;
	enum need need;
	enum whom whom;
} functions[IUCV_FUNCTIONS] = {
	[IUCV_QUERY] = { "iucv.query", FAULT_IUCV_QUERY, NEED_NOTHING, WHOM_NOBODY },
	[IUCV_TEST_MESSAGE] = { "iucv.test-message", FAULT_IUCV_TEST_MESSAGE, NEED_BUFFER,
				WHOM_NOBODY },
	[IUCV_RETRIEVE_BUFFER] = { "iucv.retrieve-buffer", FAULT_IUCV_RETRIEVE_BUFFER,
				   NEED_OWN_BUFFER, WHOM_NOBODY },
	[IUCV_DESCRIBE] = { "iucv.describe", FAULT_IUCV_DESCRIBE, NEED_BUFFER, WHOM_NOBODY },
	[IUCV_SEND] = { "iucv.send", FAULT_IUCV_SEND, NEED_BUFFER, WHOM_PATH },
	[IUCV_RECEIVE] = { "iucv.receive", FAULT_IUCV_RECEIVE, NEED_BUFFER, WHOM_PATH_IF },
	[IUCV_REPLY] = { "iucv.reply", FAULT_IUCV_REPLY, NEED_BUFFER, WHOM_PATH },
	[IUCV_TEST_COMPLETION] = { "iucv.test-completion", FAULT_IUCV_TEST_COMPLETION, NEED_BUFFER,
				   WHOM_PATH_IF },
	[IUCV_REJECT] = { "iucv.reject", FAULT_IUCV_REJECT, NEED_BUFFER, WHOM_PATH_IF },
	[IUCV_PURGE] = { "iucv.purge", FAULT_IUCV_PURGE, NEED_BUFFER, WHOM_PATH_IF },
	[IUCV_ACCEPT] = { "iucv.accept", FAULT_IUCV_ACCEPT, NEED_BUFFER, WHOM_PATH },
	[IUCV_CONNECT] = { "iucv.connect", FAULT_IUCV_CONNECT, NEED_BUFFER, WHOM_VMID },
	[IUCV_DECLARE_BUFFER] = { "iucv.declare-buffer", FAULT_IUCV_DECLARE_BUFFER, NEED_NOTHING,
				  WHOM_NOBODY },
	[IUCV_QUIESCE] = { "iucv.quiesce", FAULT_IUCV_QUIESCE, NEED_BUFFER, WHOM_PATH_UNLESS_ALL },
	[IUCV_RESUME] = { "iucv.resume", FAULT_IUCV_RESUME, NEED_BUFFER, WHOM_PATH_UNLESS_ALL },
	[IUCV_SEVER] = { "iucv.sever", FAULT_IUCV_SEVER, NEED_BUFFER, WHOM_PATH_UNLESS_ALL },
	[IUCV_SET_MASK] = { "iucv.set-mask", FAULT_IUCV_SET_MASK, NEED_OWN_BUFFER, WHOM_NOBODY },
	[IUCV_SET_CONTROL_MASK] = { "iucv.set-control-mask", FAULT_IUCV_SET_CONTROL_MASK,
				    NEED_OWN_BUFFER, WHOM_NOBODY },
};

const char *iucv_function_name(enum iucv_function function)
{
	assert(function < IUCV_FUNCTIONS);
	return functions[function].name;
}

static struct iucv_result perform_for(const struct iucv_caller *by, enum iucv_function function,
				      struct iucv_parm *parm)
{
	switch (function) {
	case IUCV_QUERY:
		return iucv_cc(0);
	case IUCV_TEST_MESSAGE:
		return iucv_test_message(by);
	case IUCV_RETRIEVE_BUFFER:
		return iucv_retrieve(by);
	case IUCV_DESCRIBE:
		return iucv_describe(by, parm);
	case IUCV_SEND:
		return iucv_send(by, parm);
	case IUCV_RECEIVE:
		return iucv_receive(by, parm);
	case IUCV_REPLY:
		return iucv_reply(by, parm);
	case IUCV_TEST_COMPLETION:
		return iucv_test_completion(by, parm);
	case IUCV_REJECT:
		return iucv_reject(by, parm);
	case IUCV_PURGE:
		return iucv_purge(by, parm);
	case IUCV_ACCEPT:
		return iucv_accept(by, parm);
	case IUCV_CONNECT:
		return iucv_connect(by, parm);
	case IUCV_DECLARE_BUFFER:
		return iucv_declare(by, parm);
	case IUCV_QUIESCE:
	case IUCV_RESUME:
		return iucv_quiesce(by, parm, function == IUCV_QUIESCE);
	case IUCV_SEVER:
		return iucv_sever(by, parm);
	case IUCV_SET_MASK:
	case IUCV_SET_CONTROL_MASK:
		return iucv_set_mask(by, parm, function == IUCV_SET_CONTROL_MASK);
	}
	return iucv_error(IUCV_INVALID_FUNCTION);
}

/* Does the list name a path? */
static bool names_path(enum iucv_function function, const struct iucv_parm *parm)
{
	enum whom whom = functions[function].whom;

	return whom == WHOM_PATH || (whom == WHOM_PATH_IF && parm->flags & IPFGPID) ||
	       (whom == WHOM_PATH_UNLESS_ALL && !(parm->flags & IPALL));
}

/* Exclusive-or a byte of what RECEIVE has just stored for the guest. */
static void corrupt_received(const struct iucv_caller *by, struct iucv_parm *parm,
			     const struct fault_action *action)
{
	const struct iucv_end place = {
		by->user, by->cpu, &parm->buffer, parm->received ? action->offset % parm->received : 0,
	};
	uint8_t byte = 0;
	const struct iucv_area own = { .host = true, .ptr = &byte, .len = 1 };
	const struct iucv_end here = { by->user, by->cpu, &own, 0 };

	if (parm->flags & IPRMDATA) {
		parm->rmmsg[action->offset % sizeof(parm->rmmsg)] ^= (uint8_t)action->value;
		return;
	}
	if (parm->received == 0)
		return;
	assert(parm->received <= parm->buffer.len);
	/* The data may have come to lie over the list that says where they lie. */
	if (iucv_area_move(&place, &here, 1).from != 0)
		return;
	byte ^= (uint8_t)action->value;
	(void)iucv_area_move(&here, &place, 1);
}

/* Once only: a path that CP has severed has no partner any more. */
static void break_path(struct iucv_path *path, const struct fault_action *action)
{
	if (path->state != IUCV_PATH_SEVERED)
		iucv_path_break(path, (uint8_t)action->value);
}

/* Does a fault take the place of the function?  @path: the one it names, or NULL. */
static bool fault_instead(struct iucv_caller *by, struct iucv_path *path,
			  const struct fault_action *action, struct iucv_result *result)
{
	*result = iucv_cc(0);
	switch (action->kind) {
	case FAULT_CC:
		result->cc = action->value & 3;
		return true;
	case FAULT_RC:
		*result = iucv_error((uint8_t)action->value);
		return true;
	case FAULT_PGM:
		*result = iucv_program((uint16_t)action->value);
		return true;
	case FAULT_DROP:
		return true;
	case FAULT_LIMIT:
		if (action->value < by->limit)
			by->limit = (uint16_t)action->value;
		return false;
	case FAULT_SEVER:
		if (path)
			break_path(path, action);
		return false;
	default:
		return false;
	}
}

/* The fault's effect on a function that was carried out. */
static void fault_after(const struct iucv_caller *by, enum iucv_function function,
			struct iucv_parm *parm, const struct fault_action *action,
			const struct iucv_result *result)
{
	if (result->pgm != 0)
		return;
	assert(function != IUCV_CONNECT || result->cc != 0 || parm->path < by->user->max_paths);
	if (action->kind == FAULT_SEVER && function == IUCV_CONNECT && result->cc == 0)
		break_path(&by->user->path[parm->path], action);
	if (action->kind == FAULT_CORRUPT &&
	    (result->cc == 0 || (result->cc == 1 && result->code == IUCV_SHORT_BUFFER)))
		corrupt_received(by, parm, action);
}

/* @path: the one that the list names, or NULL. */
static struct fault_action fault_for(struct cp *cp, enum iucv_function function,
				     const struct iucv_parm *parm, const struct iucv_path *path)
{
	struct fault_call call = {
		.path = names_path(function, parm) ? parm->path : FAULT_ANY_PATH,
		.user = cp->config.userid, .name = "",
	};

	if (path)
		call.name = iucv_partner_name(path);
	else if (functions[function].whom == WHOM_VMID)
		call.name = parm->vmid;
	return fault_check(cp, functions[function].point, &call);
}

static void note_stray(struct iucv_machine *machine, enum iucv_function function)
{
	machine->strays++;
	machine->last_stray = function;
}

uint64_t iucv_stray_calls(const struct cp *cp, enum iucv_function *last)
{
	*last = cp->iucv->last_stray;
	return cp->iucv->strays;
}

static struct iucv_result guest_perform(struct cp *cp, int cpu, enum iucv_function function,
					struct iucv_parm *parm)
{
	struct iucv_machine *machine = cp->iucv;
	const bool named = names_path(function, parm);
	struct iucv_caller by = { cp->system->iucv, machine->user, cpu, IUCV_MAX_MSGLIM };
	struct iucv_path *path = named ? iucv_path_find(machine->user, parm->path) : NULL;
	struct fault_action action = fault_for(cp, function, parm, path);
	enum need need = functions[function].need;
	struct iucv_result result;

	assert(cpu >= 0 && (unsigned int)cpu < cp->config.cpus);
	if (named && !path)
		note_stray(machine, function);
	if (action.kind != FAULT_NONE && fault_instead(&by, path, &action, &result))
		return result;
	if ((need == NEED_BUFFER && !machine->declared) ||
	    (need == NEED_OWN_BUFFER && !machine->cpu[cpu].declared))
		return iucv_error(IUCV_NO_CONTROL_BUFFER);
	result = perform_for(&by, function, parm);
	if (action.kind != FAULT_NONE)
		fault_after(&by, function, parm, &action, &result);
	return result;
}

static struct cp_result query(struct cp *cp, const struct cp_insn *insn)
{
	struct iucv_parm parm = { 0 };
	struct fault_action action = fault_for(cp, IUCV_QUERY, &parm, NULL);
	struct iucv_caller by = { .iucv = cp->system->iucv, .limit = UINT16_MAX };
	struct iucv_result result;

	if (!fault_instead(&by, NULL, &action, &result)) {
		insn->gr[0] = IUCV_EVENT_SIZE;
		insn->gr[1] = cp->iucv->user->max_paths;
		if (action.kind == FAULT_LIMIT && by.limit < insn->gr[1])
			insn->gr[1] = by.limit;
		trace_number(cp, "max_paths", insn->gr[1]);
	}
	return result.pgm ? cp_program(result.pgm) : cp_cc(result.cc);
}

static uint64_t operand(const struct cp_insn *insn)
{
	if (insn->amode == 24)
		return insn->gr[1] & 0xffffff;
	return insn->amode == 31 ? insn->gr[1] & 0x7fffffff : insn->gr[1];
}

static struct cp_result perform(struct cp *cp, const struct cp_insn *insn, uint32_t function)
{
	uint64_t addr = operand(insn);
	uint8_t image[IUCV_PARM_SIZE];
	struct iucv_parm parm;
	struct iucv_result result;
	uint16_t pgm;

	if (function == IUCV_QUERY)
		return query(cp, insn);
	if (addr % 8 != 0)
		return cp_program(PGM_SPECIFICATION);
	if (addr > REACH - sizeof(image))
		return cp_program(PGM_ADDRESSING);
	pgm = storage_check(cp, (int)insn->cpu, addr, sizeof(image), true);
	if (pgm == 0)
		pgm = storage_read(cp, (int)insn->cpu, addr, image, sizeof(image));
	if (pgm != 0)
		return cp_program(pgm);
	if (function < IUCV_FUNCTIONS) {
		iucv_decode((enum iucv_function)function, image, &parm);
		result = guest_perform(cp, (int)insn->cpu, (enum iucv_function)function, &parm);
	} else {
		result = iucv_error(IUCV_INVALID_FUNCTION);
	}
	if (result.pgm != 0)
		return cp_program(result.pgm);
	iucv_store(cp, (int)insn->cpu, addr, (enum iucv_function)function, &parm, &result, image);
	return cp_cc(result.cc);
}

struct cp_result cp_iucv(struct cp *cp, const struct cp_insn *insn)
{
	uint32_t function = (uint32_t)insn->gr[0];
	const char *name = function < IUCV_FUNCTIONS ? functions[function].name : "iucv.unknown";
	struct cp_result result;

	/* An entry point is not called from within another one. */
	assert(insn->cpu < cp->config.cpus && !cp->system->recording);
	assert(insn->amode == 24 || insn->amode == 31 || insn->amode == 64);
	TRACE_INPUT_AS(cp, iucv, name, .cpu = insn->cpu, .gr0 = insn->gr[0], .gr1 = insn->gr[1],
		       .amode = insn->amode, .problem = insn->problem);
	result = insn->problem ? cp_program(PGM_OPERATION) : perform(cp, insn, function);
	trace_end_result(cp, &result);
	iucv_dispatch(cp);
	return result;
}

/* Does the function read its data area?  Others store into it. */
static bool gives_data(enum iucv_function function)
{
	return function == IUCV_SEND || function == IUCV_REPLY;
}

static void trace_parm(struct cp *cp, const struct iucv_user *user, enum iucv_function function,
		       const struct iucv_parm *parm)
{
	const bool data = parm->buffer.host && parm->buffer.len > 0;
	const struct input_bytes given = {
		.at = data ? parm->buffer.ptr : "", .len = data ? parm->buffer.len : 0,
	};

	TRACE_INPUT_AS(cp, iucv_call, functions[function].name, .user = user->name,
		       .path = parm->path, .flags = parm->flags, .vmid = parm->vmid,
		       .target = parm->target[0] != '\0' ? parm->target : NULL,
		       .msglim = parm->msglim, .msgid = parm->msgid, .trgcls = parm->trgcls,
		       .srccls = parm->srccls, .msgtag = parm->msgtag,
		       .ipuser = { parm->ipuser, sizeof(parm->ipuser) },
		       .rmmsg = { parm->rmmsg, sizeof(parm->rmmsg) }, .mask = parm->mask,
		       .buffer = gives_data(function) ? given : (struct input_bytes){ .at = NULL },
		       .length = parm->buffer.len, .answer = parm->answer.len,
		       .nested = cp->system->iucv->dispatching);
}

/* Trace the results in the list. */
static void trace_results(struct cp *cp, enum iucv_function function, const struct iucv_parm *parm,
			  const struct iucv_result *result)
{
	/* With other results nothing has been stored into these. */
	const bool told = result->cc == 0 || result->cc == 3 || result->code == IUCV_SHORT_BUFFER;

	trace_number(cp, "path", parm->path);
	trace_number(cp, "msglim", parm->msglim);
	trace_number(cp, "msgid", parm->msgid);
	if (told && function == IUCV_RECEIVE && parm->received > 0)
		trace_bytes(cp, "received", parm->buffer.ptr, parm->received);
	if (told && parm->residual != 0)
		trace_number(cp, "residual", parm->residual);
	if (told && parm->audit != 0)
		trace_hex(cp, "audit", parm->audit);
	trace_number(cp, "cc", result->cc);
	trace_number(cp, "code", result->code);
	if (result->pgm != 0)
		trace_number(cp, "pgm", result->pgm);
}

struct iucv_result iucv_call(struct cp *cp, struct iucv_user *user, enum iucv_function function,
			     struct iucv_parm *parm)
{
	const struct iucv_caller by = { cp->system->iucv, user, CP_ABSOLUTE, IUCV_MAX_MSGLIM };
	bool outside = !user->own;
	struct iucv_result result;

	assert(!iucv_is_machine(user) && function < IUCV_FUNCTIONS);
	assert(!parm->buffer.host || parm->buffer.ptr || parm->buffer.len == 0);
	assert(!parm->answer.host || parm->answer.ptr || parm->answer.len == 0);
	if (!outside)
		return perform_for(&by, function, parm);
	if (trace_enabled(cp)) {
		trace_parm(cp, user, function, parm);
		result = perform_for(&by, function, parm);
		trace_results(cp, function, parm, &result);
		trace_end(cp);
	} else {
		trace_begin(cp, TRACE_NO_CPU, "peer");
		result = perform_for(&by, function, parm);
		trace_end(cp);
	}
	iucv_dispatch(cp);
	return result;
}
