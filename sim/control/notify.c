/* SPDX-License-Identifier: MIT */
/* An event, as a message to one client or to all. */
#include <sys/time.h>

#include "ctl_private.h"

void ctl_notify(struct ctl *ctl, struct ctl_client *to, const char *name, json_t *data)
{
	struct timeval now;
	json_t *message;

	gettimeofday(&now, NULL);
	message = json_pack("{s:s, s:o, s:{s:I, s:I}}", "event", name, "data", data, "timestamp",
			    "seconds", (json_int_t)now.tv_sec, "microseconds",
			    (json_int_t)now.tv_usec);
	ctl->events++;
	if (ctl_memory_failures() != ctl->failures) {
		/* Nobody gets a part of it: who should is dropped, and told so. */
		json_decref(message);
		message = NULL;
		ctl->failures = ctl_memory_failures();
	}
	if (to)
		ctl_client_send(ctl, to, json_incref(message), false);
	else
		for (unsigned int slot = 0; slot < CTL_MAX_CLIENTS; slot++)
			if (ctl->client[slot])
				ctl_client_send(ctl, ctl->client[slot], json_incref(message), false);
	json_decref(message);
	if (ctl->on_event)
		ctl->on_event(ctl->on_event_opaque);
}

void ctl_on_event(struct ctl *ctl, void (*call)(void *opaque), void *opaque)
{
	ctl->on_event = call;
	ctl->on_event_opaque = opaque;
}
