/* SPDX-License-Identifier: MIT */
/* Fault rules for several machines: whom they mean, and whose random numbers they take. */
#include "command_check.h"
#include "iucv_guest.h"

enum { ALICE, BOB, CAROL };

#define CALLS 64u

static uint16_t path[FX_MACHINES];

static void logon(unsigned int machine, const char *userid)
{
	fx_logon(machine, userid, (const char *const[]){
		"directory", "IUCV ANY;IUCV *MSG", "storage", "0.4M", NULL });
	fx_declare(0);
}

/* A path from @machine to CAROL, who never reads what comes. */
static void connect_to_carol(unsigned int machine)
{
	fx_use(machine);
	path[machine] = connected_to("CAROL", 255);
	fx_use(CAROL);
	ck_cc(on_path(IUCV_ACCEPT, get_be16(fx_take(0) + IPPATHID), 0), 0);
	fx_use(machine);
	take(IUCV_COMPLETE, path[machine]);
}

static void system_of(bool bob)
{
	fx_system(NULL);
	logon(CAROL, "CAROL");
	logon(ALICE, "ALICE");
	connect_to_carol(ALICE);
	if (bob) {
		logon(BOB, "BOB");
		connect_to_carol(BOB);
	}
}

static void setup(void)
{
	system_of(true);
}

FX_REPLAY_TRACES;

CASE("fault machines", setup, fx_teardown);

static bool sent(unsigned int machine)
{
	fx_use(machine);
	return send(path[machine], IPNORPY, DATA, 8, 0).cc == 0;
}

/* Which of ALICE's calls succeed, while BOB makes as many as @beside for each of them. */
static uint64_t sequence(unsigned int beside)
{
	uint64_t succeeded = 0;

	for (unsigned int i = 0; i < CALLS; i++) {
		for (unsigned int other = 0; other < beside; other++)
			(void)sent(BOB);
		succeeded = succeeded << 1 | sent(ALICE);
	}
	return succeeded;
}

#define ARM_HALF ck_arm(FAULT_IUCV_SEND, FAULT_RC, 1, .when = FAULT_PROBABILITY, .n = 500000)

/* With a neighbour that does as much, with a busier one, and without any. */
TEST(depend_on_no_neighbour)
{
	uint64_t with, busier, without;

	ARM_HALF;
	with = sequence(1);
	fx_teardown();
	system_of(true);
	ARM_HALF;
	busier = sequence(2);
	fx_teardown();
	system_of(false);
	ARM_HALF;
	without = sequence(0);
	ck_assert_uint_eq(with, without);
	ck_assert_uint_eq(busier, without);
	ck_assert_uint_ne(without, 0);
	ck_assert_uint_ne(without, UINT64_MAX);
}

/* What is done to others, and when *MONITOR's model goes on, changes nothing either. */
TEST(depend_on_no_peer)
{
	uint64_t with = 0, without;
	struct iucv_user *peer;

	ARM_HALF;
	without = sequence(0);
	fx_teardown();
	system_of(true);
	fx_use(BOB);
	peer = iucv_user_create(fx.cp, "PEER", 4, NULL, NULL);
	ck_assert_ptr_nonnull(peer);
	ARM_HALF;
	ck_arm(FAULT_IUCV_CONNECT, FAULT_RC, 1, .when = FAULT_PROBABILITY, .n = 500000);
	for (unsigned int i = 0; i < CALLS; i++) {
		struct iucv_parm parm = { .vmid = "BOB" };

		fx_use(BOB);
		if (iucv_call(fx.cp, peer, IUCV_CONNECT, &parm).cc == 0)
			(void)iucv_call(fx.cp, peer, IUCV_SEVER, &parm);
		with = with << 1 | sent(ALICE);
	}
	ck_assert_uint_eq(with, without);
}

/* A message to CAROL may be lost, which is a matter of her numbers and not of the sender's. */
TEST(of_whose_call_it_is)
{
	uint64_t with = 0, without;

	ARM_HALF;
	without = sequence(0);
	fx_teardown();
	system_of(false);
	fx_use(CAROL);
	ck_cc(connect_to("*MSG", 0, 255), 0);
	ck_guest("SET SMSG IUCV", 0, "");
	ARM_HALF;
	ck_arm(FAULT_MSG_MESSAGE, FAULT_DROP, 0, .when = FAULT_PROBABILITY, .n = 500000);
	for (unsigned int i = 0; i < CALLS; i++) {
		fx_use(ALICE);
		ck_guest("SMSG CAROL hello", 0, "");
		with = with << 1 | sent(ALICE);
	}
	ck_assert_uint_eq(with, without);
}

/* A rule's user is any of them; calls of others are not counted. */
TEST(of_one_machine)
{
	struct fault_status status;

	ck_arm(FAULT_IUCV_SEND, FAULT_RC, 1, .when = FAULT_EVERY, .n = 2, .user = "BOB");
	for (unsigned int i = 0; i < 6; i++) {
		ck_assert(sent(ALICE));
		ck_assert_int_eq(sent(BOB), i % 2 == 0);
	}
	ck_assert(fault_status(fx.cp, 0, &status));
	ck_assert_uint_eq(status.matched, 6);
	ck_assert_uint_eq(status.fired, 3);
}

/* Whose partner is named: the calls of both. */
TEST(of_one_partner)
{
	connect_to_carol(BOB);
	ck_arm(FAULT_IUCV_SEND, FAULT_RC, 1, .when = FAULT_ALWAYS, .name = "CAROL");
	ck_assert(!sent(ALICE));
	ck_assert(!sent(BOB));
	fx_use(BOB);
	path[BOB] = connected_to("ALICE", 255);
	fx_use(ALICE);
	ck_cc(on_path(IUCV_ACCEPT, get_be16(fx_take(0) + IPPATHID), 0), 0);
	ck_assert(sent(BOB));
}

/* Rules are the system's: those that one has armed another sees, and may disarm. */
TEST(rules_of_the_system)
{
	struct fault_status status;
	int id;

	fx_use(ALICE);
	id = ck_arm(FAULT_IUCV_SEND, FAULT_RC, 1, .when = FAULT_ALWAYS, .user = "BOB");
	fx_logoff(ALICE);
	fx_use(BOB);
	ck_assert(fault_status(fx.cp, 0, &status));
	ck_assert_int_eq(status.id, id);
	ck_assert(!sent(BOB));
	ck_assert_str_eq(fx.last[CP_EVENT_FAULT].text, "iucv.send");
	ck_assert_int_eq(fault_disarm(fx.cp, id), 1);
	ck_assert(sent(BOB));
}

/* A rule for one machine's connection breaks it at the call that it names, and no other's. */
TEST(link)
{
	fx_use(ALICE);
	ck_assert(!fault_cuts_link(fx.cp));
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_MACHINE_LINK), 0);
	ck_arm(FAULT_MACHINE_LINK, FAULT_SEVER, .user = "BOB", .when = FAULT_NTH, .n = 3);
	for (unsigned int i = 1; i <= 5; i++) {
		fx_use(ALICE);
		ck_assert(!fault_cuts_link(fx.cp));
		fx_use(BOB);
		ck_assert_int_eq(fault_cuts_link(fx.cp), i == 3);
	}
	ck_assert_uint_eq(fx.events[CP_EVENT_FAULT], 1);
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_MACHINE_LINK), 10);
}
