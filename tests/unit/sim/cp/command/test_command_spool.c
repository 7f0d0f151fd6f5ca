/* SPDX-License-Identifier: MIT */
/* SPOOL, CLOSE, TAG, PURGE, ORDER, CHANGE, TRANSFER, LINK, QUERY of files: what each does. */
#include "spool_check.h"

/* 12/15 13:24:57, the time of the fixture's clock. */
#define ALL_HEAD "ORIGINID FILE CLASS RECORDS  CPY HOLD DATE  TIME     NAME      TYPE     DIST\n"
#define FILE_A "OPERATOR 0001 A PUN 00000001 001 NONE 12/15 13:24:57 A         TEXT     LINUX001\n"
#define FILE_B "OPERATOR 0002 B PUN 00000001 001 USER 12/15 13:24:57 B         TEXT     LINUX001\n"

FX_REPLAY_TRACES;

CASE("spool", spool_setup, fx_teardown);

TEST(query)
{
	ck_guest("QUERY RDR ALL", 0, "NO RDR FILES\n");
	ck_guest("QUERY PUN * ALL", 0, "NO PUN FILES\n");
	ck_guest("QUERY PRT", 0, "NO PRT FILES\n");
	spool_send_two();
	ck_guest("QUERY RDR * ALL", 0, ALL_HEAD FILE_A FILE_B);
	ck_guest("Q READER * 2 ALL SHORTDATE", 0, ALL_HEAD FILE_B);
	ck_guest("Q R CL A ALL", 0, ALL_HEAD FILE_A);
	ck_guest("Q R 3 ALL", 42, "HCPCSQ042E Spool file 0003 does not exist\n");
	ck_guest("Q R NOBODY", 3, INVALID("CSQ", "NOBODY"));
	ck_guest("Q R OPERATOR", 3, INVALID("CSQ", "OPERATOR"));
	ck_operator("Q R LINUX001 1 ALL", 0, ALL_HEAD FILE_A);
	ck_operator("Q R ALL", 0, "NO RDR FILES\n");
}

/* The columns from which vmur of s390-tools 2.16 takes class, hold status, name and type. */
TEST(columns)
{
	const char *reply;

	spool_send_two();
	reply = run_as(CPCMD_GUEST, "QUERY RDR * 2 ALL SHORTDATE", 0);
	ck_assert_int_eq(reply[91], 'B');
	ck_assert_int_eq(strncmp(reply + 110, "USER", 4), 0);
	ck_assert_int_eq(strncmp(reply + 130, "B       ", 8), 0);
	ck_assert_int_eq(strncmp(reply + 140, "TEXT    ", 8), 0);
	reply = run_as(CPCMD_GUEST, "QUERY VIRTUAL C", 0);
	ck_assert_int_eq(reply[13], '*');
	run_as(CPCMD_GUEST, "SPOOL D CONT CL X", 0);
	reply = run_as(CPCMD_GUEST, "QUERY VIRTUAL D", 0);
	ck_assert_int_eq(reply[13], 'X');
	ck_assert_int_eq(strncmp(reply + 15, "  CONT", 6), 0);
	ck_assert_ptr_nonnull(strstr(reply, "FORM STANDARD"));
	ck_assert_ptr_nonnull(strstr(reply, "DEST OFF"));
	ck_assert_ptr_nonnull(strstr(reply, "DIST LINUX001"));
	punch("x");
	reply = run_as(CPCMD_GUEST, "CLOSE D PURGE\nSPOOL D NOCONT\nCLOSE D", 0);
	ck_assert_str_eq(reply, "");
}

TEST(purge)
{
	spool_send_two();
	ck_guest("PURGE * RDR 7", 0, "NO FILES PURGED\n");
	ck_guest("PURGE * RDR CLASS B", 0, "0001 FILE PURGED\n");
	ck_guest("PURGE * RDR", 26, MISSING("CSU"));
	ck_guest("PURGE RDR NEVER", 3, INVALID("CSU", "NEVER"));
	ck_guest("PURGE OPERATOR RDR ALL", 3, INVALID("CSU", "OPERATOR"));
	spool_send("C", "c", 'C', false);
	ck_card("a");
	/* A file that is being read stays. */
	ck_guest("PUR RDR ALL", 0, "0001 FILE PURGED\n");
	ck_guest("CLOSE RDR", 0, "");
	spool_send_two();
	ck_guest("PURGE ALL", 0, "0002 FILES PURGED\n");
}

TEST(order)
{
	spool_send_two();
	spool_send("C", "c", 'C', false);
	ck_guest("ORDER * READER 3 2", 0, "0002 FILES ORDERED\n");
	ck_guest("Q R", 0,
			 "ORIGINID FILE CLASS RECORDS  CPY HOLD FORM     DEST     KEEP MSG\n"
			 "OPERATOR 0003 C PUN 00000001 001 NONE STANDARD OFF      OFF  OFF\n"
			 "OPERATOR 0002 B PUN 00000001 001 USER STANDARD OFF      OFF  OFF\n"
			 "OPERATOR 0001 A PUN 00000001 001 NONE STANDARD OFF      OFF  OFF\n");
	/* A number that is given twice is one file, where it was given first. */
	ck_guest("ORDER RDR 1 1", 0, "0001 FILE ORDERED\n");
	ck_guest("ORDER RDR 2 3 2", 0, "0002 FILES ORDERED\n");
	ck_guest("Q R", 0,
			 "ORIGINID FILE CLASS RECORDS  CPY HOLD FORM     DEST     KEEP MSG\n"
			 "OPERATOR 0002 B PUN 00000001 001 USER STANDARD OFF      OFF  OFF\n"
			 "OPERATOR 0003 C PUN 00000001 001 NONE STANDARD OFF      OFF  OFF\n"
			 "OPERATOR 0001 A PUN 00000001 001 NONE STANDARD OFF      OFF  OFF\n");
	ck_guest("ORDER RDR 9", 0, "NO FILES ORDERED\n");
	ck_guest("ORDER RDR", 26, MISSING("CSO"));
	ck_guest("ORDER", 26, MISSING("CSO"));
	ck_guest("ORDER NSS 1", 3, INVALID("CSO", "NSS"));
}

TEST(change)
{
	spool_send_two();
	ck_guest("CHANGE * READER 2 NOHOLD", 0, "0001 FILE CHANGED\n");
	ck_assert(!spool_info("LINUX001", SPOOL_RDR, 2).user_hold);
	ck_guest("CHANGE RDR ALL HOLD CLASS Z FORM F NAME New Name", 0, "0002 FILES CHANGED\n");
	ck_assert(spool_info("LINUX001", SPOOL_RDR, 1).user_hold);
	ck_assert_int_eq(spool_info("LINUX001", SPOOL_RDR, 2).spool_class, 'Z');
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 1).name, "New");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 1).type, "Name");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 1).form, "F");
	ck_guest("CHANGE RDR 1 HOLD NOHOLD", 13, "HCPCSG013E Conflicting option - NOHOLD\n");
	ck_guest("CHANGE RDR 1", 26, MISSING("CSG"));
	ck_guest("CHANGE RDR 1 NOSUCH", 3, INVALID("CSG", "NOSUCH"));
	ck_guest("CHANGE RDR 1 CLASS AB", 28, "HCPCSG028E Class missing or invalid\n");
	ck_guest("CHANGE RDR 1 NAME", 26, MISSING("CSG"));
	ck_guest("CHANGE RDR 1 NAME A B C", 3, EXTRA("CSG", "C"));
	ck_guest("CHANGE RDR 1 NAME TOOLONGNAME", 3, INVALID("CSG", "TOOLONGNAME"));
}

TEST(transfer)
{
	spool_send_two();
	ck_guest("TRANSFER RDR 1 TO NOBODY", 53, "HCPCST053E NOBODY not in CP directory\n");
	ck_guest("TRANSFER RDR 1", 26, MISSING("CST"));
	ck_guest("TRANSFER RDR TO OPERATOR", 26, MISSING("CST"));
	ck_guest("TRANSFER RDR 1 TO OPERATOR", 0, "0001 FILE TRANSFERRED\n");
	ck_assert_str_eq(spool_info("OPERATOR", SPOOL_RDR, 1).name, "A");
	/* The number 1 is taken there. */
	ck_guest("TRANSFER RDR 2 TO OPERATOR PRT", 0, "0001 FILE TRANSFERRED\n");
	ck_assert_str_eq(spool_info("OPERATOR", SPOOL_PRT, 2).name, "B");
	spool_limits(fx.cp, SPOOL_PAGES, 2);
	spool_send("C", "c", 'C', false);
	ck_guest("TRANSFER RDR ALL TO OPERATOR", 439,
		 "HCPCST439E User OPERATOR spool fileid limit exceeded\nNO FILES TRANSFERRED\n");
	ck_operator("TRANSFER PRT ALL TO LINUX001 PUN", 0, "0001 FILE TRANSFERRED\n");
	/* Its number is free, and so it keeps it. */
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_PUN, 2).name, "B");
}

TEST(settings)
{
	struct spool_file_info info;

	ck_guest("SPOOL 00D CL K FORM BLUE COPY 2 DIST D1 HOLD KEEP NAME Some Name", 0, "");
	ck_guest("SPOOL PUN TO OPERATOR RDR", 0, "");
	ck_guest("TAG DEV D NODE1 USER1", 0, "");
	ck_guest("TAG QUERY DEV 00D", 0, "NODE1 USER1\n");
	ck_guest("TAG QUERY DEV PRT", 0, "TAG NOT SET\n");
	punch("x");
	ck_guest("CLOSE 00D", 0,
		 "PUN FILE 0001 SENT TO   OPERATOR RDR AS  0001 RECS 0001 CPY  002 K HOLD KEEP\n");
	info = spool_info("OPERATOR", SPOOL_RDR, 1);
	ck_assert_str_eq(info.name, "Some");
	ck_assert_str_eq(info.type, "Name");
	ck_assert_str_eq(info.form, "BLUE");
	ck_assert_str_eq(info.dist, "D1");
	ck_assert_str_eq(info.tag, "NODE1 USER1");
	ck_assert_uint_eq(info.copies, 2);
	ck_assert_str_eq(info.origin, "LINUX001");
	ck_guest("SPOOL D CLASS A NOSUCH", 3, INVALID("CSP", "NOSUCH"));
	/* Nothing of a command that is refused is done. */
	ck_assert_int_eq(run_as(CPCMD_GUEST, "Q V D", 0)[13], 'K');
	ck_guest("SPOOL C FORM X", 3, INVALID("CSP", "FORM"));
	ck_guest("SPOOL D CLASS *", 28, "HCPCSP028E Class missing or invalid\n");
	ck_guest("SPOOL 123 CLASS A", 40, "HCPCSP040E Device 123 does not exist\n");
	ck_guest("SPOOL D", 26, MISSING("CSP"));
	ck_guest("SPOOL D COPY 0", 3, INVALID("CSP", "0"));
	ck_guest("SPOOL D TO", 20, "HCPCSP020E Userid missing or invalid\n");
	ck_guest("CLOSE 123", 40, "HCPCLS040E Device 123 does not exist\n");
	ck_guest("CLOSE D NOSUCH", 3, INVALID("CLS", "NOSUCH"));
	ck_guest("TAG DEV 19 x", 40, "HCPTAG040E Device 19 does not exist\n");
	ck_guest("TAG", 26, MISSING("TAG"));
}

TEST(close_to)
{
	punch("x");
	ck_guest("CLOSE D TO NOBODY RDR", 53, "HCPCLS053E NOBODY not in CP directory\n");
	ck_guest("CLOSE D TO OPERATOR RDR NAME mixed Case", 0,
		 "PUN FILE 0001 SENT TO   OPERATOR RDR AS  0001 RECS 0001 CPY  001 A NOHOLD "
		 "NOKEEP\n");
	ck_assert_uint_eq(fx.events[CP_EVENT_SPOOL], 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_assert_str_eq(spool_info("OPERATOR", SPOOL_RDR, 1).type, "Case");
	spool_limits(fx.cp, SPOOL_PAGES, 1);
	punch("y");
	ck_guest("CLOSE D TO OPERATOR RDR", 439,
		 "PUN FILE 0001 SENT TO   LINUX001 PUN AS  0001 RECS 0001 CPY  001 A NOHOLD "
		 "NOKEEP\n"
		 "HCPCLS439E User OPERATOR spool fileid limit exceeded\n");
	spool_limits(fx.cp, SPOOL_PAGES, 9);
	/* A device that goes on (CONT) keeps its file open. */
	ck_guest("SPOOL D CONT", 0, "");
	punch("z");
	ck_guest("CLOSE D", 0, "");
	ck_guest("SPOOL D NOCONT\nCLOSE D PURGE\nPURGE PUN ALL", 0, "0001 FILE PURGED\n");
}

/* Linux' vmur reads from the answer whether the user exists. */
TEST(link)
{
	ck_guest("LINK OPERATOR", 22,
		 "HCPLNM022E A virtual device number was not supplied or it was invalid.\n");
	ck_guest("LINK NOBODY", 53, "HCPLNM053E NOBODY not in CP directory\n");
	ck_guest("LINK", 20, "HCPLNM020E Userid missing or invalid\n");
	ck_guest("LINK TOOLONGID", 20, "HCPLNM020E Userid missing or invalid\n");
	ck_guest("LINK OPERATOR 191 191 RR", 107,
		 "HCPLNM107E OPERATOR 191 not linked; no device\n");
	ck_guest("LINK * 0191", 107, "HCPLNM107E LINUX001 0191 not linked; no device\n");
}
