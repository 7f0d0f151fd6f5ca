/* SPDX-License-Identifier: MIT */
/* monread: items as lines of text. */
#include "monread.h"

#include <inttypes.h>
#include <string.h>

static void print_domains(FILE *out, uint16_t domains)
{
	unsigned int domain = 0;

	for (unsigned int bit = 0x8000; bit; bit >>= 1, domain++) {
		const char *name = monrec_domain_name(domain);

		if (!(domains & bit))
			continue;
		if (name)
			fprintf(out, " %s", name);
		else
			fprintf(out, " %u", domain);
	}
}

static void print_element(FILE *out, const struct monrec_item *item)
{
	const struct monrec_element *element = &item->element;
	char type[TYPE_TEXT_SIZE];

	fprintf(out, "  element %" PRIu32 ": %s, %08" PRIX32 "-%08" PRIX32 ",", item->at.element,
		type_text(element->type, type), element->start, element->end);
	print_domains(out, element->domains);
	fputc('\n', out);
}

static void print_value(FILE *out, const struct monrec_record *record,
			const struct monrec_field *field)
{
	const char *text = value_text(record, field);

	if (field->type == MONREC_TEXT)
		fprintf(out, "'%s'", text);
	else if (field->type == MONREC_BITS || field->type == MONREC_BYTES)
		fprintf(out, "X'%s'", text);
	else
		fputs(text, out);
}

/* Bytes that are no printable ASCII as dots. */
static void print_ascii(FILE *out, const char *text, uint32_t len)
{
	fputc('\'', out);
	for (uint32_t i = 0; i < len; i++)
		fputc(text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '.', out);
	fputc('\'', out);
}

static void print_application_value(FILE *out, const struct monrec_value *value)
{
	char tod[TOD_TEXT_SIZE];

	fprintf(out, "        %-14s ", value->name);
	switch (value->type) {
	case MONREC_VALUE_UNSIGNED:
	case MONREC_VALUE_EPOCH:
		fprintf(out, "%" PRIu64, value->number);
		break;
	case MONREC_VALUE_SIGNED:
		fprintf(out, "%" PRId64, (int64_t)value->number);
		break;
	case MONREC_VALUE_TEXT:
		print_ascii(out, value->text, value->text_len);
		break;
	case MONREC_VALUE_TOD:
		fputs(tod_text(value->number, tod), out);
		break;
	}
	fputc('\n', out);
}

static void print_application(FILE *out, const struct monrec_record *record)
{
	struct monrec_application application;
	struct monrec_value value;

	if (monrec_application_begin(record, &application) != 0)
		return;
	fprintf(out, "      application      %s %04X %u %04X %04X %04X, %" PRIu32 " bytes%s%s\n",
		application.product, application.function, application.number,
		application.version, application.release, application.modification,
		application.len, application.name ? ": " : "",
		application.name ? application.name : "");
	while (monrec_application_next(&application, &value))
		print_application_value(out, &value);
}

static void print_record(const struct show *show, const struct monrec_item *item)
{
	const struct monrec_record *record = &item->record;
	const struct monrec_layout *layout = layout_of(record);
	char tod[TOD_TEXT_SIZE];

	fprintf(show->out, "    D%uR%u %s, %" PRIu32 " bytes, %s\n", record->domain, record->number,
		layout ? layout->name : "-", record->len, tod_text(record->tod, tod));
	if (!show->values || !layout)
		return;
	if (!record->release)
		fputs("      its layout is not known in this length\n", show->out);
	for (unsigned int i = 0; i < layout->field_count; i++) {
		const struct monrec_field *field = &layout->fields[i];

		if (!field_there(record, field))
			continue;
		fprintf(show->out, "      %-16s ", field->name);
		print_value(show->out, record, field);
		if (field->unit > MONREC_UNIT_NONE)
			fprintf(show->out, " %s", monrec_unit_name(field->unit));
		fputc('\n', show->out);
	}
	print_application(show->out, record);
}

int text_item(const struct show *show, const struct monrec_item *item)
{
	char line[256];

	switch (item->kind) {
	case MONREC_SET:
		fprintf(show->out, "set %" PRIu64 "\n", item->at.set);
		break;
	case MONREC_ELEMENT:
		print_element(show->out, item);
		break;
	case MONREC_RECORD:
		print_record(show, item);
		break;
	case MONREC_SET_END:
		fprintf(show->out, "  complete\n");
		break;
	case MONREC_SET_LOST:
		fprintf(show->out, "  lost: %s\n",
			item->error ? strerror(item->error) : "the rest cannot be read");
		break;
	case MONREC_OVERFLOW:
		fprintf(show->out, "sets were lost: the message limit was reached\n");
		break;
	case MONREC_VIOLATION:
		fprintf(show->out, "%s\n", monrec_describe(item, line, sizeof(line)));
		break;
	default:
		break;
	}
	return ferror(show->out) ? -1 : 0;
}
