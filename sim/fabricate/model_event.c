/* SPDX-License-Identifier: MIT */
/*
 * Events of a step, recorded one by one, and the blocks they gather in.
 *
 * Room for a whole block is there when one is begun.  When none is left for the
 * next, D1R12 ends the last one; what comes then is lost, until D1R3 with the
 * number of lost records begins another.
 */
#include "model_rows.h"
#include "bytes.h"
#include "ebcdic.h"
#include "smaller.h"

/* Records of a step's end have their time stamps within it. */
#define MOMENT (2 * TOD_MILLISECOND)
#define SECOND (1000 * TOD_MILLISECOND)
/* D1R2: length of the text, text. */
enum { MTRECM = 2, MTRECM_LENGTH = 20, MTRECM_TEXT = 24 };

enum cursor_group { STORM, CPUS, DEVICES, USERS, GROUPS };
/* There is room; the record is lost; a block must be delivered first. */
enum room { ROOM, LOST, DELIVER };

static const struct binding mtrsus[] = { SYSTEM(LOSTRCCT, lost) };
static const struct binding seksek[] = {
	SYSTEM(RDEVSID, seek_subchannel), SYSTEM(VMDUSER, seek_user), SYSTEM(RDEVDEV, seek_device),
	SYSTEM(CALCURCY, cylinder), SYSTEM(CALSKCYL, next_cylinder),
};
static const struct binding of_cpu[] = { CPU(PFXCPUAD, address), CPU(PFXCPUTY, type) };
static const struct binding prcvof[] = { CPU(PFXCPUAD, address) };
static const struct binding iodvon[] = {
	DEVICE(RDEVDEV, number), DEVICE(RDEVSID, subchannel), DEVICE(RDEVLPM, available),
	DEVICE(RDEVCHPS, chpids), DEVICE(RDEVSER, volume),
};
static const struct binding iodvof[] = { DEVICE(RDEVSID, subchannel), DEVICE(RDEVDEV, number) };
static const struct binding iodmdv[] = {
	DEVICE(RDEVSID, subchannel), DEVICE(RDEVDEV, number), DEVICE(RDEVPIM, installed),
	DEVICE(RDEVPAM, available), DEVICE(RDEVCHPS, chpids),
};
static const struct binding of_user[] = { USER(VMDUSER, name), USER(VMDCPUAD, address) };
static const struct binding vndls[] = {
	USER(LANOWNER, lan_owner), USER(LANNAME, lan), USER(NICOWNER, name), USER(NICBASE, adapter),
};
static const struct binding lists[] = {
	USER(VMDUSER, name), USER(VMDCPUAD, address), USER(VMDCTPVR, resident),
	USER(VMDRELSH, share),
};
static const struct binding dispatch[] = {
	USER(VMDUSER, name), USER(VMDCPUAD, address), USER(VMDCTPVR, resident),
	USER(VMDRELSH, share), USER(VMDVTIME, virtual_time), USER(VMDTTIME, total_time),
};
static const struct binding useate[] = {
	USER(VMDUSER, name), USER(VMDCPUAD, address), USER(VMDTTIME, total_time),
	USER(VMDVTIME, virtual_time), USER(VMDCTPVR, resident), USER(CALCTPGS, slots),
	USER(CALCPPGR, page_reads), USER(CALCPPGW, page_writes), USER(VMDVDSCT, starts),
	USER(VMDRELSH, share), USER(CALTODON, logon), USER(VMDPUTYP, type),
};
static const struct binding useite[] = {
	USER(VMDUSER, name), USER(VMDCPUAD, address), USER(HFQUCT, samples),
	USER(HFSTCT, samples), USER(HFTIDL, idle),
	USER(HFIOWT, io_wait), USER(HFWTPAG, page_wait), USER(HFCPUWT, cpu_wait),
	USER(HFCPURN, running), USER(HFDORM, dormant), USER(VMDPUTYP, type),
};

/* The events of one subject in this order: log-on first, log-off last. */
static const struct row rows[] = {
	ROW_SYSTEM(1, 3, mtrsus),
	ROW_SYSTEM(7, 1, seksek),
	ROW_EVENT(5, 1, EACH_CPU, CAME, of_cpu),
	ROW_EVENT(5, 2, EACH_CPU, WENT, prcvof),
	ROW_EVENT(6, 1, EACH_DEVICE, CAME, iodvon),
	ROW_EVENT(6, 16, EACH_DEVICE, CHANGED, iodmdv),
	ROW_EVENT(6, 2, EACH_DEVICE, WENT, iodvof),
	ROW_EVENT(4, 1, EACH_USER, CAME, of_user),
	ROW_EVENT(8, 2, EACH_USER, LINK_UP, vndls),
	ROW_EVENT(2, 4, EACH_USER, DISPATCHED, dispatch),
	ROW_EVENT(2, 6, EACH_USER, ELIGIBLE, lists),
	ROW_EVENT(4, 9, EACH_USER, TRANSACTION, useate),
	ROW_EVENT(4, 10, EACH_USER, INTERACTION, useite),
	ROW_EVENT(2, 5, EACH_USER, DORMANT, dispatch),
	ROW_EVENT(8, 3, EACH_USER, LINK_DOWN, vndls),
	ROW_EVENT(4, 2, EACH_USER, WENT, of_user),
};
enum { ROW_SUSPENSION, ROW_SEEK, FIRST_ROW };
const struct rows rows_event = { rows, COUNT(rows) };

static uint32_t block_frames(const struct model *m)
{
	const uint32_t half = m->segment.ring[AREA_EVENT].size / 2;

	return (uint32_t)larger(smaller(m->config.block, half), 1);
}

static void begin_block(struct model *m, uint64_t tod)
{
	record_writer_init(&m->events.block, m->events.buffer, block_frames(m) * AREA_PAGE_SIZE,
			   tod);
	m->events.due = 0;
}

static uint64_t when(const struct model *m, uint64_t tod)
{
	assert(tod >= m->config.start);
	return (tod - m->config.start) / TOD_MILLISECOND;
}

static void add(struct model *m, const struct plan *plan, const void *subject, uint64_t tod)
{
	struct events *e = &m->events;
	uint8_t *record;

	e->block.tod = tod;
	record = record_add(&e->block, plan->domain, plan->number, plan->len);
	assert(record);
	plan_fill(record, plan, subject);
	if (e->due == 0)
		e->due = tod + SECOND;
}

static bool resume(struct model *m, uint64_t tod)
{
	struct events *e = &m->events;
	uint32_t start;

	segment_drain(&m->segment, when(m, tod));
	if (!segment_find(&m->segment, AREA_EVENT, block_frames(m), &start))
		return false;
	e->suspended = false;
	begin_block(m, tod);
	m->system.lost = e->lost;
	add(m, &m->event.plan[ROW_SUSPENSION], &m->system, tod);
	m->total.records_lost += e->lost;
	e->lost = 0;
	return true;
}

/* Is there room for another block, once @frames at @start are in use? */
static bool room_behind(struct model *m, uint32_t start, uint32_t frames)
{
	const uint32_t wanted = block_frames(m);
	struct segment *s = &m->segment;
	struct ring *ring = &s->ring[AREA_EVENT];
	const uint32_t next = ring->next;
	uint32_t run, again, from;

	if (ring->used == 0)
		return ring->size - (start + frames) >= wanted || start >= wanted;
	ring->next = start + frames;
	run = segment_run(s, AREA_EVENT, false, &from);
	again = segment_run(s, AREA_EVENT, true, &from);
	ring->next = next;
	return run >= wanted || again >= wanted;
}

/* False if the set is lost, whoever reads having too many. */
static bool deliver_block(struct model *m, uint64_t tod, struct model_set *set)
{
	struct events *e = &m->events;
	const uint32_t frames = e->block.pos / AREA_PAGE_SIZE + 1;
	struct record_writer w;
	uint32_t start;
	bool found;

	assert(!e->suspended && e->block.pos > 0);
	segment_drain(&m->segment, when(m, tod));
	found = segment_find(&m->segment, AREA_EVENT, frames, &start);
	assert(found);
	(void)found;
	e->block.tod = tod;
	if (!room_behind(m, start, frames)) {
		record_close(&e->block, MTRSOS);
		e->suspended = true;
		m->total.suspensions++;
	}
	w = e->block;
	memcpy(segment_at(&m->segment, AREA_EVENT, start), w.buffer, w.pos);
	begin_block(m, tod);
	return segment_deliver(m, AREA_EVENT, start, &w, set);
}

static enum room event_room(struct model *m, uint64_t tod, uint32_t len, struct model_set *set)
{
	struct events *e = &m->events;

	if (!e->suspended && e->block.records > 0 &&
	    (tod >= e->due || !record_fits(&e->block, len)) && deliver_block(m, tod, set))
		return DELIVER;
	if (!e->suspended || resume(m, tod))
		return ROOM;
	e->lost++;
	return LOST;
}

/* True if a block is to be delivered before the record can be written. */
static bool record_event(struct model *m, const struct plan *plan, const void *subject,
			 uint64_t tod, struct model_set *set)
{
	const enum room room = event_room(m, tod, plan->len, set);

	if (room == ROOM)
		add(m, plan, subject, tod);
	return room == DELIVER;
}

static bool enabled(const struct model *m, const struct plan *plan)
{
	return m->system.event_domains & DOMAIN_BIT(plan->domain);
}

static void choose_seek(struct model *m)
{
	const uint64_t random = model_random(m);
	const struct device *device = &m->device[m->disk[(random >> 32) % m->disks]];

	m->system.seek_subchannel = device->subchannel;
	m->system.seek_device = device->number;
	m->system.seek_user = m->user[(random & 0xffffffff) % m->config.users].name;
	m->system.cylinder = m->system.next_cylinder;
	m->system.next_cylinder = (random >> 16) % 3339;	/* cylinders of a 3390 of 3 GB */
}

static bool record_storm(struct model *m, struct model_set *set)
{
	const struct plan *plan = &m->event.plan[ROW_SEEK];
	const uint64_t begin = model_tod(m, m->before);
	const uint64_t length = model_tod(m, m->now) - MOMENT - begin;

	if (!enabled(m, plan) || m->disks == 0 || m->config.users == 0)
		m->storm_left = 0;
	while (m->storm_left > 0) {
		const uint64_t done = m->storm_count - m->storm_left;
		const uint64_t tod = begin + length / m->storm_count * done;
		const enum room room = event_room(m, tod, plan->len, set);

		if (room == DELIVER)
			return true;
		if (room == ROOM) {
			choose_seek(m);
			add(m, plan, &m->system, tod);
		}
		m->storm_left--;
	}
	return false;
}

/* All that has happened to one subject; what is recorded, or lost, is taken from it. */
static bool record_subject(struct model *m, struct subject *s, enum each each, uint64_t tod,
			   struct model_set *set)
{
	for (uint32_t i = FIRST_ROW; s->events; i++) {
		const struct plan *plan = &m->event.plan[i];

		/* Each event that can happen has a row of its subject's kind. */
		assert(i < m->event.count);
		if (plan->each != each || !(s->events & plan->need))
			continue;
		if (enabled(m, plan) && record_event(m, plan, s, tod, set))
			return true;
		s->events &= ~plan->need;
	}
	return false;
}

static bool record_group(struct model *m, enum cursor_group group, struct model_set *set)
{
	const uint64_t end = model_tod(m, m->now);
	uint32_t *i = &m->cursor.index;

	if (group == STORM)
		return record_storm(m, set);
	if (group == CPUS) {
		for (; *i < m->config.processors; ++*i)
			if (record_subject(m, &m->cpu[*i].s, EACH_CPU, end - MOMENT, set))
				return true;
		return false;
	}
	if (group == DEVICES) {
		for (; *i < m->config.devices; ++*i)
			if (record_subject(m, &m->device[*i].s, EACH_DEVICE, end - MOMENT, set))
				return true;
		return false;
	}
	assert(group == USERS);
	/* 65,536 users of 1/64 µs each: about a millisecond. */
	for (; *i < m->config.users; ++*i)
		if (record_subject(m, &m->user[*i].s, EACH_USER,
				   end - ((uint64_t)(m->config.users - *i) << 6), set))
			return true;
	return false;
}

bool model_record_events(struct model *m, struct model_set *set)
{
	for (; m->cursor.group < GROUPS; m->cursor.group++, m->cursor.index = 0)
		if (record_group(m, m->cursor.group, set))
			return true;
	return false;
}

bool model_record_change(struct model *m, struct model_set *set)
{
	const char *text = m->change->text;
	const uint32_t len = (uint32_t)strlen(text), whole = MTRECM_TEXT + len;
	const uint64_t tod = model_tod(m, m->now);
	const enum room room = event_room(m, tod, whole, set);
	struct events *e = &m->events;
	uint8_t *record;

	if (room != ROOM)
		return room == DELIVER;
	e->block.tod = tod;
	record = record_add(&e->block, RECORD_DOMAIN_MONITOR, MTRECM, whole);
	assert(record);
	put_be32(record + MTRECM_LENGTH, len);
	ebcdic_encode(record + MTRECM_TEXT, text, len);
	if (e->due == 0)
		e->due = tod + SECOND;
	return false;
}

bool model_flush(struct model *m, struct model_set *set)
{
	const uint64_t tod = model_tod(m, m->now);

	/* Without room for another block nothing gathers. */
	if (m->events.suspended)
		(void)resume(m, tod);
	return m->events.block.records > 0 && deliver_block(m, tod, set);
}

void model_events_begin(struct model *m)
{
	begin_block(m, model_tod(m, m->now));
}
