/* SPDX-License-Identifier: MIT */
/* Saving and loading a system of several machines: all of them, or nothing. */
#include <stdlib.h>

#include "command_check.h"
#include "iucv_guest.h"
#include "state_check.h"
#include "zvmlab/guests.h"

enum { ALICE, BOB, CAROL };

static uint16_t path[FX_MACHINES];
static uint8_t *image;
static size_t len;

static void logon(unsigned int machine, const char *userid, const char *cpus)
{
	fx_logon(machine, userid, (const char *const[]){
		"directory", "IUCV ANY;IUCV *MSG", "cpus", cpus, "storage", "0.4M",
		"class", "ABCDEFG", NULL });
	fx_declare(0);
}

static void setup(void)
{
	fx_system((const char *const[]){ "cpus", "4", NULL });
	logon(BOB, "BOB", "2");
	logon(ALICE, "ALICE", "1");
	path[ALICE] = connected_to("BOB", 10);
	fx_use(BOB);
	path[BOB] = get_be16(fx_take(0) + IPPATHID);
	ck_cc(on_path(IUCV_ACCEPT, path[BOB], 0), 0);
	fx_use(ALICE);
	take(IUCV_COMPLETE, path[ALICE]);
	image = NULL;
}

static void teardown(void)
{
	free(image);
	fx_teardown();
}

FX_REPLAY_TRACES;

CASE("state machines", setup, teardown);

static void save(void)
{
	image = fx_save(&len);
}

/* Which of ALICE's and BOB's messages are refused by a rule that fires for half of them. */
static uint64_t refused(void)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < 32; i++) {
		for (unsigned int machine = ALICE; machine <= BOB; machine++) {
			fx_use(machine);
			bits = bits << 1 | (send(path[machine], 0, DATA, 4, 0).cc != 0);
		}
	}
	return bits;
}

/* Messages under way, each machine's random numbers, and what each has set. */
TEST(goes_on_as_before)
{
	uint64_t first;
	uint32_t id;

	ck_guest("SET SMSG ON\nTERMINAL LINESIZE 100", 0, "");
	memcpy(fx_at(DATA, 8), "to BOB 1", 8);
	ck_cc(send(path[ALICE], IPNORPY, DATA, 8, 0), 0);
	id = get_be32(parm() + IPMSGID);
	ck_arm(FAULT_IUCV_SEND, FAULT_RC, 3, .when = FAULT_PROBABILITY, .n = 500000);
	save();
	first = refused();
	fx_use(BOB);
	ck_guest("SET SMSG ON", 0, "");
	take(IUCV_MSG_PENDING, path[BOB]);
	ck_cc(message(IUCV_RECEIVE, path[BOB], IPFGPID | IPFGMID, id, 0, DATA, 8), 0);
	fx_use(ALICE);
	ck_guest("SET SMSG OFF", 0, "");
	ck_cc(on_path(IUCV_SEVER, path[ALICE], 0), 0);
	fx_load(image, len);
	ck_assert_uint_eq(refused(), first);
	fx_use(BOB);
	take(IUCV_MSG_PENDING, path[BOB]);
	memset(fx_at(DATA, 8), 0, 8);
	ck_cc(message(IUCV_RECEIVE, path[BOB], IPFGPID | IPFGMID, id, 0, DATA, 8), 0);
	ck_assert_mem_eq(fx_at(DATA, 8), "to BOB 1", 8);
	ck_guest("SMSG ALICE x", 0, "");
	fx_use(ALICE);
	ck_guest("SMSG BOB x", 57, "HCPMFS057I BOB not receiving; disconnected\n");
}

/* Every emulator is told of what has come back for its machine. */
TEST(all_are_told)
{
	unsigned int changes[2];

	ck_cc(send(path[ALICE], IPNORPY, DATA, 8, 0), 0);
	save();
	for (unsigned int i = ALICE; i <= BOB; i++) {
		fx_use(i);
		changes[i] = fx.storage_changes;
		fx.kicks[0] = 0;
	}
	fx_use(ALICE);
	fx_load(image, len);
	ck_assert_uint_gt(fx.storage_changes, changes[ALICE]);
	ck_assert_uint_eq(fx.kicks[0], 0);
	fx_use(BOB);
	ck_assert_uint_gt(fx.storage_changes, changes[BOB]);
	ck_assert_uint_gt(fx.kicks[0], 0);
}

/* The time since each has logged on is part of it. */
TEST(connected)
{
	struct guest_data data;

	fx_clock.tod += UINT64_C(60000000) << 12;
	save();
	fx_logoff(ALICE);
	logon(ALICE, "ALICE", "1");
	guests_data(fx.cp, "ALICE", &data);
	ck_assert_uint_eq(data.online_us, 0);
	fx_load(image, len);
	guests_data(fx.cp, "ALICE", &data);
	ck_assert_uint_eq(data.online_us, 60000000);
}

static void ck_load_fails(const char *sentence)
{
	char err[512];

	ck_assert_int_eq(cp_load(fx.cp, image, len, err, sizeof(err)), -1);
	ck_assert_msg(strstr(err, sentence), "%s", err);
}

#define REFUSED "it was saved with another configuration; user ID, classes, level, machine, " \
	"number of CPUs and paths, and SPOOL, MDISK, LINK and CPU statements must be the same"

/* The same machines, in the same order; then whoever asks for it, all are loaded. */
TEST(other_machines)
{
	save();
	fx_logoff(BOB);
	ck_load_fails(REFUSED);
	logon(BOB, "BOB", "2");
	/* Now it is ALICE who has logged on first. */
	ck_load_fails(REFUSED);
	fx_logoff(ALICE);
	logon(ALICE, "ALICE", "1");
	fx_load(image, len);
	ck_cc(send(path[ALICE], IPNORPY, DATA, 8, 0), 0);
	logon(CAROL, "CAROL", "1");
	ck_load_fails(REFUSED);
	fx_logoff(CAROL);
	fx_logoff(ALICE);
	logon(ALICE, "ALICE", "2");
	ck_load_fails(REFUSED);
}

/* What is wrong with one machine's part leaves the other as it was, too. */
TEST(refused_as_a_whole)
{
	struct iucv_path_info info;

	save();
	ck_cc(on_path(IUCV_SEVER, path[ALICE], 0), 0);
	/* Of the last machine: whether it has been IPLed. */
	image[28 + 4 + 9] = 2;
	state_sign(image, len);
	ck_load_fails("its contents contradict each other");
	fx_use(BOB);
	ck_assert(iucv_path_info(iucv_user_guest(fx.cp), path[BOB], &info));
	ck_assert_uint_eq(info.state, IUCV_PATH_SEVERED);
}
