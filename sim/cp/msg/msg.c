/* SPDX-License-Identifier: MIT */
/*
 * The *MSG system service, and where messages between users go.
 *
 * A machine connects; each SMSG for it is then a one-way IUCV message of an
 * eight-byte EBCDIC sender and the text.  A message waits in a buffer of the
 * machine's until IUCV says that it is complete.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cp_private.h"
#include "ebcdic.h"
#include "message_numbers.h"
#include "smaller.h"
#include "text.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/guests.h"
#include "zvmlab/iucv.h"
#include "zvmlab/state.h"

/* IPTRGCLS of *MSG: class 4 is SMSG (CP Programming Services, "*MSG"). */
#define MSG_CLASS_SMSG 4u
/* A text comes from one command line. */
#define MSG_MAX_TEXT CPCMD_MAX_COMMAND
#define MSG_BUFFERS 255u
/* Paths of the service: one of each machine, and connections left unanswered by a fault. */
#define MSG_MAX_PATHS 256u
/* IPUSER byte 0 when *MSG severs a path of its own accord. */
#define MSG_SEVERED 0

enum { SMSG_OFF, SMSG_ON, SMSG_IUCV };

struct buffer {
	bool busy;		/* until the message is complete */
	uint8_t data[8 + MSG_MAX_TEXT];
};

struct cmsg {
	struct buffer buffer[MSG_BUFFERS];
	uint8_t smsg;		/* SET SMSG */
	bool no_msg, no_wng;	/* SET MSG OFF, SET WNG OFF */
	bool connected;
	uint16_t path;		/* the service's end, if connected */
	uint16_t guest_path;	/* the machine's end */
};

static void forget_path(struct cmsg *msg)
{
	msg->connected = false;
	msg->path = msg->guest_path = 0;
	for (unsigned int i = 0; i < MSG_BUFFERS; i++)
		msg->buffer[i].busy = false;
}

static void sever(struct cp *cp, uint16_t path, uint8_t code)
{
	struct iucv_parm parm = { .path = path };

	parm.ipuser[0] = code;
	iucv_call(cp, cp->system->msg, IUCV_SEVER, &parm);
}

/* The fault due in a decision about @user's path. */
static struct fault_action fault_for(struct cp *cp, enum fault_point point, const char *user,
				     uint16_t path)
{
	const struct fault_call call = { .path = path, .user = user, .name = MSG_SERVICE };

	return fault_check(cp, point, &call);
}

static uint16_t limit_wanted(const struct iucv_event *event, const struct fault_action *fault)
{
	if (fault->kind != FAULT_LIMIT)
		return event->msglim;
	/* 0 would be the default. */
	return (uint16_t)smaller(larger(fault->value, 1), event->msglim);
}

/* The machine that has this path to the service, or NULL. */
static struct cp *connected_by(const struct cp_system *system, uint16_t path)
{
	for (unsigned int i = 0; i < system->machines; i++) {
		const struct cmsg *msg = system->machine[i]->msg;

		if (msg->connected && msg->path == path)
			return system->machine[i];
	}
	return NULL;
}

/* Somebody connects: one path for each machine, and none for others. */
static void pending(struct cp *cp, const struct iucv_event *event)
{
	struct cp *target = cp_machine_of(cp->system, event->vmid);
	struct iucv_parm parm = { .path = event->path };
	struct iucv_path_info info;
	struct iucv_result result;
	struct fault_action fault;
	const bool there = iucv_path_info(cp->system->msg, event->path, &info);

	/* Whoever had left the path would have taken the connection's event with it. */
	assert(there);
	(void)there;
	fault = fault_for(cp, FAULT_MSG_CONNECT, event->vmid, info.partner_path);
	if (fault.kind == FAULT_DROP)
		return;
	if (fault.kind == FAULT_SEVER) {
		sever(cp, event->path, (uint8_t)fault.value);
		return;
	}
	if (!target || target->msg->connected) {
		sever(cp, event->path, MSG_SEVERED);
		return;
	}
	parm.msglim = limit_wanted(event, &fault);
	result = iucv_call(cp, cp->system->msg, IUCV_ACCEPT, &parm);
	assert(result.cc == 0);
	(void)result;
	target->msg->connected = true;
	target->msg->path = event->path;
	target->msg->guest_path = info.partner_path;
}

static void severed(struct cp *cp, uint16_t path)
{
	struct cp *target = connected_by(cp->system, path);

	if (target) {
		/* Fault: *MSG does not notice, and goes on with a path that is no more. */
		if (fault_for(cp, FAULT_MSG_SEVER, target->config.userid,
			      target->msg->guest_path).kind == FAULT_DROP)
			return;
		forget_path(target->msg);
	}
	sever(cp, path, MSG_SEVERED);
}

/* The machine @target has received what is in the buffer. */
static void complete(struct cp *cp, struct cp *target, uint32_t tag)
{
	struct cmsg *msg = target->msg;
	const struct fault_action fault =
		fault_for(cp, FAULT_MSG_REPLY, target->config.userid, msg->guest_path);

	assert(msg->connected);
	if (fault.kind == FAULT_DROP)
		return;
	if (fault.kind == FAULT_SEVER) {
		sever(cp, msg->path, (uint8_t)fault.value);
		forget_path(msg);
		return;
	}
	if (tag < MSG_BUFFERS)
		msg->buffer[tag].busy = false;
}

static void event(struct cp *cp, struct iucv_user *user, void *opaque,
		  const struct iucv_event *event)
{
	struct cp *target;

	(void)opaque;
	assert(user == cp->system->msg);
	switch (event->type) {
	case IUCV_PENDING:
		pending(cp, event);
		break;
	case IUCV_SEVERED:
		severed(cp, event->path);
		break;
	case IUCV_MSG_COMPLETE:
	case IUCV_PRIO_COMPLETE:
		target = connected_by(cp->system, event->path);
		if (target)
			complete(cp, target, event->msgtag);
		break;
	case IUCV_MSG_PENDING:
	case IUCV_PRIO_PENDING: {
		/* *MSG only sends: what the guest sends is rejected. */
		struct iucv_parm parm = { .path = event->path, .msgid = event->msgid,
					  .trgcls = event->trgcls,
					  .flags = IPFGPID | IPFGMID | IPFGMCL };

		iucv_call(cp, user, IUCV_REJECT, &parm);
		break;
	}
	case IUCV_COMPLETE:
	case IUCV_PATH_QUIESCED:
	case IUCV_PATH_RESUMED:
		break;
	}
}

static const struct iucv_user_ops service_ops = { .event = event };

static int msg_init_system(struct cp_system *system, char *err, size_t errlen)
{
	assert(!system->msg);
	system->msg = iucv_service_create(system, MSG_SERVICE, MSG_MAX_PATHS, &service_ops, NULL);
	if (system->msg)
		return 0;
	snprintf(err, errlen, "not enough memory for the " MSG_SERVICE " service");
	return -1;
}

static int msg_init(struct cp *cp, char *err, size_t errlen)
{
	cp->msg = calloc(1, sizeof(*cp->msg));
	if (cp->msg)
		return 0;
	snprintf(err, errlen, "not enough memory for messages of the " MSG_SERVICE " service");
	return -1;
}

static void msg_fini(struct cp *cp)
{
	free(cp->msg);
	cp->msg = NULL;
}

/* SET SMSG outlives a reset of the virtual machine; its paths do not. */
static void msg_reset(struct cp *cp)
{
	forget_path(cp->msg);
}

static void machine_state(struct cmsg *msg, struct state *state)
{
	state_u8(state, &msg->smsg);
	state_require(state, msg->smsg <= SMSG_IUCV);
	state_bool(state, &msg->no_msg);
	state_bool(state, &msg->no_wng);
	state_bool(state, &msg->connected);
	state_u16(state, &msg->path);
	state_u16(state, &msg->guest_path);
	/* IUCV saves the contents of the messages that use the buffers. */
	for (unsigned int i = 0; i < MSG_BUFFERS; i++)
		state_bool(state, &msg->buffer[i].busy);
}

static void msg_state(struct cp *cp, struct state *state)
{
	struct cp_system *system = cp->system;

	state_tag(state, "CMSG");
	for (unsigned int i = 0; i < system->machines; i++)
		machine_state(system->machine[i]->msg, state);
	if (!state->loading)
		return;
	iucv_user_attach(system->msg, &service_ops, NULL);
	for (unsigned int i = 0; state->failed && i < system->machines; i++) {
		struct cmsg *msg = system->machine[i]->msg;

		msg->smsg = SMSG_OFF;
		msg->no_msg = msg->no_wng = false;
		forget_path(msg);
	}
}

void msg_set_smsg(struct cp *cp, unsigned int mode)
{
	assert(mode <= SMSG_IUCV);
	cp->msg->smsg = (uint8_t)mode;
}

unsigned int msg_smsg(const struct cp *cp)
{
	assert(cp->msg->smsg <= SMSG_IUCV);
	return cp->msg->smsg;
}

void msg_set(struct cp *cp, enum msg_kind kind, bool on)
{
	assert(kind == MSG_PLAIN || kind == MSG_WARNING);
	if (kind == MSG_PLAIN)
		cp->msg->no_msg = !on;
	else
		cp->msg->no_wng = !on;
}

bool msg_is_set(const struct cp *cp, enum msg_kind kind)
{
	assert(kind == MSG_PLAIN || kind == MSG_WARNING);
	return kind == MSG_PLAIN ? !cp->msg->no_msg : !cp->msg->no_wng;
}

void msg_take_over(struct cp *cp, const struct cp *from)
{
	const struct iucv_user *user = iucv_user_guest(cp);
	struct cmsg *msg = cp->msg;
	struct iucv_path_info info;

	assert(!msg->connected);
	msg->smsg = from->msg->smsg;
	msg->no_msg = from->msg->no_msg;
	msg->no_wng = from->msg->no_wng;
	for (uint32_t id = 0; id < iucv_max_paths(user) && !msg->connected; id++) {
		if (!iucv_path_info(user, (uint16_t)id, &info) ||
		    strcmp(info.partner, MSG_SERVICE) != 0)
			continue;
		msg->connected = true;
		msg->path = info.partner_path;
		msg->guest_path = info.path;
	}
}

static void to_console(struct cp *cp, const char *from, const char *to, const char *text,
		       enum msg_kind kind)
{
	static const char *const names[] = {
		[MSG_PLAIN] = "MSG", [MSG_SPECIAL] = "SMSG", [MSG_WARNING] = "WNG",
	};
	const struct clock_time t = clock_time(cp_system_tod(cp));
	char line[MSG_MAX_TEXT + 64];

	if (kind == MSG_NO_HEADER)
		snprintf(line, sizeof(line), "%s", text);
	else
		snprintf(line, sizeof(line), "%02u:%02u:%02u  * %s FROM %-8s: %s", t.hour,
			 t.minute, t.second, names[kind], from, text);
	text_printable(line, strlen(line));
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_CONSOLE, .name = to, .text = line });
}

static struct buffer *free_buffer(struct cmsg *msg, uint32_t *tag)
{
	for (*tag = 0; *tag < MSG_BUFFERS; ++*tag)
		if (!msg->buffer[*tag].busy)
			return &msg->buffer[*tag];
	return NULL;
}

/* By IUCV to the machine; a message that CP cannot send is refused, not queued. */
static int to_path(struct cp *cp, struct cmsg *msg, const char *from, const char *text,
		   const struct fault_action *fault)
{
	const size_t len = strlen(text);
	struct buffer *buffer;
	struct iucv_parm parm;
	uint32_t tag;

	assert(msg->connected && len <= MSG_MAX_TEXT);
	buffer = free_buffer(msg, &tag);
	if (!buffer)
		return CPCMD_NOT_RECEIVING;
	ebcdic_name(buffer->data, from);
	ebcdic_encode(buffer->data + 8, text, len);
	if (fault->kind == FAULT_CORRUPT)
		buffer->data[fault->offset % (8 + len)] ^= (uint8_t)fault->value;
	parm = (struct iucv_parm){
		.path = msg->path, .flags = IPNORPY, .trgcls = MSG_CLASS_SMSG, .msgtag = tag,
		.buffer = { .host = true, .ptr = buffer->data, .len = 8 + (uint32_t)len },
	};
	assert(!buffer->busy && parm.buffer.len <= sizeof(buffer->data));
	if (iucv_call(cp, cp->system->msg, IUCV_SEND, &parm).cc != 0)
		return CPCMD_NOT_RECEIVING;
	buffer->busy = true;
	if (fault->kind == FAULT_DELAY || fault->kind == FAULT_REORDER)
		(void)iucv_message_hold(cp, parm.msgid,
					fault->kind == FAULT_DELAY ? fault->value : 1);
	return 0;
}

/* The same with the fault that may be due. */
static int to_machine(struct cp *cp, struct cp *target, const char *from, const char *text)
{
	struct cmsg *msg = target->msg;
	const struct fault_action fault =
		fault_for(cp, FAULT_MSG_MESSAGE, target->config.userid, msg->guest_path);
	int rc;

	if (fault.kind == FAULT_DROP)
		return 0;
	if (fault.kind == FAULT_SEVER) {
		sever(cp, msg->path, (uint8_t)fault.value);
		forget_path(msg);
		return CPCMD_NOT_RECEIVING;
	}
	rc = to_path(cp, msg, from, text, &fault);
	if (rc == 0 && fault.kind == FAULT_DUPLICATE)
		(void)to_path(cp, msg, from, text, &fault);
	return rc;
}

int msg_send(struct cp *cp, const char *from, const char *to, const char *text,
	     enum msg_kind kind)
{
	struct cp *target = cp_machine_of(cp->system, to);

	assert(strlen(from) <= CP_NAME_LEN && strlen(text) <= MSG_MAX_TEXT);
	if (!parts_logged_on(cp, to))
		return CPCMD_NOT_LOGGED_ON;
	if (kind == MSG_SPECIAL && target) {
		if (target->msg->smsg == SMSG_OFF)
			return CPCMD_NOT_RECEIVING;
		if (target->msg->smsg == SMSG_IUCV && target->msg->connected)
			return to_machine(cp, target, from, text);
	}
	/* MSGNOH is a message of its kind, and SET SMSG is all that SMSG asks. */
	if (target && ((kind == MSG_WARNING && target->msg->no_wng) ||
		       ((kind == MSG_PLAIN || kind == MSG_NO_HEADER) && target->msg->no_msg)))
		return CPCMD_NOT_RECEIVING;
	to_console(cp, from, to, text, kind);
	return 0;
}

const struct cp_part msg_part = {
	.init_system = msg_init_system,
	.init = msg_init,
	.fini = msg_fini,
	.reset = msg_reset,
	.state_system = msg_state,
};
