/* SPDX-License-Identifier: MIT */
#include "accounting.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_US 1000u

enum need {
	NEEDS_NOTHING,
	NEEDS_DELAYS,
	NEEDS_WAITS,
	NEEDS_INTERRUPTS,	/* delay accounting, and CONFIG_IRQ_TIME_ACCOUNTING */
	NEEDS_EXTENDED,
	NEEDS_IO,
};

static const enum need needs[STATS_FIELDS] = {
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, several, needs, \
	      meaning) \
	[STATS_##id] = NEEDS_##needs,
#include "fields.def"
#undef FIELD
};

static bool is_wait(unsigned int field)
{
	return needs[field] == NEEDS_WAITS || needs[field] == NEEDS_INTERRUPTS;
}

static bool has_waits(const struct stats *stats)
{
	for (unsigned int field = 0; field < STATS_FIELDS; field++)
		if (is_wait(field) && stats->value[field])
			return true;
	return false;
}

unsigned int accounting_lacks(const struct stats *own, bool has_io)
{
	unsigned int lacks = has_io ? 0 : ACCOUNTING_NO_IO;

	/* Who runs was given a CPU, and has storage. */
	if (!own->value[STATS_CPU_COUNT])
		lacks |= ACCOUNTING_NO_DELAYS;
	if (!own->value[STATS_HIWATER_VM])
		lacks |= ACCOUNTING_NO_EXTENDED;
	return lacks;
}

void accounting_look(struct accounting *accounting, enum delayacct_state state, uint64_t now)
{
	bool was_off = accounting->looked && accounting->state == DELAYACCT_OFF;
	bool is_off = state == DELAYACCT_OFF;

	accounting->changes += accounting->looked && is_off != was_off;
	if (is_off) {
		accounting->since = UINT64_MAX;
		accounting->off = now;
	} else if (state == DELAYACCT_SINCE_BOOT && !accounting->off) {
		accounting->since = 0;
	} else if (state != DELAYACCT_UNKNOWN && accounting->since > now) {
		accounting->since = now;
	}
	accounting->state = state;
	accounting->looked = true;
}

/* What the values of these needs are not: counted; bits of enum need, for a 0 and for another. */
struct uncounted {
	unsigned int zero, other;
};

static struct uncounted uncounted(const struct accounting *accounting, bool waits)
{
	struct uncounted found = { 0 };

	if (!waits)
		found.other = 1u << NEEDS_WAITS | 1u << NEEDS_INTERRUPTS;
	found.zero = found.other;
	if (accounting->lacks & ACCOUNTING_NO_DELAYS)
		found.zero |= 1u << NEEDS_DELAYS;
	/* No kernel of a machine with this order has CONFIG_IRQ_TIME_ACCOUNTING. */
	if (accounting->order == STATS_BIG)
		found.zero |= 1u << NEEDS_INTERRUPTS;
	if (accounting->lacks & ACCOUNTING_NO_EXTENDED)
		found.zero |= 1u << NEEDS_EXTENDED | 1u << NEEDS_IO;
	if (accounting->lacks & ACCOUNTING_NO_IO)
		found.zero |= 1u << NEEDS_IO;
	return found;
}

static void forget(struct stats *stats, unsigned int field)
{
	stats->present[field] = false;
	stats->value[field] = 0;
}

void accounting_apply(const struct accounting *accounting, struct stats *stats, uint64_t begin)
{
	bool waits = accounting->state != DELAYACCT_OFF &&
		     (begin >= accounting->since || has_waits(stats));
	struct uncounted not = uncounted(accounting, waits);

	if (!not.zero)
		return;
	for (unsigned int field = 0; field < STATS_FIELDS; field++)
		if ((stats->value[field] ? not.other : not.zero) >> needs[field] & 1)
			forget(stats, field);
}

void accounting_forget_waits(struct stats *stats)
{
	for (unsigned int field = 0; field < STATS_FIELDS; field++)
		if (is_wait(field))
			forget(stats, field);
}

/* When a task or process began at the earliest; 0: not known. */
static uint64_t begin_of(const struct stats_record *record, uint64_t time_ns)
{
	const struct stats *stats = &record->stats;
	bool is_task = record->kind == STATS_TASK;
	enum stats_field second = stats->present[STATS_BTIME64] ? STATS_BTIME64 : STATS_BTIME;
	uint64_t elapsed_us = is_task ? stats->value[STATS_ETIME] : record->elapsed_us;
	uint64_t begin, latest;

	if (!(is_task ? stats->present[STATS_ETIME] : record->has_elapsed) ||
	    elapsed_us > time_ns / NS_PER_US)
		return 0;
	begin = time_ns - elapsed_us * NS_PER_US;
	/* A message may have waited for long to be read; whole seconds are less than one off. */
	latest = (stats->value[second] + 1) * NS_PER_S;
	return is_task && stats->present[second] && latest < begin ? latest : begin;
}

void accounting_message(const struct accounting *accounting, struct stats_record *record,
			uint64_t time_ns)
{
	uint64_t begin = begin_of(record, time_ns);

	accounting_apply(accounting, &record->stats, begin);
	/* Whoever began before they were off has not all of its waits. */
	if (begin < accounting->off)
		accounting_forget_waits(&record->stats);
}
