/* SPDX-License-Identifier: MIT */
/* Events for an observer of CP. */
#include "cp_private.h"
#include "zvmlab/event.h"

static const char *const event_names[CP_EVENT_KINDS] = {
	[CP_EVENT_RESET] = "reset",
	[CP_EVENT_CONSOLE] = "console",
	[CP_EVENT_COMMAND] = "command",
	[CP_EVENT_SEGMENT] = "segment",
	[CP_EVENT_MONITOR_CONNECTED] = "monitor-connected",
	[CP_EVENT_MONITOR_SEVERED] = "monitor-severed",
	[CP_EVENT_MONITOR_MESSAGE] = "monitor-message",
	[CP_EVENT_MONITOR_REPLIED] = "monitor-replied",
	[CP_EVENT_MONITOR_LOST] = "monitor-lost",
	[CP_EVENT_RECORDING_CONNECTED] = "recording-connected",
	[CP_EVENT_RECORDING_SEVERED] = "recording-severed",
	[CP_EVENT_RECORDING_RECEIVED] = "recording-received",
	[CP_EVENT_WATCHDOG] = "watchdog",
	[CP_EVENT_MACHINE] = "machine",
	[CP_EVENT_FAULT] = "fault",
	[CP_EVENT_PAGE] = "page",
	[CP_EVENT_SPOOL] = "spool",
	[CP_EVENT_HMC] = "hmc",
	[CP_EVENT_KASAN] = "kasan",
	[CP_EVENT_DISK] = "disk",
};

const char *cp_event_name(enum cp_event_kind kind)
{
	assert((unsigned int)kind < CP_EVENT_KINDS);
	return event_names[kind];
}

/* Is the event's name that of the user whom it concerns? */
static bool is_of_user(enum cp_event_kind kind)
{
	switch (kind) {
	case CP_EVENT_CONSOLE:
	case CP_EVENT_MONITOR_CONNECTED:
	case CP_EVENT_MONITOR_SEVERED:
	case CP_EVENT_MONITOR_MESSAGE:
	case CP_EVENT_MONITOR_REPLIED:
	case CP_EVENT_MONITOR_LOST:
	case CP_EVENT_RECORDING_CONNECTED:
	case CP_EVENT_RECORDING_SEVERED:
	case CP_EVENT_RECORDING_RECEIVED:
	case CP_EVENT_SPOOL:
		return true;
	default:
		return false;
	}
}

void cp_notify_operator(struct cp *cp, const char *line)
{
	const struct cp_event event = {
		.kind = CP_EVENT_CONSOLE, .name = CP_OPERATOR_ID, .text = line,
	};
	const struct cp_system *system = cp->system;

	if (cp_machine_of(system, CP_OPERATOR_ID)) {
		cp_notify(cp, &event);
		return;
	}
	for (unsigned int i = 0; i < system->machines; i++)
		cp_notify(system->machine[i], &event);
}

void cp_notify(struct cp *cp, const struct cp_event *event)
{
	struct cp *of = NULL;

	assert((unsigned int)event->kind < CP_EVENT_KINDS);
	assert(event->name && event->text);
	if (is_of_user(event->kind))
		of = cp_machine_of(cp->system, event->name);
	if (of && event->kind == CP_EVENT_CONSOLE)
		parts_console_line(of, event->text);
	if (!of)
		of = cp;
	if (of->host.event)
		of->host.event(of->host.opaque, event);
}
