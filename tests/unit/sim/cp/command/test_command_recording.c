/* SPDX-License-Identifier: MIT */
/* RECORDING, QUERY RECORDING, QUERY COMMANDS and ACNT. */
#include "command_check.h"
#include "recording_check.h"

#define HEAD "RECORDING    COUNT    LMT USERID   COMMUNICATION\n"
#define SYSTEM \
	"EREP     ON  00000000 002 EREP     INACTIVE\n" \
	"ACCOUNT  ON  00000000 020 DISKACNT INACTIVE\n" \
	"SYMPTOM  ON  00000000 002 OPERSYMP INACTIVE\n"
#define DONE "Command complete\n"
#define NEW "HCPCRC8072I Recording entry not found\n"

static void with_classes(const char *classes)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "class", classes, "directory", "IUCV *ACCOUNT", NULL });
}

CASE("command_recording", rec_setup, fx_teardown);

TEST(query)
{
	uint16_t path;

	ck_guest("QUERY RECORDING", 0, HEAD SYSTEM);
	ck_guest("RECORDING ACCOUNT ON", 0, NEW DONE);
	ck_guest("Q REC", 0, HEAD SYSTEM "ACCOUNT  ON  00000000 020 LINUX001 INACTIVE\n");
	fx_declare(0);
	path = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, path);
	ck_guest("Q REC", 0, HEAD SYSTEM "ACCOUNT  ON  00000000 020 LINUX001 ACTIVE\n");
	rec_made(REC_ACCOUNT, "a", 2);
	rec_made(REC_ACCOUNT, "b", 2);
	ck_guest("Q REC", 0, HEAD "EREP     ON  00000000 002 EREP     INACTIVE\n"
				  "ACCOUNT  ON  00000002 020 DISKACNT INACTIVE\n"
				  "SYMPTOM  ON  00000000 002 OPERSYMP INACTIVE\n"
				  "ACCOUNT  ON  00000002 020 LINUX001 PENDING\n");
	ck_guest("RECORDING ACCOUNT OFF PURGE", 0, DONE);
	ck_operator("RECORDING ACCOUNT PURGE QID DISKACNT", 0, DONE);
	ck_guest("Q REC", 0, HEAD SYSTEM "ACCOUNT  OFF 00000000 020 LINUX001 ACTIVE\n");
	ck_guest("Q REC X", 3, EXTRA("CRC", "X"));
}

/* Records that wait keep recording from being switched on, and PURGE in one go does not help. */
TEST(on_with_records)
{
	ck_guest("RECORDING ACCOUNT ON", 0, NEW DONE);
	rec_made(REC_ACCOUNT, "a", 2);
	ck_guest("RECORDING ACCOUNT ON", 0, DONE);
	ck_guest("RECORDING ACCOUNT OFF", 0, DONE);
	rec_made(REC_ACCOUNT, "b", 1);
	ck_guest("RECORDING ACCOUNT ON", 13, "HCPCRC013E Conflicting option - ON\n");
	ck_guest("RECORDING ACCOUNT PURGE ON", 13, "HCPCRC013E Conflicting option - ON\n");
	ck_guest("RECORDING ACCOUNT PURGE", 0, DONE);
	ck_guest("RECORDING ACCOUNT ON", 0, DONE);
	rec_made(REC_ACCOUNT, "c", 2);
}

TEST(operands)
{
	ck_guest("RECORDING", 26, MISSING("CRC"));
	ck_guest("RECORDING DISK", 3, INVALID("CRC", "DISK"));
	ck_guest("RECORDING EREP", 26, MISSING("CRC"));
	ck_guest("RECORDING EREP LIMIT", 26, MISSING("CRC"));
	ck_guest("RECORDING EREP LIMIT 1000", 3, INVALID("CRC", "1000"));
	ck_guest("RECORDING EREP LIMIT -1", 3, INVALID("CRC", "-1"));
	ck_guest("RECORDING EREP ON OFF", 13, "HCPCRC013E Conflicting option - OFF\n");
	ck_guest("RECORDING EREP HALF", 3, INVALID("CRC", "HALF"));
	ck_operator("RECORDING EREP ON QID", 20, "HCPCRC020E Userid missing or invalid\n");
	ck_operator("RECORDING EREP ON QID NINECHARS", 20,
		    "HCPCRC020E Userid missing or invalid\n");
	/* What is no character of a name. */
	ck_operator("RECORDING EREP ON QID \003EER1", 20, "HCPCRC020E Userid missing or invalid\n");
	ck_operator("RECORDING EREP ON QID PEER\377", 20,
		    "HCPCRC020E Userid missing or invalid\n");
	ck_guest("QUERY RECORDING", 0, HEAD SYSTEM);
	/* Without an entry there is nothing to change. */
	ck_guest("RECORDING EREP OFF", 0, NEW DONE);
	ck_guest("RECORDING EREP PURGE", 0, NEW DONE);
	ck_guest("QUERY RECORDING", 0, HEAD SYSTEM);
	ck_guest("RECORDING EREP ON LIMIT 999", 0, NEW DONE);
	ck_guest("QUERY RECORDING", 0, HEAD SYSTEM "EREP     ON  00000000 999 LINUX001 INACTIVE\n");
}

/* A or B: any queue, all without QID.  C, E or F: one's own.  Others: the command is unknown. */
TEST(classes)
{
	ck_guest("RECORDING EREP ON QID *", 3, INVALID("CRC", "QID"));
	with_classes("G");
	ck_guest("RECORDING EREP ON", 1, UNKNOWN("RECORDING"));
	ck_guest("QUERY RECORDING", 3, INVALID("CQV", "RECORDING"));
	ck_guest("ACNT ALL", 1, UNKNOWN("ACNT"));
	with_classes("B");
	ck_guest("RECORDING EREP OFF", 0, DONE);
	ck_guest("RECORDING SYMPTOM ON QID *", 0, NEW DONE);
	ck_guest("RECORDING ACCOUNT LIMIT 7 QID DISKACNT", 0, DONE);
	ck_guest("QUERY RECORDING", 0, HEAD "EREP     OFF 00000000 002 EREP     INACTIVE\n"
					    "ACCOUNT  ON  00000000 007 DISKACNT INACTIVE\n"
					    "SYMPTOM  ON  00000000 002 OPERSYMP INACTIVE\n"
					    "SYMPTOM  ON  00000000 002 LINUX001 INACTIVE\n");
}

/* IBM's "QUERY COMMANDS": the classes in which the issuer may give the command. */
TEST(commands)
{
	ck_guest("QUERY COMMAND RECORDING ", 0, "RECORDING IBMCLASS=E\n");
	ck_operator("QUERY COMMANDS RECORDING", 0, "RECORDING IBMCLASS=A,B,C,E,F\n");
	ck_guest("COMMANDS QUERY TERMINAL", 0, "QUERY IBMCLASS=ANY\nTERMINAL IBMCLASS=G\n");
	ck_guest("COMMANDS FROB", 3, INVALID("CQC", "FROB"));
	with_classes("G");
	ck_guest("Q COMM RECORDING", 0, "RECORDING IBMCLASS=NONE\n");
	ck_guest("COMMANDS", 0, "QUERY        TERMINAL     SET          DEFINE       PURGE        "
				"ORDER        \nCHANGE       TRANSFER     SPOOL        CLOSE        TAG          "
				"LINK         \nDETACH       INDICATE     MESSAGE      MSG          SMSG         "
				"SYSTEM       \nVMDUMP       CPU          XAUTOLOG     LOGOFF       COMMANDS     "
				"\n");
}

TEST(acnt)
{
	struct rec_sent sent;
	uint16_t path;

	with_classes("AE");
	fx_declare(0);
	ck_guest("RECORDING ACCOUNT ON QID *", 0, NEW DONE);
	path = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, path);
	ck_guest("ACNT", 26, MISSING("ACC"));
	ck_guest("ACNT NOBODY", 45, "HCPACC045E NOBODY not logged on\n");
	ck_assert_ptr_null(fx_take(0));
	ck_guest("ACNT LINUX001", 0, DONE);
	sent = rec_take(path);
	ck_assert_uint_eq(sent.length, 80);
	ck_assert_int_eq(rec_get(&sent, 80), 0);
	/* LINUX001, twice: the account number is the user ID. */
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_mem_eq(fx_at(DATA + 8 * i, 8), "\xd3\xc9\xd5\xe4\xe7\xf0\xf0\xf1", 8);
	/* Other users, too; the agent's is ours, and no virtual machine's. */
	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "ZVMLAB", 4, NULL, NULL));
	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "TESTER", 4, NULL, NULL));
	ck_guest("ACNT ALL", 0, DONE);
	ck_guest("Q REC", 0, HEAD "EREP     ON  00000000 002 EREP     INACTIVE\n"
				  "ACCOUNT  ON  00000003 020 DISKACNT INACTIVE\n"
				  "SYMPTOM  ON  00000000 002 OPERSYMP INACTIVE\n"
				  "ACCOUNT  ON  00000002 020 LINUX001 PENDING\n");
}

/* At each multiple of the limit the operator and the retriever are told. */
TEST(limit)
{
	ck_operator("RECORDING EREP LIMIT 0", 0, DONE);
	rec_made(REC_LOGREC, "a", 1);
	rec_made(REC_LOGREC, "a", 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 0);
	rec_made(REC_SYMPTOM, "a", 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 0);
	rec_made(REC_SYMPTOM, "a", 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_assert_str_eq(fx.last_name, "OPERATOR");
	ck_assert_str_eq(fx.last_text,
			 "HCPCRC8084I Symptom records are accumulating for userid OPERSYMP");
	ck_guest("RECORDING ACCOUNT ON LIMIT 1", 0, NEW DONE);
	rec_made(REC_ACCOUNT, "a", 2);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 3);
	ck_assert_str_eq(fx.last_name, "LINUX001");
	ck_assert_str_eq(fx.last_text,
			 "HCPCRC8083I Accounting records are accumulating for userid LINUX001");
}
