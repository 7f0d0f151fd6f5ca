/* SPDX-License-Identifier: MIT */
/*
 * monread: the page's charts and tables, drawn from activity made by hand.
 *
 * A chart is 1000 units wide and high, from the first time to the last and from the largest value
 * to 0; words stand at tenths of that in per cent.
 */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "html.h"
#include "sink.h"
#include "ebcdic.h"

/* 2026-03-02, midnight: 1772409600 seconds after 1970, which is 2208988800 after 1900. */
#define MIDNIGHT ((UINT64_C(2208988800) + 1772409600) * TOD_SECOND)
#define AT(seconds) (MIDNIGHT + (seconds) * TOD_SECOND)

/* Stands in for main.c. */
void complain_about(const char *what, int error)
{
	(void)what;
	(void)error;
}

static struct activity f;
static struct user_curves *curves;
static char *text;
static size_t text_len;

static struct chart chart;

static void start(void)
{
	activity_init(&f);
	curves = unit_large(sizeof(*curves));
	chart.marks = false;
	chart.most = NULL;
	ck_assert(clock_set_zone("UTC"));
}

static void stop(void)
{
	free(text);
	text = NULL;
}

CASE("monread page", start, stop);

/* Values of the two series of the chart, by bucket. */
static double values[2][ACTIVITY_BUCKETS];

/* Fills what stands behind the last bucket, as it does after buckets have been merged. */
static void leave_behind(struct bucket *left)
{
	const unsigned int index = (unsigned int)(left - f.bucket);

	*left = (struct bucket){
		.first = MIDNIGHT, .last = AT(86400), .time = 1, .lost = 9, .page_reads = 9,
		.page_writes = 9, .starts = 9, .busy = { 9 }, .elapsed = { 9 },
		.events = { 9, 9, 9, 9, 9, 9 },
	};
	values[0][index] = values[1][index] = 12345;
}

/* Ends of intervals; the next bucket reaches to there. */
static struct bucket *bucket(unsigned int seconds)
{
	struct bucket *next = &f.bucket[f.buckets];

	*next = (struct bucket){ .first = f.buckets ? next[-1].last : MIDNIGHT,
				 .last = AT(seconds) };
	next->time = next->last - next->first;
	f.buckets++;
	if (f.buckets < ACTIVITY_BUCKETS)
		leave_behind(next + 1);
	return next;
}

static FILE *begin(void)
{
	FILE *out;

	stop();
	out = open_memstream(&text, &text_len);
	ck_assert_ptr_nonnull(out);
	return out;
}

static unsigned int count(const char *part)
{
	unsigned int found = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		found++;
	return found;
}

#define has(part) ck_assert_msg(count(part) == 1, "%u of %s in\n%.4000s", count(part), part, text)
#define has_not(part) ck_assert_msg(count(part) == 0, "%s in\n%.4000s", part, text)

/* Every element that is begun is ended. */
static void finish(FILE *out)
{
	static const char *const tags[] = {
		"section", "svg", "table", "thead", "tr", "td", "th", "details", "summary", "div",
		"p", "i", "span", "b", "title", "h2",
	};
	char opened[16], closed[16];

	fclose(out);
	for (unsigned int i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		unsigned int begins;

		snprintf(opened, sizeof(opened), "<%s>", tags[i]);
		begins = count(opened);
		snprintf(opened, sizeof(opened), "<%s ", tags[i]);
		begins += count(opened);
		snprintf(closed, sizeof(closed), "</%s>", tags[i]);
		ck_assert_msg(begins == count(closed), "%s in\n%.4000s", tags[i], text);
	}
}

static double value_of(const void *of, const struct bucket *bucket, unsigned int series)
{
	ck_assert_ptr_null(of);
	return values[series][bucket - f.bucket];
}

/* Half of the time there was nothing, but for the second series, which is the same all the time. */
static double most_of(const void *of, const struct bucket *bucket, unsigned int series)
{
	const double value = value_of(of, bucket, series);

	return series || value < 0 ? value : 2 * value;
}

static const char *const series_names[] = { "first", "second" };
static struct chart chart = {
	.id = "test", .title = "A chart", .unit = "units", .series = 2, .names = series_names,
	.value = value_of, .decimals = 1,
};

static void draw(void)
{
	FILE *out = begin();

	html_chart(out, &f, &chart);
	finish(out);
}

/* Three intervals of 10, 10 and 20 seconds; sets were lost in the second. */
static void three(void)
{
	bucket(10);
	bucket(20)->lost = 1;
	bucket(40);
	for (unsigned int i = 0; i < 3; i++) {
		values[0][i] = (const double[]){ 50, -1, 100 }[i];
		values[1][i] = -1;
	}
}

TEST(lines)
{
	three();
	draw();
	has("<section id=\"test\">\n<h2>A chart</h2>\n<p class=\"legend\">units "
	    "<span><i class=\"f0\"></i>first</span> </p>\n"
	    "<div class=\"plot\"><svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" "
	    "role=\"img\" aria-label=\"A chart\">\n");
	/* A line does not go on where there was no value. */
	has("<path class=\"s0\" d=\"M250.0 500.0M1000.0 0.0\"/>\n</svg>\n");
	has_not("class=\"s1\"");
	values[1][0] = 0;
	draw();
	has("<i class=\"f0\"></i>first</span> <span><i class=\"f1\"></i>second</span> </p>");
	values[1][0] = -1;
	/* Nothing is a value like any other. */
	values[0][1] = 0;
	draw();
	has("<path class=\"s0\" d=\"M250.0 500.0L500.0 1000.0L1000.0 0.0\"/>\n</svg>\n");
	values[0][1] = 25;
	values[1][2] = 0;
	draw();
	has("<i class=\"f0\"></i>first</span> <span><i class=\"f1\"></i>second</span> </p>");
	has("<path class=\"s0\" d=\"M250.0 500.0L500.0 750.0L1000.0 0.0\"/>\n"
	    "<path class=\"s1\" d=\"M1000.0 1000.0\"/>\n</svg>\n");
}

/* Round times, here each 10 s; every second one stays where there is little room. */
TEST(axis)
{
	static const char *const ticks[] = {
		"<span class=\"x\" style=\"left:0.0%\">00:00:00</span>",
		"<span class=\"x more\" style=\"left:12.5%\">00:00:05</span>",
		"<span class=\"x\" style=\"left:25.0%\">00:00:10</span>",
		"<span class=\"x more\" style=\"left:37.5%\">00:00:15</span>",
		"<span class=\"x more\" style=\"left:87.5%\">00:00:35</span>",
	};

	bucket(10);
	bucket(35);
	values[0][0] = values[0][1] = 1;
	draw();
	ck_assert_uint_eq(count("<span class=\"x"), 8);
	f.bucket[1].last = AT(40) - 1;
	draw();
	for (unsigned int i = 0; i < 5; i++)
		has(ticks[i]);
	has("<line class=\"grid\" x1=\"125.0\" x2=\"125.0\" y1=\"0\" y2=\"1000\"/>");
	ck_assert_uint_eq(count("<span class=\"x"), 8);
	/* Four and less all stay. */
	f.bucket[0].first = AT(1);
	f.bucket[1].last = AT(4);
	f.bucket[0].last = AT(2);
	draw();
	ck_assert_uint_eq(count("<span class=\"x\""), 4);
}

/* Above, not at the threshold: a line, a mark at each value, and in the table. */
TEST(threshold)
{
	three();
	chart.marks = true;
	chart.threshold = 50;
	draw();
	has("</i>first</span> <span>▲ above 50</span></p>");
	has("<line class=\"limit\" x1=\"0\" x2=\"1000\" y1=\"500.0\" y2=\"500.0\"/>");
	has("<span class=\"threshold\" style=\"top:50.0%\">threshold 50</span>");
	has("<span class=\"over\" style=\"left:100.0%;top:0.0%\" title=\"first 100.0\">▲</span>");
	ck_assert_uint_eq(count("class=\"over\""), 1);
	has("<td class=\"n\"><b>▲ 100.0</b></td>");
	has("<td class=\"n\">50.0</td>");
	/* One that is above all is not drawn. */
	chart.threshold = 100.5;
	draw();
	has_not("class=\"limit\"");
	has_not("class=\"threshold\"");
	has_not("class=\"over\"");
	has_not("<b>");
	chart.threshold = 2.5;
	draw();
	has("<span>▲ above 2.5</span>");
	ck_assert_uint_eq(count("class=\"over\""), 2);
	chart.marks = false;
	draw();
	has_not("▲");
}

/* Where points combine intervals, a thin line has the highest ones, and thresholds look at it. */
TEST(highest_of_intervals)
{
	three();
	values[1][0] = 20;
	chart.most = most_of;
	chart.marks = true;
	chart.threshold = 90;
	draw();
	has_not("thin");
	ck_assert_uint_eq(count("class=\"over\""), 1);
	f.merged = 2;
	draw();
	has("</i>second</span> <span>thin: the highest of an interval</span> <span>▲ above 90</span></p>");
	/* 200 is the top of the scale. */
	has("<path class=\"s0 thin\" d=\"M250.0 500.0M1000.0 0.0\"/>\n"
	    "<path class=\"s0\" d=\"M250.0 750.0M1000.0 500.0\"/>\n"
	    "<path class=\"s1 thin\" d=\"M250.0 900.0\"/>\n"
	    "<path class=\"s1\" d=\"M250.0 900.0\"/>\n</svg>\n");
	ck_assert_uint_eq(count("class=\"over\""), 2);
	has("<span class=\"over\" style=\"left:25.0%;top:50.0%\" title=\"first 100.0\">▲</span>");
	has("<th>until</th><th class=\"n\">first</th><th class=\"n\">most first</th>"
	    "<th class=\"n\">second</th><th class=\"n\">most second</th></tr>");
	has("<tr><td>2026-03-02 00:00:10</td><td class=\"n\">50.0</td><td class=\"n\"><b>▲ 100.0</b></td>"
	    "<td class=\"n\">20.0</td><td class=\"n\">20.0</td></tr>\n"
	    "<tr><td>2026-03-02 00:00:20</td><td class=\"n\"></td><td class=\"n\"></td>"
	    "<td class=\"n\"></td><td class=\"n\"></td></tr>\n");
}

/* Names are of the data. */
TEST(names_are_no_markup)
{
	static const char *const hostile[] = { "<i>\"&", "'" };

	three();
	chart.names = hostile;
	chart.marks = true;
	chart.threshold = 90;
	draw();
	chart.names = series_names;
	has_not("<i>");
	has("<i class=\"f0\"></i>&lt;i&gt;&quot;&amp;</span>");
	has("<th class=\"n\">&lt;i&gt;&quot;&amp;</th>");
	has("title=\"&lt;i&gt;&quot;&amp; 100.0\">");
}

/* Sets lost, overflows and suspended events are gaps; one without length can be seen, too. */
TEST(gaps)
{
	three();
	draw();
	has("<rect class=\"gap\" x=\"250.0\" y=\"0\" width=\"250.0\" height=\"1000\"/>");
	ck_assert_uint_eq(count("class=\"gap\""), 1);
	f.bucket[0].overflows = 1;
	f.bucket[2].suspended = 1;
	f.bucket[2].first = f.bucket[2].last;
	draw();
	ck_assert_uint_eq(count("class=\"gap\""), 3);
	has("<rect class=\"gap\" x=\"0.0\" y=\"0\" width=\"250.0\" height=\"1000\"/>");
	has("<rect class=\"gap\" x=\"1000.0\" y=\"0\" width=\"2.0\" height=\"1000\"/>");
}

/* Times outside, as a clock that was set back gives them, are at the edge. */
TEST(clock_set_back)
{
	three();
	f.bucket[0].last = AT(1) - 2 * TOD_SECOND;
	f.bucket[1].last = AT(50);
	draw();
	has("<path class=\"s0\" d=\"M0.0 500.0M1000.0 0.0\"/>");
	has("<rect class=\"gap\" x=\"250.0\" y=\"0\" width=\"750.0\" height=\"1000\"/>");
	/* Without any time there is no axis. */
	f.bucket[2].last = MIDNIGHT;
	draw();
	ck_assert_uint_eq(count("class=\"x"), 0);
	has("<path class=\"s0\" d=\"M0.0 500.0M0.0 0.0\"/>");
	/* Everything is at its beginning then, also what came later. */
	values[0][1] = 0;
	draw();
	has("<path class=\"s0\" d=\"M0.0 500.0L0.0 1000.0L0.0 0.0\"/>");
}

TEST(grid)
{
	static const char *const rules[] = {
		"<span class=\"y\" style=\"top:100%\">0</span>",
		"<span class=\"y\" style=\"top:75%\">25</span>",
		"<span class=\"y\" style=\"top:50%\">50</span>",
		"<span class=\"y\" style=\"top:25%\">75</span>",
		"<span class=\"y\" style=\"top:0%\">100</span>",
		"<line class=\"grid\" x1=\"0\" x2=\"1000\" y1=\"250\" y2=\"250\"/>",
	};

	three();
	draw();
	for (unsigned int i = 0; i < 6; i++)
		has(rules[i]);
	ck_assert_uint_eq(count("<line class=\"grid\" x1=\"0\" x2=\"1000\""), 5);
}

/* The scale ends at a round number, that of the largest value of all series. */
TEST(scale)
{
	static const struct { double value; const char *end; } cases[] = {
		{ 0, ">1</span>" }, { 0.3, ">0.3</span>" }, { 1, ">1</span>" }, { 1.5, ">2</span>" },
		{ 7, ">7</span>" }, { 9.5, ">10</span>" }, { 10, ">10</span>" },
		{ 10.5, ">20</span>" }, { 11, ">20</span>" }, { 91, ">100</span>" },
		{ 101, ">200</span>" }, { 1000, ">1,000</span>" }, { 65000, ">70,000</span>" },
		{ 0.00005, ">0.001</span>" }, { 0.05, ">0.05</span>" }, { 0.21, ">0.3</span>" },
	};
	char top[64];

	three();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		values[0][0] = 0;
		values[0][2] = i % 2 ? -1 : cases[i].value;
		values[1][2] = i % 2 ? cases[i].value : -1;
		draw();
		snprintf(top, sizeof(top), "style=\"top:0%%\"%s", cases[i].end);
		has(top);
	}
	values[0][0] = 400;
	draw();
	has("style=\"top:0%\">400</span>");
}

TEST(chart_as_a_table)
{
	three();
	draw();
	has("<details><summary>as a table</summary><div class=\"wide\"><table id=\"test-table\">\n"
	    "<thead><tr><th>until</th><th class=\"n\">first</th></tr></thead>\n"
	    "<tr><td>2026-03-02 00:00:10</td><td class=\"n\">50.0</td></tr>\n"
	    "<tr><td>2026-03-02 00:00:20</td><td class=\"n\"></td></tr>\n"
	    "<tr><td>2026-03-02 00:00:40</td><td class=\"n\">100.0</td></tr>\n"
	    "</table></div></details>\n</section>\n");
	values[1][1] = 0;
	draw();
	has("<th class=\"n\">first</th><th class=\"n\">second</th></tr>");
	has("<tr><td>2026-03-02 00:00:20</td><td class=\"n\"></td><td class=\"n\">0.0</td></tr>\n");
	values[0][0] = values[0][2] = values[1][1] = -1;
	draw();
	ck_assert_str_eq(text, "<section id=\"test\">\n<h2>A chart</h2>\n"
			       "<p class=\"none\">No data.</p>\n</section>\n");
}

static void draw_events(void)
{
	FILE *out = begin();

	html_timeline(out, &f);
	finish(out);
}

/* A row of 24 pixels for each kind; marks at the end of an interval, larger for twice as many. */
TEST(timeline)
{
	static const struct { unsigned int events; const char *size; } sizes[] = {
		{ 1, "5" }, { 2, "7" }, { 3, "7" }, { 4, "9" }, { 255, "19" }, { 256, "21" },
		{ 512, "23" }, { 4000000000, "23" },
	};
	char mark[160];

	three();
	draw_events();
	ck_assert_str_eq(text, "<section id=\"timeline\">\n<h2>Events</h2>\n"
			       "<p class=\"none\">No event was recorded.</p>\n</section>\n");
	f.events = 1;
	for (unsigned int i = 0; i < 8; i++) {
		f.bucket[1].events[EVENT_DEVICE] = sizes[i].events;
		draw_events();
		snprintf(mark, sizeof(mark), "<span class=\"kind\" style=\"top:76px\">devices</span>\n"
			 "<i class=\"f3\" style=\"left:50.0%%;top:84px;width:%spx;height:%spx\" "
			 "title=\"%u\"></i>\n", sizes[i].size, sizes[i].size, sizes[i].events);
		has(mark);
		ck_assert_uint_eq(count("<i "), 1);
	}
	f.bucket[0].events[EVENT_DEVICE] = 1;
	draw_events();
	has("<i class=\"f3\" style=\"left:25.0%;top:84px;width:5px;height:5px\" title=\"1\"></i>");
	ck_assert_uint_eq(count("<i "), 2);
	has("<div class=\"plot\" style=\"height:144px\"><svg viewBox=\"0 0 1000 1000\" "
	    "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Events over time\">");
	has("<span class=\"kind\" style=\"top:4px\">logons</span>");
	has("<span class=\"kind\" style=\"top:124px\">suspensions</span>");
	has("<rect class=\"gap\" x=\"250.0\" y=\"0\" width=\"250.0\" height=\"1000\"/>");
	has("<span class=\"x\" style=\"left:0.0%\">00:00:00</span>");
	f.buckets = 0;
	draw_events();
	has("No event was recorded.");
}

static void user(unsigned int i, const char *name, uint64_t milliseconds, bool counted)
{
	ebcdic_name(f.user[i].name, name);
	f.user[i].time = milliseconds * TOD_SECOND / 1000;
	f.user[i].counted = counted;
	f.user[i].source = 4 << 16 | 3;
}

static void draw_users(void)
{
	FILE *out = begin();

	html_users(out, &f);
	finish(out);
}

#define NO_MOST "<td class=\"n\"></td><td></td><td class=\"n\"></td>"

/* All of them, the largest first; of equal ones the first. */
TEST(users)
{
	char row[200];

	draw_users();
	has("<h2>Users by CPU time</h2>\n<p class=\"none\">No data.</p>\n</section>\n");
	user(7, "NOT", 9999999, false);
	user(8, "LAZY", 0, true);
	draw_users();
	has("<thead><tr><th>user</th><th class=\"n\">seconds</th>"
	    "<th class=\"n\">% of a processor</th><th class=\"n\">most %</th><th>until</th>"
	    "<th class=\"n\">T/V</th><th>from</th><th class=\"bar\"></th></tr></thead>\n"
	    "<tr><td>LAZY</td><td class=\"n\">0.000</td><td class=\"n\"></td>" NO_MOST "<td>D4R3</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:0.0%\"></i></td></tr>\n</table>");
	user(9, "BUSY", 8000, true);
	user(ACTIVITY_USERS - 1, "LAST", 2500, true);
	user(0, "SAME", 2500, true);
	draw_users();
	has("</thead>\n<tr><td>BUSY</td><td class=\"n\">8.000</td><td class=\"n\"></td>" NO_MOST "<td>D4R3</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:100.0%\"></i></td></tr>\n"
	    "<tr><td>SAME</td><td class=\"n\">2.500</td><td class=\"n\"></td>" NO_MOST "<td>D4R3</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:31.2%\"></i></td></tr>\n"
	    "<tr><td>LAST</td>");
	for (unsigned int i = 0; i < 40; i++) {
		snprintf(row, sizeof(row), "U%u", i);
		user(100 + i, row, 100 + (i * 7) % 40, true);
	}
	draw_users();
	ck_assert_uint_eq(count("<tr><td>"), 44);
	has("<td class=\"n\">0.139</td>");
	has("<td class=\"n\">0.100</td>");
	f.user[9].most = 33.3;
	f.user[9].most_at = MIDNIGHT;
	f.user[9].total = 30;
	f.user[9].virtual = 20;
	/* 8 s of 40. */
	bucket(40);
	draw_users();
	has("<tr><td>BUSY</td><td class=\"n\">8.000</td><td class=\"n\">20.0</td>"
	    "<td class=\"n\">33.3</td><td>2026-03-02 00:00:00</td><td class=\"n\">1.50</td>");
}

TEST(devices)
{
	FILE *out = begin();

	html_devices(out, &f);
	finish(out);
	has("<h2>Devices by I/O</h2>\n<p class=\"none\">No data.</p>\n</section>\n");
	f.device[0] = (struct device_activity){ .number = 0x1f, .source = 3 << 16 | 4, .starts = 30 };
	f.device[1] = (struct device_activity){ .number = 0x2f, .source = 0, .starts = 99 };
	f.device[ACTIVITY_DEVICES - 1] =
		(struct device_activity){ .number = 0xabcd, .source = 6 << 16 | 3, .starts = 120 };
	out = begin();
	html_devices(out, &f);
	finish(out);
	has("<table id=\"devices-table\">\n<thead><tr><th>device</th><th class=\"n\">I/Os</th>"
	    "<th>from</th><th class=\"bar\"></th></tr></thead>\n"
	    "<tr><td>ABCD</td><td class=\"n\">120</td><td>D6R3</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:100.0%\"></i></td></tr>\n"
	    "<tr><td>001F</td><td class=\"n\">30</td><td>D3R4</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:25.0%\"></i></td></tr>\n"
	    "</table></div>\n</section>\n");
	f.unused[6][3][RECORD_NOT_UNDERSTOOD] = 1234;
	out = begin();
	html_devices(out, &f);
	finish(out);
	has("</table></div>\n<p class=\"facts\">1,234 records of samples (D6R3) were not understood: "
	    "devices that no other record tells of are missing.</p>\n</section>\n");
}

TEST(listed_events)
{
	FILE *out = begin();

	html_events(out, &f);
	finish(out);
	ck_assert_str_eq(text, "");
	f.events = 3;
	f.listed = 2;
	f.event[0] = (struct event_activity){ .tod = AT(5), .text = "logon <&>\"" };
	f.event[1] = (struct event_activity){ .tod = AT(3605), .text = "logoff" };
	out = begin();
	html_events(out, &f);
	finish(out);
	ck_assert_str_eq(text,
			 "<details><summary>the first 2 of 3 events</summary><div class=\"wide\">"
			 "<table id=\"events-table\">\n"
			 "<thead><tr><th>time</th><th>event</th></tr></thead>\n"
			 "<tr><td>2026-03-02 00:00:05</td><td>logon &lt;&amp;&gt;&quot;</td></tr>\n"
			 "<tr><td>2026-03-02 01:00:05</td><td>logoff</td></tr>\n"
			 "</table></div></details>\n");
}

TEST(listed_gaps)
{
	FILE *out = begin();

	bucket(10);
	html_gaps(out, &f);
	finish(out);
	has("</h2>\n<p class=\"none\">None known.</p>\n</section>\n");
	/* What no table needs is not missing. */
	f.unused[0][1][RECORD_NOT_SHOWN] = f.unused[4][9][RECORD_NOT_UNDERSTOOD] = 1;
	f.unused[4][3][RECORD_NOT_UNDERSTOOD] = f.unused[6][3][RECORD_NOT_UNDERSTOOD] = 1;
	out = begin();
	html_gaps(out, &f);
	finish(out);
	has("</h2>\n<p class=\"facts\">Records that tables need were not understood: D4R3, D6R3.</p>\n"
	    "</section>\n");
	activity_init(&f);
	bucket(10);
	bucket(20)->lost = 3;
	bucket(30)->overflows = 4;
	bucket(40)->suspended = 5;
	bucket(50);
	out = begin();
	html_gaps(out, &f);
	finish(out);
	has("</tr></thead>\n<tr><td>2026-03-02 00:00:20</td><td class=\"n\">3</td>"
	    "<td class=\"n\">0</td><td class=\"n\">0</td></tr>\n"
	    "<tr><td>2026-03-02 00:00:30</td><td class=\"n\">0</td>"
	    "<td class=\"n\">4</td><td class=\"n\">0</td></tr>\n"
	    "<tr><td>2026-03-02 00:00:40</td><td class=\"n\">0</td>"
	    "<td class=\"n\">0</td><td class=\"n\">5</td></tr>\n</table></div>\n</section>\n");
}

static void page(void)
{
	FILE *out = begin();

	ck_assert_int_eq(html_page(out, &f, curves, "a <title>", &thresholds_default), 0);
	finish(out);
}

/* The summary: rates, and values of each type of processor. */
TEST(whole_page)
{
	struct bucket *one;

	page();
	has("<h1>a &lt;title&gt;</h1>\n<p class=\"facts\">a &lt;title&gt; · <span id=\"sets\">0</span> sets, "
	    "<span id=\"records\">0</span> records, <span id=\"intervals\">0</span> intervals</p>");
	three();
	one = &f.bucket[2];
	one->busy[3] = 5 * TOD_SECOND;
	one->elapsed[3] = 40 * TOD_SECOND;
	one->page_reads = 300;
	one->page_writes = 500;
	one->starts = 700;
	one->paging_records = one->device_records = 1;
	f.sets = 11;
	f.records = 1234567;
	f.intervals = 13;
	f.merged = 4;
	one->most[SYSTEM_BUSY + 3] = 42;
	one->most[SYSTEM_READS] = 15.25;
	f.left_out = 1400;
	ebcdic_name(f.system.name, "A&B");
	ebcdic_name(f.system.partition, "<LPAR>");
	one->found[STATE_IDLE] = 3;
	one->found[STATE_IO_WAIT] = 1;
	page();
	has("<title>A&amp;B: monitor data</title>");
	has("<h1>A&amp;B</h1>\n<p class=\"facts\">partition &lt;LPAR&gt; · a &lt;title&gt; · "
	    "2026-03-02 00:00:00 UTC to 2026-03-02 00:00:40 UTC · "
	    "<span id=\"sets\">11</span> sets, <span id=\"records\">1,234,567</span> records, "
	    "<span id=\"intervals\">13</span> intervals · each point combines 4 of them"
	    " · 1,400 records of further users and devices are left out</p>");
	has("<th>until</th><th class=\"n\">IFL</th><th class=\"n\">most IFL</th></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">12.5</td><td class=\"n\">42.0</td></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">15.0</td><td class=\"n\">15.2</td>"
	    "<td class=\"n\">25.0</td>");
	f.merged = 1;
	page();
	has("<th>until</th><th class=\"n\">IFL</th></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">12.5</td></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">15.0</td><td class=\"n\">25.0</td></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">35.0</td></tr>");
	has("<th class=\"n\">running</th><th class=\"n\">CPU wait</th><th class=\"n\">I/O wait</th>"
	    "<th class=\"n\">page wait</th></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">0.0</td><td class=\"n\">0.0</td>"
	    "<td class=\"n\">25.0</td><td class=\"n\">0.0</td></tr>");
	ck_assert(clock_set_zone("+05:30"));
	page();
	has("2026-03-02 05:30:00 UTC+05:30 to 2026-03-02 05:30:40 UTC+05:30 · ");
}

/* A user's record of a sample; seconds since the one before. */
static void sample_of(unsigned int i, unsigned int time, unsigned int virtual)
{
	f.user[i].activity.any = true;
	f.user[i].activity.number = f.user_samples;
	f.user[i].time += time * TOD_SECOND;
	f.user[i].total += time * TOD_SECOND;
	f.user[i].virtual += virtual * TOD_SECOND;
}

static void interval_of(unsigned int end)
{
	bucket(end);
	f.intervals++;
	f.user_samples++;
	curves_take(curves, &f);
}

/* In per cent of a processor, and T/V; gaps where no sample has the user. */
TEST(curves_of_users)
{
	user(7, "A<B", 0, true);
	user(9, "IDLER", 0, true);
	user(11, "EVENTS", 99999, true);
	sample_of(7, 1, 1);
	sample_of(9, 0, 0);
	interval_of(10);
	/* 15 of 10 s: two processors at once; T/V 1.5. */
	sample_of(7, 15, 10);
	interval_of(20);
	sample_of(9, 5, 4);
	interval_of(30);
	sample_of(7, 3, 2);
	sample_of(9, 1, 0);
	interval_of(40);
	page();
	has("<h2>Users with the most CPU time</h2>\n<p class=\"legend\">% of a processor "
	    "<span><i class=\"f0\"></i>A&lt;B</span> <span><i class=\"f1\"></i>IDLER</span> </p>");
	has("<table id=\"user-cpu-table\">\n<thead><tr><th>until</th><th class=\"n\">A&lt;B</th>"
	    "<th class=\"n\">IDLER</th></tr></thead>\n"
	    "<tr><td>2026-03-02 00:00:10</td><td class=\"n\">10.0</td><td class=\"n\">0.0</td></tr>\n"
	    "<tr><td>2026-03-02 00:00:20</td><td class=\"n\">150.0</td><td class=\"n\"></td></tr>\n"
	    "<tr><td>2026-03-02 00:00:30</td><td class=\"n\"></td><td class=\"n\">50.0</td></tr>\n"
	    "<tr><td>2026-03-02 00:00:40</td><td class=\"n\">30.0</td><td class=\"n\">10.0</td></tr>\n"
	    "</table>");
	has("<table id=\"user-ratio-table\">\n<thead><tr><th>until</th><th class=\"n\">A&lt;B</th>"
	    "<th class=\"n\">IDLER</th></tr></thead>\n"
	    "<tr><td>2026-03-02 00:00:10</td><td class=\"n\">1.00</td><td class=\"n\"></td></tr>\n"
	    "<tr><td>2026-03-02 00:00:20</td><td class=\"n\">1.50</td><td class=\"n\"></td></tr>\n"
	    "<tr><td>2026-03-02 00:00:30</td><td class=\"n\"></td><td class=\"n\">1.25</td></tr>\n"
	    "<tr><td>2026-03-02 00:00:40</td><td class=\"n\">1.50</td><td class=\"n\"></td></tr>\n"
	    "</table>");
}

/* The eight with the most, the largest first. */
TEST(curves_of_the_first_users)
{
	char name[9];

	for (unsigned int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "U%u", i);
		user(i, name, 0, true);
		sample_of(i, i, i);
	}
	interval_of(10);
	page();
	has("<table id=\"user-cpu-table\">\n<thead><tr><th>until</th><th class=\"n\">U11</th>"
	    "<th class=\"n\">U10</th><th class=\"n\">U9</th><th class=\"n\">U8</th>"
	    "<th class=\"n\">U7</th><th class=\"n\">U6</th><th class=\"n\">U5</th>"
	    "<th class=\"n\">U4</th></tr></thead>");
}

/* Buckets that become one have the time of both. */
TEST(curves_that_are_combined)
{
	user(7, "A", 0, true);
	for (unsigned int i = 1; i <= ACTIVITY_BUCKETS; i++) {
		sample_of(7, i % 2 ? 2 : 4, 2);
		interval_of(10 * i);
	}
	ck_assert_double_eq_tol(curves_busy(curves, &f, 7, 1), 40, 1e-4);
	f.buckets = ACTIVITY_BUCKETS / 2;
	for (unsigned int i = 0; i < f.buckets; i++)
		f.bucket[i].time = 20 * TOD_SECOND;
	f.merged = 2;
	sample_of(7, 5, 1);
	interval_of(10 * ACTIVITY_BUCKETS + 10);
	for (unsigned int i = 0; i < ACTIVITY_BUCKETS / 2; i++) {
		ck_assert_double_eq_tol(curves_busy(curves, &f, 7, i), 30, 1e-4);
		ck_assert_double_eq_tol(curves_ratio(curves, 7, i), 1.5, 1e-4);
	}
	ck_assert_double_eq_tol(curves_ratio(curves, 7, ACTIVITY_BUCKETS / 2), 5, 1e-4);
	ck_assert(curves_ratio(curves, 7, ACTIVITY_BUCKETS / 2 + 1) < 0);
}

TEST(tables)
{
	static struct report report = {
		.id = "an-id", .title = "A title",
		.columns = { { "name", true }, { "a number", false } },
	};
	FILE *out = begin();

	html_report(out, &report);
	finish(out);
	ck_assert_str_eq(text, "<section id=\"an-id\">\n<h2>A title</h2>\n"
			       "<p class=\"none\">No data.</p>\n</section>\n");
	strcpy(report.facts, "Facts & so on.");
	strcpy(report.note, "above");
	report.rows = 2;
	report.left_out = 3;
	report.cell[0][0] = (struct report_cell){ "<A>", false };
	report.cell[0][1] = (struct report_cell){ "12.5", true };
	report.cell[1][0] = (struct report_cell){ "B", false };
	out = begin();
	html_report(out, &report);
	finish(out);
	ck_assert_str_eq(text, "<section id=\"an-id\">\n<h2>A title</h2>\n"
			       "<p class=\"facts\">Facts &amp; so on.</p>\n"
			       "<div class=\"wide\"><table id=\"an-id-table\">\n<thead><tr><th>name</th>"
			       "<th class=\"n\">a number</th></tr></thead>\n"
			       "<tr><td>&lt;A&gt;</td><td class=\"n\"><b>▲ 12.5</b></td></tr>\n"
			       "<tr><td>B</td><td class=\"n\"></td></tr>\n"
			       "</table></div>\n<p class=\"facts\">▲ above</p>\n"
			       "<p class=\"facts\">3 more are left out.</p>\n</section>\n");
}

static struct sink *sink;

static void give(enum monrec_item_kind kind, uint64_t seconds)
{
	static uint8_t bytes[20];
	struct monrec_item item = { .kind = kind };

	/* D1R11 ends an interval. */
	item.record = (struct monrec_record){ .data = bytes, .len = 20, .tod = AT(seconds),
					      .domain = 1, .number = 11 };
	ck_assert_int_eq(sink->ops->item(sink, &item), 0);
}

/* The output is the page of what was kept, with what came behind the last interval. */
TEST(output)
{
	char path[] = "/tmp/zvmlab-test-XXXXXX";
	static char found[65536];
	size_t at = 0;
	FILE *file;

	close(mkstemp(path));
	sink = html_sink(path, "a <title>", NULL, &thresholds_default);
	ck_assert_ptr_nonnull(sink);
	give(MONREC_RECORD, 60);
	give(MONREC_SET_END, 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	give(MONREC_RECORD, 90);
	ck_assert_int_eq(sink->ops->drop(sink), 0);
	give(MONREC_SET_LOST, 0);
	give(MONREC_RECORD, 120);
	give(MONREC_SET_END, 0);
	give(MONREC_OVERFLOW, 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	give(MONREC_RECORD, 180);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	f.sets = 2;
	f.records = 2;
	f.intervals = 3;
	bucket(60);
	f.bucket[0].first = AT(60);
	f.bucket[0].time = 0;
	bucket(120)->lost = 1;
	bucket(120)->overflows = 1;
	page();
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	while (found[at] && found[at] == text[at])
		at++;
	ck_assert_msg(found[at] == text[at], "%.80s, not %.80s", found + at, text + at);
}
