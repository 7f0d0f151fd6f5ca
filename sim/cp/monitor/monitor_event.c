/* SPDX-License-Identifier: MIT */
/*
 * Event recording: records gather in a block, for which room in the segment is
 * reserved; a block is delivered when it is full, when its first record is a
 * second old, at the end of a sample interval and by STOP.
 *
 * Recording is suspended while a user's path is quiesced or no room is left
 * for another block: D1R12 ends the last block, D1R3 with the number of lost
 * records begins the next (monitor record descriptions of MTRSOS and MTRSUS).
 */
#include "monitor_private.h"
#include "bytes.h"
#include "zvmlab/input.h"

enum { MTRSUS = 3, MTRSUS_LEN = 24, MTRSUS_LOSTRCCT = 20 };

static bool any_quiesced(const struct monitor *m)
{
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (m->user[i].used && m->user[i].wants[true] && m->user[i].quiesced)
			return true;
	return false;
}

static uint32_t block_frames(const struct monitor *m)
{
	const uint32_t half = m->area[MON_EVENT].ring[MON_DATA].size / 2;
	uint32_t frames = m->settings[true].block;

	assert(m->segment);
	if (frames > MON_MAX_BLOCK)
		frames = MON_MAX_BLOCK;
	if (frames > half)
		frames = half;
	return frames > 0 ? frames : 1;
}

static uint16_t reserve_block(struct monitor *m)
{
	const struct mon_set *set = mon_set_reserve(m, MON_EVENT, block_frames(m), 1);

	assert(!set || (set->held && set->kind == MON_EVENT));
	return set ? mon_set_index(m, set) : MON_NO_SET;
}

static void fill_block(struct cp *cp, uint16_t set)
{
	struct mon_events *events = &cp->system->monitor->events;

	assert(events->set == MON_NO_SET && set != MON_NO_SET);
	events->set = set;
	events->closed = false;
	events->due = 0;
	record_writer_init(&events->block, cp->system->monitor->block_buffer,
			   cp->system->monitor->set[set].piece[MON_DATA].len * CP_PAGE_SIZE,
			   cp_system_tod(cp));
}

/* Take the block out of recording, its records stored; NULL if the segment is unreachable. */
static struct mon_set *detach_block(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;
	struct mon_events *events = &m->events;
	const uint16_t index = events->set;
	const struct mon_element element = {
		.type = MCE_EVENT, .domains = events->block.domains,
		.data = events->block.buffer, .len = events->block.pos,
	};
	struct mon_set *set;
	bool stored;

	assert(index < MON_MAX_SETS && events->block.pos > 0);
	set = &m->set[index];
	assert(set->number != 0 && set->kind == MON_EVENT && set->held && set->pending == 0);
	events->set = MON_NO_SET;
	events->due = 0;
	mon_arm_timer(cp);
	stored = mon_set_store(cp, set, &element, 1);
	/* Numbers follow the order of delivery, not of reservation. */
	set->number = ++m->last_number;
	if (stored)
		return set;
	set->held = false;
	mon_set_release(cp, set);
	return NULL;
}

static void announce_block(struct cp *cp, struct mon_set *set)
{
	enum mon_fate fate = MON_NO_USER;
	struct fault_action fault;
	uint16_t mask = 0;

	if (!set)
		return;
	fault = mon_fault_all(cp, FAULT_MONITOR_EVENT);
	if (fault.kind == FAULT_SEVER)
		mon_drop_users(cp, true, (uint8_t)fault.value);
	if (fault.kind == FAULT_NONE)
		mask = mon_ready(cp, MON_EVENT, MON_ALL_USERS, true, &fate);
	/* Told to nobody, the block's room is free again. */
	mon_announce(cp, set, mask, &fate);
}

/* Deliver the block and begin the next; without room for one recording is suspended. */
static void change_block(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;
	struct mon_events *events = &m->events;
	struct mon_set *set;
	uint16_t next;

	assert(!events->suspended && events->set != MON_NO_SET);
	mon_piece_trim(m, &m->set[events->set], MON_DATA, events->block.pos / CP_PAGE_SIZE + 1);
	next = reserve_block(m);
	if (next == MON_NO_SET) {
		events->block.tod = cp_system_tod(cp);
		record_close(&events->block, MTRSOS);
		events->suspended = true;
		events->lost = 0;
	}
	set = detach_block(cp);
	if (next != MON_NO_SET)
		fill_block(cp, next);
	announce_block(cp, set);
}

void mon_events_begin(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;
	struct mon_events *events = &m->events;
	uint16_t set;

	if (events->recording || !m->settings[true].active || !mon_has_user(m, true))
		return;
	assert(events->set == MON_NO_SET && !events->closed);
	events->recording = true;
	events->lost = 0;
	set = any_quiesced(m) ? MON_NO_SET : reserve_block(m);
	events->suspended = set == MON_NO_SET;
	if (set != MON_NO_SET)
		fill_block(cp, set);
	assert(events->suspended == (events->set == MON_NO_SET));
}

void mon_events_end(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;
	struct mon_events *events = &m->events;

	if (events->set != MON_NO_SET) {
		m->set[events->set].held = false;
		mon_set_release(cp, &m->set[events->set]);
	}
	*events = (struct mon_events){ .set = MON_NO_SET };
	mon_arm_timer(cp);
}

void mon_events_flush(struct cp *cp)
{
	const struct mon_events *events = &cp->system->monitor->events;

	if (events->recording && !events->suspended && events->block.pos > 0)
		change_block(cp);
}

void mon_events_suspend(struct cp *cp)
{
	struct mon_events *events = &cp->system->monitor->events;

	if (!events->recording || events->suspended)
		return;
	assert(events->set != MON_NO_SET && !events->closed);
	events->block.tod = cp_system_tod(cp);
	record_close(&events->block, MTRSOS);
	events->closed = true;
	events->suspended = true;
	events->lost = 0;
	events->due = 0;
	mon_arm_timer(cp);
}

static void start_delay(struct cp *cp)
{
	struct mon_events *events = &cp->system->monitor->events;

	assert(events->recording && !events->suspended);
	if (events->due != 0)
		return;
	events->due = cp_system_tod(cp) + MON_EVENT_DELAY * MON_TOD_SECOND;
	mon_arm_timer(cp);
}

void mon_events_resume(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;
	struct mon_events *events = &m->events;
	uint8_t *record;
	uint16_t set;

	if (!events->suspended || any_quiesced(m))
		return;
	if (events->closed) {
		events->closed = false;
		mon_piece_trim(m, &m->set[events->set], MON_DATA,
			       (events->block.pos + CP_PAGE_SIZE - 1) / CP_PAGE_SIZE);
		announce_block(cp, detach_block(cp));
		/* A fault may have severed users: the last one has ended the recording. */
		if (!events->suspended || any_quiesced(m))
			return;
	}
	set = reserve_block(m);
	if (set == MON_NO_SET)
		return;
	fill_block(cp, set);
	record = record_add(&events->block, RECORD_DOMAIN_MONITOR, MTRSUS, MTRSUS_LEN);
	assert(record);
	put_be32(record + MTRSUS_LOSTRCCT, events->lost);
	events->suspended = false;
	events->lost = 0;
	start_delay(cp);
}

bool mon_event_record(struct cp *cp, unsigned int domain, const uint8_t *record, uint32_t len)
{
	struct mon_events *events = &cp->system->monitor->events;

	if (!events->recording || !record_valid(record, len, domain))
		return false;
	if (!events->suspended && !record_fits(&events->block, len))
		change_block(cp);
	/* Delivering the full block may have ended the recording, by a fault. */
	if (!events->recording)
		return false;
	if (events->suspended) {
		events->lost++;
		return false;
	}
	assert(events->set != MON_NO_SET && !events->closed);
	/* Even the longest record fits in a new block of one frame. */
	assert(record_fits(&events->block, len));
	events->block.tod = cp_system_tod(cp);
	(void)record_append(&events->block, record, len);
	start_delay(cp);
	return true;
}

bool monitor_event(struct cp *cp, enum mon_domain domain, const uint8_t *record, uint32_t len)
{
	const struct mon_settings *settings = &cp->system->monitor->settings[true];
	const bool wanted = record && (unsigned int)domain < MON_DOMAINS && settings->active &&
			    (settings->domains & MON_DOMAIN_BIT(domain));
	bool recorded;

	TRACE_INPUT(cp, monitor_event, .domain = domain,
		    .record = { wanted ? record : NULL, wanted ? len : 0 });
	recorded = wanted && mon_event_record(cp, domain, record, len);
	trace_number(cp, "recorded", recorded);
	trace_end(cp);
	iucv_dispatch(cp);
	return recorded;
}
