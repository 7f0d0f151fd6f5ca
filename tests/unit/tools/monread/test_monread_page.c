/* SPDX-License-Identifier: MIT */
/*
 * monread: the page's charts and tables, drawn from activity made by hand.
 *
 * A chart is 1000 units wide and 240 high; lines are in 64 to 990 and 12 (the
 * largest value) to 210 (0).
 */
#include "check_run.h"

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

/* Of main.c. */
void complain(const char *what, int error)
{
	(void)what;
	(void)error;
}

static struct activity f;
static char *text;
static size_t text_len;

static void start(void)
{
	activity_init(&f, 530);
}

static void stop(void)
{
	free(text);
	text = NULL;
}

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

#define has(part) ck_assert_msg(count(part) == 1, "%u of %s in\n%s", count(part), part, text)
#define has_not(part) ck_assert_msg(count(part) == 0, "%s in\n%s", part, text)

/* What is begun is ended. */
static void finish(FILE *out)
{
	static const char *const tags[] = {
		"section", "svg", "table", "thead", "tr", "td", "th", "details", "summary", "div",
		"p", "i", "text", "title", "h2", "circle",
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
		ck_assert_msg(begins == count(closed), "%s in\n%s", tags[i], text);
	}
}

static double value_of(const struct bucket *of, unsigned int series)
{
	return values[series][of - f.bucket];
}

static const char *const series_names[] = { "first", "second" };
static const struct chart chart = { "test", "A chart", "units", 2, series_names, value_of };

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

START_TEST(lines)
{
	three();
	draw();
	has("<section id=\"test\">\n<h2>A chart</h2>\n<p class=\"legend\">units"
	    "<i class=\"f0\"></i>first</p>\n"
	    "<svg viewBox=\"0 0 1000 240\" role=\"img\" aria-label=\"A chart\">\n");
	/* A line does not go on where there was no value. */
	has("<path class=\"s0\" d=\"M295.5 111.0M990.0 12.0\"/>\n</svg>\n");
	has_not("class=\"s1\"");
	values[1][0] = 0;
	draw();
	has("<i class=\"f0\"></i>first<i class=\"f1\"></i>second</p>");
	values[1][0] = -1;
	/* Nothing is a value like any other. */
	values[0][1] = 0;
	draw();
	has("<path class=\"s0\" d=\"M295.5 111.0L527.0 210.0L990.0 12.0\"/>\n</svg>\n");
	values[0][1] = 25;
	values[1][2] = 0;
	draw();
	has("<i class=\"f0\"></i>first<i class=\"f1\"></i>second</p>");
	has("<path class=\"s0\" d=\"M295.5 111.0L527.0 160.5L990.0 12.0\"/>\n"
	    "<path class=\"s1\" d=\"M990.0 210.0\"/>\n</svg>\n");
}
END_TEST

START_TEST(axis)
{
	static const char *const ticks[] = {
		"<text x=\"64.0\" y=\"228\" text-anchor=\"start\">00:00:00</text>",
		"<text x=\"249.2\" y=\"228\" text-anchor=\"middle\">00:00:08</text>",
		"<text x=\"434.4\" y=\"228\" text-anchor=\"middle\">00:00:16</text>",
		"<text x=\"619.6\" y=\"228\" text-anchor=\"middle\">00:00:24</text>",
		"<text x=\"804.8\" y=\"228\" text-anchor=\"middle\">00:00:32</text>",
		"<text x=\"990.0\" y=\"228\" text-anchor=\"end\">00:00:40</text>",
	};

	three();
	draw();
	for (unsigned int i = 0; i < 6; i++)
		has(ticks[i]);
	ck_assert_uint_eq(count("y=\"228\""), 6);
}
END_TEST

/* Sets lost, overflows and suspended events are gaps; one without length can be seen, too. */
START_TEST(gaps)
{
	three();
	draw();
	has("<rect class=\"gap\" x=\"295.5\" y=\"12\" width=\"231.5\" height=\"198\"/>");
	ck_assert_uint_eq(count("class=\"gap\""), 1);
	f.bucket[0].overflows = 1;
	f.bucket[2].suspended = 1;
	f.bucket[2].first = f.bucket[2].last;
	draw();
	ck_assert_uint_eq(count("class=\"gap\""), 3);
	has("<rect class=\"gap\" x=\"64.0\" y=\"12\" width=\"231.5\" height=\"198\"/>");
	has("<rect class=\"gap\" x=\"990.0\" y=\"12\" width=\"2.0\" height=\"198\"/>");
}
END_TEST

/* Times outside, as a clock that was set back gives them, are at the edge. */
START_TEST(clock_set_back)
{
	three();
	f.bucket[0].last = AT(1) - 2 * TOD_SECOND;
	f.bucket[1].last = AT(50);
	draw();
	has("<path class=\"s0\" d=\"M64.0 111.0M990.0 12.0\"/>");
	has("<rect class=\"gap\" x=\"295.5\" y=\"12\" width=\"694.5\" height=\"198\"/>");
	/* Without any time there is no axis. */
	f.bucket[2].last = MIDNIGHT;
	draw();
	ck_assert_uint_eq(count("text-anchor=\"middle\""), 0);
	has("<path class=\"s0\" d=\"M64.0 111.0M64.0 12.0\"/>");
	/* Everything is at its beginning then, also what came later. */
	values[0][1] = 0;
	draw();
	has("<path class=\"s0\" d=\"M64.0 111.0L64.0 210.0L64.0 12.0\"/>");
}
END_TEST

START_TEST(grid)
{
	static const char *const rules[] = {
		"y1=\"210.0\" y2=\"210.0\"/><text x=\"58\" y=\"214.0\" text-anchor=\"end\">0</text>",
		"y1=\"160.5\" y2=\"160.5\"/><text x=\"58\" y=\"164.5\" text-anchor=\"end\">25</text>",
		"y1=\"111.0\" y2=\"111.0\"/><text x=\"58\" y=\"115.0\" text-anchor=\"end\">50</text>",
		"y1=\"61.5\" y2=\"61.5\"/><text x=\"58\" y=\"65.5\" text-anchor=\"end\">75</text>",
		"y1=\"12.0\" y2=\"12.0\"/><text x=\"58\" y=\"16.0\" text-anchor=\"end\">100</text>",
	};

	three();
	draw();
	for (unsigned int i = 0; i < 5; i++)
		has(rules[i]);
	ck_assert_uint_eq(count("<line class=\"grid\" x1=\"64\" x2=\"990\""), 5);
}
END_TEST

/* The scale ends at a round number, that of the largest value of all series. */
START_TEST(scale)
{
	static const struct { double value; const char *end; } cases[] = {
		{ 0, ">1</text>" }, { 0.3, ">0.3</text>" }, { 1, ">1</text>" }, { 1.5, ">2</text>" },
		{ 7, ">7</text>" }, { 9.5, ">10</text>" }, { 10, ">10</text>" },
		{ 10.5, ">20</text>" }, { 11, ">20</text>" }, { 91, ">100</text>" },
		{ 101, ">200</text>" }, { 1000, ">1000</text>" }, { 65000, ">70000</text>" },
		{ 0.00005, ">0.001</text>" }, { 0.05, ">0.05</text>" }, { 0.21, ">0.3</text>" },
	};
	char top[64];

	three();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		values[0][0] = 0;
		values[0][2] = i % 2 ? -1 : cases[i].value;
		values[1][2] = i % 2 ? cases[i].value : -1;
		draw();
		snprintf(top, sizeof(top), "y=\"16.0\" text-anchor=\"end\"%s", cases[i].end);
		has(top);
	}
	values[0][0] = 400;
	draw();
	has("y=\"16.0\" text-anchor=\"end\">400</text>");
}
END_TEST

START_TEST(chart_as_a_table)
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
END_TEST

static void draw_events(void)
{
	FILE *out = begin();

	html_timeline(out, &f);
	finish(out);
}

/* A row of 24 units for each kind; marks at the end of an interval, larger for twice as many. */
START_TEST(timeline)
{
	static const struct { unsigned int events; const char *radius; } sizes[] = {
		{ 1, "2.5" }, { 2, "3.5" }, { 3, "3.5" }, { 4, "4.5" }, { 255, "9.5" },
		{ 256, "10.5" }, { 512, "11.5" }, { 4000000000, "11.5" },
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
		snprintf(mark, sizeof(mark), "<circle class=\"f3\" cx=\"527.0\" cy=\"96\" "
			 "r=\"%s\"><title>%u</title></circle>\n<text x=\"4\" y=\"92\">devices</text>",
			 sizes[i].radius, sizes[i].events);
		has(mark);
		ck_assert_uint_eq(count("<circle"), 1);
	}
	f.bucket[0].events[EVENT_DEVICE] = 1;
	draw_events();
	has("<circle class=\"f3\" cx=\"295.5\" cy=\"96\" r=\"2.5\"><title>1</title></circle>");
	ck_assert_uint_eq(count("<circle"), 2);
	has("<svg viewBox=\"0 0 1000 186\" role=\"img\" aria-label=\"Events over time\">");
	has("<line class=\"grid\" x1=\"64\" x2=\"990\" y1=\"24\" y2=\"24\"/>\n"
	    "<text x=\"4\" y=\"20\">logons</text>");
	has("<line class=\"grid\" x1=\"64\" x2=\"990\" y1=\"144\" y2=\"144\"/>\n"
	    "<text x=\"4\" y=\"140\">suspensions</text>\n</svg>\n</section>\n");
	has("<rect class=\"gap\" x=\"295.5\" y=\"12\" width=\"231.5\" height=\"144\"/>");
	has("<text x=\"64.0\" y=\"174\" text-anchor=\"start\">00:00:00</text>");
	f.buckets = 0;
	draw_events();
	has("No event was recorded.");
}
END_TEST

static void user(unsigned int i, const char *name, uint64_t milliseconds, bool counted)
{
	ebcdic_name(f.user[i].name, name);
	f.user[i].time = milliseconds * TOD_SECOND / 1000;
	f.user[i].counted = counted;
}

static void draw_users(void)
{
	FILE *out = begin();

	html_users(out, &f);
	finish(out);
}

/* The 25 largest, the largest first; of equal ones the first. */
START_TEST(users)
{
	char row[200];

	draw_users();
	has("<h2>Users by CPU time</h2>\n<p class=\"none\">No data.</p>\n</section>\n");
	user(7, "NOT", 9999999, false);
	user(8, "LAZY", 0, true);
	draw_users();
	has("<thead><tr><th>user</th><th class=\"n\">seconds</th><th class=\"bar\"></th></tr></thead>\n"
	    "<tr><td>LAZY</td><td class=\"n\">0.000</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:0.0%\"></i></td></tr>\n</table>");
	user(9, "BUSY", 8000, true);
	user(ACTIVITY_USERS - 1, "LAST", 2500, true);
	user(0, "SAME", 2500, true);
	draw_users();
	has("</thead>\n<tr><td>BUSY</td><td class=\"n\">8.000</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:100.0%\"></i></td></tr>\n"
	    "<tr><td>SAME</td><td class=\"n\">2.500</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:31.2%\"></i></td></tr>\n"
	    "<tr><td>LAST</td>");
	for (unsigned int i = 0; i < 40; i++) {
		snprintf(row, sizeof(row), "U%u", i);
		user(100 + i, row, 100 + (i * 7) % 40, true);
	}
	draw_users();
	ck_assert_uint_eq(count("<tr><td>"), 25);
	/* Beside the three above, 100 + 39 down to 100 + 18 thousandths. */
	has("<td class=\"n\">0.139</td>");
	has("<td class=\"n\">0.118</td>");
	has_not("<td class=\"n\">0.117</td>");
	/* One that is as large as the last one finds no room. */
	user(200, "LATE", 118, true);
	draw_users();
	has_not("LATE");
	user(200, "LATE", 119, true);
	draw_users();
	has("<td>LATE</td>");
	has_not("<td class=\"n\">0.118</td>");
}
END_TEST

START_TEST(devices)
{
	FILE *out = begin();

	html_devices(out, &f);
	finish(out);
	has("<h2>Devices by I/O</h2>\n<p class=\"none\">No data.</p>\n</section>\n");
	f.device[0] = (struct device_activity){ .number = 0x1f, .source = 1, .starts = 30 };
	f.device[1] = (struct device_activity){ .number = 0x2f, .source = 0, .starts = 99 };
	f.device[ACTIVITY_DEVICES - 1] =
		(struct device_activity){ .number = 0xabcd, .source = 1, .starts = 120 };
	out = begin();
	html_devices(out, &f);
	finish(out);
	has("<table id=\"devices-table\">\n<thead><tr><th>device</th><th class=\"n\">I/Os</th>"
	    "<th class=\"bar\"></th></tr></thead>\n<tr><td>ABCD</td><td class=\"n\">120</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:100.0%\"></i></td></tr>\n"
	    "<tr><td>001F</td><td class=\"n\">30</td>"
	    "<td class=\"bar\"><i class=\"f0\" style=\"width:25.0%\"></i></td></tr>\n"
	    "</table></div>\n</section>\n");
}
END_TEST

START_TEST(listed_events)
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
END_TEST

START_TEST(listed_gaps)
{
	FILE *out = begin();

	bucket(10);
	html_gaps(out, &f);
	finish(out);
	has("</h2>\n<p class=\"none\">None known.</p>\n</section>\n");
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
END_TEST

static void page(void)
{
	FILE *out = begin();

	ck_assert_int_eq(html_page(out, &f, "a <title>"), 0);
	finish(out);
}

/* What is said of all of it; numbers of a second, and of each type of processor. */
START_TEST(whole_page)
{
	struct bucket *one;

	page();
	has("<h1>a &lt;title&gt;</h1>\n<p class=\"facts\"><span id=\"sets\">0</span> sets, "
	    "<span id=\"records\">0</span> records, <span id=\"intervals\">0</span> intervals</p>");
	three();
	one = &f.bucket[2];
	one->busy[3] = 5 * TOD_SECOND;
	one->elapsed[3] = 40 * TOD_SECOND;
	one->page_reads = 300;
	one->page_writes = 500;
	one->starts = 700;
	f.sets = 11;
	f.records = 12;
	f.intervals = 13;
	f.merged = 4;
	f.left_out = 14;
	page();
	has("<p class=\"facts\">2026-03-02 00:00:00 to 2026-03-02 00:00:40 UTC · "
	    "<span id=\"sets\">11</span> sets, <span id=\"records\">12</span> records, "
	    "<span id=\"intervals\">13</span> intervals · each point combines 4 of them"
	    " · 14 records of further users and devices are left out</p>");
	has("<th>until</th><th class=\"n\">IFL</th></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">12.5</td></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">15.0</td><td class=\"n\">25.0</td></tr>");
	has("<tr><td>2026-03-02 00:00:40</td><td class=\"n\">35.0</td></tr>");
}
END_TEST

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
START_TEST(output)
{
	char path[] = "/tmp/zvmlab-test-XXXXXX";
	static char found[65536];
	size_t at = 0;
	FILE *file;

	close(mkstemp(path));
	sink = html_sink(path, "a <title>", 530);
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
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		lines, axis, gaps, clock_set_back, grid, scale, chart_as_a_table, timeline, users,
		devices, listed_events, listed_gaps, whole_page, output,
	};

	return check_run("monread page", start, stop, tests, sizeof(tests) / sizeof(tests[0]));
}
