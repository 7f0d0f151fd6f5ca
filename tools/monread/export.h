/* SPDX-License-Identifier: MIT */
/* monread export: what there was of complete sets, for monitoring systems. */
#ifndef EXPORT_H
#define EXPORT_H

#include "activity.h"
#include "exporter.h"
#include "input.h"
#include "options.h"
#include "releases.h"
#include "sink.h"

/* Families of values; a test looks for their names in dashboards. */
enum export_family {
	EXPORT_SETS, EXPORT_SETS_LOST, EXPORT_OVERFLOWS, EXPORT_RECORDS, EXPORT_BYTES,
	EXPORT_VIOLATIONS, EXPORT_SEVERS, EXPORT_LEFT_OUT, EXPORT_NOT_UNDERSTOOD, EXPORT_UNUSED,
	EXPORT_INTERVALS, EXPORT_UNTIL, EXPORT_RELEASE,
	EXPORT_BUSY, EXPORT_TIME, EXPORT_PAGE_READS, EXPORT_PAGE_WRITES, EXPORT_EVENTS,
	EXPORT_EVENTS_LOST, EXPORT_STARTS, EXPORT_USER_TIME, EXPORT_PARTITION, EXPORT_PROCESSORS,
	EXPORT_MACHINE, EXPORT_LOAD, EXPORT_LOAD_TIME, EXPORT_SAMPLES, EXPORT_SAMPLE_INTERVAL,
	EXPORT_USER_SAMPLES, EXPORT_RESPONSE, EXPORT_SLOTS, EXPORT_SLOTS_USED, EXPORT_VOLUME_READS,
	EXPORT_VOLUME_WRITES, EXPORT_USER_READS, EXPORT_USER_WRITES, EXPORT_USER_STARTS,
	EXPORT_RESIDENT, EXPORT_PAGED_OUT, EXPORT_FAMILIES
};
extern const struct metric_family export_families[EXPORT_FAMILIES];

/* Adds all values; the release as activity->releases has it. */
void export_values(struct metrics *metrics, const struct activity *activity,
		   const struct tally *tally);

struct export;

/*
 * Begins to export, and adds the outputs that this needs.  @tally, @releases: as they are counted
 * and found meanwhile, by the same thread.
 * Return: an exit code; but for EXIT_PASS it has complained.  export_end() is due then.
 */
int export_begin(struct export **export, const struct options *options, const struct tally *tally,
		 const struct releases *releases, struct sinks *sinks);

/*
 * When nothing comes any more: of a file whose values somebody may still ask for, waits for a
 * signal.  @code: how reading ended.
 */
void export_stay(const struct export *export, const struct input *input, int code);

/* Return: @code, or if that is EXIT_PASS how exporting ended.  NULL is none. */
int export_end(struct export *export, int code);

#endif
