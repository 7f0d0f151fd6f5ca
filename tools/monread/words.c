/* SPDX-License-Identifier: MIT */
/* monread: what text and JSON have in common. */
#include "monread.h"

#include <inttypes.h>
#include <time.h>

/* The TOD clock counts 4096 to a microsecond since 1900 (z/Architecture PoP). */
#define TOD_MICROSECOND 4096u
#define SECONDS_1900_TO_1970 INT64_C(2208988800)

const struct monrec_layout *layout_of(const struct monrec_record *record)
{
	return monrec_layout(record->domain, record->number);
}

bool field_there(const struct monrec_record *record, const struct monrec_field *field)
{
	return field->first <= record->release && record->release <= field->last &&
	       (uint32_t)field->offset + field->len <= record->len;
}

char *tod_text(uint64_t tod, char text[TOD_TEXT_SIZE])
{
	const uint64_t microseconds = tod / TOD_MICROSECOND;
	const time_t seconds = (time_t)(microseconds / 1000000) - SECONDS_1900_TO_1970;
	struct tm tm;
	size_t len;

	/* 1900 to 2042: every value is a date. */
	gmtime_r(&seconds, &tm);
	len = strftime(text, TOD_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, TOD_TEXT_SIZE - len, ".%06" PRIu64 "Z", microseconds % 1000000);
	return text;
}

char *hex_text(const struct monrec_record *record, const struct monrec_field *field,
	       char text[HEX_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	char *at = text;

	for (unsigned int i = 0; i < field->len; i++) {
		const uint8_t byte = record->data[field->offset + i];

		*at++ = digits[byte >> 4];
		*at++ = digits[byte & 15];
	}
	*at = '\0';
	return text;
}

const char *type_text(uint8_t type, char text[TYPE_TEXT_SIZE])
{
	if (type == MONREC_TYPE_SAMPLE)
		return "sample";
	if (type == MONREC_TYPE_EVENT)
		return "event";
	snprintf(text, TYPE_TEXT_SIZE, "X'%02X'", type);
	return text;
}

const char *value_text(const struct monrec_record *record, const struct monrec_field *field)
{
	static char text[HEX_TEXT_SIZE];
	uint64_t number;
	int64_t integer;

	text[0] = '\0';
	switch ((enum monrec_type)field->type) {
	case MONREC_TEXT:
		monrec_text(record, field, text, sizeof(text));
		break;
	case MONREC_SIGNED:
		if (monrec_signed(record, field, &integer) == 0)
			snprintf(text, sizeof(text), "%" PRId64, integer);
		break;
	case MONREC_TOD:
		if (monrec_unsigned(record, field, &number) == 0)
			tod_text(number, text);
		break;
	case MONREC_UNSIGNED:
	case MONREC_DURATION:
		if (monrec_unsigned(record, field, &number) == 0)
			snprintf(text, sizeof(text), "%" PRIu64, number);
		break;
	case MONREC_BITS:
	case MONREC_BYTES:
		hex_text(record, field, text);
		break;
	}
	return text;
}
