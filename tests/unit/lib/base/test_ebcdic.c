/* SPDX-License-Identifier: MIT */
#include "ebcdic.h"
#include "unit_test.h"

TEST(known_characters)
{
	static const struct { char c; uint8_t ebcdic; } pair[] = {
		{ ' ', 0x40 }, { 'A', 0xc1 }, { 'I', 0xc9 }, { 'J', 0xd1 }, { 'S', 0xe2 },
		{ 'Z', 0xe9 }, { 'a', 0x81 }, { 'z', 0xa9 }, { '0', 0xf0 }, { '9', 0xf9 },
		{ '/', 0x61 }, { '*', 0x5c }, { '=', 0x7e }, { '@', 0x7c }, { '#', 0x7b },
		{ '$', 0x5b }, { '_', 0x6d }, { '^', 0xb0 }, { '[', 0xba }, { ']', 0xbb },
		{ '\n', 0x15 }, { '\0', 0x00 },
	};

	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		ck_assert_uint_eq(ebcdic_from_latin1((uint8_t)pair[i].c), pair[i].ebcdic);
		ck_assert_uint_eq(ebcdic_to_latin1(pair[i].ebcdic), (uint8_t)pair[i].c);
	}
	ck_assert_uint_eq(ebcdic_to_latin1(0x25), 0x85);
}

TEST(every_byte_survives_the_round_trip)
{
	for (unsigned int c = 0; c < 256; c++)
		ck_assert_uint_eq(ebcdic_to_latin1(ebcdic_from_latin1((uint8_t)c)), c);
}

TEST(texts)
{
	static const uint8_t image[4] = { 0xa9, 0x61, 0xe5, 0xd4 };
	uint8_t ebcdic[4];
	char text[5] = "";

	ebcdic_encode(ebcdic, "z/VM", 4);
	ck_assert_mem_eq(ebcdic, image, 4);
	ebcdic_decode(text, image, 4);
	ck_assert_str_eq(text, "z/VM");
}

TEST(names)
{
	static const uint8_t mondcss[8] = { 0xd4, 0xd6, 0xd5, 0xc4, 0xc3, 0xe2, 0xe2, 0x40 };
	static const uint8_t zeros[8] = { 0xc1, 0x40, 0xc2, 0, 0x40, 0, 0, 0 };
	uint8_t field[8];
	char name[9];

	ebcdic_name(field, "mondcss");
	ck_assert_mem_eq(field, mondcss, 8);
	ebcdic_to_name(name, field);
	ck_assert_str_eq(name, "MONDCSS");
	ebcdic_name(field, "longer than eight");
	ebcdic_to_name(name, field);
	ck_assert_str_eq(name, "LONGER T");
	ebcdic_name(field, "");
	ebcdic_to_name(name, field);
	ck_assert_str_eq(name, "");
	ebcdic_to_name(name, zeros);
	ck_assert_str_eq(name, "A B");
}
