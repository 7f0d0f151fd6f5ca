/* SPDX-License-Identifier: MIT */
/* monread export: what there was of complete sets, for monitoring systems. */
#ifndef EXPORT_H
#define EXPORT_H

#include "activity.h"
#include "exporter.h"
#include "families.h"
#include "input.h"
#include "options.h"
#include "releases.h"
#include "sink.h"

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
