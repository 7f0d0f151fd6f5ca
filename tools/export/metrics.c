/* SPDX-License-Identifier: MIT */
#include "metrics.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NS_DECIMALS 9u
#define DECIMALS_MAX 18u

bool metrics_open(struct metrics *metrics, const struct metric_family *families, size_t count)
{
	*metrics = (struct metrics){ .families = families, .count = count };
	metrics->samples = calloc(count, sizeof(*metrics->samples));
	return metrics->samples;
}

void metrics_close(struct metrics *metrics)
{
	for (size_t i = 0; metrics->samples && i < metrics->count; i++)
		text_free(&metrics->samples[i]);
	free(metrics->samples);
	metrics->samples = NULL;
}

static void put(struct text *text, const char *word)
{
	text_append(text, word, strlen(word));
}

static void put_escaped(struct text *text, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n') {
			put(text, "\\n");
			continue;
		}
		if (bytes[i] == '\\' || bytes[i] == '"')
			put(text, "\\");
		text_append(text, &bytes[i], 1);
	}
}

static void put_label(struct text *text, const char *name, const char *value)
{
	size_t len = strlen(value);
	struct text shown = { 0 };

	put(text, name);
	put(text, "=\"");
	if (text_is_utf8(value, len)) {
		put_escaped(text, value, len);
	} else {
		text_append_visible(&shown, value, len);
		text->failed |= shown.failed;
		put_escaped(text, shown.bytes, shown.len);
		text_free(&shown);
	}
	put(text, "\"");
}

/* Name and labels of a sample, a blank behind.  @le: NULL, or the label of a bucket. */
static struct text *begin(struct metrics *metrics, size_t family, const char *suffix,
			  const char *const *labels, const struct text *le)
{
	const struct metric_family *of = &metrics->families[family];
	struct text *text = &metrics->samples[family];
	const char *between = "{";

	assert(family < metrics->count);
	put(text, of->name);
	put(text, suffix);
	for (size_t i = 0; i < METRIC_LABELS_MAX && of->labels[i]; i++, between = ",") {
		put(text, between);
		put_label(text, of->labels[i], labels[i]);
	}
	if (le) {
		put(text, between);
		put(text, "le=\"");
		text_append(text, le->bytes, le->len);
		put(text, "\"");
		between = ",";
	}
	put(text, *between == ',' ? "} " : " ");
	return text;
}

static const char *suffix_of(const struct metrics *metrics, size_t family)
{
	return metrics->families[family].type == METRIC_COUNTER ? "_total" : "";
}

static void put_decimal(struct text *text, uint64_t value, unsigned int decimals)
{
	char digits[DECIMALS_MAX];
	unsigned int len = decimals;

	assert(decimals <= DECIMALS_MAX);
	for (unsigned int i = decimals; i-- > 0; value /= 10)
		digits[i] = (char)('0' + value % 10);
	while (len > 0 && digits[len - 1] == '0')
		len--;
	text_append_number(text, value);
	if (len) {
		put(text, ".");
		text_append(text, digits, len);
	}
}

void metrics_unsigned(struct metrics *metrics, size_t family, const char *const *labels,
		      uint64_t value)
{
	metrics_decimal(metrics, family, labels, value, 0);
}

void metrics_signed(struct metrics *metrics, size_t family, const char *const *labels,
		    int64_t value)
{
	struct text *text = begin(metrics, family, suffix_of(metrics, family), labels, NULL);

	if (value < 0)
		put(text, "-");
	text_append_number(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
	put(text, "\n");
}

void metrics_decimal(struct metrics *metrics, size_t family, const char *const *labels,
		     uint64_t value, unsigned int decimals)
{
	struct text *text = begin(metrics, family, suffix_of(metrics, family), labels, NULL);

	put_decimal(text, value, decimals);
	put(text, "\n");
}

void metrics_histogram(struct metrics *metrics, size_t family, const char *const *labels,
		       const uint64_t *bounds, size_t bound_count, const uint64_t *counts,
		       uint64_t sum)
{
	struct text le = { 0 }, *text = &metrics->samples[family];
	uint64_t all = 0;

	for (size_t i = 0; i <= bound_count; i++) {
		text_clear(&le);
		if (i < bound_count)
			put_decimal(&le, bounds[i], NS_DECIMALS);
		else
			put(&le, "+Inf");
		text->failed |= le.failed;
		all += counts[i];
		text_append_number(begin(metrics, family, "_bucket", labels, &le), all);
		put(text, "\n");
	}
	text_append_number(begin(metrics, family, "_count", labels, NULL), all);
	put(text, "\n");
	put_decimal(begin(metrics, family, "_sum", labels, NULL), sum, NS_DECIMALS);
	put(text, "\n");
	text_free(&le);
}

/* "# WHAT NAME TEXT"; in the text format a counter is called as its values are. */
static void put_about(struct text *out, const char *what, const struct metric_family *family,
		      enum metrics_format format, const char *words)
{
	put(out, "# ");
	put(out, what);
	put(out, " ");
	put(out, family->name);
	if (format == METRICS_TEXT && family->type == METRIC_COUNTER)
		put(out, "_total");
	put(out, " ");
	put(out, words);
	put(out, "\n");
}

void metrics_write(const struct metrics *metrics, enum metrics_format format, struct text *out)
{
	static const char *const types[] = {
		[METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram",
	};

	for (size_t i = 0; i < metrics->count; i++) {
		const struct metric_family *family = &metrics->families[i];
		const struct text *samples = &metrics->samples[i];

		out->failed |= samples->failed;
		if (!samples->len)
			continue;
		put_about(out, "TYPE", family, format, types[family->type]);
		if (format == METRICS_OPENMETRICS && family->unit)
			put_about(out, "UNIT", family, format, family->unit);
		put_about(out, "HELP", family, format, family->help);
		text_append(out, samples->bytes, samples->len);
	}
}

void metrics_end(enum metrics_format format, struct text *out)
{
	if (format == METRICS_OPENMETRICS)
		put(out, "# EOF\n");
}
