/* SPDX-License-Identifier: MIT */
/* START and STOP, configuration, sample intervals, the timer. */
#include "monitor_private.h"
#include "smaller.h"
#include "zvmlab/input.h"

static uint32_t interval_wanted(const struct mon_settings *settings)
{
	const uint32_t seconds = settings->pending_interval_seconds;

	return (uint32_t)smaller(larger(seconds, MON_MIN_INTERVAL), MON_MAX_INTERVAL);
}

static void start_writer(struct cp *cp, struct record_writer *w, enum mon_kind kind)
{
	struct monitor *m = cp->system->monitor;
	const uint32_t room = mon_data_capacity(m, kind);

	assert(m->segment && room >= CP_PAGE_SIZE);
	record_writer_init(w, m->records,
			   (uint32_t)smaller(room, MON_RECORDS_SIZE(m->records_for)),
			   cp_system_tod(cp));
}

static void configure_kind(struct cp *cp, bool event)
{
	struct monitor *m = cp->system->monitor;
	enum mon_fate fate = MON_NO_USER;
	struct record_writer w;
	uint16_t mask = 0;

	if (!m->settings[event].active || !m->segment)
		return;
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (m->user[i].used && m->user[i].configure[event])
			mask |= (uint16_t)(1u << i);
	mask = mon_ready(cp, mon_config_kind(event), mask, false, &fate);
	if (mask == 0)
		return;
	start_writer(cp, &w, mon_config_kind(event));
	if (event)
		mon_write_event_config(cp, &w);
	else
		mon_write_sample_config(cp, &w);
	/* Half a configuration would mislead: whoever waits for it gets no data either. */
	if (w.overflow)
		return;
	assert(w.closed || event);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (mask & (1u << i))
			m->user[i].configure[event] = false;
	if (mon_deliver_records(cp, mon_config_kind(event), &w, mask))
		return;
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (mask & (1u << i))
			m->user[i].configure[event] = true;
}

void mon_configure(struct cp *cp)
{
	configure_kind(cp, false);
	configure_kind(cp, true);
}

/* Deliver to the users of @kind in @mask; all of them lose it if it finds no room. */
static void deliver_or_lose(struct cp *cp, enum mon_kind kind, const struct record_writer *w,
			    uint16_t mask)
{
	struct monitor *m = cp->system->monitor;
	enum mon_fate fate = MON_NO_USER;

	mask = mon_ready(cp, kind, mask, true, &fate);
	if (mask == 0 || (!w->overflow && mon_deliver_records(cp, kind, w, mask)))
		return;
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (mask & (1u << i))
			mon_lose(cp, &m->user[i]);
}

static void collect(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;
	struct record_writer w;
	uint16_t configured = 0;

	mon_model_update(cp);
	mon_configure(cp);
	if (!mon_has_user(m, false))
		return;
	/* Configuration comes first: who could not be given it loses the interval. */
	for (unsigned int i = 0; i < MON_MAX_USERS; i++) {
		if (!m->user[i].used || !m->user[i].wants[false])
			continue;
		if (!m->user[i].configure[false])
			configured |= (uint16_t)(1u << i);
		else
			mon_lose(cp, &m->user[i]);
	}
	assert(m->settings[false].active);
	start_writer(cp, &w, MON_SAMPLE);
	mon_write_sample(cp, &w);
	deliver_or_lose(cp, MON_SAMPLE, &w, configured);
}

static void interval_end(struct cp *cp)
{
	const struct fault_action fault = mon_fault_all(cp, FAULT_MONITOR_INTERVAL);

	if (fault.kind == FAULT_SEVER)
		mon_drop_users(cp, false, (uint8_t)fault.value);
	else if (fault.kind != FAULT_DROP)
		collect(cp);
	if (fault.kind == FAULT_DUPLICATE)
		collect(cp);
}

void monitor_tick(struct cp *cp)
{
	TRACE_INPUT(cp, monitor_tick);
	if (cp->system->monitor->settings[false].active)
		interval_end(cp);
	mon_events_flush(cp);
	mon_arm_timer(cp);
	trace_end(cp);
	iucv_dispatch(cp);
}

/* Intervals that have passed unnoticed, the machine having been stopped, are left out. */
static void next_interval(struct monitor *m, uint64_t now)
{
	struct mon_settings *settings = &m->settings[false];
	const uint32_t wanted = interval_wanted(settings);
	uint64_t length = settings->interval_seconds * MON_TOD_SECOND;

	if (wanted != settings->interval_seconds) {
		settings->interval_seconds = wanted;
		m->interval_due = now + wanted * MON_TOD_SECOND;
		return;
	}
	assert(length > 0 && mon_reached(now, m->interval_due));
	m->interval_due += ((now - m->interval_due) / length + 1) * length;
	assert(!mon_reached(now, m->interval_due));
}

static bool is_due(struct cp *cp, uint64_t tod)
{
	return tod != 0 && mon_reached(cp_system_tod(cp), tod);
}

bool monitor_timer(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;
	bool sample, event;

	if (m->manual || (!is_due(cp, m->interval_due) && !is_due(cp, m->events.due))) {
		mon_arm_timer(cp);
		return false;
	}
	TRACE_INPUT(cp, monitor_timer);
	/* Asked again: the record's time is what counts. */
	sample = is_due(cp, m->interval_due);
	event = is_due(cp, m->events.due);
	if (sample) {
		next_interval(m, cp_system_tod(cp));
		interval_end(cp);
	}
	if (event)
		mon_events_flush(cp);
	mon_arm_timer(cp);
	trace_end(cp);
	return true;
}

void monitor_set_manual(struct cp *cp, bool manual)
{
	TRACE_INPUT(cp, monitor_manual, .manual = manual);
	cp->system->monitor->manual = manual;
	mon_arm_timer(cp);
	trace_end(cp);
}

int monitor_start(struct cp *cp, bool event)
{
	struct monitor *m = cp->system->monitor;
	struct mon_settings *settings = &m->settings[event];

	if (settings->active)
		return mon_has_user(m, event) ? 0 : 1;
	assert(event || m->interval_due == 0);
	settings->active = true;
	/* Sizes changed since the segment was chosen take effect while it is empty, if they fit. */
	if (m->segment && mon_idle(m))
		(void)mon_layout(cp, m->segment);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		m->user[i].configure[event] = m->user[i].used && m->user[i].wants[event];
	if (event) {
		mon_configure(cp);
		mon_events_begin(cp);
	} else {
		settings->interval_seconds = interval_wanted(settings);
		m->interval_due = cp_system_tod(cp) + settings->interval_seconds * MON_TOD_SECOND;
		if (mon_has_user(m, false))
			collect(cp);
	}
	mon_arm_timer(cp);
	return mon_has_user(m, event) ? 0 : 1;
}

void monitor_stop(struct cp *cp, bool event)
{
	struct monitor *m = cp->system->monitor;

	if (event) {
		mon_events_flush(cp);
		mon_events_end(cp);
	} else {
		m->interval_due = 0;
		m->settings[false].interval_seconds = 0;
	}
	m->settings[event].active = false;
	mon_arm_timer(cp);
}

void monitor_settings_changed(struct cp *cp, bool event, const char *command)
{
	struct monitor *m = cp->system->monitor;
	struct record_writer w;

	if (!m->settings[event].active || !mon_has_user(m, event))
		return;
	start_writer(cp, &w, MON_SAMPLE_CONFIG);
	if (event) {
		const uint32_t len = mon_write_event_change(cp, m->records, command);

		mon_event_record(cp, MON_MONITOR, m->records, len);
		return;
	}
	mon_write_sample_change(cp, &w, command);
	deliver_or_lose(cp, MON_SAMPLE_CONFIG, &w, MON_ALL_USERS);
}

void mon_configure_more(struct cp *cp, struct appldata_info *info)
{
	struct monitor *m = cp->system->monitor;
	struct record_writer w;
	uint16_t mask = 0;

	assert(info->kind == APPLDATA_CONFIG);
	/* Whoever has no configuration yet gets this buffer with it. */
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (m->user[i].used && m->user[i].wants[false] && !m->user[i].configure[false])
			mask |= (uint16_t)(1u << i);
	if (!m->settings[false].active || mask == 0)
		return;
	start_writer(cp, &w, MON_SAMPLE_CONFIG);
	appldata_write_one(cp, &w, info);
	if (w.records == 0)
		return;
	record_close(&w, MTREND);
	deliver_or_lose(cp, MON_SAMPLE_CONFIG, &w, mask);
}
