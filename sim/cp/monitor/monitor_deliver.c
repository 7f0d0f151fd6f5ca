/* SPDX-License-Identifier: MIT */
/* Outside inputs: data sets, malformed messages, severs and quiesces that somebody asks for. */
#include <stdio.h>
#include <string.h>

#include "monitor_private.h"
#include "bytes.h"
#include "zvmlab/input.h"

static int bad(char *err, size_t errlen, unsigned int index, const char *what)
{
	snprintf(err, errlen, "element %u of the data set %s", index + 1, what);
	return -1;
}

int mon_elements_check(const struct cp *cp, enum mon_kind kind,
		       const struct mon_element *elements, unsigned int count, char *err,
		       size_t errlen)
{
	const struct monitor *m = cp->system->monitor;
	uint32_t room;

	if ((unsigned int)kind >= MON_KINDS) {
		snprintf(err, errlen, "kind %d of a data set does not exist", (int)kind);
		return -1;
	}
	if (!m->segment) {
		snprintf(err, errlen, "no user is connected to *MONITOR, so no segment is in use");
		return -1;
	}
	if (!elements || count < 1 || count > MON_MAX_MCES) {
		snprintf(err, errlen, "a data set has 1 to %u elements, not %u", MON_MAX_MCES,
			 elements ? count : 0);
		return -1;
	}
	room = mon_data_capacity(m, kind);
	for (unsigned int i = 0; i < count; i++) {
		if (!elements[i].data || elements[i].len == 0)
			return bad(err, errlen, i, "has no data");
		if (elements[i].phase >= CP_PAGE_SIZE)
			return bad(err, errlen, i, "begins after its frame; phase is 0 to 4095");
		if (elements[i].len > room)
			return bad(err, errlen, i, "is larger than the whole area for its kind");
	}
	/* At most 338 × 2 GiB: no overflow in 64 bits. */
	if (mon_set_frames(elements, count) * CP_PAGE_SIZE > room ||
	    count * MCE_SIZE > m->area[kind].ring[MON_CONTROL].size *
				       m->area[kind].ring[MON_CONTROL].unit) {
		snprintf(err, errlen, "the data set does not fit into the %u bytes of the area for "
			 "its kind", room);
		return -1;
	}
	return 0;
}

static void lose_all(struct cp *cp, uint16_t mask)
{
	struct monitor *m = cp->system->monitor;

	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if ((mask & (1u << i)) && m->user[i].used)
			mon_lose(cp, &m->user[i]);
}

static int64_t deliver(struct cp *cp, enum mon_kind kind, const struct mon_element *elements,
		       unsigned int count, enum mon_fate *fate)
{
	struct monitor *m = cp->system->monitor;
	const uint16_t ready = mon_ready(cp, kind, MON_ALL_USERS, true, fate);
	struct mon_set *set;
	uint64_t number;

	assert(m->segment && kind < MON_KINDS);
	if (ready == 0)
		return (int64_t)++m->last_number;
	set = mon_set_reserve(m, kind, (uint32_t)mon_set_frames(elements, count), count);
	number = m->last_number;
	if (set && mon_set_store(cp, set, elements, count)) {
		mon_announce(cp, set, ready, fate);
		return (int64_t)number;
	}
	if (set) {
		set->held = false;
		mon_set_release(cp, set);
	}
	assert(number <= m->last_number);
	lose_all(cp, ready);
	*fate = MON_LOST_SPACE;
	return (int64_t)number;
}

static void trace_result(struct cp *cp, int64_t number, enum mon_fate best, enum mon_fate *fate)
{
	static const char *const names[] = {
		[MON_DELIVERED] = "delivered", [MON_LOST_LIMIT] = "limit",
		[MON_LOST_SPACE] = "space", [MON_LOST_QUIESCED] = "quiesced",
		[MON_NO_USER] = "no user",
	};

	assert((unsigned int)best < sizeof(names) / sizeof(names[0]));
	if (number >= 0) {
		trace_number(cp, "set", (uint64_t)number);
		trace_text(cp, "fate", names[best]);
	} else {
		trace_text(cp, "fate", "refused");
	}
	trace_end(cp);
	iucv_dispatch(cp);
	if (fate)
		*fate = best;
}

struct mon_head monitor_head_encode(const struct mon_element *element)
{
	struct mon_head head;

	head.bytes[0] = element->type;
	put_be16(head.bytes + 1, element->domains);
	head.bytes[3] = element->byte3;
	put_be32(head.bytes + 4, element->phase);
	put_be32(head.bytes + 8, element->len);
	return head;
}

void monitor_head_decode(const uint8_t head[MON_TRACE_HEAD], struct mon_element *element)
{
	*element = (struct mon_element){
		.type = head[0], .domains = get_be16(head + 1), .byte3 = head[3],
		.phase = get_be32(head + 4), .len = get_be32(head + 8),
	};
}

struct input_parts mon_parts(const struct cp *cp, const struct mon_element *elements,
			     unsigned int count, bool whole, struct mon_parts *parts)
{
	assert(!whole || (elements && count > 0 && count <= MON_MAX_MCES));
	if (!trace_full(cp) || !elements || count > MON_MAX_MCES)
		return (struct input_parts){ .part = NULL };
	for (unsigned int i = 0; i < count; i++) {
		parts->head[i] = monitor_head_encode(&elements[i]);
		parts->part[2 * i] = (struct trace_part){ parts->head[i].bytes, MON_TRACE_HEAD };
		parts->part[2 * i + 1] = (struct trace_part){
			elements[i].data, whole ? elements[i].len : 0,
		};
	}
	return (struct input_parts){ parts->part, 2 * count };
}

int64_t monitor_deliver(struct cp *cp, enum mon_kind kind, const struct mon_element *elements,
			unsigned int count, enum mon_fate *fate, char *err, size_t errlen)
{
	const bool good = mon_elements_check(cp, kind, elements, count, err, errlen) == 0;
	enum mon_fate best = MON_NO_USER;
	struct mon_parts parts;
	const struct input_parts set = mon_parts(cp, elements, count, good, &parts);
	int64_t number = -1;

	TRACE_INPUT(cp, monitor_deliver, .kind = kind, .elements = count,
		    .data = MON_PARTS_IF(good, set), .heads = MON_PARTS_IF(!good, set));
	if (good)
		number = deliver(cp, kind, elements, count, &best);
	trace_result(cp, number, best, fate);
	return number;
}

static int64_t message_raw(struct cp *cp, enum mon_kind kind, uint32_t mca_start,
			   uint32_t mca_end, enum mon_fate *fate, char *err, size_t errlen)
{
	struct monitor *m = cp->system->monitor;
	struct mon_set *set;
	uint64_t number;
	uint16_t ready;

	if ((unsigned int)kind >= MON_KINDS) {
		snprintf(err, errlen, "kind %d of a data set does not exist", (int)kind);
		return -1;
	}
	if (!m->segment) {
		snprintf(err, errlen, "no user is connected to *MONITOR, so no segment is in use");
		return -1;
	}
	ready = mon_ready(cp, kind, MON_ALL_USERS, true, fate);
	if (ready == 0)
		return (int64_t)++m->last_number;
	set = mon_set_new(m, kind);
	assert(set);
	number = set->number;
	assert(set->number == m->last_number && set->kind == kind);
	set->mca_start = mca_start;
	set->mca_end = mca_end;
	mon_announce(cp, set, ready, fate);
	return (int64_t)number;
}

int64_t monitor_message_raw(struct cp *cp, enum mon_kind kind, uint32_t mca_start, uint32_t mca_end,
			    enum mon_fate *fate, char *err, size_t errlen)
{
	enum mon_fate best = MON_NO_USER;
	int64_t number;

	TRACE_INPUT(cp, monitor_message, .kind = kind, .start = mca_start, .end = mca_end);
	number = message_raw(cp, kind, mca_start, mca_end, &best, err, errlen);
	trace_result(cp, number, best, fate);
	return number;
}

unsigned int monitor_sever(struct cp *cp, const char *user, uint8_t code)
{
	struct monitor *m = cp->system->monitor;
	unsigned int severed = 0;

	TRACE_INPUT(cp, monitor_sever, .user = user, .code = code);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++) {
		if (!m->user[i].used || (user && strcmp(user, m->user[i].name) != 0))
			continue;
		mon_drop_user(cp, &m->user[i], true, code);
		severed++;
	}
	assert(severed <= MON_MAX_USERS);
	trace_number(cp, "severed", severed);
	trace_end(cp);
	iucv_dispatch(cp);
	return severed;
}

unsigned int monitor_quiesce(struct cp *cp, const char *user, bool quiesce)
{
	struct monitor *m = cp->system->monitor;
	unsigned int paths = 0;

	TRACE_INPUT(cp, monitor_quiesce, .user = user, .quiesce = quiesce);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++) {
		struct iucv_parm parm = { .path = m->user[i].path };

		if (!m->user[i].used || (user && strcmp(user, m->user[i].name) != 0))
			continue;
		if (iucv_call(cp, m->service, quiesce ? IUCV_QUIESCE : IUCV_RESUME, &parm).cc == 0)
			paths++;
	}
	trace_number(cp, "paths", paths);
	trace_end(cp);
	iucv_dispatch(cp);
	return paths;
}
