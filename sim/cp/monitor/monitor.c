/* SPDX-License-Identifier: MIT */
/* Life cycle of *MONITOR, its settings, and what others may know about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor_private.h"

/* The settings of a system where nothing was set, as QUERY MONITOR shows them. */
static const struct mon_settings default_settings[2] = {
	[false] = {
		.domains = MON_DOMAIN_BIT(MON_MONITOR) | MON_DOMAIN_BIT(MON_SYSTEM),
		.pending_interval_seconds = 60,
		.rate_hundredths = 0,
		.config_pages = MON_SAMPLE_CONFIG_PAGES,
		.config_limit_seconds = 60,
		.appldata = { .except = true },
	},
	[true] = {
		.domains = MON_DOMAIN_BIT(MON_MONITOR),
		.config_pages = MON_EVENT_CONFIG_PAGES,
		.config_limit_seconds = 60,
		.block = 4,
		.appldata = { .except = true },
	},
};

/* Everything but what monitor_init() allocated. */
void mon_clear(struct monitor *m)
{
	struct iucv_user *service = m->service;
	uint8_t *block_buffer = m->block_buffer, *records = m->records;

	*m = (struct monitor){
		.service = service, .block_buffer = block_buffer, .records = records,
		.events = { .set = MON_NO_SET }, .repeat = { .set = MON_NO_SET },
	};
	memcpy(m->settings, default_settings, sizeof(m->settings));
	assert(mon_idle(m) && !mon_has_user(m, false) && !mon_has_user(m, true));
}

static void monitor_fini(struct cp *cp)
{
	if (!cp->monitor)
		return;
	free(cp->monitor->block_buffer);
	free(cp->monitor->records);
	free(cp->monitor);
	cp->monitor = NULL;
}

static int monitor_init(struct cp *cp, char *err, size_t errlen)
{
	struct monitor *m = calloc(1, sizeof(*m));

	if (m) {
		m->block_buffer = calloc(MON_MAX_BLOCK, CP_PAGE_SIZE);
		m->records = calloc(1, MON_RECORDS_SIZE);
	}
	cp->monitor = m;
	if (!m || !m->block_buffer || !m->records) {
		snprintf(err, errlen, "not enough memory for %s", MON_SERVICE);
		monitor_fini(cp);
		return -1;
	}
	m->service = iucv_service_create(cp, MON_SERVICE, MON_MAX_PATHS, &mon_service_ops, NULL);
	if (!m->service) {
		snprintf(err, errlen, "%s cannot be created: the name is taken or there are too "
			 "many IUCV users", MON_SERVICE);
		monitor_fini(cp);
		return -1;
	}
	mon_clear(m);
	return 0;
}

struct mon_settings *monitor_settings(struct cp *cp, bool event)
{
	return &cp->monitor->settings[event];
}

bool monitor_selected(const struct mon_selection *selection, const char *user)
{
	assert(selection->count <= MON_MAX_SELECTED);
	for (unsigned int i = 0; i < selection->count; i++)
		if (strcmp(selection->name[i], user) == 0)
			return !selection->except;
	return selection->except;
}

bool monitor_user(const struct cp *cp, unsigned int index, struct mon_user_info *out)
{
	const struct monitor *m = cp->monitor;

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
	return cp->monitor->segment ? cp->monitor->segment->config.name : "";
}

/*
 * No reset: monitoring belongs to the system, not to the guest.  The guest's
 * connections end by the sever that IUCV's reset queues for them.
 */
const struct cp_part monitor_part = {
	.init = monitor_init,
	.fini = monitor_fini,
	.state = monitor_state,
	.timer = monitor_timer,
};
