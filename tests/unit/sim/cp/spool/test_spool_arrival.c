/* SPDX-License-Identifier: MIT */
/* A file that comes for a reader: whether the machine's emulator is told that the reader is ready. */
#include "spool/spool_private.h"
#include "spool_check.h"

enum { ALICE, BOB };

static unsigned int told[2];

static void reader_ready(void *opaque)
{
	const struct fixture *of = opaque;

	told[strcmp(of->config.userid, "BOB") == 0 ? BOB : ALICE]++;
}

static void logon(unsigned int machine, const char *userid)
{
	fx_logon(machine, userid, (const char *const[]){
		"directory", SPOOL_DIRECTORY ";SPOOL 01C 2540 READER B", "storage", "0.4M", NULL });
	fx.cp->host.reader_ready = reader_ready;
	told[machine] = 0;
}

static void setup(void)
{
	fx_system(NULL);
	logon(BOB, "BOB");
	logon(ALICE, "ALICE");
}

static void put(const char *user, enum spool_queue queue, char spool_class, bool hold)
{
	static const uint8_t letter[] = { 0x81 };
	const struct spool_put request = {
		.user = user, .queue = queue, .spool_class = spool_class, .hold = hold,
		.record_length = 80, .data = letter, .len = sizeof(letter),
	};
	char err[256];

	ck_assert_int_gt(spool_put(fx.cp, &request, err, sizeof(err)), 0);
}

CASE("arrival", setup, fx_teardown);

/* Not those of others, nor by what is not for a reader; by a command of another machine's, too. */
TEST(readers_of_the_owner)
{
	put("BOB", SPOOL_RDR, 'A', false);
	ck_assert_uint_eq(told[BOB], 1);
	put("NOBODY", SPOOL_RDR, 'A', false);
	put("BOB", SPOOL_PUN, 'A', false);
	put("BOB", SPOOL_PRT, 'A', false);
	ck_assert_uint_eq(told[BOB], 1);
	ck_assert_uint_eq(punch("card"), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE D TO BOB RDR", 0);
	ck_assert_uint_eq(told[BOB], 2);
	ck_assert_uint_eq(told[ALICE], 0);
	fx_use(BOB);
	run_as(CPCMD_GUEST, "TRANSFER RDR 1 TO ALICE", 0);
	ck_assert_uint_eq(told[ALICE], 1);
	ck_assert_uint_eq(told[BOB], 2);
}

/* Held, or of a class that none takes; ORDER brings nothing new. */
TEST(what_no_reader_may_read)
{
	put("ALICE", SPOOL_RDR, 'A', true);
	run_as(CPCMD_GUEST, "SPOOL C CLASS C", 0);
	put("ALICE", SPOOL_RDR, 'A', false);
	ck_assert_uint_eq(told[ALICE], 0);
	put("ALICE", SPOOL_RDR, 'B', false);
	ck_assert_uint_eq(told[ALICE], 1);
	run_as(CPCMD_GUEST, "DETACH 1C", 0);
	put("ALICE", SPOOL_RDR, 'B', false);
	ck_assert_uint_eq(told[ALICE], 1);
	put("ALICE", SPOOL_RDR, 'C', false);
	run_as(CPCMD_GUEST, "ORDER RDR 5", 0);
	ck_assert_uint_eq(told[ALICE], 2);
}

/* Who reads a file finds the next one behind it. */
TEST(while_a_file_is_read)
{
	char text[133];

	run_as(CPCMD_GUEST, "DETACH 1C", 0);
	put("ALICE", SPOOL_RDR, 'A', false);
	ck_card("a");
	put("ALICE", SPOOL_RDR, 'A', false);
	ck_assert_uint_eq(told[ALICE], 1);
	ck_assert_uint_eq(unit_read(text).status, 0x0d);
	put("ALICE", SPOOL_RDR, 'A', false);
	ck_assert_uint_eq(told[ALICE], 2);
}

/* An emulator without CP's readers. */
TEST(nobody_to_tell)
{
	fx.cp->host.reader_ready = NULL;
	put("ALICE", SPOOL_RDR, 'A', false);
	ck_assert_uint_eq(spool_files(), 1);
}
