/* SPDX-License-Identifier: MIT */
/* Data sets, events and severs that somebody has asked *MONITOR for. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"
#include "bytes.h"
#include "zvmlab/monitor.h"

/* What elements that were refused may be said to have in all: more than any area. */
#define MAX_REFUSED (UINT64_C(256) << 20)

/* A data set of the trace. */
struct set {
	enum mon_kind kind;
	unsigned int count;
	struct mon_element *list;	/* NULL: nothing was read of it */
	struct mon_element element[MON_MAX_MCES];
	uint8_t *bytes;			/* heads, and data if it was delivered */
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
		*e = (struct mon_element){
			.type = at[0], .domains = get_be16(at + 1), .byte3 = at[3],
			.phase = get_be32(at + 4), .len = get_be32(at + 8),
			.data = at + MON_TRACE_HEAD,
		};
		at += MON_TRACE_HEAD;
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

static void read_set(struct replay *r, const json_t *record, struct set *set)
{
	const bool whole = json_object_get(record, "data") != NULL;
	size_t len;

	*set = (struct set){
		.kind = (enum mon_kind)replay_number(r, record, "kind", INT32_MAX),
		.count = (unsigned int)replay_number(r, record, "elements", UINT32_MAX),
	};
	if (!whole && !json_object_get(record, "heads")) {
		/* With more elements than a set can have the CP looked at none of them. */
		if (json_object_get(record, "lost"))
			replay_unusable(r, "its data set is too long for a trace that replays");
		return;
	}
	set->bytes = replay_bytes(r, record, whole ? "data" : "heads", &len);
	if (set->bytes && (set->count > MON_MAX_MCES || !lay(set, set->bytes, len, whole)))
		replay_unusable(r, "the %u elements of its data set contradict their length",
				set->count);
	set->list = set->element;
}

static void free_set(struct set *set)
{
	free(set->bytes);
	free(set->refused);
}

void replay_deliver(struct replay *r, const json_t *record)
{
	struct set set;
	char err[256];

	read_set(r, record, &set);
	if (!r->stopped)
		monitor_deliver(r->cp, set.kind, set.list, set.count, NULL, err, sizeof(err));
	free_set(&set);
}

void replay_repeat(struct replay *r, const json_t *record)
{
	const uint32_t outstanding = (uint32_t)replay_number(r, record, "outstanding", UINT32_MAX);
	const uint64_t times = replay_number(r, record, "times", INT64_MAX);
	struct set set;
	char err[256];

	read_set(r, record, &set);
	if (!r->stopped)
		monitor_repeat(r->cp, set.kind, set.list, set.count, outstanding, times, err,
			       sizeof(err));
	free_set(&set);
}

void replay_message(struct replay *r, const json_t *record)
{
	const enum mon_kind kind = (enum mon_kind)replay_number(r, record, "kind", INT32_MAX);
	const uint32_t start = (uint32_t)replay_hex(r, record, "start", UINT32_MAX);
	const uint32_t end = (uint32_t)replay_hex(r, record, "end", UINT32_MAX);
	char err[256];

	if (!r->stopped)
		monitor_message_raw(r->cp, kind, start, end, NULL, err, sizeof(err));
}

/* A record that is not recorded, because its domain is off, is not in the trace. */
void replay_event(struct replay *r, const json_t *record)
{
	const uint64_t domain = replay_number(r, record, "domain", UINT32_MAX);
	uint8_t *bytes = NULL;
	size_t len = 0;

	if (json_object_get(record, "record"))
		bytes = replay_bytes(r, record, "record", &len);
	if (!r->stopped)
		monitor_event(r->cp, (enum mon_domain)domain, bytes, (uint32_t)len);
	free(bytes);
}

void replay_quiesce(struct replay *r, const json_t *record)
{
	const bool quiesce = replay_number(r, record, "quiesce", 1);
	char user[CP_NAME_LEN + 1];

	replay_text(r, record, "user", user, sizeof(user));
	if (!r->stopped)
		monitor_quiesce(r->cp, strcmp(user, "*") == 0 ? NULL : user, quiesce);
}

void replay_sever(struct replay *r, const json_t *record)
{
	const uint8_t code = (uint8_t)replay_number(r, record, "code", UINT8_MAX);
	char user[CP_NAME_LEN + 1];

	replay_text(r, record, "user", user, sizeof(user));
	if (!r->stopped)
		monitor_sever(r->cp, strcmp(user, "*") == 0 ? NULL : user, code);
}
