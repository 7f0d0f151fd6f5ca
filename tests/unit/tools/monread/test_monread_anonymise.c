/* SPDX-License-Identifier: MIT */
/*
 * monread: records without names, byte by byte.
 *
 * What replaces a name is computed here once more, from SipHash: that one is held to its paper
 * in test_monread_output.
 */
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "anonymise.h"
#include "bytes.h"
#include "ebcdic.h"

#define FRAME 0x9001000u

static struct anonymiser anonymiser;
static uint8_t given[MONREC_FRAME_SIZE], wanted[MONREC_FRAME_SIZE];
static struct monrec_item item;
static const uint8_t key_bytes[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
static const uint64_t key[2] = { UINT64_C(0x0001020304050607), UINT64_C(0x08090a0b0c0d0e0f) };

static void start(void)
{
	memset(&anonymiser, 0, sizeof(anonymiser));
	anonymiser.key[0] = key[0];
	anonymiser.key[1] = key[1];
}

CASE("monread anonymise", start, NULL);

/* A record in which no byte is zero, and what it is without names: so far its header. */
static void record(unsigned int domain, unsigned int number, uint32_t len, uint32_t address)
{
	for (uint32_t i = 0; i < len; i++)
		given[i] = (uint8_t)(i | 0x81);
	memset(wanted, 0, sizeof(wanted));
	memcpy(wanted, given, 16);
	/* All of the header is explained but for this byte and the last four. */
	wanted[5] = 0;
	item = (struct monrec_item){ .kind = MONREC_RECORD };
	item.record = (struct monrec_record){
		.data = given, .len = len, .address = address, .domain = (uint8_t)domain,
		.number = (uint16_t)number, .release = MONREC_REFERENCE,
	};
}

/* These bytes stand there and stay. */
static void stays(unsigned int offset, const void *bytes, unsigned int len)
{
	memcpy(given + offset, bytes, len);
	memcpy(wanted + offset, bytes, len);
}

static void ck_record(void)
{
	const uint32_t len = item.record.len;

	anonymise_item(&anonymiser, &item);
	ck_assert_uint_eq(item.record.len, len);
	for (uint32_t i = 0; i < len; i++)
		ck_assert_msg(item.record.data[i] == wanted[i], "D%uR%u, byte %u is %02x, not %02x",
			      item.record.domain, item.record.number, i, item.record.data[i], wanted[i]);
}

static uint64_t draw(unsigned int kind, unsigned int part, const void *bytes, unsigned int len)
{
	uint8_t input[100] = { (uint8_t)kind, (uint8_t)part };

	memcpy(input + 2, bytes, len);
	return siphash(key, input, (uint8_t)(len + 2));
}

/* A name in a field of @len bytes, and its replacement: a letter, and up to 7 digits of base 36. */
static void name(unsigned int kind, unsigned int offset, const char *text, unsigned int len, char letter)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	uint8_t bytes[64];
	uint64_t number;

	for (unsigned int i = 0; text[i]; i++)
		bytes[i] = ebcdic_from_latin1((uint8_t)text[i]);
	number = draw(kind, 0, bytes, (unsigned int)strlen(text));
	memset(given + offset, 0x40, len);
	memcpy(given + offset, bytes, strlen(text));
	memset(wanted + offset, 0x40, len);
	wanted[offset] = ebcdic_from_latin1((uint8_t)letter);
	for (unsigned int i = 1; i < 8 && i < len; i++) {
		wanted[offset + i] = ebcdic_from_latin1((uint8_t)digits[number % 36]);
		number /= 36;
	}
}

static void serial(unsigned int offset, const uint8_t *bytes, unsigned int len)
{
	memcpy(given + offset, bytes, len);
	for (unsigned int i = 0; i < len; i++)
		wanted[offset + i] =
			(uint8_t)(draw(MONREC_ID_SERIAL, i / 8, bytes, len) >> (i % 8 * 8));
}

static uint16_t replaced(uint16_t number)
{
	do {
		uint8_t halves[2] = { (uint8_t)(number >> 8), (uint8_t)number };

		for (unsigned int round = 0; round < 4; round++) {
			const uint8_t old = halves[0];

			halves[0] = halves[1];
			halves[1] = (uint8_t)(old ^ draw(MONREC_ID_DEVICE, round, &halves[1], 1));
		}
		number = get_be16(halves);
	} while (number == 0);
	return number;
}

/* D2R10 has a user, a byte of flags, and nothing else that is explained in 5.3. */
static void queued(const char *text, uint32_t address)
{
	record(2, 10, 32, address);
	name(MONREC_ID_USER, 20, text, 8, 'U');
	stays(28, given + 28, 1);
}

TEST(users)
{
	static const char *const names[] = { "A", "LINUX001", "MAINT", "OP1 X" };

	for (unsigned int i = 0; i < 4; i++) {
		queued(names[i], FRAME + 16);
		ck_record();
		/* Zeros end a name as blanks do. */
		for (unsigned int at = 20; at < 28; at++)
			given[at] = given[at] == 0x40 && at > 25 ? 0 : given[at];
		item.record.data = given;
		ck_record();
	}
}

/* D3R7: a volume, a device, its subchannel, whose high half stays. */
static void disk(uint16_t number)
{
	uint8_t bytes[4];

	record(3, 7, 52, FRAME);
	name(MONREC_ID_VOLUME, 20, "VOL1", 6, 'V');
	stays(27, given + 27, 17);
	put_be16(given + 48, number);
	put_be16(wanted + 48, number ? replaced(number) : 0);
	put_be16(bytes, 0x4001);
	put_be16(bytes + 2, number);
	stays(44, bytes, 4);
	put_be16(wanted + 46, number ? replaced(number) : 0);
	ck_record();
}

/* Every number gets another one of its own, those that look like blanks included; 0 stays. */
TEST(devices)
{
	static uint8_t seen[65536];
	static const uint16_t numbers[] = { 0, 1, 0x1234, 0x4040, 0x4000, 0x0040, 0xffff };

	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		disk(numbers[i]);
	for (unsigned int number = 1; number < 65536; number++)
		seen[replaced((uint16_t)number)]++;
	for (unsigned int number = 0; number < 65536; number++)
		ck_assert_uint_eq(seen[number], number > 0);
}

/* The one number that becomes 0 at first is replaced once more. */
TEST(device_that_would_be_none)
{
	for (unsigned int number = 1; number < 65536; number++) {
		uint8_t halves[2] = { (uint8_t)(number >> 8), (uint8_t)number };

		for (unsigned int round = 0; round < 4; round++) {
			const uint8_t old = halves[0];

			halves[0] = halves[1];
			halves[1] = (uint8_t)(old ^ draw(MONREC_ID_DEVICE, round, &halves[1], 1));
		}
		if (get_be16(halves) != 0)
			continue;
		disk((uint16_t)number);
		return;
	}
	ck_abort_msg("no number becomes 0");
}

/* D8R1: the adapter's address and its network. */
TEST(addresses_and_names)
{
	static const uint8_t address[6] = { 2, 0, 0x40, 0, 0, 1 };
	static const uint8_t none[16] = { 0 };

	record(8, 1, 316, FRAME + 4096 - 316);
	name(MONREC_ID_USER, 24, "TCPIP", 8, 'U');
	serial(36, address, 6);
	name(MONREC_ID_NAME, 44, "LAN1", 16, 'N');
	/* Of what is not named here, only that it is the same or zero. */
	anonymise_item(&anonymiser, &item);
	ck_assert_mem_eq(item.record.data + 24, wanted + 24, 8);
	ck_assert_mem_eq(item.record.data + 36, wanted + 36, 6);
	ck_assert_mem_eq(item.record.data + 44, wanted + 44, 16);
	record(8, 1, 316, FRAME + 4096 - 316);
	stays(24, none, 8);
	stays(36, none, 6);
	stays(44, none, 16);
	anonymise_item(&anonymiser, &item);
	ck_assert_mem_eq(item.record.data + 24, none, 8);
	ck_assert_mem_eq(item.record.data + 36, none, 6);
	ck_assert_mem_eq(item.record.data + 44, none, 16);
}

/* D1R4: a serial of more than 8 bytes; those behind the first 8 are drawn anew. */
TEST(long_serials)
{
	record(1, 4, 184, FRAME);
	serial(128, given + 100, 16);
	anonymise_item(&anonymiser, &item);
	ck_assert_mem_eq(item.record.data + 128, wanted + 128, 16);
	ck_assert_mem_ne(item.record.data + 128, item.record.data + 136, 8);
}

/* Beside the header nothing is left of a record that is not known, or of what is behind its fields. */
TEST(what_is_not_explained)
{
	record(4, 250, 60, FRAME);
	ck_record();
	queued("LINUX", FRAME + 100);
	ck_record();
	/* In a release in which the field is not known nothing is. */
	record(1, 4, 184, FRAME);
	item.record.release = 410;
	ck_record();
	/* Nor in a record that is longer or shorter than in its release. */
	for (uint32_t len = 28; len < 40; len++) {
		record(2, 10, len, FRAME);
		if (len == 32)
			queued("LINUX", FRAME);
		ck_record();
	}
}

static const uint8_t *frame(uint32_t address, uint32_t len)
{
	struct monrec_item whole = { .kind = MONREC_FRAME };

	whole.record = (struct monrec_record){ .data = given, .len = len, .address = address };
	anonymise_item(&anonymiser, &whole);
	return whole.record.data;
}

/* A frame is its records, each in its place, and zeros; the next one begins anew. */
TEST(frames)
{
	static uint8_t whole[MONREC_FRAME_SIZE];
	const uint32_t begins[] = { FRAME, FRAME + 0x1000, FRAME };

	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *found;

		memset(whole, 0, sizeof(whole));
		record(4, 250, 40, begins[i] + 0x30 + i);
		ck_record();
		memcpy(whole + 0x30 + i, wanted, 40);
		record(4, 250, 30, begins[i] + 0x90);
		ck_record();
		memcpy(whole + 0x90, wanted, 30);
		found = frame(begins[i] + 0x20, 0xfe0);
		ck_assert_mem_eq(found, whole + 0x20, 0xfe0);
	}
	/* One without a record, of the same number and of another. */
	memset(whole, 0, sizeof(whole));
	ck_assert_mem_eq(frame(FRAME, 4096), whole, 4096);
	record(4, 250, 40, FRAME);
	ck_record();
	ck_assert_mem_eq(frame(FRAME + 0x1000, 4096), whole, 4096);
}

/* Without frames, records of the next frame or another element are still kept apart. */
TEST(records_without_frames)
{
	queued("LINUX", FRAME);
	ck_record();
	record(4, 250, 40, FRAME);
	ck_record();
	record(4, 250, 40, FRAME + 0x1000);
	ck_record();
}

TEST(keys)
{
	char path[] = "/tmp/zvmlab-test-XXXXXX";
	const int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	for (size_t len = 14; len <= 18; len++) {
		uint8_t bytes[18] = { 0 };

		memcpy(bytes, key_bytes, 16);
		ck_assert_int_eq(pwrite(fd, bytes, len, 0), (ssize_t)len);
		memset(&anonymiser, 0xff, sizeof(anonymiser));
		ck_assert_int_eq(anonymise_open(&anonymiser, path), len < 16 ? -EINVAL : 0);
		ck_assert(!anonymiser.in_frame);
		if (len >= 16)
			ck_assert_mem_eq(anonymiser.key, key, sizeof(key));
	}
	close(fd);
	unlink(path);
	ck_assert_int_eq(anonymise_open(&anonymiser, path), -ENOENT);
	/* It can be opened, but not read. */
	ck_assert_int_eq(anonymise_open(&anonymiser, "/"), -EISDIR);
	/* All are closed again. */
	ck_assert_int_eq(open("/", O_RDONLY), fd);
}

/* Everything but records and frames stays as it is. */
TEST(other_items)
{
	struct monrec_item element = { .kind = MONREC_ELEMENT }, before;

	element.element.start = FRAME;
	before = element;
	anonymise_item(&anonymiser, &element);
	ck_assert_mem_eq(&element, &before, sizeof(before));
}
