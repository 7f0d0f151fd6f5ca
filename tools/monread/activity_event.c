/* SPDX-License-Identifier: MIT */
/* monread: events that are worth a mark on a time line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "activity.h"

/* What is put down of an event, and the field that says which user, processor or device. */
static const struct known_event {
	uint8_t domain, number;
	uint8_t kind;		/* enum event_kind */
	const char *what, *field;
} known[] = {
	{ 4, 1, EVENT_LOGON, "logon", "VMDUSER" },
	{ 4, 2, EVENT_LOGOFF, "logoff", "VMDUSER" },
	{ 5, 1, EVENT_PROCESSOR, "processor varied on", "PFXCPUAD" },
	{ 5, 2, EVENT_PROCESSOR, "processor varied off", "PFXCPUAD" },
	{ 6, 1, EVENT_DEVICE, "device varied on", "RDEVDEV" },
	{ 6, 2, EVENT_DEVICE, "device varied off", "RDEVDEV" },
	{ 1, 2, EVENT_COMMAND, "event monitoring changed", NULL },
	{ 1, 10, EVENT_COMMAND, "sample monitoring changed", NULL },
	{ 1, 12, EVENT_SUSPENDED, "event recording suspended", NULL },
	{ 1, 3, EVENT_SUSPENDED, "event recording resumed, records lost", "LOSTRCCT" },
};

static void describe(const struct monrec_record *record, const struct known_event *event,
		     char *text, size_t size)
{
	const struct monrec_layout *layout = monrec_layout(record->domain, record->number);
	const struct monrec_field *field =
		event->field && layout ? monrec_field(layout, event->field, record->release) : NULL;
	char name[64];
	uint64_t number;

	if (field && monrec_text(record, field, name, sizeof(name)) == 0)
		snprintf(text, size, "%s %s", event->what, name);
	else if (field && monrec_unsigned(record, field, &number) == 0 &&
		 event->kind == EVENT_DEVICE)
		snprintf(text, size, "%s %04" PRIX64, event->what, number);
	else if (field && monrec_unsigned(record, field, &number) == 0)
		snprintf(text, size, "%s %" PRIu64, event->what, number);
	else
		snprintf(text, size, "%s", event->what);
}

bool activity_event(struct activity *f, const struct monrec_record *record)
{
	const struct known_event *event = known;
	uint64_t lost;

	while (event->domain != record->domain || event->number != record->number)
		if (++event == known + sizeof(known) / sizeof(known[0]))
			return false;
	f->events++;
	f->now.events[event->kind]++;
	if (record->domain == 1 && record->number == 3 &&
	    activity_number(record, "LOSTRCCT", &lost))
		f->now.suspended += (uint32_t)lost;
	if (f->listed == ACTIVITY_EVENTS)
		return true;
	f->event[f->listed].tod = record->tod;
	f->event[f->listed].kind = (enum event_kind)event->kind;
	describe(record, event, f->event[f->listed].text, sizeof(f->event[0].text));
	f->listed++;
	return true;
}
