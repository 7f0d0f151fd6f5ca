/* SPDX-License-Identifier: MIT */
/* PURGE, ORDER, CHANGE, TRANSFER and QUERY of spool files: which, columns, wrong operands. */
#include "spool_check.h"

#define SHORT_HEAD(user) user " FILE CLASS RECORDS  CPY HOLD FORM     DEST     KEEP MSG\n"
#define LINE_A "OPERATOR 0001 A PUN 00000001 001 NONE STANDARD OFF      OFF  OFF\n"
#define LINE_B "OPERATOR 0002 B PUN 00000001 001 USER STANDARD OFF      OFF  OFF\n"
#define ALL_HEAD(date) \
	"ORIGINID FILE CLASS RECORDS  CPY HOLD " date " TIME     NAME      TYPE     DIST\n"
#define ALL_LINE_A(date) \
	"OPERATOR 0001 A PUN 00000001 001 NONE " date " 13:24:57 A         TEXT     LINUX001\n"

/* The guest's reader has the two files that spool_send_two() makes, in this order. */
static void ck_both_there(void)
{
	ck_guest("QUERY RDR", 0, SHORT_HEAD("ORIGINID") LINE_A LINE_B);
	ck_assert_uint_eq(spool_files(), 2);
}

/* Punch a card and close the file, which is sent as number @id. */
static void punch_file(const char *spool, unsigned int id)
{
	run_as(CPCMD_GUEST, spool, 0);
	ck_assert_uint_eq(punch("card"), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE D", 0);
	ck_assert(!spool_info("LINUX001", SPOOL_PUN, (int)id).open);
}

FX_REPLAY_TRACES;

CASE("files", spool_setup, fx_teardown);

TEST(files_are_chosen_by_form_and_destination)
{
	punch_file("SPOOL D FORM BLUE DEST ROOM1", 1);
	punch_file("SPOOL D FORM BLUE DEST ROOM2", 2);
	punch_file("SPOOL D FORM GREEN DEST ROOM1", 3);
	ck_guest("QUERY PUN FORM blue DEST room2", 0,
		 SHORT_HEAD("OWNERID ")
		 "LINUX001 0002 A PUN 00000001 001 NONE BLUE     ROOM2    OFF  OFF\n");
	ck_guest("QUERY PUN FORM RED", 0, "NO PUN FILES\n");
	ck_guest("QUERY PUN DEST ROOM9 ALL", 0, "NO PUN FILES\n");
	/* A letter is a name, too. */
	ck_guest("QUERY PUN DEST R", 0, "NO PUN FILES\n");
	ck_guest("QUERY PUN FORM B", 0, "NO PUN FILES\n");
	ck_guest("CHANGE PUN DEST ROOM1 CLASS Q", 0, "0002 FILES CHANGED\n");
	ck_assert_int_eq(spool_info("LINUX001", SPOOL_PUN, 1).spool_class, 'Q');
	ck_assert_int_eq(spool_info("LINUX001", SPOOL_PUN, 2).spool_class, 'A');
	ck_assert_int_eq(spool_info("LINUX001", SPOOL_PUN, 3).spool_class, 'Q');
	ck_guest("TRANSFER PUN FORM GREEN DEST ROOM2 TO OPERATOR", 0, "NO FILES TRANSFERRED\n");
	/* TO has the same short form as in SPOOL. */
	ck_guest("TRANSFER PUN FORM GREEN DEST ROOM2 T OPERATOR", 0, "NO FILES TRANSFERRED\n");
	ck_guest("PURGE PUN FORM BLUE", 0, "0002 FILES PURGED\n");
	ck_assert_uint_eq(spool_files(), 1);
	ck_guest("PURGE PUN DEST ROOM1", 0, "0001 FILE PURGED\n");
	ck_assert_uint_eq(spool_files(), 0);
}

TEST(form_and_destination_need_a_name)
{
	spool_send_two();
	ck_guest("PURGE RDR FORM", 26, MISSING("CSU"));
	ck_guest("PURGE RDR DEST", 26, MISSING("CSU"));
	ck_guest("PURGE RDR FORM LONGERTHAN8", 3, INVALID("CSU", "LONGERTHAN8"));
	/* Neither is a control character part of a name, nor DEL. */
	ck_guest("PURGE RDR DEST A\tB", 3, INVALID("CSU", "A.B"));
	ck_guest("PURGE RDR DEST A\177B", 3, INVALID("CSU", "A.B"));
	ck_both_there();
}

TEST(up_to_sixteen_numbers)
{
	spool_send_two();
	ck_guest("PURGE RDR 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", 3, INVALID("CSU", "17"));
	ck_both_there();
	ck_guest("PURGE RDR 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", 0, "0002 FILES PURGED\n");
	ck_assert_uint_eq(spool_files(), 0);
}

TEST(whose_files)
{
	spool_send_two();
	ck_guest("PURGE LINUX001", 26, MISSING("CSU"));
	ck_guest("PURGE LINUX001 NSS 1", 3, INVALID("CSU", "NSS"));
	ck_operator("PURGE TOOLONGID RDR ALL", 20, "HCPCSU020E Userid missing or invalid\n");
	ck_operator("PURGE RDR ALL", 0, "NO FILES PURGED\n");
	ck_both_there();
	ck_guest("PURGE LINUX001 RDR 1", 0, "0001 FILE PURGED\n");
	ck_operator("PURGE LINUX001 RDR 2", 0, "0001 FILE PURGED\n");
	ck_assert_uint_eq(spool_files(), 0);
}

TEST(order_takes_numbers_on_one_queue)
{
	spool_send_two();
	ck_guest("ORDER ALL 2", 3, INVALID("CSO", "ALL"));
	ck_guest("ORDER RDR 2 NEVER", 3, INVALID("CSO", "NEVER"));
	ck_guest("ORDER RDR CLASS B", 26, MISSING("CSO"));
	ck_both_there();
	/* A file that is being read stays where it is. */
	ck_card("a");
	ck_guest("ORDER RDR 1", 0, "NO FILES ORDERED\n");
	ck_guest("ORDER RDR 2 1", 0, "0001 FILE ORDERED\n");
	ck_guest("QUERY RDR", 0, SHORT_HEAD("ORIGINID") LINE_B LINE_A);
}

TEST(change_of_wrong_operands)
{
	spool_send_two();
	ck_guest("CHANGE NSS 1 HOLD", 3, INVALID("CSG", "NSS"));
	ck_guest("CHANGE RDR", 26, MISSING("CSG"));
	ck_guest("CHANGE RDR NEVER HOLD", 3, INVALID("CSG", "NEVER"));
	ck_guest("CHANGE RDR 1 NEVER", 3, INVALID("CSG", "NEVER"));
	ck_guest("CHANGE RDR 1 HOLD NEVER", 3, INVALID("CSG", "NEVER"));
	ck_guest("CHANGE RDR 1 HOLD FORM", 26, MISSING("CSG"));
	ck_guest("CHANGE RDR CLASS", 28, "HCPCSG028E Class missing or invalid\n");
	ck_guest("CHANGE RDR 1 CLASS", 28, "HCPCSG028E Class missing or invalid\n");
	ck_guest("CHANGE RDR 1 CLASS *", 28, "HCPCSG028E Class missing or invalid\n");
	ck_guest("CHANGE RDR 1 NAME ab TOOLONGTYPE", 3, INVALID("CSG", "TOOLONGTYPE"));
	ck_both_there();
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 1).name, "A");
}

TEST(change_on_all_queues)
{
	punch_file("SPOOL D NAME old type", 1);
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 2);
	ck_guest("CHANGE ALL HOLD", 0, "0002 FILES CHANGED\n");
	ck_assert(spool_info("LINUX001", SPOOL_PUN, 1).user_hold);
	ck_assert(spool_info("LINUX001", SPOOL_RDR, 2).user_hold);
	/* A name without a type leaves no type; the hold stays. */
	ck_guest("CHANGE ALL NAME new", 0, "0002 FILES CHANGED\n");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_PUN, 1).name, "new");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_PUN, 1).type, "");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 2).name, "new");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 2).type, "");
	ck_assert(spool_info("LINUX001", SPOOL_PUN, 1).user_hold);
	ck_guest("CHANGE PUN 1 CLASS 7", 0, "0001 FILE CHANGED\n");
	ck_assert(spool_info("LINUX001", SPOOL_PUN, 1).user_hold);
	ck_assert_int_eq(spool_info("LINUX001", SPOOL_PUN, 1).spool_class, '7');
	ck_assert_int_eq(spool_info("LINUX001", SPOOL_RDR, 2).spool_class, 'A');
}

TEST(transfer_of_wrong_operands)
{
	spool_send_two();
	ck_guest("TRANSFER NSS 1 TO OPERATOR", 3, INVALID("CST", "NSS"));
	ck_guest("TRANSFER ALL TO OPERATOR", 3, INVALID("CST", "ALL"));
	ck_guest("TRANSFER RDR 1 NEVER TO OPERATOR", 3, INVALID("CST", "NEVER"));
	ck_guest("TRANSFER RDR CLASS", 28, "HCPCST028E Class missing or invalid\n");
	ck_guest("TRANSFER RDR 1 TO", 20, "HCPCST020E Userid missing or invalid\n");
	ck_guest("TRANSFER RDR 1 TO TOOLONGID", 20, "HCPCST020E Userid missing or invalid\n");
	ck_guest("TRANSFER RDR 1 TO OPERATOR NSS", 3, EXTRA("CST", "NSS"));
	ck_guest("TRANSFER RDR 1 TO OPERATOR RDR NSS", 3, EXTRA("CST", "NSS"));
	ck_both_there();
}

/* Nothing is added to the user's files, however many there may be. */
TEST(transfer_to_oneself)
{
	spool_send_two();
	spool_limits(fx.cp, SPOOL_PAGES, 2);
	ck_guest("TRANSFER RDR 2 TO * PRT", 0, "0001 FILE TRANSFERRED\n");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_PRT, 2).name, "B");
	ck_guest("QUERY RDR", 0, SHORT_HEAD("ORIGINID") LINE_A);
	ck_assert_uint_eq(spool_files(), 2);
	/* Those for which there is room go: one more. */
	ck_assert_int_eq(spool_send("C", "c", 'C', false), -1);
	ck_operator("TRANSFER LINUX001 PRT ALL TO OPERATOR", 0, "0001 FILE TRANSFERRED\n");
	ck_assert_int_eq(spool_send("C", "c", 'C', false), 2);
	ck_guest("TRANSFER RDR ALL TO OPERATOR", 439,
		 "HCPCST439E User OPERATOR spool fileid limit exceeded\n0001 FILE TRANSFERRED\n");
	ck_assert_str_eq(spool_info(OTHER, SPOOL_RDR, 1).name, "A");
	ck_assert_str_eq(spool_info("LINUX001", SPOOL_RDR, 2).name, "C");
}

TEST(dates)
{
	ck_assert_int_eq(spool_send("A", "a", 'A', false), 1);
	ck_guest("QUERY RDR ALL ISODATE", 0, ALL_HEAD("DATE      ") ALL_LINE_A("2015-12-15"));
	ck_guest("QUERY RDR ALL FULLDATE", 0, ALL_HEAD("DATE      ") ALL_LINE_A("12/15/2015"));
	ck_guest("QUERY RDR ISO SHO ALL", 0, ALL_HEAD("DATE ") ALL_LINE_A("12/15"));
	/* The last of them counts. */
	ck_guest("QUERY RDR ALL ISO FUL", 0, ALL_HEAD("DATE      ") ALL_LINE_A("12/15/2015"));
	ck_guest("QUERY RDR ALL FUL ISO", 0, ALL_HEAD("DATE      ") ALL_LINE_A("2015-12-15"));
	/* Without ALL there is no date. */
	ck_guest("QUERY RDR ISODATE", 0, SHORT_HEAD("ORIGINID") LINE_A);
	ck_guest("QUERY RDR ALL NEVER", 3, INVALID("CSQ", "NEVER"));
	ck_guest("QUERY RDR CLASS", 28, "HCPCSQ028E Class missing or invalid\n");
}

/* A file on the guest's reader queue that the system holds too. */
static void send_held(bool user)
{
	const uint8_t card[] = { 0x81 };
	const struct spool_put put = {
		.user = "LINUX001", .queue = SPOOL_RDR, .origin = OTHER, .spool_class = 'A',
		.hold = user, .system_hold = true, .record_length = 80, .data = card, .len = 1,
	};
	char err[256];

	ck_assert_int_gt(spool_put(fx.cp, &put, err, sizeof(err)), 0);
}

TEST(who_holds_a_file_and_what_is_kept)
{
	send_held(false);
	send_held(true);
	ck_guest("QUERY RDR", 0,
		 SHORT_HEAD("ORIGINID")
		 "OPERATOR 0001 A PUN 00000001 001 SYS  STANDARD OFF      OFF  OFF\n"
		 "OPERATOR 0002 A PUN 00000001 001 US   STANDARD OFF      OFF  OFF\n");
	run_as(CPCMD_GUEST, "SPOOL D HOLD KEEP COPY 12", 0);
	ck_assert_uint_eq(punch("card"), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE D", 0);
	ck_guest("QUERY PCH", 0,
		 SHORT_HEAD("OWNERID ")
		 "LINUX001 0003 A PUN 00000001 012 USER STANDARD OFF      ON   OFF\n");
	/* CHANGE takes the user's hold only. */
	ck_guest("CHANGE RDR 2 NOHOLD", 0, "0001 FILE CHANGED\n");
	ck_assert(spool_info("LINUX001", SPOOL_RDR, 2).system_hold);
	ck_assert(!spool_info("LINUX001", SPOOL_RDR, 2).user_hold);
}

/* As Feilong asks: IBM has USERID, and U as its only abbreviation; class G knows only *. */
TEST(files_of_a_user_that_is_named)
{
	spool_send_two();
	ck_guest("QUERY RDR USERID *", 0, SHORT_HEAD("ORIGINID") LINE_A LINE_B);
	ck_guest("query rdr u * 2", 0, SHORT_HEAD("ORIGINID") LINE_B);
	ck_guest("QUERY RDR USERID LINUX001 1", 0, SHORT_HEAD("ORIGINID") LINE_A);
	ck_guest("QUERY PRINTER USERID *", 0, "NO PRT FILES\n");
	ck_guest("QUERY RDR USERI *", 3, INVALID("CSQ", "USERI"));
	ck_guest("QUERY RDR USERID", 20, "HCPCSQ020E Userid missing or invalid\n");
	ck_guest("QUERY RDR USERID NOBODY", 53, "HCPCSQ053E NOBODY not in CP directory\n");
	ck_guest("QUERY RDR USERID OPERATOR", 3, INVALID("CSQ", "OPERATOR"));
	ck_assert_str_eq(run_as(CPCMD_OPERATOR, "QUERY RDR USERID LINUX001", 0),
			 SHORT_HEAD("ORIGINID") LINE_A LINE_B);
	ck_assert_str_eq(run_as(CPCMD_OPERATOR, "QUERY RDR USERID *", 0), "NO RDR FILES\n");
}

TEST(a_file_that_is_read_is_listed_and_left_alone)
{
	spool_send_two();
	ck_card("a");
	ck_both_there();
	ck_guest("CHANGE RDR 1 HOLD", 0, "NO FILES CHANGED\n");
	ck_guest("TRANSFER RDR 1 TO OPERATOR", 0, "NO FILES TRANSFERRED\n");
	ck_guest("PURGE RDR 1", 0, "NO FILES PURGED\n");
	ck_both_there();
}

CASE("no spool", fx_setup, fx_teardown);

/* A guest without devices has no files either. */
TEST(without_a_spool)
{
	ck_guest("QUERY RDR ALL", 0, "NO RDR FILES\n");
	ck_guest("PURGE ALL", 0, "NO FILES PURGED\n");
	ck_guest("ORDER RDR 1", 0, "NO FILES ORDERED\n");
	ck_guest("CHANGE ALL HOLD", 0, "NO FILES CHANGED\n");
	ck_guest("TRANSFER RDR ALL TO OPERATOR", 0, "NO FILES TRANSFERRED\n");
	ck_guest("QUERY RDR 1", 42, "HCPCSQ042E Spool file 0001 does not exist\n");
}
