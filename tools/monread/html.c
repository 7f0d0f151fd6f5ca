/* SPDX-License-Identifier: MIT */
/* monread: the page around its charts. */
#include "html.h"

#include <errno.h>

static const char style[] =
	":root{color-scheme:light dark;--ground:#fff;--raised:#f4f5f7;--line:#d5d9df;"
	"--text:#1b2027;--faint:#5c6675;--gap:#f6c6c2;--s0:#2f6fd0;--s1:#c2571a;--s2:#178a8a;"
	"--s3:#8a4fc9;--s4:#1a7f37;--s5:#b3261e;--s6:#7a5200;--s7:#5c6675;--s8:#a0208c}\n"
	"@media(prefers-color-scheme:dark){:root{--ground:#14171c;--raised:#1d2128;"
	"--line:#363d48;--text:#e4e8ee;--faint:#9aa5b4;--gap:#5a2320;--s0:#6ea8ff;--s1:#f0a35a;"
	"--s2:#4fc7c7;--s3:#c39bf2;--s4:#6fdc8c;--s5:#ff9a91;--s6:#f2c464;--s7:#9aa5b4;--s8:#f28ad8}}\n"
	"*{box-sizing:border-box}body{margin:0 auto;max-width:1040px;padding:0 20px 40px;"
	"background:var(--ground);color:var(--text);font:15px/1.45 system-ui,sans-serif;"
	"overflow-wrap:anywhere}\n"
	"h1{margin:24px 0 4px;font-size:24px}h2{margin:32px 0 6px;font-size:18px}"
	".facts,.legend,summary,.none{color:var(--faint);font-size:13px}\n"
	".plot{position:relative;height:220px;margin:10px 22px 30px 58px;"
	"background:var(--raised)}.plot svg{position:absolute;width:100%;height:100%}"
	".plot span{position:absolute;color:var(--faint);font-size:12px;line-height:16px;"
	"white-space:nowrap}.plot .y{right:100%;margin:-8px 6px 0 0}"
	".plot .x{top:100%;width:60px;margin:4px 0 0 -30px;text-align:center}"
	".plot .over{color:var(--text);font-size:10px;width:16px;margin:-14px 0 0 -8px;"
	"text-align:center}.plot .threshold{right:4px;margin-top:-17px;color:var(--text)}"
	".plot .kind{left:4px}.plot i{position:absolute;border-radius:50%;"
	"transform:translate(-50%,-50%)}\n"
	".plot path,.plot line{vector-effect:non-scaling-stroke}"
	".grid{stroke:var(--line)}.limit{stroke:var(--text);stroke-dasharray:5 4}"
	".gap{fill:var(--gap)}path{fill:none;stroke-width:1.8;stroke-linejoin:round}"
	".thin{stroke-width:1;stroke-opacity:.55}\n"
	".s0{stroke:var(--s0)}.s1{stroke:var(--s1)}.s2{stroke:var(--s2)}.s3{stroke:var(--s3)}"
	".s4{stroke:var(--s4)}.s5{stroke:var(--s5)}.s6{stroke:var(--s6)}.s7{stroke:var(--s7)}"
	".s8{stroke:var(--s8)}.d1{stroke-dasharray:12 12}.d2{stroke-dasharray:6 18}"
	".d3{stroke-dasharray:3 21}\n"
	".f0{background:var(--s0)}.f1{background:var(--s1)}.f2{background:var(--s2)}"
	".f3{background:var(--s3)}.f4{background:var(--s4)}.f5{background:var(--s5)}"
	".f6{background:var(--s6)}.f7{background:var(--s7)}"
	".f8{background:var(--s8)}\n"
	".legend span{white-space:nowrap}.legend i{display:inline-block;width:24px;"
	"height:4px;margin:0 4px 3px 12px}"
	".legend .d1,.legend .d2,.legend .d3{background-image:linear-gradient(90deg,transparent 50%,"
	"var(--ground) 50%);background-size:12px 4px}details{margin-top:6px}"
	".wide{overflow:auto;max-height:420px;overflow-wrap:normal}\n"
	"table{width:100%;border-collapse:collapse;font-size:14px}th,td{padding:4px 10px;"
	"border-bottom:1px solid var(--line);text-align:left;font-weight:normal}"
	"td{white-space:nowrap}thead th{background:var(--raised);font-weight:600}"
	"td:first-child,th:first-child{position:sticky;left:0;background:var(--ground)}"
	"th:first-child{background:var(--raised)}"
	".n{text-align:right;font-variant-numeric:tabular-nums}.bar{width:40%}"
	".bar i{display:block;height:10px;border-radius:3px}\n"
	"@media(max-width:600px){body{padding:0 10px 30px}.plot{height:180px;margin-left:46px}"
	".plot .more{display:none}th,td{padding:4px 6px}table{font-size:13px}"
	".bar{width:25%}}\n";

static const char *const interval_names[] = {
#define OF_INTERVAL(id, heading, decimals, threshold, key, as, value, of, family) heading,
#include "quantities.def"
};

/* Quantities of an interval, in the order of quantities.def. */
enum of_interval {
#define OF_INTERVAL(id, heading, decimals, threshold, key, as, value, of, family) id,
#include "quantities.def"
};

/* Of the first series, which the others follow. */
static double system_value(const void *of, const struct bucket *bucket, unsigned int series)
{
	return activity_system_value(bucket, *(const enum system_value *)of + series);
}

static double system_most(const void *of, const struct bucket *bucket, unsigned int series)
{
	return (double)bucket->most[*(const enum system_value *)of + series];
}

static void number(FILE *out, const char *id, uint64_t value, const char *what)
{
	char text[REPORT_CELL];

	fprintf(out, "<span id=\"%s\">%s</span> %s", id, report_count(text, value), what);
}

/* The system's name; the file's if no record has it. */
static void heading(FILE *out, const struct activity *f, const char *title)
{
	char name[ACTIVITY_NAME_SIZE];

	html_text(out, *activity_text(f->system.name, sizeof(f->system.name), name) ? name : title);
}

static void facts(FILE *out, const struct activity *f, const char *title)
{
	char first[CLOCK_TEXT_SIZE], last[CLOCK_TEXT_SIZE], name[ACTIVITY_NAME_SIZE];
	char releases[MONREC_RELEASES_TEXT];

	if (*activity_text(f->system.partition, sizeof(f->system.partition), name)) {
		fputs("partition ", out);
		html_text(out, name);
		fputs(" · ", out);
	}
	if (f->releases)
		fprintf(out, "z/VM %s · ", monrec_releases_text(f->releases, releases));
	html_text(out, title);
	fputs(" · ", out);
	if (f->buckets) {
		html_text(out, clock_zone_text(f->bucket[0].first, first));
		fputs(" to ", out);
		html_text(out, clock_zone_text(f->bucket[f->buckets - 1].last, last));
		fputs(" · ", out);
	}
	number(out, "sets", f->sets, "sets, ");
	number(out, "records", f->records, "records, ");
	number(out, "intervals", f->intervals, "intervals");
	if (f->merged > 1)
		fprintf(out, " · each point combines %u of them", f->merged);
	if (f->left_out)
		fprintf(out, " · %s records of further users and devices are left out",
			report_count(first, f->left_out));
}

static void head(FILE *out, const struct activity *f, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      out);
	heading(out, f, title);
	fprintf(out, ": monitor data</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
	heading(out, f, title);
	fputs("</h1>\n<p class=\"facts\">", out);
	facts(out, f, title);
	fputs("</p>\n", out);
}

/* Are the clocks of the zone changed between any of the times that are shown? */
static bool clocks_change(const struct activity *f)
{
	for (unsigned int i = 0; i < f->buckets; i++)
		if (clock_offset(clock_seconds(f->bucket[i].last)) !=
		    clock_offset(clock_seconds(f->bucket[0].first)))
			return true;
	return false;
}

static void reports(FILE *out, const struct activity *f, const struct thresholds *thresholds,
		    enum report_kind first, enum report_kind last)
{
	struct report report;

	for (unsigned int kind = first; kind <= last; kind++) {
		report_make(&report, kind, f, thresholds);
		html_report(out, &report);
	}
}

/* With the threshold of that kind, if there is one. */
static void draw(FILE *out, const struct activity *f, const struct chart *chart,
		 const struct thresholds *thresholds, enum threshold threshold)
{
	struct chart with = *chart;

	with.marks = threshold != THRESHOLD_NONE && thresholds->of[threshold] >= 0;
	with.threshold = with.marks ? thresholds->of[threshold] : 0;
	html_chart(out, f, &with);
}

/* Those with the most CPU time, of whom samples tell. */
#define CURVES 8u

struct top_users {
	const struct activity *f;
	const struct user_curves *curves;
	unsigned int user[CURVES], count;
	const char *names[CURVES];
	char name[CURVES][ACTIVITY_NAME_SIZE];
};

static void find_top(struct top_users *top)
{
	const struct user_activity *user[ACTIVITY_USERS];
	const unsigned int count = html_users_by_time(top->f, user);

	for (unsigned int i = 0; i < count && top->count < CURVES; i++) {
		if (!activity_is_sampled(user[i]))
			continue;
		top->user[top->count] = (unsigned int)(user[i] - top->f->user);
		top->names[top->count] = activity_user_name(user[i], top->name[top->count]);
		top->count++;
	}
}

static double user_busy(const void *of, const struct bucket *bucket, unsigned int series)
{
	const struct top_users *top = of;

	return curves_busy(top->curves, top->f, top->user[series],
			   (unsigned int)(bucket - top->f->bucket));
}

static double user_ratio(const void *of, const struct bucket *bucket, unsigned int series)
{
	const struct top_users *top = of;

	return curves_ratio(top->curves, top->user[series],
			    (unsigned int)(bucket - top->f->bucket));
}

static void user_charts(FILE *out, const struct activity *f, const struct user_curves *curves)
{
	struct top_users top = { .f = f, .curves = curves };
	struct chart chart = {
		.id = "user-cpu", .title = "Users with the most CPU time", .unit = "% of a processor",
		.names = top.names, .of = &top, .value = user_busy, .decimals = 1,
	};

	find_top(&top);
	chart.series = top.count;
	html_chart(out, f, &chart);
	chart.id = "user-ratio";
	chart.title = "T/V of these users";
	chart.unit = "total by virtual time";
	chart.value = user_ratio;
	chart.decimals = 2;
	html_chart(out, f, &chart);
}

int html_page(FILE *out, const struct activity *f, const struct user_curves *curves,
	      const char *title, const struct thresholds *thresholds)
{
	static const char *const state_names[] = {
#define STATE(id, key, what, threshold) what,
#include "quantities.def"
	};
	static const enum system_value busy = SYSTEM_BUSY, states = SYSTEM_STATES;
	static const enum system_value paging = SYSTEM_READS, starts = SYSTEM_STARTS;
	static const struct chart busy_chart = {
		.id = "busy", .title = "Processors busy, by type", .unit = "%",
		.series = ACTIVITY_TYPES, .names = activity_type_names, .of = &busy,
		.value = system_value, .most = system_most, .decimals = 1,
	}, state_chart = {
		.id = "states", .title = "Users running and waiting", .unit = "% of samples",
		.series = STATE_PAGE_WAIT + 1, .names = state_names, .of = &states,
		.value = system_value, .most = system_most, .decimals = 1,
	}, paging_chart = {
		.id = "paging", .title = "Paging", .unit = "pages/s", .series = 2,
		.names = &interval_names[INTERVAL_READS], .of = &paging,
		.value = system_value, .most = system_most, .decimals = 1,
	}, start_chart = {
		.id = "io", .title = "I/O of all devices", .unit = "I/Os/s", .series = 1,
		.names = &interval_names[INTERVAL_STARTS], .of = &starts,
		.value = system_value, .most = system_most, .decimals = 1,
	};

	clock_show_offset(clocks_change(f));
	head(out, f, title);
	reports(out, f, thresholds, REPORT_SYSTEM, REPORT_SYSTEM);
	draw(out, f, &busy_chart, thresholds, THRESHOLD_BUSY);
	reports(out, f, thresholds, REPORT_LOAD, REPORT_LOAD);
	html_users(out, f);
	user_charts(out, f, curves);
	draw(out, f, &state_chart, thresholds, THRESHOLD_NONE);
	reports(out, f, thresholds, REPORT_WAITS, REPORT_MOST_WAITS);
	draw(out, f, &paging_chart, thresholds, THRESHOLD_PAGING);
	reports(out, f, thresholds, REPORT_VOLUMES, REPORT_USER_PAGING);
	draw(out, f, &start_chart, thresholds, THRESHOLD_NONE);
	reports(out, f, thresholds, REPORT_RESPONSES, REPORT_RESPONSES);
	html_devices(out, f);
	html_timeline(out, f);
	html_events(out, f);
	html_gaps(out, f);
	reports(out, f, thresholds, REPORT_UNUSED, REPORT_UNUSED);
	clock_show_offset(false);
	fputs("</body>\n</html>\n", out);
	return ferror(out) ? -errno : 0;
}
