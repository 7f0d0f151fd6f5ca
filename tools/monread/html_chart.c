/* SPDX-License-Identifier: MIT */
/* monread: charts over time, as SVG. */
#include <inttypes.h>

#include "html.h"

/* Of the picture, in its own units, and of the field that lines are drawn in. */
enum { WIDTH = 1000, HEIGHT = 240, LEFT = 64, RIGHT = 990, TOP = 12, BOTTOM = 210 };
enum { ROW = 24, TICKS = 6 };

static double x_of(const struct activity *f, uint64_t tod)
{
	const uint64_t first = f->bucket[0].first, last = f->bucket[f->buckets - 1].last;

	if (last <= first || tod <= first)
		return LEFT;
	if (tod >= last)
		return RIGHT;
	return LEFT + (RIGHT - LEFT) * ((double)(tod - first) / (double)(last - first));
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

static double largest(const struct activity *f, const struct chart *chart)
{
	double most = 0;

	for (unsigned int i = 0; i < f->buckets; i++)
		for (unsigned int series = 0; series < chart->series; series++) {
			const double value = chart->value(&f->bucket[i], series);

			most = value > most ? value : most;
		}
	return most > 0 ? round_up(most) : 1;
}

static bool has_values(const struct activity *f, const struct chart *chart, unsigned int series)
{
	for (unsigned int i = 0; i < f->buckets; i++)
		if (chart->value(&f->bucket[i], series) >= 0)
			return true;
	return false;
}

/* Times below, and bands where sets are missing. */
static void draw_axis(FILE *out, const struct activity *f, int bottom)
{
	const uint64_t first = f->bucket[0].first, last = f->bucket[f->buckets - 1].last;
	char time[HTML_TIME_SIZE];

	for (unsigned int i = 0; i < f->buckets; i++) {
		const struct bucket *bucket = &f->bucket[i];
		const double x = x_of(f, bucket->first), end = x_of(f, bucket->last);

		if (bucket->lost || bucket->overflows || bucket->suspended)
			fprintf(out, "<rect class=\"gap\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
				"height=\"%d\"/>\n", x, TOP, end - x > 2 ? end - x : 2,
				bottom - TOP);
	}
	for (unsigned int i = 0; i < TICKS && last > first; i++) {
		const uint64_t tod = first + (last - first) / (TICKS - 1) * i;

		html_time(tod, time);
		fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%.8s</text>\n",
			x_of(f, tod), bottom + 18, i == 0 ? "start" :
			i == TICKS - 1 ? "end" : "middle", time + 11);
	}
}

static void draw_grid(FILE *out, double most)
{
	for (unsigned int i = 0; i <= 4; i++) {
		const double y = BOTTOM - (BOTTOM - TOP) * (i / 4.0);

		fprintf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n", LEFT, RIGHT, y,
			y, LEFT - 6, y + 4, most * i / 4);
	}
}

static void draw_line(FILE *out, const struct activity *f, const struct chart *chart,
		      unsigned int series, double most)
{
	bool drawing = false;

	fprintf(out, "<path class=\"s%u\" d=\"", series);
	for (unsigned int i = 0; i < f->buckets; i++) {
		const struct bucket *bucket = &f->bucket[i];
		const double value = chart->value(bucket, series);

		if (value >= 0)
			fprintf(out, "%s%.1f %.1f", drawing ? "L" : "M", x_of(f, bucket->last),
				BOTTOM - (BOTTOM - TOP) * value / most);
		drawing = value >= 0;
	}
	fputs("\"/>\n", out);
}

static void draw_table(FILE *out, const struct activity *f, const struct chart *chart)
{
	char time[HTML_TIME_SIZE];

	fprintf(out, "<details><summary>as a table</summary><div class=\"wide\">"
		"<table id=\"%s-table\">\n<thead><tr><th>until</th>", chart->id);
	for (unsigned int series = 0; series < chart->series; series++)
		if (has_values(f, chart, series))
			fprintf(out, "<th class=\"n\">%s</th>", chart->names[series]);
	fputs("</tr></thead>\n", out);
	for (unsigned int i = 0; i < f->buckets; i++) {
		fprintf(out, "<tr><td>%s</td>", html_time(f->bucket[i].last, time));
		for (unsigned int series = 0; series < chart->series; series++) {
			const double value = chart->value(&f->bucket[i], series);

			if (!has_values(f, chart, series))
				continue;
			fputs("<td class=\"n\">", out);
			if (value >= 0)
				fprintf(out, "%.1f", value);
			fputs("</td>", out);
		}
		fputs("</tr>\n", out);
	}
	fputs("</table></div></details>\n", out);
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
	fprintf(out, "<p class=\"legend\">%s", chart->unit);
	for (unsigned int series = 0; series < chart->series; series++)
		if (has_values(f, chart, series))
			fprintf(out, "<i class=\"f%u\"></i>%s", series, chart->names[series]);
	fprintf(out, "</p>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDTH,
		HEIGHT, chart->title);
	draw_axis(out, f, BOTTOM);
	draw_grid(out, most);
	for (unsigned int series = 0; series < chart->series; series++)
		if (has_values(f, chart, series))
			draw_line(out, f, chart, series, most);
	fputs("</svg>\n", out);
	draw_table(out, f, chart);
	fputs("</section>\n", out);
}

/* The more events, the larger, up to the row's height. */
static double radius(uint32_t events)
{
	double r = 2.5;

	while (events > 1 && r < ROW / 2.0 - 1) {
		events /= 2;
		r += 1;
	}
	return r;
}

void html_timeline(FILE *out, const struct activity *f)
{
	const int bottom = TOP + ROW * EVENT_KINDS;

	fputs("<section id=\"timeline\">\n<h2>Events</h2>\n", out);
	if (!f->events || !f->buckets) {
		fputs("<p class=\"none\">No event was recorded.</p>\n</section>\n", out);
		return;
	}
	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Events over time\">\n",
		WIDTH, bottom + 30);
	draw_axis(out, f, bottom);
	for (unsigned int kind = 0; kind < EVENT_KINDS; kind++) {
		const int y = TOP + ROW * (int)kind + ROW / 2;

		fprintf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n",
			LEFT, RIGHT, y, y);
		for (unsigned int i = 0; i < f->buckets; i++)
			if (f->bucket[i].events[kind])
				fprintf(out, "<circle class=\"f%u\" cx=\"%.1f\" cy=\"%d\" "
					"r=\"%.1f\"><title>%" PRIu32 "</title></circle>\n", kind,
					x_of(f, f->bucket[i].last), y,
					radius(f->bucket[i].events[kind]),
					f->bucket[i].events[kind]);
		fprintf(out, "<text x=\"4\" y=\"%d\">%s</text>\n", y - 4, html_event_names[kind]);
	}
	fputs("</svg>\n</section>\n", out);
}
