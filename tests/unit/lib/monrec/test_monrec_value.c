/* SPDX-License-Identifier: MIT */
/* libmonrec: values of fields, and reading from a file descriptor. */
#include "fixture.h"

#include <errno.h>
#include <unistd.h>

#include "monrec.h"

static uint8_t data[64];
static struct monrec_record record = { .data = data, .len = sizeof(data) };

static void setup(void)
{
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(0x80 + i);
	record.len = sizeof(data);
}

CASE("value", setup, NULL);

static struct monrec_field field(unsigned int type, unsigned int offset, unsigned int len)
{
	return (struct monrec_field){
		.name = "TEST", .type = (uint8_t)type, .offset = (uint16_t)offset,
		.len = (uint16_t)len,
	};
}

static int get_unsigned(unsigned int type, unsigned int offset, unsigned int len, uint64_t *value)
{
	const struct monrec_field f = field(type, offset, len);

	*value = 0;
	return monrec_unsigned(&record, &f, value);
}

static int get_signed(unsigned int type, unsigned int offset, unsigned int len, int64_t *value)
{
	const struct monrec_field f = field(type, offset, len);

	*value = 0;
	return monrec_signed(&record, &f, value);
}

TEST(unsigned_values)
{
	uint64_t value;

	ck_assert_int_eq(get_unsigned(MONREC_UNSIGNED, 20, 1, &value), 0);
	ck_assert_uint_eq(value, 0x94);
	ck_assert_int_eq(get_unsigned(MONREC_UNSIGNED, 21, 2, &value), 0);
	ck_assert_uint_eq(value, 0x9596);
	ck_assert_int_eq(get_unsigned(MONREC_BITS, 20, 4, &value), 0);
	ck_assert_uint_eq(value, 0x94959697);
	ck_assert_int_eq(get_unsigned(MONREC_BYTES, 20, 3, &value), 0);
	ck_assert_uint_eq(value, 0x949596);
	ck_assert_int_eq(get_unsigned(MONREC_TOD, 56, 8, &value), 0);
	ck_assert_uint_eq(value, UINT64_C(0xb8b9babbbcbdbebf));
	ck_assert_int_eq(get_unsigned(MONREC_DURATION, 56, 8, &value), 0);
	ck_assert_int_eq(get_unsigned(MONREC_SIGNED, 20, 4, &value), MONREC_MISMATCH);
	ck_assert_int_eq(get_unsigned(MONREC_TEXT, 20, 8, &value), MONREC_MISMATCH);
	ck_assert_int_eq(get_unsigned(MONREC_BYTES, 20, 9, &value), MONREC_MISMATCH);
}

TEST(signed_values)
{
	int64_t value;

	ck_assert_int_eq(get_signed(MONREC_SIGNED, 20, 1, &value), 0);
	ck_assert_int_eq(value, -0x6c);
	ck_assert_int_eq(get_signed(MONREC_SIGNED, 20, 2, &value), 0);
	ck_assert_int_eq(value, (int16_t)0x9495);
	ck_assert_int_eq(get_signed(MONREC_SIGNED, 20, 8, &value), 0);
	ck_assert_int_eq(value, (int64_t)UINT64_C(0x9495969798999a9b));
	data[20] = 0x7f;
	ck_assert_int_eq(get_signed(MONREC_SIGNED, 20, 2, &value), 0);
	ck_assert_int_eq(value, 0x7f95);
	ck_assert_int_eq(get_signed(MONREC_UNSIGNED, 21, 2, &value), 0);
	ck_assert_int_eq(value, 0x9596);
	ck_assert_int_eq(get_signed(MONREC_UNSIGNED, 20, 8, &value), 0);
	ck_assert_int_eq(value, INT64_C(0x7f95969798999a9b));
	ck_assert_int_eq(get_signed(MONREC_UNSIGNED, 21, 8, &value), MONREC_MISMATCH);
	/* The largest that an unsigned field may have, and one more. */
	memset(data + 21, 0xff, 7);
	ck_assert_int_eq(get_signed(MONREC_UNSIGNED, 20, 8, &value), 0);
	ck_assert(value == INT64_MAX);
	memset(data + 20, 0, 8);
	data[20] = 0x80;
	ck_assert_int_eq(get_signed(MONREC_UNSIGNED, 20, 8, &value), MONREC_MISMATCH);
	ck_assert_int_eq(get_signed(MONREC_TEXT, 20, 4, &value), MONREC_MISMATCH);
	ck_assert_int_eq(get_signed(MONREC_BYTES, 20, 9, &value), MONREC_MISMATCH);
}

/* A field that the record is too short for, by a byte or altogether. */
TEST(absent)
{
	const struct monrec_field text = field(MONREC_TEXT, 20, 8);
	char buffer[17];
	uint64_t value;
	int64_t number;

	record.len = 27;
	ck_assert_int_eq(get_unsigned(MONREC_UNSIGNED, 24, 4, &value), MONREC_ABSENT);
	ck_assert_int_eq(get_unsigned(MONREC_UNSIGNED, 23, 4, &value), 0);
	ck_assert_int_eq(get_unsigned(MONREC_UNSIGNED, 65535, 8, &value), MONREC_ABSENT);
	ck_assert_int_eq(get_signed(MONREC_SIGNED, 24, 4, &number), MONREC_ABSENT);
	ck_assert_int_eq(monrec_text(&record, &text, buffer, sizeof(buffer)), MONREC_ABSENT);
	record.len = 28;
	ck_assert_int_eq(monrec_text(&record, &text, buffer, sizeof(buffer)), 0);
}

TEST(text)
{
	const struct monrec_field name = field(MONREC_TEXT, 20, 8);
	const struct monrec_field number = field(MONREC_BYTES, 20, 8);
	char buffer[17];

	ebcdic_name(data + 20, "linux001");
	ck_assert_int_eq(monrec_text(&record, &name, buffer, sizeof(buffer)), 0);
	ck_assert_str_eq(buffer, "LINUX001");
	ebcdic_name(data + 20, "VM");
	data[26] = 0;
	data[27] = 0;
	ck_assert_int_eq(monrec_text(&record, &name, buffer, sizeof(buffer)), 0);
	ck_assert_str_eq(buffer, "VM");
	memset(data + 20, 0x40, 8);
	ck_assert_int_eq(monrec_text(&record, &name, buffer, sizeof(buffer)), 0);
	ck_assert_str_eq(buffer, "");
	/* Not printable; not ASCII, one of them the last byte. */
	memcpy(data + 20, "\xc1\x00\x15\xff\x40\x4a\x40\x59", 8);
	ck_assert_int_eq(monrec_text(&record, &name, buffer, sizeof(buffer)), 0);
	ck_assert_str_eq(buffer, "A... ¢ ß");
	/* The first and the last that can be printed, and those beside them: 7f, 80, 9f, a0. */
	memcpy(data + 20, "\x07\x20\xff\x41\xa1\x4b\x40\x81", 8);
	ck_assert_int_eq(monrec_text(&record, &name, buffer, sizeof(buffer)), 0);
	ck_assert_str_eq(buffer, "...\xc2\xa0~. a");
	memset(data + 20, 0x59, 8);
	ck_assert_int_eq(monrec_text(&record, &name, buffer, sizeof(buffer)), 0);
	ck_assert_str_eq(buffer, "ßßßßßßßß");
	ck_assert_int_eq(monrec_text(&record, &name, buffer, 16), MONREC_MISMATCH);
	ck_assert_int_eq(monrec_text(&record, &number, buffer, sizeof(buffer)), MONREC_MISMATCH);
}

TEST(file_descriptor)
{
	char buffer[8];
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "abc", 3), 3);
	ck_assert_int_eq(monrec_read_fd(&ends[0], buffer, sizeof(buffer)), 3);
	ck_assert_mem_eq(buffer, "abc", 3);
	close(ends[1]);
	ck_assert_int_eq(monrec_read_fd(&ends[0], buffer, sizeof(buffer)), 0);
	close(ends[0]);
	ck_assert_int_eq(monrec_read_fd(&ends[0], buffer, sizeof(buffer)), -EBADF);
}
