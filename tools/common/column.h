/* SPDX-License-Identifier: MIT */
/*
 * Columns of what a tool reports, and the values of a row.
 *
 * A tool has a constant array of columns.  A row is an array of cells, one for each column of
 * the array, whichever of them are shown: a cell belongs to the column of the same index.
 * A name is the key in JSON, the heading of table and CSV, and the word for --fields: lower
 * case, digits and '_', with its unit at the end ("cpu_delay_ns"), because neither JSON nor
 * CSV has another place for it.
 *
 *	static const struct column columns[] = {
 *		{ "pid", COLUMN_UNSIGNED, UNIT_NONE, 7, true, "task, as the kernel numbers it" },
 *		{ "comm", COLUMN_TEXT, UNIT_NONE, 15, true, "name of the program" },
 *	};
 */
#ifndef TOOLS_COLUMN_H
#define TOOLS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Columns that one tool may have. */
#define COLUMNS_MAX 256u

enum column_type {
	COLUMN_UNSIGNED,
	COLUMN_SIGNED,
	COLUMN_REAL,	/* not finite: shown as if absent */
	COLUMN_FLAG,	/* yes or no; true or false in JSON and CSV */
	COLUMN_TEXT,	/* any bytes */
	COLUMN_LIST,	/* unsigned numbers; joined by ':' but for JSON, which has an array */
};

/* The counted unit; for a table with scaled values, and for the schema. */
enum column_unit {
	UNIT_NONE,
	UNIT_TIME,	/* seconds since 1970-01-01 00:00 UTC */
	UNIT_S,
	UNIT_MS,
	UNIT_US,
	UNIT_NS,
	UNIT_BYTES,
	UNIT_KIB,
	UNIT_SECTORS,	/* 512 bytes */
	UNIT_PER_S,
	UNIT_BYTES_PER_S,
	UNIT_PERCENT,
	UNIT_COUNT
};

struct column {
	const char *name;
	enum column_type type;
	enum column_unit unit;
	unsigned int width;	/* least width in a table; the heading may make it wider */
	bool standard;		/* shown unless --fields says otherwise */
	const char *meaning;	/* a clause for --fields help and the schema */
};

/* Values that deserve attention, in tables with colors. */
enum cell_tone {
	TONE_PLAIN,
	TONE_GOOD,	/* green */
	TONE_HIGH,	/* yellow */
	TONE_BAD,	/* red */
	TONE_COUNT
};

struct cell {
	bool present;		/* false: not known; null in JSON, empty in CSV, "-" in a table */
	enum cell_tone tone;
	union {
		uint64_t number;
		int64_t integer;
		double real;
		bool flag;
		struct {
			const char *bytes;
			size_t len;
		} text;
		struct {
			const uint64_t *items;
			size_t count;
		} list;
	};
};

/* Cells of each type.  Text and lists are not copied: they must live until the row is written. */
static inline struct cell cell_unsigned(uint64_t number)
{
	return (struct cell){ .present = true, .number = number };
}

static inline struct cell cell_signed(int64_t integer)
{
	return (struct cell){ .present = true, .integer = integer };
}

static inline struct cell cell_real(double real)
{
	return (struct cell){ .present = true, .real = real };
}

static inline struct cell cell_flag(bool flag)
{
	return (struct cell){ .present = true, .flag = flag };
}

static inline struct cell cell_text(const char *bytes, size_t len)
{
	return (struct cell){ .present = true, .text = { bytes, len } };
}

static inline struct cell cell_list(const uint64_t *items, size_t count)
{
	return (struct cell){ .present = true, .list = { items, count } };
}

static inline struct cell cell_absent(void)
{
	return (struct cell){ .present = false };
}

/* The same cell, to be looked at. */
static inline struct cell cell_toned(struct cell cell, enum cell_tone tone)
{
	cell.tone = tone;
	return cell;
}

/* A text to be looked at. */
static inline struct cell cell_text_toned(const char *bytes, size_t len, enum cell_tone tone)
{
	return (struct cell){ .present = true, .tone = tone, .text = { bytes, len } };
}

/* The columns of a tool, and which of them are shown in which order. */
struct selection {
	const struct column *columns;
	size_t count;			/* of columns; at most COLUMNS_MAX */
	size_t shown[COLUMNS_MAX];	/* indices into columns, none twice */
	size_t shown_count;		/* 1 at least */
};

/* Selects the standard columns.  @count: 1 to COLUMNS_MAX, one of them standard at least. */
void selection_standard(struct selection *selection, const struct column *columns, size_t count);

/*
 * Shows that column, too, if it is not shown already: in front of the first one shown that comes
 * after it among the columns.
 */
void selection_show(struct selection *selection, size_t column);

/* Is that column shown? */
bool selection_shows(const struct selection *selection, size_t column);

/*
 * Selects what @fields says: names parted by commas, in that order; "all"; a list that begins
 * with '+' comes after the standard columns.
 * Return: true; false with a sentence in @error (no line break) and @selection unchanged.
 */
bool selection_parse(struct selection *selection, const char *fields, char *error, size_t size);

/* Index of the column of this name; @count if there is none. */
size_t column_find(const struct column *columns, size_t count, const char *name, size_t len);

/* "ns", "bytes" …; "" for UNIT_NONE. */
const char *column_unit_name(enum column_unit unit);

/* Print --fields help: a line for each column. */
void columns_list(FILE *out, const struct column *columns, size_t count);

/*
 * Writes the JSON schema (draft 2020-12) of a line with all columns.  @title: one line.
 * Return: 0 or -errno.
 */
int columns_schema(FILE *out, const char *title, const struct column *columns, size_t count);

#endif
