/* SPDX-License-Identifier: MIT */
/* The spool: what devices write and read, queues, limits, reset, saved states. */
#include <stdlib.h>

#include "spool_check.h"
#include "state_check.h"

FX_REPLAY_TRACES;

CASE("spool", spool_setup, fx_teardown);

TEST(a_punched_file)
{
	struct spool_file_info info;
	uint8_t records[240];

	ck_assert_uint_eq(punch("first"), 0x0c);
	ck_assert_uint_eq(punch(""), 0x0c);
	ck_assert_uint_eq(punch("third"), 0x0c);
	info = spool_info("LINUX001", SPOOL_PUN, 1);
	ck_assert(info.open);
	ck_guest("CLOSE 00D", 0,
		 "PUN FILE 0001 SENT TO   LINUX001 PUN AS  0001 RECS 0003 CPY  001 A "
		 "NOHOLD NOKEEP\n");
	info = spool_info("LINUX001", SPOOL_PUN, 1);
	ck_assert(!info.open);
	ck_assert_uint_eq(info.records, 3);
	ck_assert_uint_eq(info.record_length, 80);
	ck_assert_uint_eq(info.pages, 1);
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_PUN, 1, 0, records, 240), 3);
	ck_assert_uint_eq(records[0], 0x86);	/* f in code page 037 */
	ck_assert_uint_eq(records[79], 0x40);
	ck_assert_uint_eq(records[80], 0x40);
	ck_assert_uint_eq(records[160], 0xa3);	/* t */
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_PUN, 1, 2, records, 240), 1);
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_PUN, 2, 0, records, 240), -1);
}

/* A file punched TO a user's reader is read there card by card, and is gone at its end. */
TEST(from_punch_to_reader)
{
	char text[133];
	struct cp_unit_io io;

	punch("one");
	punch("two");
	ck_guest("CLOSE PUNCH TO * RDR NAME a b", 0,
		 "PUN FILE 0001 SENT TO   LINUX001 RDR AS  0001 RECS 0002 CPY  001 A NOHOLD "
		 "NOKEEP\n");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 1).name, "a");
	ck_card("one");
	ck_assert(spool_info("LINUX001", SPOOL_RDR, 1).open);
	ck_card("two");
	io = unit_read(text);
	ck_assert_uint_eq(io.status, 0x0d);
	ck_assert_uint_eq(io.length, 0);
	ck_assert_uint_eq(spool_files(), 0);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
	io = unit_read(text);
	ck_assert_uint_eq(io.status, 0x0e);
	ck_assert_uint_eq(io.sense[0], 0x40);
}

/* Linux asks for 01, other programs move the paper; commands there are none of are rejected. */
TEST(commands_of_devices)
{
	static const struct {
		uint16_t device;
		uint8_t command;
		enum cp_unit_way way;
	} commands[] = {
		{ PUNCH, 0x01, CP_UNIT_TAKES },	  { PUNCH, 0x41, CP_UNIT_TAKES },
		{ PUNCH, 0x09, CP_UNIT_REJECT },  { PUNCH, 0x02, CP_UNIT_REJECT },
		{ READER, 0x02, CP_UNIT_GIVES },  { READER, 0xc2, CP_UNIT_GIVES },
		{ READER, 0x01, CP_UNIT_REJECT }, { PRINTER, 0x01, CP_UNIT_TAKES },
		{ PRINTER, 0x09, CP_UNIT_TAKES }, { PRINTER, 0x89, CP_UNIT_TAKES },
		{ PRINTER, 0xe1, CP_UNIT_TAKES }, { PRINTER, 0xe9, CP_UNIT_REJECT },
		{ PRINTER, 0x21, CP_UNIT_REJECT }, { PRINTER, 0x81, CP_UNIT_REJECT },
		{ PRINTER, 0x8b, CP_UNIT_NO_DATA }, { PRINTER, 0x0b, CP_UNIT_NO_DATA },
		{ PRINTER, 0x02, CP_UNIT_REJECT }, { 0x0009, 0x01, CP_UNIT_REJECT },
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		ck_assert_int_eq(cp_unit_way(fx.cp, commands[i].device, commands[i].command),
				 commands[i].way);
}

/* Moving the paper is in the file, but is no record. */
TEST(a_printed_file)
{
	uint8_t records[3 * 132];

	unit_write(PRINTER, 0x8b, "");
	unit_write(PRINTER, 0x09, "a line");
	unit_write(PRINTER, 0x0b, "");
	unit_write(PRINTER, 0x01, "another");
	ck_guest("CLOSE PRT", 0,
		 "PRT FILE 0001 SENT TO   LINUX001 PRT AS  0001 RECS 0002 CPY  001 A "
		 "NOHOLD NOKEEP\n");
	ck_assert_uint_eq(spool_info("LINUX001", SPOOL_PRT, 1).record_length, 132);
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_PRT, 1, 0, records,
				       sizeof(records)), 2);
	ck_assert_uint_eq(records[131], 0x40);
	ck_assert_uint_eq(records[132], 0x81);
}

TEST(classes_and_hold)
{
	spool_send("HELD", "held", 'A', true);
	spool_send("B", "class b", 'B', false);
	spool_send("A", "class a", 'A', false);
	ck_guest("SPOOL 00C CLASS A", 0, "");
	ck_card("class a");
	ck_guest("CLOSE 00C", 0, "");
	ck_guest("SPOOL RDR CL *", 0, "");
	ck_card("class b");
	ck_guest("CLOSE RDR HOLD", 0, "");
	ck_assert(spool_info("LINUX001", SPOOL_RDR, 2).user_hold);
	ck_guest("CHANGE RDR 1 NOHOLD", 0, "0001 FILE CHANGED\n");
	ck_card("held");
	ck_guest("CLOSE RDR", 0, "");
	ck_assert_uint_eq(spool_files(), 1);
}

TEST(a_full_spool)
{
	char line[81];
	unsigned int cards = 0;

	memset(line, 'x', 80);
	line[80] = '\0';
	spool_limits(fx.cp, 1, 9999);
	while (punch(line) == 0x0c)
		cards++;
	/* 4048 bytes, of which a card of 80 takes 96. */
	ck_assert_uint_eq(cards, 42);
	ck_assert_uint_eq(punch(line), 0x0e);
	ck_assert_uint_eq(fx.events[CP_EVENT_SPOOL], 2);
	ck_assert_str_eq(fx.last_text, "full");
	ck_assert_int_eq(spool_send("A", "a", 'A', false), -1);
	ck_guest("CLOSE PUN PURGE", 0, "");
	ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 1);
	spool_limits(fx.cp, SPOOL_PAGES, 1);
	ck_assert_int_eq(spool_send("B", "b", 'A', false), -1);
	ck_assert_uint_eq(punch(line), 0x0e);
	spool_limits(fx.cp, SPOOL_PAGES, 2);
	ck_assert_uint_eq(punch(line), 0x0c);
	ck_guest("CLOSE PUN", 0,
		 "PUN FILE 0002 SENT TO   LINUX001 PUN AS  0002 RECS 0001 CPY  001 A "
		 "NOHOLD NOKEEP\n");
}

/* A file that is being read goes back to its queue; one that is being written stays open. */
TEST(a_reset)
{
	spool_send("A", "again", 'A', false);
	ck_card("again");
	punch("unfinished");
	cp_reset(fx.cp);
	ck_assert(!spool_info("LINUX001", SPOOL_RDR, 1).open);
	ck_assert(spool_info("LINUX001", SPOOL_PUN, 2).open);
	ck_card("again");
}

/* A guest without SPOOL statements has no spool. */
TEST(no_spool)
{
	fx_teardown();
	fx_setup();
	ck_assert_int_eq(spool_send("A", "a", 'A', false), -1);
	ck_assert_int_eq(cp_unit_way(fx.cp, PUNCH, 0x01), CP_UNIT_REJECT);
	ck_assert_uint_eq(spool_use(fx.cp).page_limit, 0);
	ck_guest("QUERY RDR ALL", 0, "NO RDR FILES\n");
}

static void a_state_with_files(void)
{
	char line[81];

	memset(line, 'y', 80);
	line[80] = '\0';
	spool_send("A", "one", 'A', false);
	spool_send("B", "two", 'B', true);
	ck_guest("ORDER RDR 2", 0, "0001 FILE ORDERED\n");
	ck_card("one");
	for (unsigned int i = 0; i < 50; i++)
		punch(line);
	unit_write(PRINTER, 0x8b, "");
	unit_write(PRINTER, 0x09, "a line");
	ck_guest("SPOOL PRT CLASS C FORM F1 COPY 3 CONT\n"
		 "TAG DEV 00E to whom it may concern", 0, "");
}

TEST(a_saved_state)
{
	size_t len, again_len;
	uint8_t *image, *again;

	a_state_with_files();
	image = fx_save(&len);
	ck_guest("CLOSE PUN", 0,
		 "PUN FILE 0003 SENT TO   LINUX001 PUN AS  0003 RECS 0050 CPY  001 A "
		 "NOHOLD NOKEEP\n");
	ck_guest("PURGE ALL", 0, "0002 FILES PURGED\n");
	fx_load(image, len);
	again = fx_save(&again_len);
	ck_assert_uint_eq(again_len, len);
	/* The last byte but the trace's own count, which has gone on. */
	memcpy(again + state_find(again, len, "TRAC") + 4,
	       image + state_find(image, len, "TRAC") + 4, 8);
	ck_assert_mem_eq(again, image, len - STATE_CHECKSUM);
	free(again);
	free(image);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 5);
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 2).name, "B");
	ck_guest("CLOSE PUN", 0,
		 "PUN FILE 0003 SENT TO   LINUX001 PUN AS  0003 RECS 0050 CPY  001 A "
		 "NOHOLD NOKEEP\n");
	ck_guest("CLOSE PRT EOF", 0,
		 "PRT FILE 0004 SENT TO   LINUX001 PRT AS  0004 RECS 0001 CPY  "
		 "003 C NOHOLD NOKEEP\n");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_PRT, 4).tag, "to whom it may concern");
	/* The card that was read is not read again. */
	ck_guest("CLOSE RDR", 0, "");
	ck_guest("Q RDR", 0, "ORIGINID FILE CLASS RECORDS  CPY HOLD FORM     DEST     KEEP MSG\n"
			     "OPERATOR 0002 B PUN 00000001 001 USER STANDARD OFF      OFF  OFF\n");
}

/* In the middle of a second page, which lies elsewhere after loading. */
TEST(a_place_that_is_saved)
{
	static char cards[50 * 80 + 1];
	uint8_t *image;
	char text[133];
	size_t len;

	spool_send("BEFORE", "x", 'A', true);
	for (unsigned int i = 0; i < 50; i++)
		snprintf(cards + i * 80, 81, "%02u%078u", i, 0u);
	spool_send("A", cards, 'A', false);
	for (unsigned int i = 0; i < 45; i++)
		unit_read(text);
	ck_guest("PURGE RDR 1", 0, "0001 FILE PURGED\n");
	image = fx_save(&len);
	unit_read(text);
	fx_load(image, len);
	free(image);
	unit_read(text);
	ck_assert_int_eq(strncmp(text, "45", 2), 0);
}

/* A byte of the part changed: refused, or another spool that can be saved again. */
TEST(damaged_states)
{
	size_t len, from, again_len;
	uint8_t *image, *again;
	char err[256];
	unsigned int refused = 0;

	a_state_with_files();
	image = fx_save(&len);
	from = state_find(image, len, "CSPL");
	for (size_t i = from; i < from + 640 && i < len - STATE_CHECKSUM; i += 13) {
		image[i] ^= 0xff;
		state_sign(image, len);
		if (cp_load(fx.cp, image, len, err, sizeof(err)) != 0) {
			refused++;
		} else {
			again = fx_save(&again_len);
			free(again);
		}
		image[i] ^= 0xff;
	}
	free(image);
	ck_assert_uint_gt(refused, 5);
}
