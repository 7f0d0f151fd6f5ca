/* SPDX-License-Identifier: MIT */
/* monread: the tables as text. */
#include "report.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

/* Characters of UTF-8 text. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_cell(FILE *out, const char *text, bool left, int width)
{
	const int blanks = width - width_of(text);

	fprintf(out, "%*s%s%*s", left ? 0 : blanks, "", text, left ? blanks : 0, "");
}

static const char *marked(const struct report_cell *cell, char text[REPORT_CELL + 2])
{
	snprintf(text, REPORT_CELL + 2, "%s%s", cell->high ? "! " : "", cell->text);
	return text;
}

static void print_rows(FILE *out, const struct report *report)
{
	const struct report_column *columns = report->columns;
	int width[REPORT_COLUMNS];
	char text[REPORT_CELL + 2];

	for (unsigned int i = 0; i < REPORT_COLUMNS && columns[i].head; i++) {
		width[i] = width_of(columns[i].head);
		for (unsigned int row = 0; row < report->rows; row++) {
			const int cell = width_of(marked(&report->cell[row][i], text));

			width[i] = cell > width[i] ? cell : width[i];
		}
	}
	for (unsigned int row = 0; row <= report->rows; row++) {
		for (unsigned int i = 0; i < REPORT_COLUMNS && columns[i].head; i++) {
			fputs("  ", out);
			print_cell(out, row ? marked(&report->cell[row - 1][i], text) :
					      columns[i].head, columns[i].text, width[i]);
		}
		fputc('\n', out);
	}
}

static void print_report(FILE *out, const struct report *report)
{
	fprintf(out, "\n%s\n", report->title);
	if (*report->facts)
		fprintf(out, "  %s\n", report->facts);
	if (!report->rows) {
		fprintf(out, "  %s\n", report->none ? report->none : "No data.");
		return;
	}
	print_rows(out, report);
	if (report->left_out)
		fprintf(out, "  %u more are left out.\n", report->left_out);
	if (*report->note)
		fprintf(out, "  !: %s\n", report->note);
}

int report_text(FILE *out, const struct activity *f, const struct thresholds *thresholds)
{
	char name[ACTIVITY_NAME_SIZE], first[CLOCK_TEXT_SIZE], last[CLOCK_TEXT_SIZE];
	char releases[MONREC_RELEASES_TEXT];
	struct report report;

	activity_text(f->system.name, sizeof(f->system.name), name);
	fprintf(out, "%s%s", *name ? "System " : "A system without a name", name);
	if (f->releases)
		fprintf(out, ", z/VM %s", monrec_releases_text(f->releases, releases));
	if (f->buckets)
		fprintf(out, ", %s to %s", clock_zone_text(f->bucket[0].first, first),
			clock_zone_text(f->bucket[f->buckets - 1].last, last));
	fputc('\n', out);
	for (unsigned int kind = 0; kind < REPORT_KINDS; kind++) {
		report_make(&report, kind, f, thresholds);
		print_report(out, &report);
	}
	return fflush(out) ? -errno : 0;
}
