/* SPDX-License-Identifier: MIT */
/* Unit record devices: each command, which file a reader takes, and what CLOSE makes of a file. */
#include "spool/spool_private.h"
#include "spool_check.h"
#include "zvmlab/fault.h"

#define OTHER_READER 0x001c

static char err[256];

static void two_readers(void)
{
	fx_setup_with((const char *const[]){
		"directory", SPOOL_DIRECTORY ";SPOOL 01C 2540 READER B", NULL });
}

static struct cp_unit_io command(uint16_t device, uint8_t code, uint32_t length)
{
	/* What was there before is not what comes of it. */
	struct cp_unit_io io = {
		.device = device, .command = code, .length = length, .status = 0xff,
		.sense = { 0xff, 0xff },
	};

	if (cp_unit_way(fx.cp, device, code) == CP_UNIT_GIVES)
		io.room = 132;
	memset(io.data, 0x81, sizeof(io.data));
	cp_unit(fx.cp, &io);
	return io;
}

static void ck_ended(struct cp_unit_io io, uint8_t status, uint8_t sense, uint32_t length)
{
	ck_assert_uint_eq(io.status, status);
	ck_assert_uint_eq(io.sense[0], sense);
	ck_assert_uint_eq(io.sense[1], 0);
	ck_assert_uint_eq(io.length, length);
}

static void arm(enum fault_point point, enum fault_kind kind, uint32_t value, uint32_t offset)
{
	ck_arm(point, kind, .value = value, .offset = offset);
}

FX_REPLAY_TRACES;

CASE("three devices", spool_setup, fx_teardown);

TEST(devices_and_their_records)
{
	const struct cp_config *config = &fx.config;

	ck_assert_uint_eq(cp_unit_length(fx.cp, READER, 0x02), 80);
	ck_assert_uint_eq(cp_unit_length(fx.cp, PUNCH, 0x01), 80);
	ck_assert_uint_eq(cp_unit_length(fx.cp, PRINTER, 0x01), 132);
	ck_assert_uint_eq(cp_unit_at(config, 0)->device, READER);
	ck_assert_uint_eq(cp_unit_at(config, 2)->device, PRINTER);
	ck_assert_ptr_null(cp_unit_at(config, 3));
}

/* The codes of the 1403 (GA24-3312) and the 2540 (GA21-9033) at the ends of their ranges. */
static const struct {
	uint16_t device;
	uint8_t command;
	enum cp_unit_way way;
} ends[] = {
	{ PRINTER, 0x11, CP_UNIT_TAKES }, { PRINTER, 0x19, CP_UNIT_TAKES },
	{ PRINTER, 0x1b, CP_UNIT_NO_DATA }, { PRINTER, 0x23, CP_UNIT_REJECT },
	{ PRINTER, 0x79, CP_UNIT_REJECT }, { PRINTER, 0x83, CP_UNIT_REJECT },
	{ PRINTER, 0xe3, CP_UNIT_NO_DATA }, { PRINTER, 0xeb, CP_UNIT_REJECT },
	{ PRINTER, 0xf9, CP_UNIT_REJECT }, { PRINTER, 0x03, CP_UNIT_REJECT },
	{ PRINTER, 0x05, CP_UNIT_REJECT }, { PRINTER, 0x09 | 0x04, CP_UNIT_REJECT },
	{ PRINTER, 0x0f, CP_UNIT_REJECT },
	{ PUNCH, 0x81, CP_UNIT_TAKES }, { PUNCH, 0xc1, CP_UNIT_TAKES },
	{ PUNCH, 0x21, CP_UNIT_REJECT }, { PUNCH, 0x03, CP_UNIT_REJECT },
	{ READER, 0x42, CP_UNIT_GIVES }, { READER, 0x82, CP_UNIT_GIVES },
	{ READER, 0x22, CP_UNIT_REJECT }, { READER, 0x03, CP_UNIT_REJECT },
};

TEST_EACH(ends_of_the_ranges_of_commands, ends)
{
	ck_assert_int_eq(cp_unit_way(fx.cp, ends[_i].device, ends[_i].command), ends[_i].way);
}

CASE("devices", two_readers, fx_teardown);

TEST(how_commands_end)
{
	char text[133];

	ck_ended(command(PUNCH, 0x01, 80), 0x0c, 0, 80);
	ck_ended(command(PRINTER, 0x8b, 0), 0x0c, 0, 0);
	ck_ended(command(READER, 0x02, 0), 0x0e, 0x40, 0);
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 3);
	ck_ended(command(READER, 0x02, 0), 0x0c, 0, 80);
	ck_ended(command(READER, 0x02, 0), 0x0d, 0, 0);
	spool_limits(fx.cp, 0, 9999);
	/* The punch's and the printer's pages are not full yet; a new file would need one. */
	ck_ended(command(PUNCH, 0x01, 80), 0x0c, 0, 80);
	run_as(CPCMD_GUEST, "CLOSE PUN PURGE", 0);
	ck_ended(command(PUNCH, 0x01, 80), 0x0e, 0x40, 0);
	ck_assert_int_eq(fx.last_event.kind, CP_EVENT_SPOOL);
	ck_assert_str_eq(fx.last_name, "LINUX001");
	ck_assert_str_eq(fx.last_text, "full");
	ck_assert_uint_eq(fx.last_event.value, 0);
	ck_assert_uint_eq(unit_read(text).status, 0x0e);
}

/* The last record of the trace. */
static const char *last_record(void)
{
	size_t at = fx.trace_len - 1;

	while (at > 0 && fx.trace[at - 1] != '\n')
		at--;
	return fx.trace + at;
}

/* It says how the command has ended: sense only if there is some, a record only if one was read. */
TEST(what_the_trace_says)
{
	command(PUNCH, 0x01, 80);
	ck_assert_ptr_nonnull(strstr(last_record(), "\"status\":\"c\""));
	ck_assert_ptr_null(strstr(last_record(), "\"sense\""));
	ck_assert_ptr_null(strstr(last_record(), "\"record\""));
	command(READER, 0x02, 0);
	ck_assert_ptr_nonnull(strstr(last_record(), "\"status\":\"e\""));
	ck_assert_ptr_nonnull(strstr(last_record(), "\"sense\":\"4000\""));
	ck_assert_ptr_nonnull(strstr(last_record(), "\"record\""));
}

TEST(a_reader_passes_over_files)
{
	const uint8_t card[] = { 0x81 };
	struct spool_put put = {
		.user = "LINUX001", .queue = SPOOL_RDR, .spool_class = 'B', .system_hold = true,
		.record_length = 80, .data = card, .len = 1,
	};

	/* Other users' files, those of other queues, those in hold, those of another class. */
	put.user = OTHER;
	put.system_hold = false;
	ck_assert_int_eq(spool_put(fx.cp, &put, err, sizeof(err)), 1);
	put.user = "LINUX001";
	put.queue = SPOOL_PUN;
	ck_assert_int_eq(spool_put(fx.cp, &put, err, sizeof(err)), 1);
	put.queue = SPOOL_RDR;
	put.system_hold = true;
	ck_assert_int_eq(spool_put(fx.cp, &put, err, sizeof(err)), 2);
	ck_assert_int_eq(spool_send("C", "held", 'B', true), 3);
	ck_assert_int_eq(spool_send("D", "class a", 'A', false), 4);
	ck_ended(command(OTHER_READER, 0x02, 0), 0x0e, 0x40, 0);
	ck_assert_int_eq(spool_send("E", "for both", 'B', false), 5);
	ck_ended(command(OTHER_READER, 0x02, 0), 0x0c, 0, 80);
	ck_assert(spool_info("LINUX001", SPOOL_RDR, 5).open);
	ck_card("class a");
	/* The fifth is open at the other reader. */
	run_as(CPCMD_GUEST, "CLOSE 00C", 0);
	ck_ended(command(READER, 0x02, 0), 0x0e, 0x40, 0);
	ck_ended(command(OTHER_READER, 0x02, 0), 0x0d, 0, 0);
}

/* From the beginning again, wherever the reader was in it. */
TEST(a_file_read_again)
{
	static char cards[161];

	snprintf(cards, sizeof(cards), "%-80s%-80s", "one", "two");
	ck_assert_int_eq(spool_send("A", cards, 'A', false), 1);
	ck_card("one");
	ck_guest("CLOSE RDR KEEP", 0, "");
	ck_card("one");
	ck_card("two");
	cp_reset(fx.cp);
	ck_card("one");
	ck_guest("CLOSE RDR KEEP", 0, "");
	ck_assert_int_eq(spool_send("B", "another", 'A', false), 2);
	ck_guest("ORDER RDR 2", 0, "0001 FILE ORDERED\n");
	ck_card("another");
}

/* Settings of the reader, options of CLOSE; is the file there afterwards, and in hold? */
static const struct {
	const char *settings, *options;
	bool stays, hold;
} closes[] = {
	{ "NOHOLD NOKEEP", "", false, false },
	{ "NOHOLD NOKEEP", " HOLD", true, true },
	{ "NOHOLD NOKEEP", " KEEP", true, false },
	{ "NOHOLD NOKEEP", " NOHOLD NOKEEP", false, false },
	{ "HOLD NOKEEP", "", true, true },
	{ "HOLD NOKEEP", " NOHOLD", false, false },
	{ "HOLD NOKEEP", " NOKEEP", true, true },
	{ "NOHOLD KEEP", "", true, false },
	{ "NOHOLD KEEP", " NOKEEP", false, false },
	{ "NOHOLD KEEP", " NOHOLD", true, false },
	{ "NOHOLD KEEP", " HOLD", true, true },
	{ "HOLD KEEP", " NOHOLD", true, false },
	{ "HOLD KEEP", " PURGE", false, false },
	{ "HOLD KEEP", " HOLD NOHOLD", true, true },
	{ "HOLD KEEP", " NOHOLD KEEP NOKEEP", true, false },
	/* A reader's file ends with CLOSE, also of one that goes on. */
	{ "CONT", "", false, false },
};

static void close_reader(int i)
{
	char text[80];

	snprintf(text, sizeof(text), "SPOOL 00C %s", closes[i].settings);
	ck_guest(text, 0, "");
	snprintf(text, sizeof(text), "CLOSE 00C%s", closes[i].options);
	ck_guest(text, 0, "");
}

TEST_EACH(a_readers_file_closed, closes)
{
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 1);
	ck_card("a");
	close_reader(_i);
	ck_assert_uint_eq(spool_files(), closes[_i].stays ? 1 : 0);
	if (!closes[_i].stays)
		return;
	ck_assert(!spool_info("LINUX001", SPOOL_RDR, 1).open);
	ck_assert_int_eq(spool_info("LINUX001", SPOOL_RDR, 1).user_hold, closes[_i].hold);
}

/* A file that was made to be kept is kept, except from PURGE. */
TEST_EACH(a_kept_file_closed, closes)
{
	const bool purged = strstr(closes[_i].options, "PURGE") != NULL;

	ck_guest("SPOOL D KEEP", 0, "");
	ck_assert_uint_eq(punch("a"), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE D TO * RDR", 0);
	ck_card("a");
	close_reader(_i);
	ck_assert_uint_eq(spool_files(), purged ? 0 : 1);
}

/* CONT of the punch: nothing but EOF and PURGE ends the file. */
TEST(a_punch_that_goes_on)
{
	ck_guest("CLOSE D", 0, "");
	ck_guest("SPOOL D CONT", 0, "");
	ck_assert_uint_eq(punch("a"), 0x0c);
	ck_guest("CLOSE D HOLD", 0, "");
	ck_assert(spool_info("LINUX001", SPOOL_PUN, 1).open);
	ck_guest("CLOSE D PURGE", 0, "");
	ck_assert_uint_eq(spool_files(), 0);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
	ck_assert_uint_eq(punch("b"), 0x0c);
	ck_guest("CLOSE D EOF", 0,
		 "PUN FILE 0001 SENT TO   LINUX001 PUN AS  0001 RECS 0001 CPY  001 A NOHOLD "
		 "NOKEEP\n");
	/* The next one begins anew. */
	ck_guest("SPOOL D NOCONT", 0, "");
	ck_assert_uint_eq(punch("c"), 0x0c);
	ck_assert_uint_eq(spool_info("LINUX001", SPOOL_PUN, 2).records, 1);
}

/* The receiver is told on its console what comes from somebody else, and only that. */
TEST(what_the_receiver_is_told)
{
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 1);
	ck_guest("TRANSFER RDR 1 TO OPERATOR", 0, "0001 FILE TRANSFERRED\n");
	ck_guest("SPOOL D KEEP COPY 7 CLASS K", 0, "");
	ck_assert_uint_eq(punch("x"), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE D TO OPERATOR PRT", 0);
	ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].text, "PRT FILE 0002 SENT FROM LINUX001 PUN WAS 0001 RECS 0001 "
					  "CPY  007 K NOHOLD KEEP");
	ck_assert_str_eq(fx.last[CP_EVENT_SPOOL].name, "OPERATOR");
	ck_assert_str_eq(fx.last[CP_EVENT_SPOOL].text, "PRT");
	ck_assert_uint_eq(fx.last[CP_EVENT_SPOOL].value, 2);
	ck_guest("SPOOL D NOKEEP HOLD", 0, "");
	ck_assert_uint_eq(punch("x"), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE D TO OPERATOR", 0);
	ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].text, "RDR FILE 0003 SENT FROM LINUX001 PUN WAS 0001 RECS 0001 "
					  "CPY  007 K HOLD NOKEEP");
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 2);
	run_as(CPCMD_GUEST, "CLOSE D TO * RDR", 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 2);
	ck_assert_str_eq(fx.last[CP_EVENT_SPOOL].text, "RDR");
}

/* One's own queue has room for a file that is there already. */
TEST(the_last_file_that_a_user_may_have)
{
	spool_limits(fx.cp, SPOOL_PAGES, 1);
	ck_assert_uint_eq(punch("a"), 0x0c);
	ck_guest("CLOSE D TO * RDR", 0,
		 "PUN FILE 0001 SENT TO   LINUX001 RDR AS  0001 RECS 0001 CPY  001 A NOHOLD "
		 "NOKEEP\n");
	ck_ended(command(PRINTER, 0x01, 5), 0x0e, 0x40, 0);
	ck_assert_uint_eq(spool_files(), 1);
}

TEST(faults_at_an_offset_beyond_the_record)
{
	uint8_t record[160];
	struct cp_unit_io io;

	/* There is no byte of an immediate command that could be changed. */
	arm(FAULT_SPOOL_WRITE, FAULT_CORRUPT, 0x0f, 80 + 7);
	ck_ended(command(PRINTER, 0x8b, 0), 0x0c, 0, 0);
	ck_ended(command(PUNCH, 0x01, 80), 0x0c, 0, 80);
	fault_disarm(fx.cp, 0);
	run_as(CPCMD_GUEST, "CLOSE PUN TO * RDR", 0);
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_RDR, 2, 0, record, 80), 1);
	for (unsigned int i = 0; i < 80; i++)
		ck_assert_uint_eq(record[i], i == 7 ? 0x8e : 0x81);
	arm(FAULT_SPOOL_READ, FAULT_CORRUPT, 0xf0, 80 + 79);
	io = command(READER, 0x02, 0);
	for (unsigned int i = 0; i < 80; i++)
		ck_assert_uint_eq(io.data[i], i == 7 ? 0x8e : i == 79 ? 0x71 : 0x81);
}

/* A device that fails leaves the file as it was, and has nothing in its record. */
TEST(faults_that_end_a_command)
{
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 1);
	arm(FAULT_SPOOL_READ, FAULT_RC, 0x08, 0);
	arm(FAULT_SPOOL_WRITE, FAULT_RC, 0x20, 0);
	ck_ended(command(READER, 0x02, 0), 0x0e, 0x08, 0);
	ck_assert(!spool_info("LINUX001", SPOOL_RDR, 1).open);
	ck_ended(command(PUNCH, 0x01, 80), 0x0e, 0x20, 0);
	fault_disarm(fx.cp, 0);
	arm(FAULT_SPOOL_WRITE, FAULT_DROP, 0, 0);
	ck_ended(command(PUNCH, 0x01, 80), 0x0c, 0, 80);
	ck_assert_uint_eq(spool_files(), 1);
}

/* Punch 50 cards, two pages, and close the file with its copy. */
static void punch_twice(void)
{
	char card[81];

	for (unsigned int i = 0; i < 50; i++) {
		snprintf(card, sizeof(card), "%02u%078u", i, 0u);
		ck_assert_uint_eq(punch(card), 0x0c);
	}
	arm(FAULT_SPOOL_FILE, FAULT_DUPLICATE, 0, 0);
	run_as(CPCMD_GUEST, "CLOSE D NAME name type", 0);
}

TEST(a_file_that_comes_twice)
{
	static uint8_t first[50 * 80], second[50 * 80];
	struct spool_file_info info;

	punch_twice();
	info = spool_info("LINUX001", SPOOL_PUN, 2);
	ck_assert_uint_eq(info.pages, 2);
	ck_assert_uint_eq(info.records, 50);
	ck_assert_str_eq(info.name, "name");
	ck_assert_str_eq(info.type, "type");
	ck_assert(!info.open);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 4);
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_PUN, 1, 0, first, sizeof(first)),
			 50);
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_PUN, 2, 0, second, sizeof(second)),
			 50);
	ck_assert_mem_eq(first, second, sizeof(first));
	ck_assert_uint_eq(first[49 * 80], 0xf4);
	/* Each has pages of its own. */
	ck_guest("PURGE PUN 1", 0, "0001 FILE PURGED\n");
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_PUN, 2, 0, first, sizeof(first)),
			 50);
	ck_assert_mem_eq(first, second, sizeof(first));
	ck_guest("PURGE PUN 2", 0, "0001 FILE PURGED\n");
	ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
}

/* Nothing remains of a copy for which there is no room. */
TEST_LOOP(a_file_that_cannot_come_twice, 0, 2)
{
	spool_limits(fx.cp, _i ? SPOOL_PAGES : 3, _i ? 1 : 9999);
	punch_twice();
	ck_assert_uint_eq(spool_files(), 1);
	ck_assert_uint_eq(spool_use(fx.cp).files, 1);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 2);
	ck_assert_uint_eq(spool_info("LINUX001", SPOOL_PUN, 1).records, 50);
}
