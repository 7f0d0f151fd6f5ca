/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"
#include "tool_text.h"

/* Longest number: a 64-bit one with its sign, or a scaled one with its unit. */
#define NUMBER_SIZE 32

struct rows {
	FILE *out;
	enum rows_format format;
	bool scaled;
	bool headed;
	bool colors;
	struct selection selection;
	/* Of what is shown, by its place there: the names; in a table with scaled values shorter. */
	struct {
		const char *text;
		size_t len;
	} heading[COLUMNS_MAX];
	struct text text;	/* of the value being written; kept for its memory */
};

struct rows *rows_open(FILE *out, enum rows_format format, bool scaled,
		       const struct selection *selection)
{
	struct rows *rows = calloc(1, sizeof(*rows));

	assert(selection->shown_count > 0);
	if (!rows)
		return NULL;
	rows->out = out;
	rows->format = format;
	rows->scaled = scaled;
	rows->selection = *selection;
	for (size_t i = 0; i < selection->shown_count; i++) {
		const struct column *column = &selection->columns[selection->shown[i]];

		rows->heading[i].text = column->name;
		rows->heading[i].len = strlen(column->name);
		if (scaled && format == ROWS_TABLE)
			rows->heading[i].len = scale_heading(column, &rows->heading[i].text);
	}
	return rows;
}

void rows_set_colors(struct rows *rows, bool colors)
{
	rows->colors = colors;
}

const struct selection *rows_selection(const struct rows *rows)
{
	return &rows->selection;
}

void rows_close(struct rows *rows)
{
	if (!rows)
		return;
	text_free(&rows->text);
	free(rows);
}

static const struct column *shown(const struct rows *rows, size_t i)
{
	return &rows->selection.columns[rows->selection.shown[i]];
}

static bool is_known(const struct column *column, const struct cell *cell)
{
	return cell->present && (column->type != COLUMN_REAL || isfinite(cell->real));
}

static void append_list(struct rows *rows, const struct cell *cell, char between)
{
	for (size_t i = 0; i < cell->list.count; i++) {
		if (i)
			text_append(&rows->text, &between, 1);
		text_append_number(&rows->text, cell->list.items[i]);
	}
}

/* The value as JSON and CSV have it; text is the caller's. */
static void append_exact(struct rows *rows, const struct column *column, const struct cell *cell)
{
	char number[NUMBER_SIZE];

	switch (column->type) {
	case COLUMN_UNSIGNED:
		text_append_number(&rows->text, cell->number);
		break;
	case COLUMN_SIGNED:
		if (cell->integer < 0)
			text_append(&rows->text, "-", 1);
		text_append_number(&rows->text, cell->integer < 0 ? -(uint64_t)cell->integer
								  : (uint64_t)cell->integer);
		break;
	case COLUMN_REAL:
		text_append(&rows->text, number, (size_t)snprintf(number, sizeof(number),
				"%.15g", cell->real));
		break;
	case COLUMN_FLAG:
		text_append(&rows->text, cell->flag ? "true" : "false", cell->flag ? 4 : 5);
		break;
	case COLUMN_LIST:
		append_list(rows, cell, rows->format == ROWS_JSON ? ',' : ':');
		break;
	case COLUMN_TEXT:
		assert(false);
	}
}

/* A column's name has nothing that JSON would escape. */
static void append_name(struct text *text, const struct column *column)
{
	text_append(text, "\"", 1);
	text_append(text, column->name, strlen(column->name));
	text_append(text, "\"", 1);
}

static void put_json_cell(struct rows *rows, const struct column *column, const struct cell *cell)
{
	struct text *text = &rows->text;

	append_name(text, column);
	text_append(text, ":", 1);
	if (!is_known(column, cell)) {
		text_append(text, "null", 4);
	} else if (column->type == COLUMN_LIST) {
		text_append(text, "[", 1);
		append_exact(rows, column, cell);
		text_append(text, "]", 1);
	} else if (column->type == COLUMN_TEXT) {
		text_append_json(text, cell->text.bytes, cell->text.len);
	} else {
		append_exact(rows, column, cell);
	}
}

/* The member that tells which texts are not what they were, if there are any. */
static void put_json_escaped(struct rows *rows, const struct cell *cells)
{
	const char *before = ",\"escaped\":[";
	bool any = false;

	for (size_t i = 0; i < rows->selection.shown_count; i++) {
		const struct cell *cell = &cells[rows->selection.shown[i]];
		const struct column *column = shown(rows, i);

		if (column->type != COLUMN_TEXT || !cell->present ||
		    text_is_utf8(cell->text.bytes, cell->text.len))
			continue;
		text_append(&rows->text, before, strlen(before));
		append_name(&rows->text, column);
		before = ",";
		any = true;
	}
	if (any)
		text_append(&rows->text, "]", 1);
}

static void put_json(struct rows *rows, const struct cell *cells)
{
	text_append(&rows->text, "{", 1);
	for (size_t i = 0; i < rows->selection.shown_count; i++) {
		if (i)
			text_append(&rows->text, ",", 1);
		put_json_cell(rows, shown(rows, i), &cells[rows->selection.shown[i]]);
	}
	put_json_escaped(rows, cells);
	text_append(&rows->text, "}\n", 2);
}

static void put_csv(struct rows *rows, const struct cell *cells)
{
	for (size_t i = 0; i < rows->selection.shown_count; i++) {
		const struct cell *cell = &cells[rows->selection.shown[i]];
		const struct column *column = shown(rows, i);

		if (i)
			text_append(&rows->text, ",", 1);
		if (!is_known(column, cell))
			continue;
		if (column->type == COLUMN_TEXT)
			text_append_csv(&rows->text, cell->text.bytes, cell->text.len);
		else
			append_exact(rows, column, cell);
	}
	text_append(&rows->text, "\n", 1);
}

static void append_readable(struct rows *rows, const struct column *column,
			    const struct cell *cell)
{
	char number[NUMBER_SIZE];

	if (!is_known(column, cell)) {
		text_append(&rows->text, "-", 1);
	} else if (column->type == COLUMN_TEXT) {
		text_append_visible(&rows->text, cell->text.bytes, cell->text.len);
	} else if (column->type == COLUMN_FLAG) {
		text_append(&rows->text, cell->flag ? "yes" : "no", cell->flag ? 3 : 2);
	} else if (column->unit == UNIT_TIME && column->type == COLUMN_UNSIGNED) {
		scale_time(cell->number, number, sizeof(number));
		text_append(&rows->text, number, strlen(number));
	} else if (rows->scaled && scale_value(column, cell, number, sizeof(number))) {
		text_append(&rows->text, number, strlen(number));
	} else if (column->type == COLUMN_REAL) {
		text_append(&rows->text, number, (size_t)snprintf(number, sizeof(number),
				fabs(cell->real) < 1e15 ? "%.3f" : "%.15g", cell->real));
	} else {
		append_exact(rows, column, cell);
	}
}

/* Pad the text from @start on, in column @i: blanks before a number, behind a text. */
static void align(struct rows *rows, size_t i, size_t start)
{
	bool last = i + 1 == rows->selection.shown_count;
	const struct column *column = shown(rows, i);
	size_t width = rows->heading[i].len, has;

	if (column->width > width)
		width = column->width;
	has = text_characters(&rows->text, start);
	if (has >= width)
		return;
	if (column->type != COLUMN_TEXT && column->type != COLUMN_LIST)
		text_insert_blanks(&rows->text, start, width - has);
	else if (!last)
		text_insert_blanks(&rows->text, rows->text.len, width - has);
}

/* Has a terminal show what stands in the text from @start on in this way. */
static void color(struct rows *rows, size_t start, const char *way)
{
	static const char plain[] = "\033[m";
	size_t len = strlen(way), before = rows->text.len;

	text_insert_blanks(&rows->text, start, len);
	if (rows->text.len == before)
		return;
	memcpy(rows->text.bytes + start, way, len);
	text_append(&rows->text, plain, sizeof(plain) - 1);
}

/* @cells: NULL for the heading. */
static void put_table(struct rows *rows, const struct cell *cells)
{
	static const char *const ways[TONE_COUNT] = {
		[TONE_PLAIN] = "", [TONE_GOOD] = "\033[32m", [TONE_HIGH] = "\033[33m",
		[TONE_BAD] = "\033[31m",
	};
	enum cell_tone tone;

	for (size_t i = 0; i < rows->selection.shown_count; i++) {
		size_t start;

		if (i)
			text_append(&rows->text, "  ", 2);
		start = rows->text.len;
		if (cells)
			append_readable(rows, shown(rows, i), &cells[rows->selection.shown[i]]);
		else
			text_append(&rows->text, rows->heading[i].text, rows->heading[i].len);
		align(rows, i, start);
		tone = cells ? cells[rows->selection.shown[i]].tone : TONE_PLAIN;
		if (rows->colors && tone != TONE_PLAIN)
			color(rows, start, ways[tone]);
	}
	if (rows->colors && !cells)
		color(rows, 0, "\033[1m");
	text_append(&rows->text, "\n", 1);
}

static void put_heading(struct rows *rows)
{
	rows->headed = true;
	if (rows->format == ROWS_TABLE) {
		put_table(rows, NULL);
	} else if (rows->format == ROWS_CSV) {
		for (size_t i = 0; i < rows->selection.shown_count; i++) {
			if (i)
				text_append(&rows->text, ",", 1);
			text_append(&rows->text, rows->heading[i].text, rows->heading[i].len);
		}
		text_append(&rows->text, "\n", 1);
	}
}

static int write_text(struct rows *rows)
{
	if (rows->text.failed)
		return -ENOMEM;
	errno = 0;
	if (fwrite(rows->text.bytes, 1, rows->text.len, rows->out) != rows->text.len)
		return errno ? -errno : -EIO;
	return 0;
}

int rows_put(struct rows *rows, const struct cell *cells)
{
	text_clear(&rows->text);
	if (!rows->headed)
		put_heading(rows);
	if (rows->format == ROWS_TABLE)
		put_table(rows, cells);
	else if (rows->format == ROWS_JSON)
		put_json(rows, cells);
	else
		put_csv(rows, cells);
	return write_text(rows);
}

int rows_flush(struct rows *rows)
{
	int ret = 0;

	if (!rows->headed) {
		text_clear(&rows->text);
		put_heading(rows);
		if (rows->text.len || rows->text.failed)
			ret = write_text(rows);
	}
	errno = 0;
	if (fflush(rows->out) && !ret)
		ret = errno ? -errno : -EIO;
	return ret;
}
