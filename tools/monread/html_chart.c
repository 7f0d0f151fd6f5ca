/* SPDX-License-Identifier: MIT */
/*
 * monread: charts over time.
 *
 * Lines are SVG that is stretched to whatever room there is; words, and marks that must not be
 * stretched, are text beside it, at the same places in per cent.  So they can be read on a
 * telephone, too.
 */
#include <inttypes.h>

#include "html.h"

/* The units of the picture, the same in each of its directions. */
#define WIDTH 1000.0
#define HEIGHT 1000.0
#define ROW 24u		/* pixels of a kind of event */

static double x_of(const struct activity *f, uint64_t tod)
{
	const uint64_t first = f->bucket[0].first, last = f->bucket[f->buckets - 1].last;

	if (last <= first || tod <= first)
		return 0;
	if (tod >= last)
		return WIDTH;
	return WIDTH * ((double)(tod - first) / (double)(last - first));
}

static double y_of(double value, double most)
{
	return HEIGHT - HEIGHT * value / most;
}

/* Of the picture's units. */
static double per_cent(double units)
{
	return units / 10;
}

/* A round number that is not below @value. */
static double round_up(double value)
{
	double step = 1;
	unsigned int times = 1;

	while (step * 10 <= value)
		step *= 10;
	while (step > value && step > 1e-3)
		step /= 10;
	/* Ten steps are enough. */
	while (step * times < value)
		times++;
	return step * times;
}

static double value_of(const struct chart *chart, const struct bucket *bucket, unsigned int series)
{
	return chart->value(chart->of, bucket, series);
}

/* Where a bucket is one interval, its value is the highest. */
static bool has_most(const struct activity *f, const struct chart *chart)
{
	return chart->most && f->merged > 1;
}

static double most_of(const struct activity *f, const struct chart *chart,
		      const struct bucket *bucket, unsigned int series)
{
	return has_most(f, chart) ? chart->most(chart->of, bucket, series) :
				    value_of(chart, bucket, series);
}

static double largest(const struct activity *f, const struct chart *chart)
{
	double most = 0;

	for (unsigned int i = 0; i < f->buckets; i++)
		for (unsigned int series = 0; series < chart->series; series++) {
			const double value = most_of(f, chart, &f->bucket[i], series);

			most = value > most ? value : most;
		}
	return most > 0 ? round_up(most) : 1;
}

static bool has_values(const struct activity *f, const struct chart *chart, unsigned int series)
{
	for (unsigned int i = 0; i < f->buckets; i++)
		if (value_of(chart, &f->bucket[i], series) >= 0)
			return true;
	return false;
}

static unsigned int ticks_of(const struct activity *f, struct clock_tick ticks[CLOCK_TICKS])
{
	return clock_ticks(clock_seconds(f->bucket[0].first),
			   clock_seconds(f->bucket[f->buckets - 1].last), ticks);
}

/* Bands where sets are missing, and a line at each round time. */
static void draw_times(FILE *out, const struct activity *f)
{
	struct clock_tick ticks[CLOCK_TICKS];
	const unsigned int count = ticks_of(f, ticks);

	for (unsigned int i = 0; i < f->buckets; i++) {
		const struct bucket *bucket = &f->bucket[i];
		const double x = x_of(f, bucket->first), end = x_of(f, bucket->last);

		if (bucket->lost || bucket->overflows || bucket->suspended)
			fprintf(out, "<rect class=\"gap\" x=\"%.1f\" y=\"0\" width=\"%.1f\" "
				"height=\"%.0f\"/>\n", x, end - x > 2 ? end - x : 2, HEIGHT);
	}
	for (unsigned int i = 0; i < count; i++) {
		const double x = x_of(f, clock_tod(ticks[i].seconds));

		fprintf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" "
			"y2=\"%.0f\"/>\n", x, x, HEIGHT);
	}
}

/* Below the picture; where there is little room, the main ones alone. */
static void write_times(FILE *out, const struct activity *f)
{
	struct clock_tick ticks[CLOCK_TICKS];
	const unsigned int count = ticks_of(f, ticks);

	for (unsigned int i = 0; i < count; i++)
		fprintf(out, "<span class=\"x%s\" style=\"left:%.1f%%\">%s</span>\n",
			ticks[i].main || count <= CLOCK_TICKS / 2 ? "" : " more",
			per_cent(x_of(f, clock_tod(ticks[i].seconds))), ticks[i].text);
}

static void draw_grid(FILE *out)
{
	for (unsigned int i = 0; i <= 4; i++)
		fprintf(out, "<line class=\"grid\" x1=\"0\" x2=\"%.0f\" y1=\"%.0f\" "
			"y2=\"%.0f\"/>\n", WIDTH, HEIGHT / 4 * i, HEIGHT / 4 * i);
}

/* With as many decimals as a fourth of the scale needs. */
static void write_scale(FILE *out, double most)
{
	char text[REPORT_CELL];

	for (unsigned int i = 0; i <= 4; i++) {
		const double value = most * (4 - i) / 4;

		if (value >= 1000)
			report_number(text, value, 0);
		else
			snprintf(text, sizeof(text), "%.6g", value);
		fprintf(out, "<span class=\"y\" style=\"top:%u%%\">%s</span>\n", 25 * i, text);
	}
}

static void draw_threshold(FILE *out, const struct chart *chart, double most)
{
	if (chart->marks && chart->threshold <= most)
		fprintf(out, "<line class=\"limit\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" "
			"y2=\"%.1f\"/>\n", WIDTH, y_of(chart->threshold, most),
			y_of(chart->threshold, most));
}

/* A mark at each value above the threshold. */
static void write_marks(FILE *out, const struct activity *f, const struct chart *chart, double most)
{
	char text[REPORT_CELL];

	if (!chart->marks)
		return;
	if (chart->threshold <= most)
		fprintf(out, "<span class=\"threshold\" style=\"top:%.1f%%\">threshold %s</span>\n",
			per_cent(y_of(chart->threshold, most)),
			report_number(text, chart->threshold, chart->threshold < 10));
	for (unsigned int i = 0; i < f->buckets; i++)
		for (unsigned int series = 0; series < chart->series; series++) {
			const double value = most_of(f, chart, &f->bucket[i], series);

			if (value <= chart->threshold)
				continue;
			fprintf(out, "<span class=\"over\" style=\"left:%.1f%%;top:%.1f%%\" title=\"",
				per_cent(x_of(f, f->bucket[i].last)), per_cent(y_of(value, most)));
			html_text(out, chart->names[series]);
			fprintf(out, " %s\">▲</span>\n", report_number(text, value, chart->decimals));
		}
}

/* Do lines lie on each other anywhere, as they are drawn? */
static bool coincide(const struct activity *f, const struct chart *chart, unsigned int one,
		     unsigned int other, double most)
{
	unsigned int in_a_row = 0;

	for (unsigned int i = 0; i < f->buckets; i++) {
		const double a = value_of(chart, &f->bucket[i], one);
		const double b = value_of(chart, &f->bucket[i], other);
		const double apart = a < b ? b - a : a - b;

		in_a_row = a >= 0 && b >= 0 && apart < most / 200 ? in_a_row + 1 : 0;
		if (in_a_row == 2)
			return true;
	}
	return false;
}

/* A line that hides others is dashed: in the gaps, they are seen. */
static const char *dashes(const struct activity *f, const struct chart *chart, unsigned int series,
			  double most)
{
	static const char *const classes[] = { "", " d1", " d2", " d3" };
	unsigned int hidden = 0;

	for (unsigned int before = 0; before < series && hidden < 3; before++)
		hidden += coincide(f, chart, before, series, most);
	return classes[hidden];
}

/* The highest values of intervals are a thin line. */
static void draw_line(FILE *out, const struct activity *f, const struct chart *chart,
		      unsigned int series, double most, bool thin)
{
	bool drawing = false;

	fprintf(out, "<path class=\"s%u%s\" d=\"", series,
		thin ? " thin" : dashes(f, chart, series, most));
	for (unsigned int i = 0; i < f->buckets; i++) {
		const struct bucket *bucket = &f->bucket[i];
		const double value = thin ? most_of(f, chart, bucket, series) :
					    value_of(chart, bucket, series);

		if (value >= 0)
			fprintf(out, "%s%.1f %.1f", drawing ? "L" : "M", x_of(f, bucket->last),
				y_of(value, most));
		drawing = value >= 0;
	}
	fputs("\"/>\n", out);
}

static void draw_lines(FILE *out, const struct activity *f, const struct chart *chart, double most)
{
	for (unsigned int series = 0; series < chart->series; series++) {
		if (!has_values(f, chart, series))
			continue;
		if (has_most(f, chart))
			draw_line(out, f, chart, series, most, true);
		draw_line(out, f, chart, series, most, false);
	}
}

static void table_head(FILE *out, const struct activity *f, const struct chart *chart)
{
	fprintf(out, "<details><summary>as a table</summary><div class=\"wide\">"
		"<table id=\"%s-table\">\n<thead><tr><th>until</th>", chart->id);
	for (unsigned int series = 0; series < chart->series; series++) {
		if (!has_values(f, chart, series))
			continue;
		fputs("<th class=\"n\">", out);
		html_text(out, chart->names[series]);
		if (has_most(f, chart)) {
			fputs("</th><th class=\"n\">most ", out);
			html_text(out, chart->names[series]);
		}
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n", out);
}

static void table_cell(FILE *out, const struct chart *chart, double value)
{
	char number[REPORT_CELL];

	fputs("<td class=\"n\">", out);
	if (value >= 0)
		fprintf(out, chart->marks && value > chart->threshold ? "<b>▲ %s</b>" : "%s",
			report_number(number, value, chart->decimals));
	fputs("</td>", out);
}

static void draw_table(FILE *out, const struct activity *f, const struct chart *chart)
{
	char time[CLOCK_TEXT_SIZE];

	table_head(out, f, chart);
	for (unsigned int i = 0; i < f->buckets; i++) {
		const struct bucket *bucket = &f->bucket[i];

		fprintf(out, "<tr><td>%s</td>", clock_text(bucket->last, time));
		for (unsigned int series = 0; series < chart->series; series++) {
			if (!has_values(f, chart, series))
				continue;
			table_cell(out, chart, value_of(chart, bucket, series));
			if (has_most(f, chart))
				table_cell(out, chart, most_of(f, chart, bucket, series));
		}
		fputs("</tr>\n", out);
	}
	fputs("</table></div></details>\n", out);
}

static void legend(FILE *out, const struct activity *f, const struct chart *chart, double most)
{
	char text[REPORT_CELL];

	fprintf(out, "<p class=\"legend\">%s ", chart->unit);
	for (unsigned int series = 0; series < chart->series; series++) {
		if (!has_values(f, chart, series))
			continue;
		fprintf(out, "<span><i class=\"f%u%s\"></i>", series, dashes(f, chart, series, most));
		html_text(out, chart->names[series]);
		fputs("</span> ", out);
	}
	if (has_most(f, chart))
		fputs("<span>thin: the highest of an interval</span> ", out);
	if (chart->marks)
		fprintf(out, "<span>▲ above %s</span>",
			report_number(text, chart->threshold, chart->threshold < 10));
	fputs("</p>\n", out);
}

void html_chart(FILE *out, const struct activity *f, const struct chart *chart)
{
	const double most = largest(f, chart);
	bool any = false;

	fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", chart->id, chart->title);
	for (unsigned int series = 0; series < chart->series; series++)
		any |= has_values(f, chart, series);
	if (!any) {
		fputs("<p class=\"none\">No data.</p>\n</section>\n", out);
		return;
	}
	legend(out, f, chart, most);
	fprintf(out, "<div class=\"plot\"><svg viewBox=\"0 0 %.0f %.0f\" "
		"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT,
		chart->title);
	draw_times(out, f);
	draw_grid(out);
	draw_threshold(out, chart, most);
	draw_lines(out, f, chart, most);
	fputs("</svg>\n", out);
	write_scale(out, most);
	write_times(out, f);
	write_marks(out, f, chart, most);
	fputs("</div>\n", out);
	draw_table(out, f, chart);
	fputs("</section>\n", out);
}

/* In pixels: the more events, the larger, up to the row's height. */
static double diameter(uint32_t events)
{
	double r = 5;

	while (events > 1 && r < ROW - 2) {
		events /= 2;
		r += 2;
	}
	return r;
}

void html_timeline(FILE *out, const struct activity *f)
{
	fputs("<section id=\"timeline\">\n<h2>Events</h2>\n", out);
	if (!f->events || !f->buckets) {
		fputs("<p class=\"none\">No event was recorded.</p>\n</section>\n", out);
		return;
	}
	fprintf(out, "<div class=\"plot\" style=\"height:%upx\"><svg viewBox=\"0 0 %.0f %.0f\" "
		"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Events over time\">\n",
		ROW * EVENT_KINDS, WIDTH, HEIGHT);
	draw_times(out, f);
	fputs("</svg>\n", out);
	for (unsigned int kind = 0; kind < EVENT_KINDS; kind++) {
		const unsigned int y = ROW * kind + ROW / 2;

		fprintf(out, "<span class=\"kind\" style=\"top:%upx\">%s</span>\n", y - 8,
			html_event_names[kind]);
		for (unsigned int i = 0; i < f->buckets; i++)
			if (f->bucket[i].events[kind])
				fprintf(out, "<i class=\"f%u\" style=\"left:%.1f%%;top:%upx;"
					"width:%.0fpx;height:%.0fpx\" title=\"%" PRIu32 "\"></i>\n",
					kind, per_cent(x_of(f, f->bucket[i].last)), y,
					diameter(f->bucket[i].events[kind]),
					diameter(f->bucket[i].events[kind]),
					f->bucket[i].events[kind]);
	}
	write_times(out, f);
	fputs("</div>\n</section>\n", out);
}
