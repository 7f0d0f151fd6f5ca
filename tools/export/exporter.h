/* SPDX-License-Identifier: MIT */
/*
 * What "monread export", "taskmon export" and "dmmon export" have in common: options, and a thread
 * that gives a tool's values by HTTP, as a file, and its lines by TCP.
 *
 *	exporter_open()		complains of what is wrong; from now on collect() is called
 *	exporter_lines()	where the tool's JSON lines go, if anybody wants them
 *	…
 *	exporter_close()	the file has the last values then
 */
#ifndef TOOLS_EXPORTER_H
#define TOOLS_EXPORTER_H

#include <stdio.h>

#include "command_line.h"
#include "metrics.h"

#define EXPORT_INTERVAL_NS UINT64_C(15000000000)
#define EXPORT_OPTIONS_DEFAULT { .interval_ns = EXPORT_INTERVAL_NS }

struct export_options {
	const char *listen, *textfile, *json_lines;	/* NULL: not asked for */
	const char *certificate, *key, *passwords;
	uint64_t interval_ns;		/* of the file */
};

/* About a struct export_options that begins with EXPORT_OPTIONS_DEFAULT. */
extern const struct option_table export_option_table;

/* Of which values are. */
struct export_source {
	const char *tool;		/* "monread": its own families begin with that, too */
	const struct metric_family *families;
	size_t count;
	/* Adds all values, as they are now.  Mostly in a thread of its own; one call at a time. */
	void (*collect)(void *context, struct metrics *metrics);
	/* Before that thread begins, with exporter_lines() if that is one; NULL: nothing. */
	void (*open_lines)(void *context, FILE *lines);
	/* In the thread, once in each interval, before the file is written; NULL: nothing. */
	void (*tick)(void *context);
	void *context;
};

struct exporter;

/*
 * @source stays the caller's.  Signals are blocked in the thread.
 * Return: an exit code; but for EXIT_PASS it has complained, and nothing is left.
 */
int exporter_open(struct exporter **exporter, const struct export_options *options,
		  const struct export_source *source);

/* A stream for JSON lines; NULL: nobody asked for them. */
FILE *exporter_lines(struct exporter *exporter);

/* Return: an exit code; it has complained if the file could not be written in the end. */
int exporter_close(struct exporter *exporter);

#endif
