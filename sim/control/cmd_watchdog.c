/* SPDX-License-Identifier: MIT */
/* Requests about the time bomb of DIAGNOSE X'288'. */
#include "ctl_private.h"
#include "zvmlab/watchdog.h"

json_t *ctl_watchdog_expire(struct ctl_call *call)
{
	return json_pack("{s:b}", "expired", watchdog_expire(call->cp));
}

json_t *ctl_query_watchdog(struct ctl_call *call)
{
	const struct watchdog *w = watchdog_of(call->cp);

	return json_pack("{s:b, s:b, s:I, s:o}", "active", w->active, "conceal", w->conceal,
			 "seconds", (json_int_t)w->seconds, "command",
			 ctl_json_text(w->command, w->length));
}
