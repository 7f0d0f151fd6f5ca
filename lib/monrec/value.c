/* SPDX-License-Identifier: MIT */
/* libmonrec: values of fields. */
#include "monrec_private.h"

#include "ebcdic.h"

/* The field's bytes; NULL if the record has not all of them. */
static const uint8_t *bytes(const struct monrec_record *record, const struct monrec_field *field)
{
	if ((uint32_t)field->offset + field->len > record->len)
		return NULL;
	return record->data + field->offset;
}

static uint64_t number(const uint8_t *at, unsigned int len)
{
	uint64_t value = 0;

	while (len-- > 0)
		value = value << 8 | *at++;
	return value;
}

int monrec_unsigned(const struct monrec_record *record, const struct monrec_field *field,
		    uint64_t *value)
{
	const uint8_t *at = bytes(record, field);

	if (field->type == MONREC_SIGNED || field->type == MONREC_TEXT || field->len > 8)
		return MONREC_MISMATCH;
	if (!at)
		return MONREC_ABSENT;
	*value = number(at, field->len);
	return 0;
}

int monrec_signed(const struct monrec_record *record, const struct monrec_field *field,
		  int64_t *value)
{
	const uint8_t *at = bytes(record, field);
	const unsigned int unused = 64 - 8u * field->len;
	uint64_t raw;

	if (field->type == MONREC_TEXT || field->len > 8)
		return MONREC_MISMATCH;
	if (!at)
		return MONREC_ABSENT;
	raw = number(at, field->len);
	if (field->type == MONREC_SIGNED) {
		*value = (int64_t)(raw << unused) >> unused;
		return 0;
	}
	if (raw > INT64_MAX)
		return MONREC_MISMATCH;
	*value = (int64_t)raw;
	return 0;
}

static bool printable(uint8_t c)
{
	return (c >= 0x20 && c < 0x7f) || c >= 0xa0;
}

int monrec_text(const struct monrec_record *record, const struct monrec_field *field,
		char *buffer, size_t size)
{
	const uint8_t *at = bytes(record, field);
	unsigned int len = field->len;

	if (field->type != MONREC_TEXT || size < 2u * len + 1)
		return MONREC_MISMATCH;
	if (!at)
		return MONREC_ABSENT;
	while (len > 0 && (at[len - 1] == 0 || ebcdic_to_latin1(at[len - 1]) == ' '))
		len--;
	for (; len > 0; len--) {
		uint8_t c = ebcdic_to_latin1(*at++);

		if (!printable(c))
			c = '.';
		if (c >= 0x80) {
			*buffer++ = (char)(0xc0 | c >> 6);
			c = 0x80 | (c & 0x3f);
		}
		*buffer++ = (char)c;
	}
	*buffer = '\0';
	return 0;
}
