/* SPDX-License-Identifier: MIT */
/* Records and their queues: what CP, RECORDING and the control socket do with them. */
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "clock.h"
#include "ebcdic.h"
#include "recording_private.h"
#include "zvmlab/event.h"
#include "zvmlab/input.h"

/* The operator and the retriever learn of records that accumulate. */
static void warn(struct cp *cp, const struct rec_queue *queue)
{
	static const char *const what[REC_SERVICES] = {
		[REC_LOGREC] = "8082I EREP", [REC_ACCOUNT] = "8083I Accounting",
		[REC_SYMPTOM] = "8084I Symptom",
	};
	char line[96];

	snprintf(line, sizeof(line), "HCPCRC%s records are accumulating for userid %s",
		 what[queue->service], queue->userid);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_CONSOLE, .name = CP_OPERATOR_ID,
					  .text = line });
	if (parts_logged_on(cp, queue->userid) && strcmp(queue->userid, CP_OPERATOR_ID) != 0)
		cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_CONSOLE,
						  .name = queue->userid, .text = line });
}

static void queue_record(struct cp *cp, struct rec_queue *queue, const uint8_t *bytes,
			 uint32_t len)
{
	if (!rec_put(queue, bytes, len)) {
		queue->lost++;
		return;
	}
	if (queue->limit > 0 && queue->count % queue->limit == 0)
		warn(cp, queue);
	rec_send(cp, queue);
}

static void add_to(struct cp *cp, struct rec_queue *queue, const uint8_t *bytes, uint32_t len)
{
	const struct fault_action fault = rec_fault(cp, FAULT_RECORDING_RECORD, queue);
	uint8_t copy[REC_MAX_RECORD];

	assert(queue->on && len <= sizeof(copy));
	if (fault.kind == FAULT_DROP)
		return;
	memcpy(copy, bytes, len);
	if (fault.kind == FAULT_CORRUPT)
		copy[fault.offset % len] ^= (uint8_t)fault.value;
	queue_record(cp, queue, copy, len);
	if (fault.kind == FAULT_DUPLICATE)
		queue_record(cp, queue, copy, len);
}

static unsigned int add(struct cp *cp, enum rec_service service, const uint8_t *bytes,
			uint32_t len)
{
	unsigned int queues = 0;

	assert(service < REC_SERVICES && len > 0);
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		struct rec_queue *queue = &cp->system->recordings->queue[i];

		if (!queue->used || queue->service != service || !queue->on)
			continue;
		add_to(cp, queue, bytes, len);
		queues++;
	}
	return queues;
}

unsigned int recording_add(struct cp *cp, enum rec_service service, const void *bytes, size_t len)
{
	unsigned int queues;

	assert(service < REC_SERVICES && len > 0 && len <= REC_MAX_RECORD);
	TRACE_INPUT(cp, recording_record, .service = service, .record = { bytes, len });
	queues = add(cp, service, bytes, (uint32_t)len);
	trace_number(cp, "queues", queues);
	trace_end(cp);
	iucv_dispatch(cp);
	return queues;
}

/*
 * Accounting record of a virtual machine's use of resources.  Columns, from 1 on (VM/370 System
 * Programmer's Guide, "Accounting Records"; HCPACOBK): user ID 1-8, account number 9-16, date and
 * time 17-28, seconds connected 29-32; binary counts 33-64, which are 0 here; 79-80: "01".
 */
void recording_account(struct cp *cp, const char *userid, const char *account)
{
	struct cp *machine = cp_machine_of(cp->system, userid);
	const struct clock_time t = clock_time(cp_system_tod(cp));
	uint8_t record[REC_ACCOUNT_LENGTH] = { 0 };
	char time[16];

	ebcdic_name(record, userid);
	ebcdic_name(record + 8, account);
	snprintf(time, sizeof(time), "%02u%02u%02u%02u%02u%02u", t.month, t.day, t.year % 100,
		 t.hour, t.minute, t.second);
	ebcdic_encode(record + 16, time, 12);
	put_be32(record + 28, (uint32_t)(clock_connected(machine ? machine : cp) / 1000000u));
	ebcdic_encode(record + 64, "              01", 16);
	add(cp, REC_ACCOUNT, record, sizeof(record));
}

static bool selects(const struct rec_queue *queue, enum rec_service service, const char *userid)
{
	return queue->used && queue->connected && queue->service == service &&
	       (!userid || strcmp(queue->userid, userid) == 0);
}

unsigned int recording_sever(struct cp *cp, enum rec_service service, const char *userid,
			     uint8_t code)
{
	unsigned int count = 0;

	assert(service < REC_SERVICES);
	TRACE_INPUT(cp, recording_sever, .service = service, .user = userid, .code = code);
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		if (!selects(&cp->system->recordings->queue[i], service, userid))
			continue;
		rec_sever(cp, &cp->system->recordings->queue[i], code);
		count++;
	}
	trace_number(cp, "severed", count);
	trace_end(cp);
	iucv_dispatch(cp);
	return count;
}

unsigned int recording_quiesce(struct cp *cp, enum rec_service service, const char *userid,
			       bool quiesce)
{
	unsigned int count = 0;

	assert(service < REC_SERVICES);
	TRACE_INPUT(cp, recording_quiesce, .service = service, .user = userid,
		    .quiesce = quiesce);
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		struct rec_queue *queue = &cp->system->recordings->queue[i];
		struct iucv_parm parm = { .path = queue->path };

		if (!selects(queue, service, userid))
			continue;
		if (iucv_call(cp, cp->system->recordings->service[service],
			      quiesce ? IUCV_QUIESCE : IUCV_RESUME, &parm).cc == 0)
			count++;
	}
	trace_number(cp, "paths", count);
	trace_end(cp);
	iucv_dispatch(cp);
	return count;
}

unsigned int recording_switch(struct cp *cp, const struct rec_change *change)
{
	unsigned int waiting = 0;

	assert(change->service < REC_SERVICES);
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		struct rec_queue *queue = &cp->system->recordings->queue[i];

		if (!queue->used || queue->service != change->service ||
		    (change->userid && strcmp(queue->userid, change->userid) != 0))
			continue;
		/* Records that wait keep recording from being switched on. */
		if (change->on && !queue->on && queue->count > 0) {
			waiting++;
			continue;
		}
		if (change->purge) {
			rec_take_back(cp, queue);
			rec_clear(queue);
		}
		if (change->on || change->off)
			queue->on = change->on;
		if (change->has_limit)
			queue->limit = change->limit;
	}
	return waiting;
}

bool recording_known(struct cp *cp, enum rec_service service, const char *userid)
{
	return rec_find(cp->system->recordings, service, userid) != NULL;
}

bool recording_make(struct cp *cp, enum rec_service service, const char *userid)
{
	return rec_make(cp->system->recordings, service, userid) != NULL;
}

bool recording_queue(const struct cp *cp, unsigned int index, struct rec_queue_info *out)
{
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		const struct rec_queue *queue = &cp->system->recordings->queue[i];

		if (!queue->used || index-- > 0)
			continue;
		*out = (struct rec_queue_info){
			.service = (enum rec_service)queue->service, .userid = queue->userid,
			.on = queue->on, .count = queue->count, .limit = queue->limit,
			.lost = queue->lost, .path = queue->user_path,
			.state = !queue->connected ? REC_INACTIVE :
				 queue->sent > 0 ? REC_PENDING : REC_ACTIVE,
		};
		return true;
	}
	return false;
}
