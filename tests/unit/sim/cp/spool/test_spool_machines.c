/* SPDX-License-Identifier: MIT */
/* The spool of several machines: files from one's punch to another's reader, and whose they are. */
#include "spool_check.h"

enum { ALICE, BOB, CAROL };

static void logon(unsigned int machine, const char *userid)
{
	fx_logon(machine, userid, (const char *const[]){
		"directory", SPOOL_DIRECTORY, "storage", "0.4M", NULL });
}

static void setup(void)
{
	fx_system(NULL);
	logon(BOB, "BOB");
	logon(ALICE, "ALICE");
}

FX_REPLAY_TRACES;

CASE("spool machines", setup, fx_teardown);

/* One card from the machine in use to another's reader. */
static void send_card(const char *to, const char *text)
{
	char command[64];

	snprintf(command, sizeof(command), "SPOOL D TO %s RDR", to);
	run_as(CPCMD_GUEST, command, 0);
	ck_assert_uint_eq(punch(text), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE D", 0);
}

static void ck_end_of_file(void)
{
	char text[133];

	ck_assert_uint_eq(unit_read(text).status, 0x0d);
}

/* Many cards, there and back, while both are busy with files of their own. */
TEST(there_and_back)
{
	char text[133];

	run_as(CPCMD_GUEST, "SPOOL D TO BOB RDR", 0);
	fx_use(BOB);
	run_as(CPCMD_GUEST, "SPOOL D TO ALICE RDR", 0);
	for (unsigned int i = 0; i < 200; i++) {
		fx_use(ALICE);
		snprintf(text, sizeof(text), "to BOB, %u", i);
		ck_assert_uint_eq(punch(text), 0x0c);
		fx_use(BOB);
		snprintf(text, sizeof(text), "to ALICE, %u", i);
		ck_assert_uint_eq(punch(text), 0x0c);
	}
	run_as(CPCMD_GUEST, "CLOSE D", 0);
	ck_assert_str_eq(spool_info("ALICE", SPOOL_RDR, 2).origin, "BOB");
	/* ALICE's is not complete yet: unit check, as the reader is empty. */
	ck_assert_uint_eq(unit_read(text).status, 0x0e);
	fx_use(ALICE);
	run_as(CPCMD_GUEST, "CLOSE D", 0);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "to ALICE, %u", i);
		ck_card(text);
	}
	ck_end_of_file();
	fx_use(BOB);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "to BOB, %u", i);
		ck_card(text);
	}
	ck_end_of_file();
}

/* The one to whom a file is sent is told of it, and by whom. */
TEST(told)
{
	send_card("BOB", "one");
	ck_guest("QUERY RDR", 0, "NO RDR FILES\n");
	fx_use(BOB);
	ck_guest("QUERY RDR", 0,
		 "ORIGINID FILE CLASS RECORDS  CPY HOLD FORM     DEST     KEEP MSG\n"
		 "ALICE    0001 A PUN 00000001 001 NONE STANDARD OFF      OFF  OFF\n");
}

/* Each has its devices: what one spools, holds or closes is not the other's. */
TEST(devices)
{
	run_as(CPCMD_GUEST, "SPOOL D CLASS Q HOLD", 0);
	ck_assert_uint_eq(punch("ALICE's"), 0x0c);
	fx_use(BOB);
	ck_assert_uint_eq(punch("BOB's"), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE D", 0);
	ck_assert_int_eq(spool_info("BOB", SPOOL_PUN, 1).spool_class, 'A');
	ck_assert(!spool_info("BOB", SPOOL_PUN, 1).user_hold);
	ck_guest("QUERY PUN", 0, "OWNERID  FILE CLASS RECORDS  CPY HOLD FORM     DEST     KEEP MSG\n"
		 "BOB      0001 A PUN 00000001 001 NONE STANDARD OFF      OFF  OFF\n");
	fx_use(ALICE);
	ck_guest("QUERY PUN", 0, "NO PUN FILES\n");
	run_as(CPCMD_GUEST, "CLOSE D", 0);
	ck_assert_int_eq(spool_info("ALICE", SPOOL_PUN, 1).spool_class, 'Q');
	ck_assert(spool_info("ALICE", SPOOL_PUN, 1).user_hold);
}

TEST(transfer)
{
	logon(CAROL, "CAROL");
	fx_use(ALICE);
	send_card("BOB", "for CAROL in the end");
	fx_use(BOB);
	ck_guest("TRANSFER RDR 1 TO CAROL RDR", 0, "0001 FILE TRANSFERRED\n");
	ck_guest("QUERY RDR", 0, "NO RDR FILES\n");
	fx_use(CAROL);
	ck_assert_str_eq(spool_info("CAROL", SPOOL_RDR, 1).origin, "ALICE");
	ck_card("for CAROL in the end");
}

/* A file that a reader has open stays, whatever its sender does. */
TEST(open_in_the_reader)
{
	send_card("BOB", "one");
	send_card("BOB", "two");
	fx_use(BOB);
	ck_card("one");
	fx_use(ALICE);
	ck_operator("TRANSFER BOB RDR ALL TO ALICE RDR", 0, "0001 FILE TRANSFERRED\n");
	ck_card("two");
	fx_use(BOB);
	ck_end_of_file();
}

/* Files outlive those who have sent them; what was being written is complete. */
TEST(logoff)
{
	send_card("BOB", "one");
	run_as(CPCMD_GUEST, "SPOOL D TO BOB RDR", 0);
	ck_assert_uint_eq(punch("two"), 0x0c);
	fx_logoff(ALICE);
	fx_use(BOB);
	ck_card("one");
	ck_end_of_file();
	ck_card("two");
	/* A reader's file goes back to its queue, and is there at the next log-on. */
	fx_logoff(BOB);
	logon(BOB, "BOB");
	ck_card("two");
}

/* All that the spool has is as it was, and so are both readers' places. */
TEST(saved)
{
	uint8_t *image;
	size_t len;

	send_card("BOB", "one");
	run_as(CPCMD_GUEST, "SPOOL D TO BOB RDR", 0);
	ck_assert_uint_eq(punch("not closed"), 0x0c);
	fx_use(BOB);
	ck_card("one");
	image = fx_save(&len);
	ck_end_of_file();
	fx_use(ALICE);
	run_as(CPCMD_GUEST, "CLOSE D PURGE", 0);
	ck_assert_uint_eq(spool_files(), 0);
	fx_load(image, len);
	free(image);
	run_as(CPCMD_GUEST, "CLOSE D", 0);
	fx_use(BOB);
	ck_end_of_file();
	ck_card("not closed");
}

/* The tag of the sender's device comes with the file. */
TEST(tag)
{
	run_as(CPCMD_GUEST, "TAG DEV D for you", 0);
	send_card("BOB", "a card");
	ck_guest("TAG QUERY FILE 1", 42, "HCPTAG042E Spool file 0001 does not exist\n");
	fx_use(BOB);
	ck_guest("TAG QUERY FILE 1", 0, "for you\n");
	ck_guest("TAG QUERY FILE 0002", 42, "HCPTAG042E Spool file 0002 does not exist\n");
	ck_guest("TAG QUERY FILE", 26, MISSING("TAG"));
	ck_guest("TAG QUERY FILE A", 3, INVALID("TAG", "A"));
	ck_guest("TAG QUERY FILE 1 2", 3, EXTRA("TAG", "2"));
	ck_guest("TRANSFER RDR 1 TO ALICE", 0, "0001 FILE TRANSFERRED\n");
	fx_use(ALICE);
	ck_guest("TAG QUERY FILE 1", 0, "for you\n");
}
