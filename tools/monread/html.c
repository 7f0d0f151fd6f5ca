/* SPDX-License-Identifier: MIT */
/* monread: the page around its charts. */
#include "html.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

const char *const html_event_names[EVENT_KINDS] = {
	"logons", "logoffs", "processors", "devices", "MONITOR commands", "suspensions",
};

static const char style[] =
	":root{color-scheme:light dark;--ground:#fff;--raised:#f4f5f7;--line:#d5d9df;"
	"--text:#1b2027;--faint:#5c6675;--gap:#f6c6c2;--s0:#2f6fd0;--s1:#c2571a;--s2:#178a8a;"
	"--s3:#8a4fc9;--s4:#1a7f37;--s5:#b3261e;--s6:#7a5200;--s7:#5c6675}\n"
	"@media(prefers-color-scheme:dark){:root{--ground:#14171c;--raised:#1d2128;"
	"--line:#363d48;--text:#e4e8ee;--faint:#9aa5b4;--gap:#5a2320;--s0:#6ea8ff;--s1:#f0a35a;"
	"--s2:#4fc7c7;--s3:#c39bf2;--s4:#6fdc8c;--s5:#ff9a91;--s6:#f2c464;--s7:#9aa5b4}}\n"
	"*{box-sizing:border-box}body{margin:0 auto;max-width:1040px;padding:0 20px 40px;"
	"background:var(--ground);color:var(--text);font:15px/1.45 system-ui,sans-serif}\n"
	"h1{margin:24px 0 4px;font-size:24px}h2{margin:32px 0 6px;font-size:18px}"
	".facts,.legend,summary,.none{color:var(--faint);font-size:13px}\n"
	"svg{display:block;width:100%;height:auto;background:var(--raised);border-radius:6px}"
	"svg text{fill:var(--faint);font-size:11px}.grid{stroke:var(--line)}"
	".gap{fill:var(--gap)}path{fill:none;stroke-width:1.8;stroke-linejoin:round}\n"
	".s0{stroke:var(--s0)}.s1{stroke:var(--s1)}.s2{stroke:var(--s2)}.s3{stroke:var(--s3)}"
	".s4{stroke:var(--s4)}.s5{stroke:var(--s5)}.s6{stroke:var(--s6)}.s7{stroke:var(--s7)}\n"
	".f0{fill:var(--s0);background:var(--s0)}.f1{fill:var(--s1);background:var(--s1)}"
	".f2{fill:var(--s2);background:var(--s2)}.f3{fill:var(--s3);background:var(--s3)}"
	".f4{fill:var(--s4);background:var(--s4)}.f5{fill:var(--s5);background:var(--s5)}"
	".f6{fill:var(--s6);background:var(--s6)}.f7{fill:var(--s7);background:var(--s7)}\n"
	".legend i{display:inline-block;width:10px;height:10px;margin:0 4px 0 12px;"
	"border-radius:50%}details{margin-top:6px}.wide{overflow:auto;max-height:420px}\n"
	"table{width:100%;border-collapse:collapse;font-size:14px}th,td{padding:4px 10px;"
	"border-bottom:1px solid var(--line);text-align:left;font-weight:normal}"
	"thead th{background:var(--raised);font-weight:600}"
	".n{text-align:right;font-variant-numeric:tabular-nums}.bar{width:40%}"
	".bar i{display:block;height:10px;border-radius:3px}\n";

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

const char *html_time(uint64_t tod, char text[HTML_TIME_SIZE])
{
	const time_t seconds = (time_t)(tod / TOD_SECOND) - INT64_C(2208988800);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, HTML_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &tm);
	return text;
}

static double ratio(uint64_t some, uint64_t of)
{
	return of ? (double)some / (double)of : -1.0;
}

static double busy(const struct bucket *bucket, unsigned int type)
{
	return 100.0 * ratio(bucket->busy[type], bucket->elapsed[type]);
}

static double paging(const struct bucket *bucket, unsigned int series)
{
	const uint64_t count = series == 0 ? bucket->page_reads : bucket->page_writes;

	return ratio(count, bucket->time) * (double)TOD_SECOND;
}

static double starts(const struct bucket *bucket, unsigned int series)
{
	(void)series;
	return ratio(bucket->starts, bucket->time) * (double)TOD_SECOND;
}

static void head(FILE *out, const struct activity *f, const char *title)
{
	char first[HTML_TIME_SIZE], last[HTML_TIME_SIZE];

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      out);
	html_text(out, title);
	fprintf(out, ": monitor data</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
	html_text(out, title);
	fputs("</h1>\n<p class=\"facts\">", out);
	if (f->buckets)
		fprintf(out, "%s to %s UTC · ", html_time(f->bucket[0].first, first),
			html_time(f->bucket[f->buckets - 1].last, last));
	fprintf(out, "<span id=\"sets\">%" PRIu64 "</span> sets, <span id=\"records\">%" PRIu64
		"</span> records, <span id=\"intervals\">%" PRIu64 "</span> intervals", f->sets,
		f->records, f->intervals);
	if (f->merged > 1)
		fprintf(out, " · each point combines %u of them", f->merged);
	if (f->left_out)
		fprintf(out, " · %" PRIu64 " records of further users and devices are left out",
			f->left_out);
	fputs("</p>\n", out);
}

int html_page(FILE *out, const struct activity *f, const char *title)
{
	static const char *const paging_names[] = { "read", "written" };
	static const char *const start_names[] = { "started" };
	static const struct chart charts[] = {
		{ "busy", "Processors busy, by type", "%", ACTIVITY_TYPES, activity_type_names, busy },
		{ "paging", "Paging", "pages/s", 2, paging_names, paging },
		{ "io", "I/O of all devices", "I/Os/s", 1, start_names, starts },
	};

	head(out, f, title);
	html_chart(out, f, &charts[0]);
	html_users(out, f);
	html_chart(out, f, &charts[1]);
	html_chart(out, f, &charts[2]);
	html_devices(out, f);
	html_timeline(out, f);
	html_events(out, f);
	html_gaps(out, f);
	fputs("</body>\n</html>\n", out);
	return ferror(out) ? -errno : 0;
}
