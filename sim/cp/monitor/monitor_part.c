/* SPDX-License-Identifier: MIT */
/*
 * *MONITOR as a part of the CP: made, saved and loaded with everything, the sets that are
 * outstanding included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor_private.h"
#include "zvmlab/state.h"

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

/* What does not begin as 0. */
static void set_defaults(struct monitor *m)
{
	m->events.set = m->repeat.set = MON_NO_SET;
	memcpy(m->settings, default_settings, sizeof(m->settings));
}

/* Everything but what has been allocated. */
static void mon_clear(struct monitor *m)
{
	struct iucv_user *service = m->service;
	uint8_t *block_buffer = m->block_buffer, *records = m->records;
	const unsigned int records_for = m->records_for;

	*m = (struct monitor){
		.service = service, .block_buffer = block_buffer, .records = records,
		.records_for = records_for,
	};
	set_defaults(m);
	assert(mon_idle(m) && !mon_has_user(m, false) && !mon_has_user(m, true));
}

static void monitor_fini(struct cp_system *system)
{
	if (!system->monitor)
		return;
	free(system->monitor->block_buffer);
	free(system->monitor->records);
	free(system->monitor);
	system->monitor = NULL;
}

static int monitor_init(struct cp_system *system, char *err, size_t errlen)
{
	struct monitor *m = calloc(1, sizeof(*m));

	if (m)
		m->block_buffer = calloc(MON_MAX_BLOCK, CP_PAGE_SIZE);
	system->monitor = m;
	if (!m || !m->block_buffer) {
		snprintf(err, errlen, "not enough memory for %s", MON_SERVICE);
		monitor_fini(system);
		return -1;
	}
	m->service = iucv_service_create(system, MON_SERVICE, MON_MAX_PATHS, &mon_service_ops, NULL);
	if (!m->service) {
		snprintf(err, errlen, "%s cannot be created: the name is taken or there are too "
			 "many IUCV users", MON_SERVICE);
		monitor_fini(system);
		return -1;
	}
	set_defaults(m);
	return 0;
}

/* Room for the records of one more machine; what has been there is of no use any more. */
static int monitor_init_machine(struct cp *cp, char *err, size_t errlen)
{
	struct monitor *m = cp->system->monitor;
	const unsigned int machines = cp->system->machines + 1;
	uint8_t *records;

	if (machines <= m->records_for)
		return 0;
	/* No realloc(), which would copy it. */
	records = malloc(MON_RECORDS_SIZE(machines));
	if (!records) {
		snprintf(err, errlen, "not enough memory for %s's records", MON_SERVICE);
		return -1;
	}
	free(m->records);
	m->records = records;
	m->records_for = machines;
	return 0;
}

static void selection_state(struct state *s, struct mon_selection *selection)
{
	state_bool(s, &selection->except);
	state_u8(s, &selection->count);
	state_require(s, selection->count <= MON_MAX_SELECTED);
	for (unsigned int i = 0; i < selection->count && !s->failed; i++)
		state_name(s, selection->name[i]);
	if (s->failed)
		*selection = (struct mon_selection){ .except = true };
}

static void settings_state(struct state *s, struct mon_settings *settings)
{
	state_bool(s, &settings->active);
	state_u16(s, &settings->domains);
	state_u32(s, &settings->interval_seconds);
	state_u32(s, &settings->pending_interval_seconds);
	state_u32(s, &settings->rate_hundredths);
	state_u32(s, &settings->config_pages);
	state_u32(s, &settings->config_limit_seconds);
	state_u32(s, &settings->block);
	state_u32(s, &settings->partition_pages);
	selection_state(s, &settings->appldata);
}

static void user_state(struct state *s, struct mon_user *user)
{
	state_bool(s, &user->used);
	state_name(s, user->name);
	state_u16(s, &user->path);
	state_u16(s, &user->user_path);
	for (unsigned int i = 0; i < 2; i++) {
		state_bool(s, &user->wants[i]);
		state_bool(s, &user->configure[i]);
	}
	state_bool(s, &user->quiesced);
	state_u32(s, &user->limit);
	state_u32(s, &user->outstanding);
	state_u64(s, &user->delivered);
	state_u64(s, &user->replied);
	state_u64(s, &user->lost);
	state_require(s, user->limit <= MON_MAX_MSGLIM && user->outstanding <= user->limit);
	state_require(s, user->used || user->outstanding == 0);
}

static void set_state(struct state *s, struct mon_set *set)
{
	uint8_t kind = (uint8_t)set->kind;
	uint32_t pending = 0;

	state_u64(s, &set->number);
	state_u8(s, &kind);
	state_require(s, set->number != 0 && kind < MON_KINDS);
	set->kind = (enum mon_kind)kind;
	state_u32(s, &set->mca_start);
	state_u32(s, &set->mca_end);
	state_bool(s, &set->held);
	state_bytes(s, set->unanswered, sizeof(set->unanswered));
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		pending += set->unanswered[i];
	set->pending = pending;
	for (unsigned int i = 0; i < MON_RINGS; i++) {
		state_u32(s, &set->piece[i].start);
		state_u32(s, &set->piece[i].len);
	}
	state_require(s, (set->piece[MON_CONTROL].len == 0) == (set->piece[MON_DATA].len == 0));
	state_require(s, set->piece[MON_CONTROL].len == 0 || set->mca_start <= set->mca_end);
}

static void sets_state(struct state *s, struct monitor *m)
{
	uint32_t count = 0;
	uint16_t index = 0;

	for (unsigned int i = 0; i < MON_MAX_SETS; i++)
		count += m->set[i].number != 0;
	state_u32(s, &count);
	for (uint32_t i = 0; i < count && !s->failed; i++, index++) {
		while (!s->loading && m->set[index].number == 0)
			index++;
		assert(s->loading || index < MON_MAX_SETS);
		state_u16(s, &index);
		state_require(s, index < MON_MAX_SETS);
		if (s->failed)
			return;
		set_state(s, &m->set[index]);
	}
}

/* Held sets are those of the block and the repetition; the others wait for replies. */
static bool holds_agree(const struct monitor *m)
{
	for (unsigned int i = 0; i < MON_MAX_SETS; i++) {
		const struct mon_set *set = &m->set[i];

		if (set->number == 0)
			continue;
		if (set->held != (i == m->events.set || i == m->repeat.set))
			return false;
		if (!set->held && set->pending == 0)
			return false;
	}
	return true;
}

/* The users' counts and the sets must agree. */
static bool counts_agree(const struct monitor *m)
{
	for (unsigned int u = 0; u < MON_MAX_USERS; u++) {
		uint32_t outstanding = 0;

		for (unsigned int i = 0; i < MON_MAX_SETS; i++)
			if (m->set[i].number != 0)
				outstanding += m->set[i].unanswered[u];
		if (outstanding != m->user[u].outstanding)
			return false;
	}
	return true;
}

static void segment_state(struct cp *cp, struct state *s)
{
	struct monitor *m = cp->system->monitor;
	const struct dcss *segment;
	uint32_t index = UINT32_MAX;

	for (unsigned int i = 0; (segment = dcss_at(cp, i)) != NULL; i++)
		if (segment == m->segment)
			index = i;
	state_u32(s, &index);
	m->segment = dcss_at(cp, index);
	state_require(s, index == UINT32_MAX || (m->segment && m->segment->users > 0));
	state_require(s, (m->segment != NULL) == (mon_has_user(m, false) || mon_has_user(m, true)));
}

static void ring_state(struct monitor *m, struct state *s, struct mon_ring *ring, uint32_t unit)
{
	uint64_t room;

	state_u64(s, &ring->base);
	state_u32(s, &ring->size);
	state_u32(s, &ring->next);
	if (s->failed || !s->loading)
		return;
	ring->unit = unit;
	ring->after = MON_NO_SET;
	state_require(s, ring->next <= ring->size);
	if (!m->segment)
		return;
	room = dcss_end(m->segment) + 1 - dcss_start(m->segment);
	state_require(s, ring->size > 0 && ring->base < room &&
				 ring->size <= (room - ring->base) / unit);
}

static void areas_state(struct monitor *m, struct state *s)
{
	for (unsigned int kind = 0; kind < MON_KINDS; kind++) {
		for (unsigned int which = 0; which < MON_RINGS; which++)
			ring_state(m, s, &m->area[kind].ring[which],
				   which == MON_DATA ? CP_PAGE_SIZE : MON_CONTROL_UNIT);
		if (s->loading && !s->failed)
			state_require(s, mon_rings_rebuild(m, kind));
	}
}

/* The set at @index is one that is held, of the right kind. */
static bool is_held(const struct monitor *m, uint16_t index)
{
	return index < MON_MAX_SETS && m->set[index].number != 0 && m->set[index].held;
}

static void events_state(struct monitor *m, struct state *s)
{
	struct mon_events *events = &m->events;
	struct record_writer *w = &events->block;

	state_bool(s, &events->recording);
	state_bool(s, &events->suspended);
	state_u32(s, &events->lost);
	state_u16(s, &events->set);
	state_bool(s, &events->closed);
	state_u64(s, &events->due);
	state_require(s, !events->recording || m->segment);
	state_require(s, !events->closed || (events->recording && events->suspended));
	state_require(s, events->due == 0 || (events->recording && !events->suspended));
	state_require(s, events->set == MON_NO_SET || is_held(m, events->set));
	state_require(s, events->recording && (!events->suspended || events->closed) ?
				 events->set != MON_NO_SET : events->set == MON_NO_SET);
	if (s->failed || events->set == MON_NO_SET)
		return;
	state_u32(s, &w->pos);
	state_u64(s, &w->tod);
	state_u16(s, &w->domains);
	w->buffer = m->block_buffer;
	w->size = m->set[events->set].piece[MON_DATA].len * CP_PAGE_SIZE;
	w->closed = events->closed;
	assert(w->buffer && w->size % CP_PAGE_SIZE == 0);
	state_require(s, m->set[events->set].kind == MON_EVENT && w->size > 0 &&
				 w->size <= MON_MAX_BLOCK * CP_PAGE_SIZE && w->pos <= w->size);
	state_require(s, w->closed ? w->pos >= RECORD_HEADER_SIZE :
				     w->pos < w->size && w->pos % CP_PAGE_SIZE <= RECORD_MAX_SIZE);
	if (!s->failed)
		state_bytes(s, w->buffer, w->pos);
}

static void repeat_state(struct monitor *m, struct state *s)
{
	state_u16(s, &m->repeat.set);
	state_u32(s, &m->repeat.outstanding);
	state_u64(s, &m->repeat.left);
	state_require(s, m->repeat.set == MON_NO_SET || is_held(m, m->repeat.set));
	state_require(s, m->repeat.set == MON_NO_SET || m->repeat.set != m->events.set);
}

static void model_state(struct monitor *m, struct state *s)
{
	state_u64(s, &m->model.updated);
	state_u32(s, &m->model.page_reads);
	state_u32(s, &m->model.page_writes);
	for (unsigned int i = 0; i < CP_MAX_CPUS; i++) {
		struct mon_cpu *cpu = &m->model.cpu[i];

		state_u64(s, &cpu->user_time);
		state_u64(s, &cpu->system_time);
		state_u64(s, &cpu->wait_time);
		state_u32(s, &cpu->diagnoses);
		state_u32(s, &cpu->externals);
		state_u32(s, &cpu->io);
	}
}

/* Users of a segment are machines and *MONITOR. */
static bool uses_agree(struct cp *cp)
{
	const struct dcss *segment;

	for (unsigned int i = 0; (segment = dcss_at(cp, i)) != NULL; i++)
		if (segment->users !=
		    segment->loaders + (segment == cp->system->monitor->segment ? 1u : 0u))
			return false;
	return true;
}

/* After a failed load: nobody is connected, no segment is in use. */
static void start_again(struct cp *cp)
{
	mon_clear(cp->system->monitor);
	for (unsigned int i = CP_MAX_SEGMENTS; i-- > 0;) {
		struct dcss *segment = dcss_at(cp, i);

		if (!segment || segment->users <= segment->loaders)
			continue;
		segment->users = segment->loaders + 1u;
		dcss_use(cp, segment, -1);
	}
	assert(!cp->system->monitor->segment && mon_idle(cp->system->monitor));
	for (uint16_t path = 0; path < MON_MAX_PATHS; path++)
		mon_sever_path(cp, path, 0);
}

static void monitor_parts_state(struct cp *cp, struct state *s)
{
	struct monitor *m = cp->system->monitor;

	settings_state(s, &m->settings[false]);
	settings_state(s, &m->settings[true]);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		user_state(s, &m->user[i]);
	state_u64(s, &m->last_number);
	sets_state(s, m);
	segment_state(cp, s);
	areas_state(m, s);
	state_bool(s, &m->manual);
	state_u64(s, &m->interval_due);
	state_require(s, m->settings[false].active == (m->interval_due != 0));
	events_state(m, s);
	repeat_state(m, s);
	model_state(m, s);
	if (s->loading)
		state_require(s, counts_agree(m) && holds_agree(m) && uses_agree(cp));
}

static void monitor_state(struct cp *cp, struct state *s)
{
	struct monitor *m = cp->system->monitor;
	struct iucv_user *service;

	state_tag(s, "MON.");
	if (!s->loading) {
		monitor_parts_state(cp, s);
		return;
	}
	mon_clear(m);
	service = iucv_service_find(cp->system, MON_SERVICE);
	state_require(s, service != NULL);
	if (service) {
		m->service = service;
		iucv_user_attach(service, &mon_service_ops, NULL);
	}
	if (!s->failed)
		monitor_parts_state(cp, s);
	if (s->failed)
		start_again(cp);
	assert(!s->failed || !m->segment);
	mon_arm_timer(cp);
}

/*
 * No reset: monitoring belongs to the system, not to the guest.  The guest's
 * connections end by the sever that IUCV's reset queues for them.
 */
const struct cp_part monitor_part = {
	.init_system = monitor_init,
	.fini_system = monitor_fini,
	.init = monitor_init_machine,
	.state_system = monitor_state,
	.system_timer = monitor_timer,
	.logon = monitor_logon,
	.logoff = monitor_logoff,
};
