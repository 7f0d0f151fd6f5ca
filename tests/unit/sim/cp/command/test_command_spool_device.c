/* SPDX-License-Identifier: MIT */
/* SPOOL, CLOSE, TAG and QUERY VIRTUAL of unit record devices: settings, wrong operands. */
#include "spool_check.h"
#include "zvmlab/fault.h"

#define READER_LINES(cont, hold, open, keep) \
	"RDR  000C CL * " cont " " hold "   EOF       READY\n" \
	"     000C 2540     " open "   " keep " NORESCAN   SUBCHANNEL = 0000\n"
#define PUNCH_LINES(open, keep, to, dist, dest, name) \
	"PUN  000D CL A NOCONT NOHOLD COPY 001    READY FORM STANDARD\n" \
	"     000D TO " to " DIST " dist " FLASHC 000 DEST " dest "\n" \
	"     000D FLASH      CHAR      MDFY      0 FCB      LPP OFF\n" \
	"     000D 2540 NOEOF " open " " keep " NOMSG " name "\n" \
	"     000D SUBCHANNEL = 0001\n"
#define PRINTER_LINES \
	"PRT  000E CL A NOCONT NOHOLD COPY 001    READY FORM STANDARD\n" \
	"     000E TO LINUX001 PRT DIST LINUX001 FLASHC 000 DEST OFF\n" \
	"     000E FLASH      CHAR      MDFY      0 FCB      LPP OFF\n" \
	"     000E 1403 NOEOF CLOSED NOKEEP NOMSG NONAME\n" \
	"     000E SUBCHANNEL = 0002\n"
/* As they are at first. */
#define READER_AT_FIRST READER_LINES("NOCONT", "NOHOLD", "CLOSED", "NOKEEP")
#define PUNCH_AT_FIRST \
	PUNCH_LINES("CLOSED", "NOKEEP", "LINUX001 PUN", "LINUX001", "OFF", "NONAME")
#define SENT(to, as, flags) \
	"PUN FILE 0001 SENT TO   " to " AS  " as " RECS 0001 CPY  001 A " flags "\n"

FX_REPLAY_TRACES;

CASE("devices", spool_setup, fx_teardown);

TEST(all_unit_record_devices)
{
	ck_guest("QUERY VIRTUAL UR", 0, READER_AT_FIRST PUNCH_AT_FIRST PRINTER_LINES);
	ck_guest("QUERY VIRTUAL UR 00D", 3, EXTRA("QVD", "00D"));
	ck_guest("QUERY VIRTUAL 00D X", 3, EXTRA("QVD", "X"));
	ck_guest("QUERY VIRTUAL NSS", 3, INVALID("CQV", "NSS"));
}

TEST(open_devices)
{
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 1);
	ck_card("a");
	ck_guest("SPOOL C KEEP HOLD CONT", 0, "");
	ck_guest("Q V RDR", 0, READER_LINES("  CONT", "  HOLD", "OPEN  ", "  KEEP"));
	ck_guest("SPOOL C NOKEEP NOHOLD NOCONT", 0, "");
	ck_guest("CLOSE C", 0, "");
	ck_guest("Q V RDR", 0, READER_AT_FIRST);
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_guest("Q V PUN", 0,
		 PUNCH_LINES("OPEN  ", "NOKEEP", "LINUX001 PUN", "LINUX001", "OFF", "NONAME"));
}

/* They are taken, and no setting of the device says so. */
TEST(switches_that_do_nothing)
{
	ck_guest("SPOOL D EOF NOEOF MSG NOMSG", 0, "");
	ck_guest("SPOOL C EOF NOEOF MSG NOMSG", 0, "");
	ck_guest("QUERY VIRTUAL UR", 0, READER_AT_FIRST PUNCH_AT_FIRST PRINTER_LINES);
}

TEST(labels)
{
	ck_guest("SPOOL D DEST room1 DIST bin7 KEEP NAME Only", 0, "");
	ck_guest("Q V D", 0,
		 PUNCH_LINES("CLOSED", "  KEEP", "LINUX001 PUN", "BIN7    ", "ROOM1", "Only"));
	ck_guest("SPOOL D NOKEEP DIST OFF NAME Some Type", 0, "");
	ck_guest("Q V D", 0,
		 PUNCH_LINES("CLOSED", "NOKEEP", "LINUX001 PUN", "LINUX001", "ROOM1",
			     "Some Type"));
	ck_guest("SPOOL D DIST bin8 DEST OFF NONAME", 0, "");
	ck_guest("Q V D", 0,
		 PUNCH_LINES("CLOSED", "NOKEEP", "LINUX001 PUN", "BIN8    ", "OFF", "NONAME"));
	ck_guest("SPOOL D DIST *", 0, "");
	ck_guest("Q V D", 0, PUNCH_AT_FIRST);
}

TEST(the_receiver_set_and_reset)
{
	/* What is behind the receiver and no queue is the next option. */
	ck_guest("SPOOL D TO OPERATOR KEEP", 0, "");
	ck_guest("Q V D", 0,
		 PUNCH_LINES("CLOSED", "  KEEP", "OPERATOR RDR", "LINUX001", "OFF", "NONAME"));
	ck_guest("SPOOL D TO OPERATOR PRT", 0, "");
	ck_guest("Q V D", 0,
		 PUNCH_LINES("CLOSED", "  KEEP", "OPERATOR PRT", "LINUX001", "OFF", "NONAME"));
	ck_guest("SPOOL D OFF NOKEEP", 0, "");
	ck_guest("Q V D", 0, PUNCH_AT_FIRST);
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_guest("CLOSE D", 0, SENT("LINUX001 PUN", "0001", "NOHOLD NOKEEP"));
}

TEST(spool_of_wrong_operands)
{
	ck_guest("SPOOL", 26, MISSING("CSP"));
	ck_guest("SPOOL NSS KEEP", 40, "HCPCSP040E Device NSS does not exist\n");
	ck_guest("SPOOL D KEEP COPY", 26, MISSING("CSP"));
	ck_guest("SPOOL D KEEP COPY 256", 3, INVALID("CSP", "256"));
	ck_guest("SPOOL D KEEP FORM", 26, MISSING("CSP"));
	ck_guest("SPOOL D KEEP FORM LONGERTHAN8", 3, INVALID("CSP", "LONGERTHAN8"));
	ck_guest("SPOOL D KEEP DEST", 26, MISSING("CSP"));
	ck_guest("SPOOL D KEEP DIST", 26, MISSING("CSP"));
	ck_guest("SPOOL D KEEP DIST LONGERTHAN8", 3, INVALID("CSP", "LONGERTHAN8"));
	ck_guest("SPOOL D KEEP CLASS", 28, "HCPCSP028E Class missing or invalid\n");
	ck_guest("SPOOL D KEEP CLASS AB", 28, "HCPCSP028E Class missing or invalid\n");
	ck_guest("SPOOL D KEEP TO TOOLONGID", 20, "HCPCSP020E Userid missing or invalid\n");
	ck_guest("SPOOL D KEEP NAME", 26, MISSING("CSP"));
	ck_guest("SPOOL D KEEP NAME LONGERTHAN8", 3, INVALID("CSP", "LONGERTHAN8"));
	ck_guest("SPOOL D KEEP NAME ab LONGERTHAN8", 3, INVALID("CSP", "LONGERTHAN8"));
	ck_guest("SPOOL D KEEP NAME ab \tc", 3, INVALID("CSP", ".C"));
	ck_guest("Q V D", 0, PUNCH_AT_FIRST);
}

TEST(close_says_otherwise)
{
	ck_guest("SPOOL D HOLD KEEP", 0, "");
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_guest("CLOSE D NOHOLD NOKEEP", 0, SENT("LINUX001 PUN", "0001", "NOHOLD NOKEEP"));
	ck_guest("PURGE PUN ALL", 0, "0001 FILE PURGED\n");
	ck_guest("SPOOL D NOHOLD NOKEEP", 0, "");
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_guest("CLOSE D HOLD KEEP", 0, SENT("LINUX001 PUN", "0001", "HOLD KEEP"));
	ck_assert(spool_info("LINUX001", SPOOL_PUN, 1).user_hold);
	ck_guest("PURGE PUN ALL", 0, "0001 FILE PURGED\n");
	/* EOF ends what CONT would continue. */
	ck_guest("SPOOL D CONT", 0, "");
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_guest("CLOSE D", 0, "");
	ck_guest("CLOSE D EOF", 0, SENT("LINUX001 PUN", "0001", "NOHOLD NOKEEP"));
}

/* A name that is wrong ends the command: the file stays open, and what follows is not done. */
TEST(close_with_a_wrong_name)
{
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_guest("CLOSE D NAME", 26, MISSING("CLS"));
	ck_guest("CLOSE D NAME LONGERTHAN8", 3, INVALID("CLS", "LONGERTHAN8"));
	ck_guest("CLOSE D NAME ab LONGERTHAN8", 3, INVALID("CLS", "LONGERTHAN8"));
	ck_guest("CLOSE D NAME ab cd EXTRA", 3, EXTRA("CLS", "EXTRA"));
	ck_guest("CLOSE D TO", 20, "HCPCLS020E Userid missing or invalid\n");
	ck_guest("Q V PUN", 0,
		 PUNCH_LINES("OPEN  ", "NOKEEP", "LINUX001 PUN", "LINUX001", "OFF", "NONAME"));
}

TEST(close_of_a_reader)
{
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 1);
	ck_card("a");
	ck_guest("CLOSE", 26, MISSING("CLS"));
	ck_guest("CLOSE C TO OPERATOR", 3, INVALID("CLS", "TO"));
	ck_guest("CLOSE C NAME X", 3, INVALID("CLS", "NAME"));
	ck_assert(spool_info("LINUX001", SPOOL_RDR, 1).open);
	/* CLOSE may keep the file, and without the reader's own KEEP it is gone. */
	ck_guest("SPOOL C HOLD KEEP", 0, "");
	ck_guest("CLOSE C NOHOLD", 0, "");
	ck_assert(!spool_info("LINUX001", SPOOL_RDR, 1).open);
	ck_assert(!spool_info("LINUX001", SPOOL_RDR, 1).user_hold);
	ck_card("a");
	ck_guest("CLOSE C NOHOLD NOKEEP", 0, "");
	ck_assert_uint_eq(spool_files(), 0);
}

/* A receiver that the device's settings name, and the file's own user. */
TEST(a_receiver_has_too_many_files)
{
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_guest("CLOSE D TO OPERATOR", 0, SENT("OPERATOR RDR", "0001", "NOHOLD NOKEEP"));
	spool_limits(fx.cp, SPOOL_PAGES, 1);
	ck_guest("SPOOL D TO OPERATOR", 0, "");
	ck_assert_uint_eq(punch("y"), 0x0c);
	ck_guest("CLOSE D", 439,
		 SENT("LINUX001 PUN", "0001", "NOHOLD NOKEEP")
		 "HCPCLS439E User OPERATOR spool fileid limit exceeded\n");
	ck_guest("PURGE PUN ALL", 0, "0001 FILE PURGED\n");
	ck_guest("SPOOL D OFF", 0, "");
	ck_arm(FAULT_SPOOL_FILE, FAULT_LIMIT, .times = 1, .value = 1, .user = "LINUX001",
	       .name = "PUN");
	ck_assert_uint_eq(punch("z"), 0x0c);
	ck_guest("CLOSE D", 439,
		 SENT("LINUX001 PUN", "0001", "NOHOLD NOKEEP")
		 "HCPCLS439E User LINUX001 spool fileid limit exceeded\n");
	ck_assert_uint_eq(spool_files(), 2);
}

#define CHARACTERS_40 "1234567890123456789012345678901234567890"

TEST(tags)
{
	const char longest[] = CHARACTERS_40 CHARACTERS_40 CHARACTERS_40 "1234567890123456";
	char command[200], reply[200];

	ck_guest("TAG NODE D", 3, INVALID("TAG", "NODE"));
	ck_guest("TAG DEV", 26, MISSING("TAG"));
	ck_guest("TAG QUERY", 26, MISSING("TAG"));
	ck_guest("TAG QUERY NODE D", 3, INVALID("TAG", "NODE"));
	ck_guest("TAG QUERY DEV", 26, MISSING("TAG"));
	ck_guest("TAG QUERY DEV 19", 40, "HCPTAG040E Device 19 does not exist\n");
	ck_assert_uint_eq(strlen(longest), 136);
	snprintf(command, sizeof(command), "TAG DEV D %s", longest);
	snprintf(reply, sizeof(reply), "%s\n", longest);
	ck_guest(command, 0, "");
	ck_guest("TAG QUERY DEV D", 0, reply);
	snprintf(command, sizeof(command), "TAG DEV D %s7", longest);
	ck_guest(command, 26, "HCPTAG026E Operand missing or invalid - the tag has more than 136 "
			      "characters\n");
	ck_guest("TAG QUERY DEV D", 0, reply);
	ck_guest("TAG DEV D", 0, "");
	ck_guest("TAG QUERY DEV D", 0, "TAG NOT SET\n");
	ck_guest("TAG DEV D a\tb", 0, "");
	ck_guest("TAG QUERY DEV D", 0, "a.b\n");
}

CASE("no devices", fx_setup, fx_teardown);

TEST(no_unit_record_devices)
{
	ck_guest("QUERY VIRTUAL UR", 3, INVALID("CQV", "UR"));
	ck_guest("SPOOL PUN HOLD", 40, "HCPCSP040E Device PUN does not exist\n");
	ck_guest("CLOSE 00D", 40, "HCPCLS040E Device 00D does not exist\n");
	ck_guest("TAG QUERY DEV RDR", 40, "HCPTAG040E Device RDR does not exist\n");
}

/* QUERY VIRTUAL shows it, so nobody may say that it does not exist. */
TEST(console_is_not_spooled)
{
	ck_guest("SPOOL CONS START", 3, INVALID("CSP", "CONS"));
	ck_guest("SPOOL CONSOLE * START", 3, INVALID("CSP", "CONSOLE"));
	ck_guest("CLOSE 009", 3, INVALID("CLS", "009"));
	ck_guest("TAG DEV CON x", 3, INVALID("TAG", "CON"));
	ck_guest("SPOOL CONT START", 40, "HCPCSP040E Device CONT does not exist\n");
}
