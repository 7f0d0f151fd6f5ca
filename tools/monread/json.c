/* SPDX-License-Identifier: MIT */
/* monread: items as JSON lines (docs/monread-schema.json). */
#include "monread.h"

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

static json_t *value_json(const struct monrec_record *record, const struct monrec_field *field)
{
	static char hex[HEX_TEXT_SIZE], text[HEX_TEXT_SIZE];
	uint64_t number;
	int64_t integer;

	switch ((enum monrec_type)field->type) {
	case MONREC_TEXT:
		if (monrec_text(record, field, text, sizeof(text)) == 0)
			return json_string(text);
		break;
	case MONREC_SIGNED:
		if (monrec_signed(record, field, &integer) == 0)
			return json_integer(integer);
		break;
	case MONREC_UNSIGNED:
		/* Of 8 bytes: exact in every program only as text. */
		if (field->len == 8)
			return json_string(hex_text(record, field, hex));
		if (monrec_unsigned(record, field, &number) == 0)
			return json_integer((json_int_t)number);
		break;
	case MONREC_TOD:
	case MONREC_DURATION:
	case MONREC_BITS:
	case MONREC_BYTES:
		return json_string(hex_text(record, field, hex));
	}
	return json_null();
}

static json_t *fields_json(const struct monrec_record *record)
{
	const struct monrec_layout *layout = layout_of(record);
	json_t *fields = json_object();

	for (unsigned int i = 0; layout && i < layout->field_count; i++)
		if (field_there(record, &layout->fields[i]))
			json_object_set_new(fields, layout->fields[i].name,
					    value_json(record, &layout->fields[i]));
	return fields;
}

static json_t *application_value_json(const struct monrec_value *value)
{
	static char text[2 * MONREC_FRAME_SIZE];
	size_t at = 0;

	switch (value->type) {
	case MONREC_VALUE_SIGNED:
		return json_integer((int64_t)value->number);
	case MONREC_VALUE_TOD:
		return json_string(tod_text(value->number, text));
	case MONREC_VALUE_TEXT:
		for (; at < value->text_len && at < sizeof(text); at++)
			text[at] = value->text[at] >= 0x20 && value->text[at] < 0x7f ?
					   value->text[at] : '.';
		return json_stringn(text, at);
	case MONREC_VALUE_UNSIGNED:
	case MONREC_VALUE_EPOCH:
		break;
	}
	/* Exact, where an integer has 64 bits; what has more than 63 is text. */
	if (value->number <= INT64_MAX)
		return json_integer((json_int_t)value->number);
	snprintf(text, sizeof(text), "%" PRIu64, value->number);
	return json_string(text);
}

/* NULL: no application data. */
static json_t *application_json(const struct monrec_record *record)
{
	struct monrec_application application;
	struct monrec_value value;
	json_t *values;

	if (monrec_application_begin(record, &application) != 0)
		return NULL;
	values = json_object();
	while (monrec_application_next(&application, &value))
		json_object_set_new(values, value.name, application_value_json(&value));
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:I, s:s*, s:o}", "product",
			 application.product, "function", application.function, "record",
			 application.number, "version", application.version, "release",
			 application.release, "modification", application.modification, "length",
			 (json_int_t)application.len, "name", application.name, "values", values);
}

static void add_record(const struct show *show, json_t *line, const struct monrec_record *record)
{
	const struct monrec_layout *layout = layout_of(record);
	char tod[TOD_TEXT_SIZE];

	json_object_set_new(line, "domain", json_integer(record->domain));
	json_object_set_new(line, "number", json_integer(record->number));
	if (layout)
		json_object_set_new(line, "name", json_string(layout->name));
	json_object_set_new(line, "length", json_integer(record->len));
	json_object_set_new(line, "time", json_string(tod_text(record->tod, tod)));
	if (!show->values)
		return;
	json_object_set_new(line, "fields", fields_json(record));
	if (record->domain == 10)
		json_object_set_new(line, "application", application_json(record));
}

static void add_element(json_t *line, const struct monrec_element *element)
{
	json_t *domains = json_array();
	char type[TYPE_TEXT_SIZE];
	unsigned int domain = 0;

	for (unsigned int bit = 0x8000; bit; bit >>= 1, domain++)
		if (element->domains & bit)
			json_array_append_new(domains, json_integer(domain));
	json_object_set_new(line, "type", json_string(type_text(element->type, type)));
	json_object_set_new(line, "domains", domains);
	json_object_set_new(line, "start", json_integer(element->start));
	json_object_set_new(line, "end", json_integer(element->end));
}

static void add_violation(json_t *line, const struct monrec_item *item)
{
	char text[256];

	json_object_set_new(line, "rule", json_string(monrec_rule_name(item->rule)));
	json_object_set_new(line, "text", json_string(monrec_describe(item, text, sizeof(text))));
}

static const char *kind_name(enum monrec_item_kind kind)
{
	switch (kind) {
	case MONREC_SET:
		return "set";
	case MONREC_ELEMENT:
		return "element";
	case MONREC_RECORD:
		return "record";
	case MONREC_SET_END:
		return "complete";
	case MONREC_SET_LOST:
		return "lost";
	case MONREC_OVERFLOW:
		return "overflow";
	case MONREC_VIOLATION:
		return "violation";
	default:
		return NULL;
	}
}

static void add_place(json_t *line, const struct monrec_place *at)
{
	json_object_set_new(line, "set", json_integer((json_int_t)at->set));
	json_object_set_new(line, "offset", json_integer((json_int_t)at->offset));
	if (at->element)
		json_object_set_new(line, "element", json_integer(at->element));
	if (at->record)
		json_object_set_new(line, "record", json_integer(at->record));
}

int json_item(const struct show *show, const struct monrec_item *item)
{
	const char *kind = kind_name(item->kind);
	json_t *line;
	int ret;

	if (!kind)
		return 0;
	line = json_object();
	json_object_set_new(line, "item", json_string(kind));
	add_place(line, &item->at);
	if (item->kind == MONREC_ELEMENT)
		add_element(line, &item->element);
	else if (item->kind == MONREC_RECORD)
		add_record(show, line, &item->record);
	else if (item->kind == MONREC_VIOLATION)
		add_violation(line, item);
	else if (item->kind == MONREC_SET_LOST && item->error)
		json_object_set_new(line, "error", json_string(strerror(item->error)));
	ret = json_dumpf(line, show->out, JSON_COMPACT);
	json_decref(line);
	return ret || fputc('\n', show->out) == EOF ? -1 : 0;
}
