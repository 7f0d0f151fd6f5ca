/* SPDX-License-Identifier: MIT */
#include "process_values.h"

#define TICK_US (UINT64_C(1000000) / PROC_TICKS)

static void set(struct stats *stats, enum stats_field field, bool known, uint64_t value)
{
	stats->present[field] = known;
	stats->value[field] = known ? value : 0;
}

/* Of threads that have exited the sums of some kernels have waits and CPU time alone. */
static bool may_lack_exited(enum stats_field field)
{
	return field == STATS_UTIME || field == STATS_STIME || field == STATS_NVCSW ||
	       field == STATS_NIVCSW;
}

static void take_sums(struct stats *stats, const struct process_known *known)
{
	const struct stats *sums = &known->sums;
	/* Of one task that has exited the kernel has no sums; there never was another one. */
	bool one = known->has_sums && !stats_has_sums(sums);
	/* Who has exited was on a CPU before. */
	bool whole = known->has_sums && (one || sums->value[STATS_CPU_COUNT] ==
						stats->value[STATS_CPU_COUNT]);

	for (unsigned int field = 0; field < STATS_FIELDS; field++) {
		if (!known->has_sums || !stats_is_of_process(field) ||
		    (may_lack_exited(field) && !known->keeps_exited)) {
			if (!whole && (stats_is_of_process(field) || stats_is_sum(field)))
				set(stats, field, false, 0);
		} else if (!one) {
			set(stats, field, sums->present[field], sums->value[field]);
		}
	}
}

/* Sums that are finer than ticks are better, if they are right. */
static void take_ticks(struct stats *stats, enum stats_field field, uint64_t ticks)
{
	uint64_t least = ticks * TICK_US;

	if (!stats->present[field] || stats->value[field] < least ||
	    stats->value[field] - least >= TICK_US)
		set(stats, field, true, least);
}

static void take_shown(struct stats *stats, const struct proc_task *shown)
{
	take_ticks(stats, STATS_UTIME, shown->user_ticks);
	take_ticks(stats, STATS_STIME, shown->system_ticks);
	set(stats, STATS_MINFLT, true, shown->minor_faults);
	set(stats, STATS_MAJFLT, true, shown->major_faults);
}

static void take_io(struct stats *stats, const struct proc_io *io)
{
	set(stats, STATS_READ_CHAR, true, io->read_characters);
	set(stats, STATS_WRITE_CHAR, true, io->written_characters);
	set(stats, STATS_READ_SYSCALLS, true, io->read_calls);
	set(stats, STATS_WRITE_SYSCALLS, true, io->write_calls);
	set(stats, STATS_READ_BYTES, true, io->read_bytes);
	set(stats, STATS_WRITE_BYTES, true, io->written_bytes);
	set(stats, STATS_CANCELLED_WRITE_BYTES, true, io->cancelled_bytes);
}

void process_values(struct stats *stats, const struct process_known *known)
{
	take_sums(stats, known);
	if (known->has_clock)
		set(stats, STATS_CPU_RUN_VIRTUAL, true, known->clock_ns);
	if (known->has_shown)
		take_shown(stats, &known->shown);
	if (known->has_io)
		take_io(stats, &known->io);
}
