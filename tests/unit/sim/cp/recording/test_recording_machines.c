/* SPDX-License-Identifier: MIT */
/* Recording for several machines: whose log-offs one reads, by which clock, and whose queue it is. */
#include "recording_check.h"

enum { ALICE, BOB, DISKACNT };

/* Accounting records: columns as VM/370's "Accounting Records" counts them, from 1. */
enum { ACCOUNT_USER = 0, ACCOUNT_NUMBER = 8, ACCOUNT_TIME = 16, ACCOUNT_CONNECTED = 28,
       ACCOUNT_CODE = 78, ACCOUNT_LENGTH = 80 };

#define SECOND (UINT64_C(1000000) << 12)

static uint16_t path;

static void logon(unsigned int machine, const char *userid)
{
	fx_logon(machine, userid, (const char *const[]){
		"directory", "IUCV *ACCOUNT", "class", "ABCDEFG", "storage", "0.4M", NULL });
	fx_declare(0);
}

static void setup(void)
{
	fx_system(NULL);
	logon(DISKACNT, "DISKACNT");
	path = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, path);
	logon(ALICE, "ALICE");
	logon(BOB, "BOB");
}

FX_REPLAY_TRACES;

CASE("recording machines", setup, fx_teardown);

/* The next record that DISKACNT gets is of @user, connected for so long. */
static void ck_account(const char *user, const char *time, uint32_t seconds)
{
	uint8_t name[8], text[12];
	struct rec_sent sent;
	const uint8_t *r;

	fx_use(DISKACNT);
	sent = rec_take(path);
	ck_assert_uint_eq(sent.length, ACCOUNT_LENGTH);
	ck_assert_int_eq(rec_get(&sent, ACCOUNT_LENGTH), 0);
	r = fx_at(DATA, ACCOUNT_LENGTH);
	ebcdic_name(name, user);
	ck_assert_mem_eq(r + ACCOUNT_USER, name, 8);
	ck_assert_mem_eq(r + ACCOUNT_NUMBER, name, 8);
	ebcdic_encode(text, time, 12);
	ck_assert_mem_eq(r + ACCOUNT_TIME, text, 12);
	ck_assert_uint_eq(get_be32(r + ACCOUNT_CONNECTED), seconds);
	ck_assert_uint_eq(get_be16(r + ACCOUNT_CODE), 0xf0f1);
}

/* 2025-06-30 12:34:56 UTC */
#define NOON UINT64_C(0xe11d98a129c00000)

/* Each log-off, whatever the machine's own clock says, with the time since its own log-on. */
TEST(logoff)
{
	fx_logoff(ALICE);
	fx_logoff(BOB);
	fx_use(DISKACNT);
	for (int i = 0; i < 2; i++) {
		const struct rec_sent sent = rec_take(path);

		ck_assert_int_eq(rec_get(&sent, ACCOUNT_LENGTH), 0);
	}
	fx_clock.tod = NOON - 100 * SECOND;
	logon(ALICE, "ALICE");
	fx_clock.tod = NOON - 30 * SECOND;
	logon(BOB, "BOB");
	fx.tod += 1000 * SECOND;
	fx_clock.tod = NOON;
	fx_logoff(BOB);
	fx_clock.tod += SECOND;
	fx_logoff(ALICE);
	ck_account("BOB", "063025123456", 30);
	ck_account("ALICE", "063025123457", 101);
}

/* ACNT makes a record of a user who stays. */
TEST(of_a_neighbour)
{
	fx_clock.tod = NOON;
	fx_use(BOB);
	ck_guest("ACNT ALICE", 0, "Command complete\n");
	fx_use(DISKACNT);
	ck_assert_ptr_nonnull(fx_take(0));
}

/* A queue is its user's: another machine that connects gets records from its own only. */
TEST(queues)
{
	uint16_t bob;

	fx_use(BOB);
	run_as(CPCMD_GUEST, "RECORDING ACCOUNT ON QID BOB", 0);
	bob = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, bob);
	rec_made(REC_ACCOUNT, "for both", 2);
	rec_receive(bob, "for both");
	fx_use(DISKACNT);
	rec_receive(path, "for both");
	ck_guest("RECORDING ACCOUNT OFF QID BOB", 0, "Command complete\n");
	rec_made(REC_ACCOUNT, "for one", 1);
	rec_receive(path, "for one");
	fx_use(BOB);
	ck_assert_ptr_null(fx_take(0));
}

/* Whoever is reset loses its own connection only; its records wait. */
TEST(reset_of_one)
{
	fx_use(ALICE);
	cp_reset(fx.cp);
	rec_made(REC_ACCOUNT, "first", 1);
	fx_use(DISKACNT);
	rec_receive(path, "first");
	cp_reset(fx.cp);
	fx_use(ALICE);
	rec_made(REC_ACCOUNT, "second", 1);
	fx_use(DISKACNT);
	fx_declare(0);
	path = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, path);
	rec_receive(path, "second");
}

/* The reader itself logs off: its record is there for the next one. */
TEST(logoff_of_the_reader)
{
	fx_clock.tod = NOON;
	fx_logoff(DISKACNT);
	logon(DISKACNT, "DISKACNT");
	path = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, path);
	ck_account("DISKACNT", "063025123456", (uint32_t)((NOON - FX_CLOCK) / SECOND));
}
