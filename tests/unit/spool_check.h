/* SPDX-License-Identifier: MIT */
/* A guest with a reader, a punch and a printer, for the tests of the spool. */
#ifndef SPOOL_CHECK_H
#define SPOOL_CHECK_H

#include "command_check.h"
#include "fixture.h"
#include "zvmlab/spool.h"

#define READER 0x000c
#define PUNCH 0x000d
#define PRINTER 0x000e
#define OTHER "OPERATOR"
#define SPOOL_DIRECTORY \
	"SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A"

static inline void spool_setup(void)
{
	fx_setup_with((const char *const[]){ "directory", SPOOL_DIRECTORY, NULL });
}

/* A command of a channel program with ASCII @text as its data; return: unit status. */
static inline uint8_t unit_write(uint16_t device, uint8_t command, const char *text)
{
	struct cp_unit_io io = { .device = device, .command = command };

	io.length = (uint32_t)strlen(text);
	ebcdic_encode(io.data, text, io.length);
	cp_unit(fx.cp, &io);
	return io.status;
}

/* A card of 80 bytes, as Linux punches it. */
static inline uint8_t punch(const char *text)
{
	char card[81];

	snprintf(card, sizeof(card), "%-80s", text);
	return unit_write(PUNCH, 0x01, card);
}

/* Read a card, as text without the blanks behind it. */
static inline struct cp_unit_io unit_read(char text[133])
{
	struct cp_unit_io io = { .device = READER, .command = 0x02, .room = 80 };
	size_t len;

	cp_unit(fx.cp, &io);
	len = io.length;
	ebcdic_decode(text, io.data, len);
	while (len > 0 && text[len - 1] == ' ')
		len--;
	text[len] = '\0';
	return io;
}

static inline void ck_card(const char *expected)
{
	char text[133];
	const struct cp_unit_io io = unit_read(text);

	ck_assert_uint_eq(io.status, 0x0c);
	ck_assert_uint_eq(io.length, 80);
	ck_assert_str_eq(text, expected);
	for (size_t i = strlen(expected); i < io.length; i++)
		ck_assert_uint_eq(io.data[i], 0x40);
}

/* A file of ASCII @text, cards of 80 bytes, on the guest's reader queue; return: its number. */
static inline int spool_send(const char *name, const char *text, char spool_class, bool hold)
{
	uint8_t data[4096];
	const struct spool_put put = {
		.user = "LINUX001", .queue = SPOOL_RDR, .origin = OTHER, .name = name,
		.type = "TEXT", .spool_class = spool_class, .hold = hold, .record_length = 80,
		.data = data,
		.len = strlen(text),
	};
	char err[256];

	ck_assert_uint_le(put.len, sizeof(data));
	ebcdic_encode(data, text, put.len);
	return spool_put(fx.cp, &put, err, sizeof(err));
}

/* Two such files: A of class A, and B of class B, which is held. */
static inline void spool_send_two(void)
{
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 1);
	ck_assert_int_eq(spool_send("B", "b", 'B', true), 2);
}

/* The file is there, of this user and on this queue. */
static inline struct spool_file_info spool_info(const char *owner, enum spool_queue queue, int id)
{
	struct spool_file_info info;

	for (unsigned int i = 0; spool_file(fx.cp, i, &info); i++)
		if (strcmp(info.owner, owner) == 0 && info.queue == queue && info.id == id)
			return info;
	ck_abort_msg("%s has no file %d on queue %d", owner, id, (int)queue);
}

static inline unsigned int spool_files(void)
{
	struct spool_file_info info;
	unsigned int count = 0;

	while (spool_file(fx.cp, count, &info))
		count++;
	return count;
}

#endif
