/* SPDX-License-Identifier: MIT */
/*
 * Families of values, and their text: OpenMetrics 1.0, or the text format 0.0.4 of Prometheus,
 * which node_exporter's textfile collector and "promtool check metrics" read.
 *
 * A tool has a constant array of families.  Values are added in any order; the text has them by
 * family, in the order of the array, and families without a value are left out.
 *
 *	static const struct metric_family families[] = {
 *		{ "zvm_device_starts", METRIC_COUNTER, NULL, "I/Os that were started", { "device" } },
 *	};
 *	metrics_unsigned(&metrics, 0, (const char *const[]){ "0123" }, 17);
 *
 * gives in OpenMetrics
 *
 *	# TYPE zvm_device_starts counter
 *	# HELP zvm_device_starts I/Os that were started
 *	zvm_device_starts_total{device="0123"} 17
 */
#ifndef TOOLS_METRICS_H
#define TOOLS_METRICS_H

#include "tool_text.h"

#define METRIC_LABELS_MAX 4u

enum metrics_format {
	METRICS_OPENMETRICS,	/* OpenMetrics 1.0.0 */
	METRICS_TEXT,		/* Prometheus' text format 0.0.4 */
};

enum metric_type {
	METRIC_COUNTER,		/* never falls, but when it begins anew; its values end in "_total" */
	METRIC_GAUGE,
	METRIC_HISTOGRAM,
};

struct metric_family {
	const char *name;	/* lower case; ends with "_" and the unit, without "_total" */
	enum metric_type type;
	const char *unit;	/* "seconds", "bytes"; NULL: none */
	const char *help;	/* a clause without line break, quote and backslash */
	const char *labels[METRIC_LABELS_MAX];	/* names; NULL after the last one */
};

struct metrics {
	const struct metric_family *families;
	size_t count;
	struct text *samples;	/* one for each family; owned */
};

/* None yet.  Return: false without memory; metrics_close() is due in either case. */
bool metrics_open(struct metrics *metrics, const struct metric_family *families, size_t count);
void metrics_close(struct metrics *metrics);

/*
 * Adds a value of the family @family.  @labels: as many values as the family has labels, any bytes
 * that end with a NUL; NULL if it has none.  What is no UTF-8 is shown as
 * text_append_visible() has it.
 */
void metrics_unsigned(struct metrics *metrics, size_t family, const char *const *labels,
		      uint64_t value);
void metrics_signed(struct metrics *metrics, size_t family, const char *const *labels,
		    int64_t value);
/* @value divided by 10^@decimals (up to 18), exact. */
void metrics_decimal(struct metrics *metrics, size_t family, const char *const *labels,
		     uint64_t value, unsigned int decimals);

/*
 * A histogram of durations.  @bounds: @bound_count upper bounds, rising; @counts: one more, not
 * added up, the last one of what is above all bounds.  @sum: of all durations.  All in nanoseconds;
 * the family's unit is seconds.
 */
void metrics_histogram(struct metrics *metrics, size_t family, const char *const *labels,
		       const uint64_t *bounds, size_t bound_count, const uint64_t *counts,
		       uint64_t sum);

/* Appends the text; out->failed if there was no memory for it, or for a value before. */
void metrics_write(const struct metrics *metrics, enum metrics_format format, struct text *out);

/* Appends what comes last, behind the families of all tables. */
void metrics_end(enum metrics_format format, struct text *out);

#endif
