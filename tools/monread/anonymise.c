/* SPDX-License-Identifier: MIT */
#include "anonymise.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "monread.h"
#include "bytes.h"

#define BLANK 0x40	/* EBCDIC */
#define LONGEST_FIELD 64u

int anonymise_open(struct anonymiser *a, const char *name)
{
	FILE *file = fopen(name, "re");
	uint8_t key[ANONYMISE_KEY_SIZE];
	size_t got;
	int error;

	memset(a, 0, sizeof(*a));
	if (!file)
		return -errno;
	got = fread(key, 1, sizeof(key), file);
	error = ferror(file) ? errno : EINVAL;
	fclose(file);
	if (got < sizeof(key))
		return -error;
	a->key[0] = get_be64(key);
	a->key[1] = get_be64(key + 8);
	return 0;
}

/* What the key makes of a value of that kind; @part tells several such numbers apart. */
static uint64_t draw(const struct anonymiser *a, enum monrec_identity kind, unsigned int part,
		     const uint8_t *bytes, unsigned int len)
{
	uint8_t input[2 + LONGEST_FIELD];

	assert(len <= LONGEST_FIELD);
	input[0] = (uint8_t)kind;
	input[1] = (uint8_t)part;
	memcpy(input + 2, bytes, len);
	return siphash(a->key, input, (uint8_t)(2 + len));
}

static bool is_nothing(const uint8_t *bytes, unsigned int len)
{
	while (len-- > 0)
		if (bytes[len] != 0 && bytes[len] != BLANK)
			return false;
	return true;
}

/* U, V or N and as many letters and digits as there is room for, up to 8 in all.  @text is one. */
static void replace_text(const struct anonymiser *a, enum monrec_identity kind, uint8_t *text,
			 unsigned int len)
{
	/* EBCDIC: 0 to 9, A to I, J to R, S to Z. */
	static const uint8_t digits[36] = {
		0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xc1, 0xc2,
		0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5,
		0xd6, 0xd7, 0xd8, 0xd9, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9,
	};
	unsigned int used = len;
	uint64_t number;

	/* The same name is the same however wide its field is. */
	assert(!is_nothing(text, len));
	while (text[used - 1] == BLANK || text[used - 1] == 0)
		used--;
	number = draw(a, kind, 0, text, used);
	memset(text, BLANK, len);
	text[0] = kind == MONREC_ID_USER ? 0xe4 : kind == MONREC_ID_VOLUME ? 0xe5 : 0xd5;
	for (unsigned int i = 1; i < len && i < 8; i++, number /= 36)
		text[i] = digits[number % 36];
}

/* A permutation of all numbers of 16 bits: four rounds, each turns half of it by the other. */
static uint16_t permute(const struct anonymiser *a, uint16_t number)
{
	uint8_t left = (uint8_t)(number >> 8), right = (uint8_t)number;

	for (unsigned int round = 0; round < 4; round++) {
		const uint8_t turned = left ^ (uint8_t)draw(a, MONREC_ID_DEVICE, round, &right, 1);

		left = right;
		right = turned;
	}
	return (uint16_t)(left << 8 | right);
}

/* 0 is no device, and no device becomes 0. */
static void replace_number(const struct anonymiser *a, uint8_t *bytes)
{
	uint16_t number = get_be16(bytes);

	if (number == 0)
		return;
	do
		number = permute(a, number);
	while (number == 0);
	put_be16(bytes, number);
}

static void replace_bytes(const struct anonymiser *a, uint8_t *bytes, unsigned int len)
{
	uint8_t old[LONGEST_FIELD];

	assert(len <= LONGEST_FIELD);
	memcpy(old, bytes, len);
	for (unsigned int i = 0; i < len; i++)
		bytes[i] = (uint8_t)(draw(a, MONREC_ID_SERIAL, i / 8, old, len) >> i % 8 * 8);
}

static void replace_field(const struct anonymiser *a, const struct monrec_field *field,
			  uint8_t *bytes)
{
	const enum monrec_identity kind = monrec_identity(field);

	if (kind == MONREC_ID_DEVICE)
		replace_number(a, bytes);
	else if (kind == MONREC_ID_SUBCHANNEL)
		replace_number(a, bytes + 2);
	else if (kind == MONREC_ID_NONE || is_nothing(bytes, field->len))
		return;
	else if (kind == MONREC_ID_SERIAL)
		replace_bytes(a, bytes, field->len);
	else
		replace_text(a, kind, bytes, field->len);
}

/* NULL: what stands where is not known.  In a record of another length it may be elsewhere. */
static const struct monrec_layout *known_layout(const struct monrec_record *record)
{
	const struct monrec_layout *layout = layout_of(record);

	return layout && monrec_length_fits(layout, record->release, record->len) ? layout : NULL;
}

static void anonymise_record(struct anonymiser *a, struct monrec_record *record)
{
	const struct monrec_layout *layout = known_layout(record);
	const struct monrec_layout *header = monrec_header();
	uint8_t *to = a->frame + record->address % MONREC_FRAME_SIZE;

	assert(record->address % MONREC_FRAME_SIZE + record->len <= MONREC_FRAME_SIZE);
	memset(to, 0, record->len);
	for (unsigned int i = 0; i < header->field_count; i++)
		memcpy(to + header->fields[i].offset, record->data + header->fields[i].offset,
		       header->fields[i].len);
	for (unsigned int i = 0; layout && i < layout->field_count; i++) {
		const struct monrec_field *field = &layout->fields[i];

		if (!field_there(record, field))
			continue;
		memcpy(to + field->offset, record->data + field->offset, field->len);
		replace_field(a, field, to + field->offset);
	}
	record->data = to;
}

/* All of a frame is zeros but for what records put there. */
static void begin_frame(struct anonymiser *a, uint32_t address)
{
	const uint32_t number = address / MONREC_FRAME_SIZE;

	if (!a->in_frame || a->number != number)
		memset(a->frame, 0, sizeof(a->frame));
	a->in_frame = true;
	a->number = number;
}

void anonymise_item(struct anonymiser *a, struct monrec_item *item)
{
	switch (item->kind) {
	case MONREC_RECORD:
		begin_frame(a, item->record.address);
		anonymise_record(a, &item->record);
		break;
	case MONREC_FRAME:
		/* It may have no record. */
		begin_frame(a, item->record.address);
		item->record.data = a->frame + item->record.address % MONREC_FRAME_SIZE;
		a->in_frame = false;
		break;
	default:
		break;
	}
}
