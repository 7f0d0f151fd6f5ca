/* SPDX-License-Identifier: MIT */
/*
 * monread: records as CSV, a file for each type in a folder.
 *
 * D0R1-SYTSYP.csv and the like have a column for each field that the catalogue knows
 * in the release of the first record; what another record does not have is empty.
 * Records whose layout is not known are in unknown.csv, byte by byte: there are no more
 * files than layouts and this one, whatever the data say.
 */
#define _GNU_SOURCE /* asprintf() */
#include "sink.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keep.h"
#include "tool_text.h"

#define NUMBERS 256u	/* records of a domain; the catalogue has fewer */
#define MOST_FILES 512u	/* likewise, and unknown.csv */

struct csv_file {
	struct keep keep;
	char *name;
	unsigned int release;	/* whose fields are its columns */
	bool changed;		/* since the last mark */
};

struct csv {
	struct sink sink;
	const char *folder;
	unsigned int count;
	struct csv_file file[MOST_FILES];
	struct csv_file *known[MONREC_DOMAINS][NUMBERS], *unknown;
	struct text row;
};

static struct csv *csv_of(struct sink *sink)
{
	return (struct csv *)sink;
}

static void add_text(struct csv *c, const char *text)
{
	if (c->row.len)
		text_append(&c->row, ",", 1);
	text_append_csv(&c->row, text, strlen(text));
}

static int put_row(struct csv *c, struct csv_file *file)
{
	text_append(&c->row, "\n", 1);
	if (c->row.failed)
		return -ENOMEM;
	file->changed = true;
	return keep_write(&file->keep, c->row.bytes, c->row.len);
}

static bool is_column(const struct csv_file *file, const struct monrec_field *field)
{
	return field->first <= file->release && file->release <= field->last;
}

static struct csv_file *make_file(struct csv *c, const struct monrec_layout *layout,
				  unsigned int release, int *error)
{
	struct csv_file *file = &c->file[c->count];
	int len;

	assert(c->count < MOST_FILES);
	if (layout)
		len = asprintf(&file->name, "%s/D%uR%u-%s.csv", c->folder, layout->domain,
			       layout->number, layout->name);
	else
		len = asprintf(&file->name, "%s/unknown.csv", c->folder);
	*error = len < 0 ? -ENOMEM : keep_open(&file->keep, file->name, NULL, 0);
	file->release = release;
	c->count++;
	if (*error)
		return NULL;
	text_clear(&c->row);
	add_text(c, "set");
	add_text(c, "time");
	for (unsigned int i = 0; layout && i < layout->field_count; i++)
		if (is_column(file, &layout->fields[i]))
			add_text(c, layout->fields[i].name);
	if (!layout) {
		add_text(c, "domain");
		add_text(c, "record");
		add_text(c, "data");
	}
	/* The heading is not of any set. */
	*error = put_row(c, file);
	if (!*error)
		*error = keep_mark(&file->keep);
	return file;
}

/* The file for this type of record; with *@error it may be NULL. */
static struct csv_file *find_file(struct csv *c, const struct monrec_layout *layout,
				  unsigned int release, int *error)
{
	struct csv_file **place = &c->unknown;

	if (layout) {
		assert(layout->domain < MONREC_DOMAINS && layout->number < NUMBERS);
		place = &c->known[layout->domain][layout->number];
	}
	*error = 0;
	if (!*place)
		*place = make_file(c, layout, release, error);
	return *place;
}

static void add_fields(struct csv *c, const struct csv_file *file,
		       const struct monrec_record *record, const struct monrec_layout *layout)
{
	for (unsigned int i = 0; i < layout->field_count; i++) {
		const struct monrec_field *field = &layout->fields[i];

		if (is_column(file, field))
			add_text(c, field_there(record, field) ? value_text(record, field) : "");
	}
}

static void add_bytes(struct csv *c, const struct monrec_record *record)
{
	const struct monrec_field all = {
		.offset = MONREC_HEADER_SIZE, .len = (uint16_t)(record->len - MONREC_HEADER_SIZE),
		.type = MONREC_BYTES,
	};
	char number[16];

	snprintf(number, sizeof(number), "%u", record->domain);
	add_text(c, number);
	snprintf(number, sizeof(number), "%u", record->number);
	add_text(c, number);
	add_text(c, value_text(record, &all));
}

static int csv_item(struct sink *sink, const struct monrec_item *item)
{
	struct csv *c = csv_of(sink);
	const struct monrec_layout *layout;
	struct csv_file *file;
	char text[TOD_TEXT_SIZE];
	int error;

	if (item->kind != MONREC_RECORD)
		return 0;
	layout = item->record.release ? layout_of(&item->record) : NULL;
	file = find_file(c, layout, item->record.release, &error);
	if (error)
		return error;
	text_clear(&c->row);
	snprintf(text, sizeof(text), "%" PRIu64, item->at.set);
	add_text(c, text);
	add_text(c, tod_text(item->record.tod, text));
	if (layout)
		add_fields(c, file, &item->record, layout);
	else
		add_bytes(c, &item->record);
	return put_row(c, file);
}

static int csv_keep(struct sink *sink)
{
	struct csv *c = csv_of(sink);

	/* The set is in all files or in none. */
	for (unsigned int i = 0; i < c->count; i++) {
		const int ret = c->file[i].changed ? keep_flush(&c->file[i].keep) : 0;

		if (ret)
			return ret;
	}
	for (unsigned int i = 0; i < c->count; i++) {
		if (c->file[i].changed)
			keep_mark(&c->file[i].keep);
		c->file[i].changed = false;
	}
	return 0;
}

static int csv_drop(struct sink *sink)
{
	struct csv *c = csv_of(sink);
	int first = 0;

	for (unsigned int i = 0; i < c->count; i++) {
		const int ret = c->file[i].keep.file ? keep_back(&c->file[i].keep) : 0;

		first = first ? first : ret;
		c->file[i].changed = false;
	}
	return first;
}

static int csv_close(struct sink *sink)
{
	struct csv *c = csv_of(sink);
	int first = 0;

	for (unsigned int i = 0; i < c->count; i++) {
		const int ret = keep_close(&c->file[i].keep);

		first = first ? first : ret;
		free(c->file[i].name);
	}
	text_free(&c->row);
	free(c);
	return first;
}

struct sink *csv_sink(const char *name)
{
	static const struct sink_ops ops = { csv_item, csv_keep, csv_drop, csv_close, false };
	struct csv *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	if (mkdir(name, 0777) && errno != EEXIST) {
		const int error = errno;

		csv_close(&c->sink);
		errno = error;
		return NULL;
	}
	c->sink.ops = &ops;
	c->folder = name;
	return &c->sink;
}
