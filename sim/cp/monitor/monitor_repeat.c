/* SPDX-License-Identifier: MIT */
/* The same set again and again, as somebody asks for it: stored once, one message per reply. */
#include <stdio.h>

#include "monitor_private.h"
#include "zvmlab/input.h"

static int start(struct cp *cp, struct mon_set *set, uint32_t outstanding, uint64_t times)
{
	struct monitor *m = cp->system->monitor;

	assert(m->repeat.set == MON_NO_SET && set->held && times > 0);
	m->repeat = (struct mon_repeat){
		.set = mon_set_index(m, set), .outstanding = outstanding, .left = times,
	};
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (m->user[i].used)
			mon_repeat_go_on(cp, &m->user[i]);
	return 0;
}

static int repeat(struct cp *cp, enum mon_kind kind, const struct mon_element *elements,
		  unsigned int count, uint32_t outstanding, uint64_t times, char *err,
		  size_t errlen)
{
	struct monitor *m = cp->system->monitor;
	struct mon_set *set;

	if (times == 0) {
		if (m->repeat.set != MON_NO_SET)
			mon_repeat_end(cp);
		return 0;
	}
	if (m->repeat.set != MON_NO_SET) {
		snprintf(err, errlen,
			 "a data set is being repeated already; stop that first (times 0)");
		return -1;
	}
	if (outstanding == 0) {
		snprintf(err, errlen,
			 "at least 1 message must be outstanding to repeat a data set, not 0");
		return -1;
	}
	if (mon_elements_check(cp, kind, elements, count, err, errlen) != 0)
		return -1;
	if (!mon_has_user(m, mon_is_event(kind))) {
		snprintf(err, errlen, "no user is connected to *MONITOR for %s data",
			 mon_is_event(kind) ? "event" : "sample");
		return -1;
	}
	set = mon_set_reserve(m, kind, (uint32_t)mon_set_frames(elements, count), count);
	if (set && mon_set_store(cp, set, elements, count))
		return start(cp, set, outstanding, times);
	if (set) {
		set->held = false;
		mon_set_release(cp, set);
	}
	snprintf(err, errlen, "the area has no room for the data set until users reply to others");
	return -1;
}

int monitor_repeat(struct cp *cp, enum mon_kind kind, const struct mon_element *elements,
		   unsigned int count, uint32_t outstanding, uint64_t times, char *err,
		   size_t errlen)
{
	const bool good = mon_elements_check(cp, kind, elements, count, err, errlen) == 0;
	struct mon_parts parts;
	const struct input_parts set = mon_parts(cp, elements, count, good, &parts);
	int rc;

	TRACE_INPUT(cp, monitor_repeat, .kind = kind, .outstanding = outstanding, .times = times,
		    .elements = count, .data = MON_PARTS_IF(good, set),
		    .heads = MON_PARTS_IF(!good, set));
	rc = repeat(cp, kind, elements, count, outstanding, times, err, errlen);
	trace_number(cp, "refused", rc != 0);
	trace_end(cp);
	iucv_dispatch(cp);
	return rc;
}
