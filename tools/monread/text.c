/* SPDX-License-Identifier: MIT */
/* monread: items as lines of text. */
#include "monread.h"

#include <inttypes.h>
#include <string.h>

static void print_domains(FILE *out, uint16_t domains)
{
	for (unsigned int domain = 0; domain < 16; domain++) {
		const char *name = monrec_domain_name(domain);

		if (!(domains & 0x8000u >> domain))
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
	static char hex[HEX_TEXT_SIZE], text[HEX_TEXT_SIZE];
	char tod[TOD_TEXT_SIZE];
	uint64_t number = 0;
	int64_t integer = 0;

	switch ((enum monrec_type)field->type) {
	case MONREC_TEXT:
		if (monrec_text(record, field, text, sizeof(text)) == 0)
			fprintf(out, "'%s'", text);
		break;
	case MONREC_SIGNED:
		if (monrec_signed(record, field, &integer) == 0)
			fprintf(out, "%" PRId64, integer);
		break;
	case MONREC_TOD:
		if (monrec_unsigned(record, field, &number) == 0)
			fputs(tod_text(number, tod), out);
		break;
	case MONREC_UNSIGNED:
	case MONREC_DURATION:
		if (monrec_unsigned(record, field, &number) == 0)
			fprintf(out, "%" PRIu64, number);
		break;
	case MONREC_BITS:
	case MONREC_BYTES:
		fprintf(out, "X'%s'", hex_text(record, field, hex));
		break;
	}
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
	for (unsigned int i = 0; i < layout->field_count; i++) {
		const struct monrec_field *field = &layout->fields[i];

		if (!field_there(record, field, show->release))
			continue;
		fprintf(show->out, "      %-16s ", field->name);
		print_value(show->out, record, field);
		if (field->unit > MONREC_UNIT_NONE)
			fprintf(show->out, " %s", monrec_unit_name(field->unit));
		fputc('\n', show->out);
	}
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
			item->error ? strerror(item->error) : "it cannot be read on");
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
