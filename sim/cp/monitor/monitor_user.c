/* SPDX-License-Identifier: MIT */
/* Connections to *MONITOR, and what arrives on them. */
#include <string.h>

#include "monitor_private.h"
#include "ebcdic.h"
#include "smaller.h"
#include "zvmlab/event.h"

/* IPUSER of CONNECT, as Linux's monreader sends it. */
enum { CONNECT_VERSION = 0, CONNECT_WANTS = 1, CONNECT_SEGMENT = 8 };
#define SHARED_MODE 0x01
#define WANTS_SAMPLE 0x80
#define WANTS_EVENT 0x40
/* IPUSER of connection complete. */
enum { COMPLETE_VERSION = 0, COMPLETE_EVENT = 1, COMPLETE_SAMPLE = 2 };

static struct mon_user *user_by_path(struct monitor *m, uint16_t path)
{
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (m->user[i].used && m->user[i].path == path)
			return &m->user[i];
	return NULL;
}

static struct mon_user *free_user(struct monitor *m)
{
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (!m->user[i].used)
			return &m->user[i];
	return NULL;
}

/* SC throughout and without a gap: *MONITOR addresses it as one piece. */
static bool is_sc(const struct dcss *segment)
{
	const struct cp_segment_config *config = &segment->config;

	for (unsigned int i = 0; i < config->ranges; i++) {
		if (config->range[i].type != DCSS_SC)
			return false;
		if (i > 0 && config->range[i].first != config->range[i - 1].last + 1)
			return false;
	}
	return config->ranges > 0;
}

static enum mon_refusal choose_segment(struct cp *cp, const char *name)
{
	struct monitor *m = cp->system->monitor;
	struct dcss *segment;
	enum mon_refusal refusal;

	if (m->segment)
		return strcmp(name, m->segment->config.name) == 0 ? MON_ACCEPTED :
								    MON_OTHER_SEGMENT;
	segment = dcss_find(cp, name);
	if (!segment)
		return MON_NO_SEGMENT;
	if (segment->cls != DCSS_ACTIVE && segment->cls != DCSS_RESTRICTED)
		return MON_NOT_ACTIVE;
	if (!is_sc(segment))
		return MON_BAD_SEGMENT;
	refusal = mon_layout(cp, segment);
	if (refusal != MON_ACCEPTED)
		return refusal;
	m->segment = segment;
	dcss_use(cp, segment, +1);
	assert(segment->defined && segment->users > 0);
	return MON_ACCEPTED;
}

static enum mon_refusal admit(struct cp *cp, const struct iucv_event *event)
{
	char name[9];

	if (event->ipuser[CONNECT_VERSION] != SHARED_MODE ||
	    !(event->ipuser[CONNECT_WANTS] & (WANTS_SAMPLE | WANTS_EVENT)))
		return MON_BAD_IPUSER;
	if (!(event->flags & IPRMDATA))
		return MON_NO_PARMDATA;
	if (!free_user(cp->system->monitor))
		return MON_TOO_MANY_USERS;
	ebcdic_to_name(name, event->ipuser + CONNECT_SEGMENT);
	return choose_segment(cp, name);
}

/* Return: the limit in force. */
static uint32_t accept(struct cp *cp, const struct iucv_event *event, uint32_t limit)
{
	struct monitor *m = cp->system->monitor;
	struct iucv_parm parm = {
		.path = event->path, .flags = IPRMDATA, .msglim = (uint16_t)limit,
	};
	struct iucv_result result;

	assert(m->segment && limit > 0 && limit <= MON_MAX_MSGLIM);
	parm.ipuser[COMPLETE_VERSION] = SHARED_MODE;
	parm.ipuser[COMPLETE_EVENT] = m->settings[true].active;
	parm.ipuser[COMPLETE_SAMPLE] = m->settings[false].active;
	result = iucv_call(cp, m->service, IUCV_ACCEPT, &parm);
	/* Whoever had left the path would have taken the connection's event with it. */
	assert(result.cc == 0);
	(void)result;
	return parm.msglim;
}

static uint32_t limit_wanted(const struct iucv_event *event, const struct fault_action *fault)
{
	const uint32_t wanted = event->msglim ? event->msglim : IUCV_DEFAULT_MSGLIM;
	uint32_t limit = (uint32_t)smaller(wanted, MON_MAX_MSGLIM);

	if (fault->kind == FAULT_LIMIT)
		limit = (uint32_t)smaller(larger(fault->value, 1), limit);
	assert(limit > 0 && limit <= MON_MAX_MSGLIM);
	return limit;
}

static void add_user(struct cp *cp, const struct iucv_event *event, uint16_t user_path,
		     uint32_t limit)
{
	struct monitor *m = cp->system->monitor;
	struct mon_user *user = free_user(m);

	assert(user && m->segment);
	assert(limit > 0 && limit <= MON_MAX_MSGLIM);
	*user = (struct mon_user){
		.used = true, .path = event->path, .user_path = user_path, .limit = limit,
		.quiesced = (event->flags & IPQUSCE) != 0,
	};
	memcpy(user->name, event->vmid, sizeof(user->name));
	user->wants[false] = user->configure[false] = event->ipuser[CONNECT_WANTS] & WANTS_SAMPLE;
	user->wants[true] = user->configure[true] = event->ipuser[CONNECT_WANTS] & WANTS_EVENT;
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_MONITOR_CONNECTED, .name = user->name,
					  .text = "", .path = user_path, .value = limit });
	if (user->wants[true] && user->quiesced)
		mon_events_suspend(cp);
	mon_configure(cp);
	mon_events_begin(cp);
	if (user->used)
		mon_repeat_go_on(cp, user);
}

static void connection_pending(struct cp *cp, const struct iucv_event *event)
{
	struct monitor *m = cp->system->monitor;
	struct iucv_path_info info;
	struct fault_call call = { .user = event->vmid, .name = MON_SERVICE };
	struct fault_action fault;
	uint8_t code;
	const bool there = iucv_path_info(m->service, event->path, &info);

	assert(there);
	(void)there;
	call.path = info.partner_path;
	fault = fault_check(cp, FAULT_MONITOR_CONNECT, &call);
	if (fault.kind == FAULT_DROP)
		return;
	code = fault.kind == FAULT_SEVER ? (uint8_t)fault.value : (uint8_t)admit(cp, event);
	if (fault.kind == FAULT_SEVER || code != MON_ACCEPTED) {
		mon_sever_path(cp, event->path, code);
		mon_tell_severed(cp, event->vmid, info.partner_path, code);
		return;
	}
	add_user(cp, event, info.partner_path,
		 accept(cp, event, limit_wanted(event, &fault)));
}

static void quiesced(struct cp *cp, struct mon_user *user)
{
	assert(user->used);
	user->quiesced = true;
	if (user->wants[true])
		mon_events_suspend(cp);
}

static void resumed(struct cp *cp, struct mon_user *user)
{
	assert(user->used);
	user->quiesced = false;
	mon_configure(cp);
	mon_events_resume(cp);
	if (user->used)
		mon_repeat_go_on(cp, user);
}

static void replied(struct cp *cp, struct mon_user *user, uint32_t tag)
{
	const struct fault_action fault = mon_fault(cp, FAULT_MONITOR_REPLY, user);

	assert(user->used && user->outstanding <= user->limit);
	if (fault.kind == FAULT_DROP)
		return;
	if (fault.kind == FAULT_SEVER) {
		mon_drop_user(cp, user, true, (uint8_t)fault.value);
		return;
	}
	mon_replied(cp, user, tag);
	mon_repeat_go_on(cp, user);
	if (user->used && (user->configure[false] || user->configure[true]))
		mon_configure(cp);
	mon_events_resume(cp);
}

/* Nothing can be asked of *MONITOR: whatever is sent to it is rejected. */
static void reject(struct cp *cp, const struct iucv_event *event)
{
	struct iucv_parm parm = {
		.path = event->path, .flags = IPFGPID | IPFGMID | IPFGMCL,
		.msgid = event->msgid, .trgcls = event->trgcls,
	};

	(void)iucv_call(cp, cp->system->monitor->service, IUCV_REJECT, &parm);
}

static void service_event(struct cp *cp, struct iucv_user *service, void *opaque,
			  const struct iucv_event *event)
{
	struct mon_user *user = user_by_path(cp->system->monitor, event->path);

	(void)service;
	(void)opaque;
	switch (event->type) {
	case IUCV_PENDING:
		connection_pending(cp, event);
		break;
	case IUCV_SEVERED:
		/* Fault: *MONITOR does not notice, and goes on with a path that is no more. */
		if (user && mon_fault(cp, FAULT_MONITOR_SEVER, user).kind == FAULT_DROP)
			break;
		mon_sever_path(cp, event->path, 0);
		if (user)
			mon_drop_user(cp, user, false, event->ipuser[0]);
		break;
	case IUCV_PATH_QUIESCED:
		if (user)
			quiesced(cp, user);
		break;
	case IUCV_PATH_RESUMED:
		if (user)
			resumed(cp, user);
		break;
	case IUCV_PRIO_COMPLETE:
	case IUCV_MSG_COMPLETE:
		if (user)
			replied(cp, user, event->msgtag);
		break;
	case IUCV_PRIO_PENDING:
	case IUCV_MSG_PENDING:
		reject(cp, event);
		break;
	case IUCV_COMPLETE:
		break;
	}
}

const struct iucv_user_ops mon_service_ops = { .event = service_event };
