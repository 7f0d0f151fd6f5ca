/* SPDX-License-Identifier: MIT */
#include "column.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <libintl.h>
#include <string.h>

#include "translate.h"

#define SCHEMA_DIALECT "https://json-schema.org/draft/2020-12/schema"

const char *column_unit_name(enum column_unit unit)
{
	static const char *const names[UNIT_COUNT] = {
		[UNIT_NONE] = "", [UNIT_TIME] = N_("s since 1970"), [UNIT_S] = "s", [UNIT_MS] = "ms",
		[UNIT_US] = "us", [UNIT_NS] = "ns", [UNIT_BYTES] = "bytes", [UNIT_KIB] = "KiB",
		[UNIT_SECTORS] = N_("sectors of 512 bytes"), [UNIT_PER_S] = "1/s",
		[UNIT_BYTES_PER_S] = "bytes/s", [UNIT_PERCENT] = "%",
	};

	assert(unit < UNIT_COUNT);
	return names[unit];
}

size_t column_find(const struct column *columns, size_t count, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(columns[i].name) == len && memcmp(columns[i].name, name, len) == 0)
			break;
	return i;
}

bool selection_shows(const struct selection *selection, size_t column)
{
	for (size_t i = 0; i < selection->shown_count; i++)
		if (selection->shown[i] == column)
			return true;
	return false;
}

static void show(struct selection *selection, size_t column)
{
	assert(selection->shown_count < COLUMNS_MAX && !selection_shows(selection, column));
	selection->shown[selection->shown_count++] = column;
}

void selection_standard(struct selection *selection, const struct column *columns, size_t count)
{
	assert(count >= 1 && count <= COLUMNS_MAX);
	*selection = (struct selection){ .columns = columns, .count = count };
	for (size_t i = 0; i < count; i++)
		if (columns[i].standard)
			show(selection, i);
	assert(selection->shown_count > 0);
}

void selection_show(struct selection *selection, size_t column)
{
	size_t at = 0;

	assert(column < selection->count);
	if (selection_shows(selection, column))
		return;
	while (at < selection->shown_count && selection->shown[at] < column)
		at++;
	show(selection, column);
	memmove(&selection->shown[at + 1], &selection->shown[at],
		(selection->shown_count - 1 - at) * sizeof(selection->shown[0]));
	selection->shown[at] = column;
}

bool selection_parse(struct selection *selection, const char *fields, char *error, size_t size)
{
	struct selection made = { .columns = selection->columns, .count = selection->count };
	const char *word = fields;

	if (strcmp(fields, "all") == 0) {
		for (size_t i = 0; i < made.count; i++)
			show(&made, i);
		*selection = made;
		return true;
	}
	if (*word == '+') {
		selection_standard(&made, selection->columns, selection->count);
		word++;
	}
	for (;;) {
		size_t len = strcspn(word, ",");
		size_t column = column_find(made.columns, made.count, word, len);

		if (column == made.count) {
			snprintf(error, size, "there is no field '%.*s'; --fields help lists them",
				 (int)(len < 64 ? len : 64), word);
			return false;
		}
		if (selection_shows(&made, column)) {
			snprintf(error, size, "the field %s is selected twice; name it once",
				 made.columns[column].name);
			return false;
		}
		show(&made, column);
		if (word[len] == '\0')
			break;
		word += len + 1;
	}
	*selection = made;
	return true;
}

void columns_list(FILE *out, const struct column *columns, size_t count)
{
	int widest = 0;

	translate_help();
	for (size_t i = 0; i < count; i++)
		if ((int)strlen(columns[i].name) > widest)
			widest = (int)strlen(columns[i].name);
	for (size_t i = 0; i < count; i++) {
		const char *unit = column_unit_name(columns[i].unit);

		fprintf(out, "%c %-*s  %s%s%s%s\n", columns[i].standard ? '*' : ' ', widest,
			columns[i].name, gettext(columns[i].meaning), *unit ? " (" : "",
			*unit ? gettext(unit) : "", *unit ? ")" : "");
	}
	fputs(gettext("* shown unless --fields says otherwise\n"), out);
}

/* Every value may be null: a row has what was known.  Return: NULL without memory. */
static json_t *property(const struct column *column)
{
	static const char *const types[] = {
		[COLUMN_UNSIGNED] = "integer", [COLUMN_SIGNED] = "integer",
		[COLUMN_REAL] = "number", [COLUMN_FLAG] = "boolean", [COLUMN_TEXT] = "string",
		[COLUMN_LIST] = "array",
	};
	json_t *made = json_pack("{s:[ss], s:s}", "type", types[column->type], "null",
				 "description", column->meaning);

	int error = 0;

	if (column->type == COLUMN_UNSIGNED)
		error |= json_object_set_new(made, "minimum", json_integer(0));
	if (column->type == COLUMN_LIST)
		error |= json_object_set_new(made, "items", json_pack("{s:s, s:i}", "type",
								      "integer", "minimum", 0));
	if (column->unit != UNIT_NONE)
		error |= json_object_set_new(made, "unit",
					     json_string(column_unit_name(column->unit)));
	if (!error)
		return made;
	json_decref(made);
	return NULL;
}

int columns_schema(FILE *out, const char *title, const struct column *columns, size_t count)
{
	json_t *properties = json_object();
	json_t *schema;
	int ret = 0;

	/* jansson takes NULL for an error, and frees what it does not take. */
	for (size_t i = 0; i < count; i++)
		ret |= json_object_set_new(properties, columns[i].name, property(&columns[i]));
	ret |= json_object_set_new(properties, "escaped",
				   json_pack("{s:s, s:s, s:{s:s}}", "type", "array", "description",
					     "names of the members whose text was not UTF-8: in "
					     "these, an invalid byte is \\xNN and a backslash "
					     "is \\\\", "items", "type", "string"));
	schema = json_pack("{s:s, s:s, s:s, s:o, s:b}", "$schema", SCHEMA_DIALECT, "title", title,
			   "type", "object", "properties", properties, "additionalProperties", 0);
	if (ret || !schema) {
		json_decref(schema);
		return -ENOMEM;
	}
	errno = 0;
	ret = json_dumpf(schema, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	json_decref(schema);
	if (ret || fputc('\n', out) == EOF)
		return errno ? -errno : -EIO;
	return 0;
}
