/* SPDX-License-Identifier: MIT */
/* Data sets, events and severs that somebody has asked *MONITOR for. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"
#include "zvmlab/monitor.h"

/* The bytes that refused elements may claim in all: more than any area. */
#define MAX_REFUSED (UINT64_C(256) << 20)

/* A data set of the trace. */
struct set {
	unsigned int count;
	struct mon_element *list;	/* NULL: nothing was read of it */
	struct mon_element element[MON_MAX_MCES];
	uint8_t *refused;		/* in the place of data that nobody looked at */
};

/* Lay the elements over the bytes; false if they contradict each other. */
static bool lay(struct set *set, const uint8_t *at, size_t len, bool whole)
{
	uint64_t refused = 0;

	for (unsigned int i = 0; i < set->count; i++) {
		struct mon_element *e = &set->element[i];

		if (len < MON_TRACE_HEAD)
			return false;
		monitor_head_decode(at, e);
		at += MON_TRACE_HEAD;
		e->data = at;
		len -= MON_TRACE_HEAD;
		refused = e->len > refused ? e->len : refused;
		if (whole && e->len > len)
			return false;
		at += whole ? e->len : 0;
		len -= whole ? e->len : 0;
	}
	if (whole || refused > MAX_REFUSED)
		return len == 0 && whole;
	set->refused = calloc(1, (size_t)refused + 1);
	for (unsigned int i = 0; i < set->count; i++)
		set->element[i].data = set->refused;
	return len == 0 && set->refused;
}

static void read_set(struct replay *r, const json_t *record, unsigned int count,
		     const struct input_parts *data, const struct input_parts *heads,
		     struct set *set)
{
	const bool whole = data->part != NULL;
	const struct trace_part *part = whole ? data->part : heads->part;

	*set = (struct set){ .count = count };
	if (!part) {
		/* With more elements than a set can have the CP looked at none of them. */
		if (json_object_get(record, "lost"))
			replay_unusable(r, "its data set is too long for a trace that replays");
		return;
	}
	if (count > MON_MAX_MCES || !lay(set, part->bytes, part->len, whole))
		replay_unusable(r, "the %u elements of its data set contradict their length", count);
	set->list = set->element;
}

void replay_deliver(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_monitor_deliver *given = &in->monitor_deliver;
	struct set set;
	char err[256];

	read_set(r, record, given->elements, &given->data, &given->heads, &set);
	if (!r->all->stopped)
		monitor_deliver(r->cp, (enum mon_kind)given->kind, set.list, set.count, NULL, err,
				sizeof(err));
	free(set.refused);
}

void replay_repeat(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_monitor_repeat *given = &in->monitor_repeat;
	struct set set;
	char err[256];

	read_set(r, record, given->elements, &given->data, &given->heads, &set);
	if (!r->all->stopped)
		monitor_repeat(r->cp, (enum mon_kind)given->kind, set.list, set.count,
			       given->outstanding, given->times, err, sizeof(err));
	free(set.refused);
}

void replay_message(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_monitor_message *given = &in->monitor_message;
	char err[256];

	(void)record;
	monitor_message_raw(r->cp, (enum mon_kind)given->kind, given->start, given->end, NULL, err,
			    sizeof(err));
}

/* A record that is not recorded, because its domain is off, is not in the trace. */
void replay_event(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_monitor_event *given = &in->monitor_event;

	(void)record;
	monitor_event(r->cp, (enum mon_domain)given->domain, given->record.at,
		      (uint32_t)given->record.len);
}

void replay_quiesce(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	monitor_quiesce(r->cp, in->monitor_quiesce.user, in->monitor_quiesce.quiesce);
}

void replay_sever(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	monitor_sever(r->cp, in->monitor_sever.user, in->monitor_sever.code);
}

void replay_timer(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	if (r->all->system)
		cp_system_timer(r->all->system);
	else
		cp_timer(r->cp);
}

void replay_tick(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	monitor_tick(r->cp);
}

void replay_manual(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	monitor_set_manual(r->cp, in->monitor_manual.manual);
}
