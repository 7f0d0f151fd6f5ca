/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"
#include "tool_text.h"

/* Longest number: a 64-bit one with its sign, or a scaled one with its unit. */
#define NUMBER_SIZE 32

struct writer {
	FILE *out;
	enum writer_format format;
	bool scaled;
	bool headed;
	bool colors;
	struct selection selection;
	/* Of what is shown, by its place there: the names; in a table with scaled values shorter. */
	struct {
		const char *text;
		size_t len;
		size_t width;	/* of the column in a table, at least */
	} heading[COLUMNS_MAX];
	struct text text;	/* of the value being written; kept for its memory */
};

struct writer *writer_open(FILE *out, enum writer_format format, bool scaled,
			   const struct selection *selection)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	assert(selection->shown_count > 0);
	if (!writer)
		return NULL;
	writer->out = out;
	writer->format = format;
	writer->scaled = scaled;
	writer->selection = *selection;
	for (size_t i = 0; i < selection->shown_count; i++) {
		const struct column *column = &selection->columns[selection->shown[i]];

		writer->heading[i].text = column->name;
		writer->heading[i].len = strlen(column->name);
		if (scaled && format == WRITER_TABLE)
			writer->heading[i].len = scale_heading(column, &writer->heading[i].text);
		writer->heading[i].width = writer->heading[i].len > column->width ?
					   writer->heading[i].len : column->width;
	}
	return writer;
}

void writer_set_colors(struct writer *writer, bool colors)
{
	writer->colors = colors;
}

const struct selection *writer_selection(const struct writer *writer)
{
	return &writer->selection;
}

void writer_close(struct writer *writer)
{
	if (!writer)
		return;
	text_free(&writer->text);
	free(writer);
}

static const struct column *shown(const struct writer *writer, size_t i)
{
	return &writer->selection.columns[writer->selection.shown[i]];
}

static bool is_known(const struct column *column, const struct cell *cell)
{
	return cell->present && (column->type != COLUMN_REAL || isfinite(cell->real));
}

static void append_list(struct writer *writer, const struct cell *cell, char between)
{
	for (size_t i = 0; i < cell->list.count; i++) {
		if (i)
			text_append(&writer->text, &between, 1);
		text_append_number(&writer->text, cell->list.items[i]);
	}
}

/* The value as JSON and CSV have it; text is the caller's. */
static void append_exact(struct writer *writer, const struct column *column,
			 const struct cell *cell)
{
	char number[NUMBER_SIZE];

	switch (column->type) {
	case COLUMN_UNSIGNED:
		text_append_number(&writer->text, cell->number);
		break;
	case COLUMN_SIGNED:
		if (cell->integer < 0)
			text_append(&writer->text, "-", 1);
		text_append_number(&writer->text, cell->integer < 0 ? -(uint64_t)cell->integer
								  : (uint64_t)cell->integer);
		break;
	case COLUMN_REAL:
		text_append(&writer->text, number, (size_t)snprintf(number, sizeof(number),
				"%.15g", cell->real));
		break;
	case COLUMN_FLAG:
		text_append(&writer->text, cell->flag ? "true" : "false", cell->flag ? 4 : 5);
		break;
	case COLUMN_LIST:
		append_list(writer, cell, writer->format == WRITER_JSON ? ',' : ':');
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

static void put_json_cell(struct writer *writer, const struct column *column,
			  const struct cell *cell)
{
	struct text *text = &writer->text;

	append_name(text, column);
	text_append(text, ":", 1);
	if (!is_known(column, cell)) {
		text_append(text, "null", 4);
	} else if (column->type == COLUMN_LIST) {
		text_append(text, "[", 1);
		append_exact(writer, column, cell);
		text_append(text, "]", 1);
	} else if (column->type == COLUMN_TEXT) {
		text_append_json(text, cell->text.bytes, cell->text.len);
	} else {
		append_exact(writer, column, cell);
	}
}

/* The member that tells which texts are not what they were, if there are any. */
static void put_json_escaped(struct writer *writer, const struct cell *cells)
{
	const char *before = ",\"escaped\":[";
	bool any = false;

	for (size_t i = 0; i < writer->selection.shown_count; i++) {
		const struct cell *cell = &cells[writer->selection.shown[i]];
		const struct column *column = shown(writer, i);

		if (column->type != COLUMN_TEXT || !cell->present ||
		    text_is_utf8(cell->text.bytes, cell->text.len))
			continue;
		text_append(&writer->text, before, strlen(before));
		append_name(&writer->text, column);
		before = ",";
		any = true;
	}
	if (any)
		text_append(&writer->text, "]", 1);
}

static void put_json(struct writer *writer, const struct cell *cells)
{
	text_append(&writer->text, "{", 1);
	for (size_t i = 0; i < writer->selection.shown_count; i++) {
		if (i)
			text_append(&writer->text, ",", 1);
		put_json_cell(writer, shown(writer, i), &cells[writer->selection.shown[i]]);
	}
	put_json_escaped(writer, cells);
	text_append(&writer->text, "}\n", 2);
}

static void put_csv(struct writer *writer, const struct cell *cells)
{
	for (size_t i = 0; i < writer->selection.shown_count; i++) {
		const struct cell *cell = &cells[writer->selection.shown[i]];
		const struct column *column = shown(writer, i);

		if (i)
			text_append(&writer->text, ",", 1);
		if (!is_known(column, cell))
			continue;
		if (column->type == COLUMN_TEXT)
			text_append_csv(&writer->text, cell->text.bytes, cell->text.len);
		else
			append_exact(writer, column, cell);
	}
	text_append(&writer->text, "\n", 1);
}

static void append_readable(struct writer *writer, const struct column *column,
			    const struct cell *cell)
{
	char number[NUMBER_SIZE];

	if (!is_known(column, cell)) {
		text_append(&writer->text, "-", 1);
	} else if (column->type == COLUMN_TEXT) {
		text_append_visible(&writer->text, cell->text.bytes, cell->text.len);
	} else if (column->type == COLUMN_FLAG) {
		text_append(&writer->text, cell->flag ? "yes" : "no", cell->flag ? 3 : 2);
	} else if (column->unit == UNIT_TIME && column->type == COLUMN_UNSIGNED) {
		scale_time(cell->number, number, sizeof(number));
		text_append(&writer->text, number, strlen(number));
	} else if (writer->scaled && scale_value(column, cell, number, sizeof(number))) {
		text_append(&writer->text, number, strlen(number));
	} else if (column->type == COLUMN_REAL) {
		text_append(&writer->text, number, (size_t)snprintf(number, sizeof(number),
				fabs(cell->real) < 1e15 ? "%.3f" : "%.15g", cell->real));
	} else {
		append_exact(writer, column, cell);
	}
}

/* Pad the text from @start on, in column @i: blanks before a number, behind a text. */
static void align(struct writer *writer, size_t i, size_t start)
{
	bool last = i + 1 == writer->selection.shown_count;
	const struct column *column = shown(writer, i);
	size_t width = writer->heading[i].width;
	size_t has = text_characters(&writer->text, start);

	if (has >= width)
		return;
	if (column->type != COLUMN_TEXT && column->type != COLUMN_LIST)
		text_insert_blanks(&writer->text, start, width - has);
	else if (!last)
		text_insert_blanks(&writer->text, writer->text.len, width - has);
}

/* Has a terminal show what stands in the text from @start on in this way. */
static void color(struct writer *writer, size_t start, const char *way)
{
	static const char plain[] = "\033[m";
	size_t len = strlen(way), before = writer->text.len;

	text_insert_blanks(&writer->text, start, len);
	if (writer->text.len == before)
		return;
	memcpy(writer->text.bytes + start, way, len);
	text_append(&writer->text, plain, sizeof(plain) - 1);
}

/* Whether a table has the value in decimal, as it is: nearly all are so. */
static bool is_plain(const struct writer *writer, const struct column *column,
		     const struct cell *cell)
{
	return column->type == COLUMN_UNSIGNED && cell->present && !writer->scaled &&
	       column->unit != UNIT_TIME;
}

static void put_table_cell(struct writer *writer, size_t i, const struct cell *cell)
{
	const struct column *column = shown(writer, i);
	size_t start = writer->text.len;

	if (is_plain(writer, column, cell)) {
		text_append_right(&writer->text, cell->number, writer->heading[i].width);
		return;
	}
	append_readable(writer, column, cell);
	align(writer, i, start);
}

/* @cells: NULL for the heading. */
static void put_table(struct writer *writer, const struct cell *cells)
{
	static const char *const ways[TONE_COUNT] = {
		[TONE_PLAIN] = "", [TONE_GOOD] = "\033[32m", [TONE_HIGH] = "\033[33m",
		[TONE_BAD] = "\033[31m",
	};
	enum cell_tone tone;

	for (size_t i = 0; i < writer->selection.shown_count; i++) {
		size_t start;

		if (i)
			text_append(&writer->text, "  ", 2);
		start = writer->text.len;
		if (cells) {
			put_table_cell(writer, i, &cells[writer->selection.shown[i]]);
		} else {
			text_append(&writer->text, writer->heading[i].text, writer->heading[i].len);
			align(writer, i, start);
		}
		tone = cells ? cells[writer->selection.shown[i]].tone : TONE_PLAIN;
		if (writer->colors && tone != TONE_PLAIN)
			color(writer, start, ways[tone]);
	}
	if (writer->colors && !cells)
		color(writer, 0, "\033[1m");
	text_append(&writer->text, "\n", 1);
}

static void put_heading(struct writer *writer)
{
	writer->headed = true;
	if (writer->format == WRITER_TABLE) {
		put_table(writer, NULL);
	} else if (writer->format == WRITER_CSV) {
		for (size_t i = 0; i < writer->selection.shown_count; i++) {
			if (i)
				text_append(&writer->text, ",", 1);
			text_append(&writer->text, writer->heading[i].text, writer->heading[i].len);
		}
		text_append(&writer->text, "\n", 1);
	}
}

static int write_text(struct writer *writer)
{
	if (writer->text.failed)
		return -ENOMEM;
	errno = 0;
	if (fwrite(writer->text.bytes, 1, writer->text.len, writer->out) != writer->text.len)
		return errno ? -errno : -EIO;
	return 0;
}

int writer_put(struct writer *writer, const struct cell *cells)
{
	text_clear(&writer->text);
	if (!writer->headed)
		put_heading(writer);
	if (writer->format == WRITER_TABLE)
		put_table(writer, cells);
	else if (writer->format == WRITER_JSON)
		put_json(writer, cells);
	else
		put_csv(writer, cells);
	return write_text(writer);
}

int writer_flush(struct writer *writer)
{
	int ret = 0;

	if (!writer->headed) {
		text_clear(&writer->text);
		put_heading(writer);
		if (writer->text.len || writer->text.failed)
			ret = write_text(writer);
	}
	errno = 0;
	if (fflush(writer->out) && !ret)
		ret = errno ? -errno : -EIO;
	return ret;
}
