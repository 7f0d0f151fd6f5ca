/* SPDX-License-Identifier: MIT */
/* From data set to data set. */
#include <string.h>

#include "model_private.h"

#define ALL_DOMAINS 0xffffu

/*
 * A set of all records of @plans, or of the command that has been issued, stored where it is to
 * lie: behind the last one, or once more at the area's low end.  False if it does not fit there.
 */
static bool store_at(struct model *m, uint32_t kind, const struct plans *plans, uint32_t domains,
		     bool low_end, struct record_writer *w, uint32_t *start)
{
	const uint32_t frames = segment_run(&m->segment, kind, low_end, start);

	if (frames == 0)
		return false;
	record_writer_init(w, segment_at(&m->segment, kind, *start), frames * AREA_PAGE_SIZE,
			   model_tod(m, m->now));
	if (plans)
		model_write(m, w, plans, domains);
	else
		record_sample_change(w, w->tod, m->change->text, (uint32_t)strlen(m->change->text));
	if (w->overflow)
		return false;
	record_close(w, MTREND);
	return true;
}

/* False if there is no room at all, and the set is lost. */
static bool store(struct model *m, uint32_t kind, const struct plans *plans, uint32_t domains,
		  struct model_set *set)
{
	struct record_writer w;
	uint32_t start;

	segment_drain(&m->segment, m->now);
	if (store_at(m, kind, plans, domains, false, &w, &start) ||
	    store_at(m, kind, plans, domains, true, &w, &start))
		return segment_deliver(m, kind, start, &w, set);
	m->numbers++;
	m->total.sets_lost++;
	return false;
}

/* True: a set is to be delivered; false: look at the next state. */
static bool change(struct model *m, struct model_set *set)
{
	const struct model_action *action = m->change;
	bool delivered = false;

	if (!action) {
		m->state = AT_FLUSH;
		return false;
	}
	if (action->kind == MODEL_SAMPLE) {
		delivered = store(m, AREA_SAMPLE_CONFIG, NULL, 0, set);
		m->system.sample_domains = action->value;
	} else {
		if (model_record_change(m, set))
			return true;
		m->system.event_domains = action->value;
	}
	model_act(m);
	return delivered;
}

static bool sample(struct model *m, struct model_set *set)
{
	model_observe(m);
	m->state = AT_STEP;
	m->due = m->now + (uint64_t)m->config.interval * 1000;
	return store(m, AREA_SAMPLE, &m->sample, (uint32_t)m->system.sample_domains, set);
}

static bool step(struct model *m)
{
	if (m->now >= (uint64_t)m->config.seconds * 1000) {
		m->state = AT_END;
		return false;
	}
	model_step(m);
	model_act(m);
	m->cursor = (struct cursor){ 0 };
	m->state = AT_EVENTS;
	return false;
}

static bool advance(struct model *m, struct model_set *set)
{
	switch (m->state) {
	case AT_SAMPLE_CONFIG:
		model_observe(m);
		m->state = AT_EVENT_CONFIG;
		return store(m, AREA_SAMPLE_CONFIG, &m->sample_config, ALL_DOMAINS, set);
	case AT_EVENT_CONFIG:
		m->state = AT_SAMPLE;
		return store(m, AREA_EVENT_CONFIG, &m->event_config, ALL_DOMAINS, set);
	case AT_SAMPLE:
		return sample(m, set);
	case AT_STEP:
		return step(m);
	case AT_EVENTS:
		if (model_record_events(m, set))
			return true;
		m->state = AT_CHANGE;
		return false;
	case AT_CHANGE:
		return change(m, set);
	case AT_FLUSH:
		m->state = m->now == m->due ? AT_SAMPLE : AT_STEP;
		return model_flush(m, set);
	case AT_END:
		break;
	}
	return false;
}

bool model_next(struct model *m, struct model_set *set)
{
	while (m->state != AT_END)
		if (advance(m, set))
			return true;
	return false;
}

void model_totals(const struct model *m, struct model_totals *totals)
{
	*totals = m->total;
	totals->records_lost += m->events.lost;
}
