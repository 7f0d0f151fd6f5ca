/* SPDX-License-Identifier: MIT */
/* The services: connections, and the records that go out on them one by one. */
#include <string.h>

#include "recording_private.h"
#include "zvmlab/event.h"

/* IPUSER byte that Linux's vmlogrdr shows when a service severs. */
#define IPUSER_REASON 8

static void tell(struct cp *cp, enum cp_event_kind kind, const struct rec_queue *queue,
		 uint64_t value)
{
	cp_notify(cp, &(struct cp_event){ .kind = kind, .name = queue->userid,
					  .text = rec_service_info[queue->service].service,
					  .path = queue->user_path, .value = value });
}

static void sever_path(struct cp *cp, enum rec_service service, uint16_t path, uint8_t code)
{
	struct iucv_parm parm = { .path = path };

	parm.ipuser[0] = parm.ipuser[IPUSER_REASON] = code;
	/* The path may be gone already: then there is nothing left to do. */
	(void)iucv_call(cp, cp->system->recordings->service[service], IUCV_SEVER, &parm);
}

struct fault_action rec_fault(struct cp *cp, enum fault_point point, const struct rec_queue *queue)
{
	const struct fault_call call = {
		.path = queue->connected ? queue->user_path : FAULT_ANY_PATH,
		.user = queue->userid, .name = rec_service_info[queue->service].service,
	};

	return fault_check(cp, point, &call);
}

void rec_sever(struct cp *cp, struct rec_queue *queue, uint8_t code)
{
	assert(queue->used && queue->connected);
	sever_path(cp, (enum rec_service)queue->service, queue->path, code);
	tell(cp, CP_EVENT_RECORDING_SEVERED, queue, code);
	rec_disconnect(queue);
}

static bool send_one(struct cp *cp, struct rec_queue *queue, uint32_t len,
		     const struct fault_action *fault)
{
	struct iucv_parm parm = {
		.path = queue->path, .flags = IPNORPY,
		.msgtag = (uint32_t)(queue - cp->system->recordings->queue),
		.buffer = { .host = true, .ptr = queue->message, .len = len },
	};

	assert(queue->sent < REC_MAX_SENT && len > 0 && len <= REC_MAX_RECORD);
	if (iucv_call(cp, cp->system->recordings->service[queue->service], IUCV_SEND, &parm).cc != 0)
		return false;
	queue->msgid[queue->sent++] = parm.msgid;
	if (fault->kind == FAULT_DELAY || fault->kind == FAULT_REORDER)
		(void)iucv_message_hold(cp, parm.msgid,
					fault->kind == FAULT_DELAY ? fault->value : 1);
	return true;
}

void rec_send(struct cp *cp, struct rec_queue *queue)
{
	struct fault_action fault;
	uint32_t len;

	while (queue->connected && !queue->quiesced && queue->sent == 0 && queue->count > 0) {
		fault = rec_fault(cp, FAULT_RECORDING_MESSAGE, queue);
		if (fault.kind == FAULT_SEVER) {
			rec_sever(cp, queue, (uint8_t)fault.value);
			return;
		}
		if (fault.kind == FAULT_DROP) {
			rec_drop(queue);
			continue;
		}
		len = rec_first(queue);
		if (fault.kind == FAULT_CORRUPT)
			queue->message[fault.offset % len] ^= (uint8_t)fault.value;
		/* What IUCV refuses is tried again when the path is resumed or made again. */
		if (!send_one(cp, queue, len, &fault))
			return;
		if (fault.kind == FAULT_DUPLICATE)
			(void)send_one(cp, queue, len, &fault);
	}
}

void rec_take_back(struct cp *cp, struct rec_queue *queue)
{
	for (unsigned int i = 0; i < queue->sent; i++) {
		struct iucv_parm parm = { .path = queue->path, .msgid = queue->msgid[i],
					  .flags = IPFGPID | IPFGMID };

		/* One of two may have been received. */
		(void)iucv_call(cp, cp->system->recordings->service[queue->service], IUCV_PURGE, &parm);
	}
	queue->sent = 0;
}

static uint16_t limit_wanted(const struct iucv_event *event, const struct fault_action *fault)
{
	if (fault->kind != FAULT_LIMIT || fault->value >= event->msglim)
		return event->msglim;
	/* 0 would be the default. */
	return fault->value > 0 ? (uint16_t)fault->value : 1;
}

static void accept(struct cp *cp, struct rec_queue *queue, const struct iucv_event *event,
		   uint16_t user_path, uint16_t limit)
{
	struct iucv_parm parm = { .path = event->path, .msglim = limit };
	struct iucv_result result;

	assert(!queue->connected && queue->sent == 0);
	result = iucv_call(cp, cp->system->recordings->service[queue->service], IUCV_ACCEPT, &parm);
	assert(result.cc == 0);
	(void)result;
	queue->connected = true;
	queue->quiesced = (event->flags & IPQUSCE) != 0;
	queue->path = event->path;
	queue->user_path = user_path;
	tell(cp, CP_EVENT_RECORDING_CONNECTED, queue, queue->count);
	rec_send(cp, queue);
}

static void connection_pending(struct cp *cp, enum rec_service service,
			       const struct iucv_event *event)
{
	struct fault_call call = { .user = event->vmid,
				   .name = rec_service_info[service].service };
	struct rec_queue *queue = rec_find(cp->system->recordings, service, event->vmid);
	struct iucv_path_info info;
	struct fault_action fault;
	const bool there = iucv_path_info(cp->system->recordings->service[service], event->path,
					  &info);

	/* Whoever had left the path would have taken the connection's event with it. */
	assert(there);
	(void)there;
	call.path = info.partner_path;
	fault = fault_check(cp, FAULT_RECORDING_CONNECT, &call);
	if (fault.kind == FAULT_DROP)
		return;
	if (fault.kind == FAULT_SEVER) {
		sever_path(cp, service, event->path, (uint8_t)fault.value);
		return;
	}
	if (queue && queue->connected) {
		sever_path(cp, service, event->path, REC_CONNECTED);
		return;
	}
	queue = rec_make(cp->system->recordings, service, event->vmid);
	if (queue)
		accept(cp, queue, event, info.partner_path, limit_wanted(event, &fault));
	else
		sever_path(cp, service, event->path, REC_NO_QUEUE);
}

/* The user has received the record, or rejected it. */
static void received(struct cp *cp, struct rec_queue *queue, uint32_t msgid)
{
	const struct fault_action fault = rec_fault(cp, FAULT_RECORDING_RECEIVED, queue);
	unsigned int i = 0;

	if (fault.kind == FAULT_DROP)
		return;
	while (i < queue->sent && queue->msgid[i] != msgid)
		i++;
	/* What was taken back, and was complete before. */
	if (i == queue->sent)
		return;
	queue->msgid[i] = queue->msgid[--queue->sent];
	if (queue->sent == 0) {
		rec_drop(queue);
		tell(cp, CP_EVENT_RECORDING_RECEIVED, queue, queue->count);
	}
	if (fault.kind == FAULT_SEVER)
		rec_sever(cp, queue, (uint8_t)fault.value);
	else
		rec_send(cp, queue);
}

static void severed(struct cp *cp, enum rec_service service, struct rec_queue *queue,
		    const struct iucv_event *event)
{
	/* Fault: the service does not notice, and goes on with a path that is no more. */
	if (queue && rec_fault(cp, FAULT_RECORDING_SEVER, queue).kind == FAULT_DROP)
		return;
	sever_path(cp, service, event->path, 0);
	if (!queue)
		return;
	tell(cp, CP_EVENT_RECORDING_SEVERED, queue, event->ipuser[0]);
	rec_disconnect(queue);
}

/* Nothing can be asked of these services: whatever is sent to them is rejected. */
static void reject(struct cp *cp, enum rec_service service, const struct iucv_event *event)
{
	struct iucv_parm parm = {
		.path = event->path, .flags = IPFGPID | IPFGMID | IPFGMCL,
		.msgid = event->msgid, .trgcls = event->trgcls,
	};

	(void)iucv_call(cp, cp->system->recordings->service[service], IUCV_REJECT, &parm);
}

static struct rec_queue *queue_of(struct cp *cp, enum rec_service service, uint16_t path)
{
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		struct rec_queue *queue = &cp->system->recordings->queue[i];

		if (queue->used && queue->service == service && queue->connected &&
		    queue->path == path)
			return queue;
	}
	return NULL;
}

static void on_path(struct cp *cp, struct rec_queue *queue, const struct iucv_event *event)
{
	switch (event->type) {
	case IUCV_PATH_QUIESCED:
		queue->quiesced = true;
		break;
	case IUCV_PATH_RESUMED:
		queue->quiesced = false;
		rec_send(cp, queue);
		break;
	case IUCV_PRIO_COMPLETE:
	case IUCV_MSG_COMPLETE:
		received(cp, queue, event->msgid);
		break;
	default:
		break;
	}
}

static void service_event(struct cp *cp, struct iucv_user *user, void *opaque,
			  const struct iucv_event *event)
{
	enum rec_service service = 0;
	struct rec_queue *queue;

	assert(opaque == cp->system->recordings);
	while (cp->system->recordings->service[service] != user)
		service++;
	assert(service < REC_SERVICES);
	queue = queue_of(cp, service, event->path);
	if (event->type == IUCV_PENDING)
		connection_pending(cp, service, event);
	else if (event->type == IUCV_SEVERED)
		severed(cp, service, queue, event);
	else if (event->type == IUCV_MSG_PENDING || event->type == IUCV_PRIO_PENDING)
		reject(cp, service, event);
	else if (queue)
		on_path(cp, queue, event);
}

const struct iucv_user_ops rec_service_ops = { .event = service_event };
