/* SPDX-License-Identifier: MIT */
/* monread: tables of the page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "quantity.h"

#define SHOWN 25u

struct ranked {
	double value;
	const void *of;
};

/* Keeps the largest ones of all that are added, the largest first. */
static void rank(struct ranked *top, unsigned int *count, double value, const void *of)
{
	unsigned int at = *count;

	if (at == SHOWN && value <= top[SHOWN - 1].value)
		return;
	if (at == SHOWN)
		at--;
	else
		++*count;
	for (; at > 0 && top[at - 1].value < value; at--)
		top[at] = top[at - 1];
	top[at] = (struct ranked){ value, of };
}

/* @more: heads of further columns. */
static void begin(FILE *out, const char *id, const char *title, const char *what, const char *unit,
		  const char *more)
{
	fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n<div class=\"wide\">"
		"<table id=\"%s-table\">\n<thead><tr><th>%s</th><th class=\"n\">%s</th>%s"
		"<th class=\"bar\"></th></tr></thead>\n", id, title, id, what, unit, more);
}

static void from(FILE *out, uint32_t source)
{
	fprintf(out, "<td>D%uR%u</td>", source >> 16, source & 0xffff);
}

/* Samples that were not understood, before the end of a section. */
static void not_understood(FILE *out, const struct activity *f, unsigned int domain,
			   unsigned int number, const char *so)
{
	const uint64_t unknown = activity_unused(f, domain, number, RECORD_NOT_UNDERSTOOD);
	char count[REPORT_CELL];

	if (unknown)
		fprintf(out, "<p class=\"facts\">%s records of samples (D%uR%u) were not understood: %s"
			"</p>\n", report_count(count, unknown), domain, number, so);
}

static void bar(FILE *out, double value, double most)
{
	fprintf(out, "<td class=\"bar\"><i class=\"f0\" style=\"width:%.1f%%\"></i></td></tr>\n",
		most > 0 ? 100 * value / most : 0);
}

static void none(FILE *out, const char *id, const char *title)
{
	fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n<p class=\"none\">No data.</p>\n", id,
		title);
}

static int by_time(const void *one, const void *other)
{
	const struct user_activity *const *a = one, *const *b = other;

	if ((*a)->time != (*b)->time)
		return (*a)->time < (*b)->time ? 1 : -1;
	/* As they are in the activity. */
	return *a < *b ? -1 : 1;
}

unsigned int html_users_by_time(const struct activity *f,
				const struct user_activity *user[ACTIVITY_USERS])
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < ACTIVITY_USERS; i++)
		if (f->user[i].counted)
			user[count++] = &f->user[i];
	if (count)
		qsort(user, count, sizeof(user[0]), by_time);
	return count;
}

static void user_row(FILE *out, const struct activity *f, const struct user_activity *user,
		     uint64_t most)
{
	char name[ACTIVITY_NAME_SIZE], text[REPORT_CELL];

	fputs("<tr><td>", out);
	html_text(out, activity_user_name(user, name));
	fputs("</td>", out);
	for (const struct quantity *q = quantities(OF_USER_TIME); q->heading; q++)
		fprintf(out, "<td%s>%s</td>", q->as == AS_TIME ? "" : " class=\"n\"",
			report_quantity(text, f, q, user));
	from(out, user->source);
	bar(out, (double)user->time, (double)most);
}

/* All of them. */
void html_users(FILE *out, const struct activity *f)
{
	static const char title[] = "Users by CPU time";
	const struct user_activity *user[ACTIVITY_USERS];
	const unsigned int count = html_users_by_time(f, user);

	if (count == 0) {
		none(out, "users", title);
	} else {
		fprintf(out, "<section id=\"users\">\n<h2>%s</h2>\n<div class=\"wide\">"
			"<table id=\"users-table\">\n<thead><tr><th>user</th>", title);
		for (const struct quantity *q = quantities(OF_USER_TIME); q->heading; q++)
			fprintf(out, "<th%s>%s</th>", q->as == AS_TIME ? "" : " class=\"n\"", q->heading);
		fputs("<th>from</th><th class=\"bar\"></th></tr></thead>\n", out);
		for (unsigned int i = 0; i < count; i++)
			user_row(out, f, user[i], user[0]->time);
		fputs("</table></div>\n", out);
	}
	not_understood(out, f, 4, 3, "users whose transactions did not end are missing, and of the others "
				     "the time since the last one.");
	fputs("</section>\n", out);
}

void html_devices(FILE *out, const struct activity *f)
{
	static const char title[] = "Devices by I/O";
	char number[REPORT_CELL];
	struct ranked top[SHOWN];
	unsigned int count = 0;

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++)
		if (f->device[i].source)
			rank(top, &count, (double)f->device[i].starts, &f->device[i]);
	if (count == 0) {
		none(out, "devices", title);
	} else {
		begin(out, "devices", title, "device", "I/Os", "<th>from</th>");
	}
	for (unsigned int i = 0; i < count; i++) {
		const struct device_activity *device = top[i].of;

		fprintf(out, "<tr><td>%04X</td><td class=\"n\">%s</td>", device->number,
			report_count(number, device->starts));
		from(out, device->source);
		bar(out, top[i].value, top[0].value);
	}
	if (count > 0)
		fputs("</table></div>\n", out);
	not_understood(out, f, 6, 3, "devices that no other record tells of are missing.");
	fputs("</section>\n", out);
}

static void report_head(FILE *out, const struct report *report)
{
	fprintf(out, "<div class=\"wide\"><table id=\"%s-table\">\n<thead><tr>", report->id);
	for (const struct report_column *column = report->columns; column->head; column++)
		fprintf(out, "<th%s>%s</th>", column->text ? "" : " class=\"n\"", column->head);
	fputs("</tr></thead>\n", out);
}

static void report_row(FILE *out, const struct report *report, unsigned int row)
{
	fputs("<tr>", out);
	for (unsigned int i = 0; i < REPORT_COLUMNS && report->columns[i].head; i++) {
		const struct report_cell *cell = &report->cell[row][i];

		fprintf(out, "<td%s>%s", report->columns[i].text ? "" : " class=\"n\"",
			cell->high ? "<b>▲ " : "");
		html_text(out, cell->text);
		fprintf(out, "%s</td>", cell->high ? "</b>" : "");
	}
	fputs("</tr>\n", out);
}

void html_report(FILE *out, const struct report *report)
{
	fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", report->id, report->title);
	if (*report->facts) {
		fputs("<p class=\"facts\">", out);
		html_text(out, report->facts);
		fputs("</p>\n", out);
	}
	if (!report->rows) {
		fprintf(out, "<p class=\"none\">%s</p>\n</section>\n",
			report->none ? report->none : "No data.");
		return;
	}
	report_head(out, report);
	for (unsigned int row = 0; row < report->rows; row++)
		report_row(out, report, row);
	fputs("</table></div>\n", out);
	if (*report->note)
		fprintf(out, "<p class=\"facts\">▲ %s</p>\n", report->note);
	if (report->left_out)
		fprintf(out, "<p class=\"facts\">%u more are left out.</p>\n", report->left_out);
	fputs("</section>\n", out);
}

void html_events(FILE *out, const struct activity *f)
{
	char time[CLOCK_TEXT_SIZE];

	if (!f->events)
		return;
	fprintf(out, "<details><summary>the first %u of %" PRIu64 " events</summary>"
		"<div class=\"wide\"><table id=\"events-table\">\n<thead><tr><th>time</th>"
		"<th>event</th></tr></thead>\n", f->listed, f->events);
	for (unsigned int i = 0; i < f->listed; i++) {
		fprintf(out, "<tr><td>%s</td><td>", clock_text(f->event[i].tod, time));
		html_text(out, f->event[i].text);
		fputs("</td></tr>\n", out);
	}
	fputs("</table></div></details>\n", out);
}

void html_gaps(FILE *out, const struct activity *f)
{
	char time[CLOCK_TEXT_SIZE], names[REPORT_NAMES];
	bool any = false;

	fputs("<section id=\"gaps\">\n<h2>Missing data</h2>\n", out);
	for (unsigned int i = 0; i < f->buckets; i++) {
		const struct bucket *bucket = &f->bucket[i];

		if (!bucket->lost && !bucket->overflows && !bucket->suspended)
			continue;
		if (!any)
			fputs("<div class=\"wide\"><table id=\"gaps-table\">\n<thead><tr>"
			      "<th>until</th><th class=\"n\">sets lost</th><th class=\"n\">overflows</th>"
			      "<th class=\"n\">event records lost</th></tr></thead>\n", out);
		any = true;
		fprintf(out, "<tr><td>%s</td><td class=\"n\">%" PRIu32 "</td><td class=\"n\">%" PRIu32
			"</td><td class=\"n\">%" PRIu32 "</td></tr>\n",
			clock_text(bucket->last, time), bucket->lost, bucket->overflows,
			bucket->suspended);
	}
	if (any)
		fputs("</table></div>\n", out);
	if (*report_not_understood(f, names))
		fprintf(out, "<p class=\"facts\">Records that tables need were not understood: %s.</p>\n",
			names);
	else if (!any)
		fputs("<p class=\"none\">None known.</p>\n", out);
	fputs("</section>\n", out);
}
