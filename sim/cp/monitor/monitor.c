/* SPDX-License-Identifier: MIT */
/* What all files of *MONITOR use: its settings and users, its timer; what others may know of it. */
#include <string.h>

#include "monitor_private.h"

struct mon_settings *monitor_settings(struct cp *cp, bool event)
{
	return &cp->system->monitor->settings[event];
}

bool monitor_selected(const struct mon_selection *selection, const char *user)
{
	assert(selection->count <= MON_MAX_SELECTED);
	for (unsigned int i = 0; i < selection->count; i++)
		if (strcmp(selection->name[i], user) == 0)
			return !selection->except;
	return selection->except;
}

bool mon_has_user(const struct monitor *m, bool event)
{
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (m->user[i].used && m->user[i].wants[event])
			return true;
	return false;
}

bool mon_is_user(const struct cp *cp, const struct iucv_user *user)
{
	return !iucv_user_is_service(user) && !cp_is_agent(iucv_user_name(user)) &&
	       (cp->system->alone || !iucv_user_is_private(user));
}

bool mon_reached(uint64_t now, uint64_t due)
{
	return (int64_t)(now - due) >= 0;
}

void mon_arm_timer(struct cp *cp)
{
	const struct monitor *m = cp->system->monitor;
	uint64_t due = m->interval_due;

	assert(m->interval_due == 0 || m->settings[false].active);
	if (m->events.due != 0 && (due == 0 || mon_reached(due, m->events.due)))
		due = m->events.due;
	cp_set_system_timer(cp, CP_SYSTEM_TIMER_MONITOR, m->manual ? 0 : due);
}

bool monitor_user(const struct cp *cp, unsigned int index, struct mon_user_info *out)
{
	const struct monitor *m = cp->system->monitor;

	for (unsigned int i = 0; i < MON_MAX_USERS; i++) {
		const struct mon_user *user = &m->user[i];

		if (!user->used || index-- > 0)
			continue;
		assert(user->outstanding <= user->limit && user->limit <= MON_MAX_MSGLIM);
		*out = (struct mon_user_info){
			.name = user->name, .path = user->user_path,
			.sample = user->wants[false], .event = user->wants[true],
			.limit = user->limit, .outstanding = user->outstanding,
			.delivered = user->delivered, .replied = user->replied,
			.lost = user->lost,
		};
		return true;
	}
	return false;
}

const char *monitor_segment(const struct cp *cp)
{
	return cp->system->monitor->segment ? cp->system->monitor->segment->config.name : "";
}
