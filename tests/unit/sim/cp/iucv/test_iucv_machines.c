/* SPDX-License-Identifier: MIT */
/* IUCV between virtual machines of one system: who finds whom, whose storage, who is told. */
#include <stdio.h>

#include "iucv_check.h"

enum { ALICE, BOB, CAROL };

static const char *const open_directory[] = {
	"directory", "IUCV ANY PRIORITY;OPTION MAXCONN 4", "cpus", "2", NULL,
};

static void setup(void)
{
	fx_system(NULL);
	fx_logon(BOB, "BOB", open_directory);
	fx_declare(0);
	fx_logon(ALICE, "ALICE", open_directory);
	fx_declare(0);
}

FX_REPLAY_TRACES;

CASE("machines", setup, fx_teardown);

/* An open path from ALICE to BOB, both ends with @limit; ALICE is in use afterwards. */
static void open_between(uint8_t flags, uint16_t limit, uint16_t *alice, uint16_t *bob)
{
	const uint8_t *e;

	fx_use(ALICE);
	ck_cc(connect_to("BOB", flags, limit), 0);
	*alice = get_be16(parm() + IPPATHID);
	fx_use(BOB);
	e = fx_take(0);
	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e[IPTYPE], IUCV_PENDING);
	*bob = get_be16(e + IPPATHID);
	put_be16(parm_zero() + IPMSGLIM, limit);
	put_be16(parm() + IPPATHID, *bob);
	parm()[IPFLAGS1] = flags;
	ck_cc(guest(IUCV_ACCEPT), 0);
	fx_use(ALICE);
	take(IUCV_COMPLETE, *alice);
}

/* Bytes go from the sender's storage to the receiver's when that asks for them, and back. */
TEST(there_and_back)
{
	uint16_t alice, bob;
	const uint8_t *e;
	uint32_t id;

	open_between(0, 10, &alice, &bob);
	memcpy(fx_at(DATA, 9), "to BOB, 1", 9);
	memset(fx_at(DATA + 0x1000, 16), 0xee, 16);
	fx.kicks[0] = 0;
	ck_cc(send(alice, 0, DATA, 9, 16), 0);
	id = get_be32(parm() + IPMSGID);
	ck_assert_uint_eq(fx.kicks[0], 0);
	/* Not those of SEND: those that are there when it is received. */
	memcpy(fx_at(DATA, 9), "to BOB, 2", 9);
	fx_use(BOB);
	ck_assert_uint_gt(fx.kicks[0], 0);
	memset(fx_at(DATA, 16), 0xdd, 16);
	e = take(IUCV_MSG_PENDING, bob);
	ck_assert_uint_eq(get_be32(e + IPMSGID), id);
	ck_assert_uint_eq(get_be32(e + IPTRGCLS), 0x11111111);
	ck_assert_uint_eq(get_be32(e + IPBFLN1F), 9);
	ck_assert_uint_eq(get_be32(e + IPBFLN2F), 16);
	ck_cc(message(IUCV_RECEIVE, bob, IPFGPID | IPFGMID, id, 0, DATA, 16), 0);
	ck_assert_mem_eq(fx_at(DATA, 10), "to BOB, 2\xdd", 10);
	memcpy(fx_at(DATA + 0x200, 8), "to ALICE", 8);
	ck_cc(message(IUCV_REPLY, bob, 0, id, 0x11111111, DATA + 0x200, 8), 0);
	ck_assert_ptr_null(fx_take(0));
	fx_use(ALICE);
	e = take(IUCV_MSG_COMPLETE, alice);
	ck_assert_uint_eq(get_be32(e + IPMSGID), id);
	ck_assert_uint_eq(get_be32(e + IPMSGTAG), 0x33333333);
	ck_assert_uint_eq(get_be32(e + IPBFLN2F), 8);
	ck_assert_mem_eq(fx_at(DATA + 0x1000, 9), "to ALICE\xee", 9);
	ck_assert_mem_eq(fx_at(DATA, 9), "to BOB, 2", 9);
}

/* Addresses are real ones of the CPU that has sent, whatever the receiver's prefix is. */
TEST(by_the_prefix_of_the_sender)
{
	uint16_t alice, bob;
	uint8_t *p;
	uint32_t id;

	open_between(0, 10, &alice, &bob);
	fx.prefix[1] = 0x20000;
	memcpy(fx_at(0x20100, 4), "CPU1", 4);
	memcpy(fx_at(0x100, 4), "CPU0", 4);
	p = fx_at(0x20000 + PARM, IUCV_PARM_SIZE);
	memset(p, 0, IUCV_PARM_SIZE);
	put_be16(p + IPPATHID, alice);
	p[IPFLAGS1] = IPNORPY;
	put_be32(p + IPBFADR1, 0x100);
	put_be32(p + IPBFLN1F, 4);
	ck_cc(fx_iucv(1, IUCV_SEND, PARM), 0);
	fx_use(BOB);
	fx.prefix[1] = 0x40000;
	id = get_be32(take(IUCV_MSG_PENDING, bob) + IPMSGID);
	ck_cc(message(IUCV_RECEIVE, bob, IPFGPID | IPFGMID, id, 0, DATA, 4), 0);
	ck_assert_mem_eq(fx_at(DATA, 4), "CPU1", 4);
}

/* The sender's area is no storage of the sender's, though the receiver has some there. */
TEST(no_storage_of_the_sender)
{
	static const char *const small[] = {
		"directory", "IUCV ANY", "storage", "0.1M", NULL,
	};
	uint16_t bob, carol;
	const uint8_t *e;

	fx_logon(CAROL, "CAROL", small);
	fx_declare(0);
	carol = connected_to("BOB", 0);
	fx_use(BOB);
	bob = get_be16(take(IUCV_PENDING, 0) + IPPATHID);
	ck_cc(on_path(IUCV_ACCEPT, bob, 0), 0);
	fx_use(CAROL);
	take(IUCV_COMPLETE, carol);
	ck_cc(send(carol, 0, 0x200000, 8, 8), 0);
	fx_use(BOB);
	e = take(IUCV_MSG_PENDING, bob);
	ck_rc(message(IUCV_RECEIVE, bob, IPFGPID | IPFGMID, get_be32(e + IPMSGID), 0, 0x200000, 8),
	      0x07);
	fx_use(CAROL);
	e = take(IUCV_MSG_COMPLETE, carol);
	ck_assert_uint_eq(get_be32(e + IPAUDIT) >> 8, 0x200000);
}

/* A sender is at its limit until the receiver has received. */
TEST(message_limit)
{
	uint16_t alice, bob;

	open_between(0, 2, &alice, &bob);
	ck_cc(send(alice, IPNORPY, DATA, 4, 0), 0);
	ck_cc(send(alice, IPNORPY, DATA, 4, 0), 0);
	ck_rc(send(alice, IPNORPY, DATA, 4, 0), IUCV_MSGLIMIT);
	fx_use(BOB);
	take(IUCV_MSG_PENDING, bob);
	ck_cc(message(IUCV_RECEIVE, bob, IPFGPID, 0, 0, DATA, 4), 0);
	fx_use(ALICE);
	take(IUCV_MSG_COMPLETE, alice);
	ck_cc(send(alice, IPNORPY, DATA, 4, 0), 0);
	ck_rc(send(alice, IPNORPY, DATA, 4, 0), IUCV_MSGLIMIT);
}

TEST(taken_back)
{
	uint16_t alice, bob;
	uint32_t id;

	open_between(0, 4, &alice, &bob);
	ck_cc(send(alice, 0, DATA, 4, 4), 0);
	id = get_be32(parm() + IPMSGID);
	fx_use(BOB);
	take(IUCV_MSG_PENDING, bob);
	fx_use(ALICE);
	ck_cc(message(IUCV_PURGE, alice, IPFGPID | IPFGMID, id, 0, 0, 0), 0);
	fx_use(BOB);
	ck_rc(message(IUCV_RECEIVE, bob, IPFGPID | IPFGMID, id, 0, DATA, 4), IUCV_PURGED);
}

/* What CONNECT answers, for each reason that it can fail. */
TEST(refused)
{
	uint16_t alice, bob;

	fx_use(ALICE);
	ck_rc(connect_to("CAROL", 0, 0), IUCV_NOT_LOGGED_ON);
	fx_logon(CAROL, "CAROL", (const char *const[]){ "directory", "IUCV BOB", NULL });
	fx_use(ALICE);
	ck_rc(connect_to("CAROL", 0, 0), IUCV_NO_BUFFER);
	fx_use(CAROL);
	fx_declare(0);
	/* Neither may CAROL connect to ALICE, nor does ALICE allow it. */
	ck_rc(connect_to("ALICE", 0, 0), IUCV_NOT_AUTHORISED);
	ck_rc(connect_to("CAROL", 0, 0), IUCV_NOT_AUTHORISED);
	fx_use(ALICE);
	ck_cc(connect_to("CAROL", 0, 0), 0);
	for (int i = 0; i < 3; i++)
		open_between(0, 0, &alice, &bob);
	ck_rc(connect_to("BOB", 0, 0), IUCV_OWN_MAX);
	fx_use(CAROL);
	ck_cc(connect_to("BOB", 0, 0), 0);
	ck_rc(connect_to("BOB", 0, 0), IUCV_TARGET_MAX);
}

/* IUCV ALLOW lets in others, and says how many messages may be outstanding at most. */
TEST(allowed_by_the_target)
{
	fx_logon(CAROL, "CAROL", (const char *const[]){ "directory", "IUCV ALLOW MSGLIMIT 7", NULL });
	fx_declare(0);
	ck_rc(connect_to("ALICE", 0, 0), IUCV_NOT_AUTHORISED);
	fx_logoff(BOB);
	fx_logon(BOB, "BOB", (const char *const[]){ "directory", "IUCV *MSG", NULL });
	fx_declare(0);
	ck_rc(connect_to("ALICE", 0, 0), IUCV_NOT_AUTHORISED);
	ck_cc(connect_to("CAROL", 0, 100), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 7);
	fx_use(CAROL);
	ck_assert_uint_eq(get_be16(take(IUCV_PENDING, 0) + IPMSGLIM), 7);
}

/* The partner of a machine that is no more, in whatever state the path was. */
TEST(logged_off)
{
	uint16_t alice, bob;
	const uint8_t *e;

	open_between(0, 4, &alice, &bob);
	ck_cc(send(alice, 0, DATA, 4, 4), 0);
	ck_cc(connect_to("BOB", 0, 0), 0);
	fx_use(BOB);
	ck_cc(send(bob, 0, DATA, 4, 4), 0);
	fx_use(ALICE);
	fx.kicks[0] = 0;
	fx_logoff(BOB);
	ck_assert_uint_gt(fx.kicks[0], 0);
	e = take(IUCV_SEVERED, alice);
	ck_assert_uint_eq(e[IPUSER], 0);
	take(IUCV_SEVERED, 1);
	ck_assert_ptr_null(fx_take(0));
	ck_cc(on_path(IUCV_SEVER, alice, 0), 0);
	ck_cc(on_path(IUCV_SEVER, 1, 0), 0);
	ck_rc(connect_to("BOB", 0, 0), IUCV_NOT_LOGGED_ON);
	fx_logon(BOB, "BOB", open_directory);
	fx_use(ALICE);
	ck_rc(connect_to("BOB", 0, 0), IUCV_NO_BUFFER);
	fx_use(BOB);
	fx_declare(0);
	open_between(0, 4, &alice, &bob);
	/* Nobody is special: the first to log on may be the first to go. */
	fx_logoff(ALICE);
	fx_use(BOB);
	take(IUCV_SEVERED, bob);
	fx_logoff(BOB);
	fx_logon(CAROL, "CAROL", open_directory);
	fx_declare(0);
	ck_rc(connect_to("ALICE", 0, 0), IUCV_NOT_LOGGED_ON);
}

/* Each machine has peers of its own, of the same names. */
TEST(private_peers)
{
	struct note of_alice, of_bob;
	struct iucv_parm q = { .vmid = "BOB" };

	fx_use(BOB);
	note_user(&of_bob, "PEER", 4);
	fx_use(ALICE);
	ck_rc(connect_to("PEER", 0, 0), IUCV_NOT_LOGGED_ON);
	note_user(&of_alice, "PEER", 4);
	ck_cc(connect_to("PEER", 0, 0), 0);
	ck_assert_str_eq(last(&of_alice, IUCV_PENDING)->vmid, "ALICE");
	ck_assert_uint_eq(of_bob.count, 0);
	ck_call(iucv_call(fx.cp, of_alice.user, IUCV_CONNECT, &q), 1, IUCV_NOT_LOGGED_ON);
	fx_use(BOB);
	ck_cc(connect_to("PEER", 0, 0), 0);
	ck_assert_str_eq(last(&of_bob, IUCV_PENDING)->vmid, "BOB");
	ck_assert_uint_eq(of_alice.count, 1);
	ck_assert_ptr_eq(iucv_user_find(fx.cp, "PEER"), of_bob.user);
	/* A peer goes with its machine. */
	fx_logoff(BOB);
	fx_use(ALICE);
	ck_assert_ptr_eq(iucv_user_find(fx.cp, "PEER"), of_alice.user);
	fx_logon(BOB, "BOB", open_directory);
	ck_assert_ptr_null(iucv_user_find(fx.cp, "PEER"));
}

/* Names are taken once, whoever has them. */
TEST(names)
{
	static const char *const taken[] = { "ALICE", "PEER" };
	struct note peer;

	fx_use(ALICE);
	note_user(&peer, "PEER", 1);
	ck_assert_ptr_null(iucv_user_create(fx.cp, "BOB", 1, &note_ops, NULL));
	for (int i = 0; i < 2; i++) {
		struct cp_config config = *cp_config_of(fx.cp);
		const struct cp_host host = {
			.map = (void *(*)(void *, int, uint64_t, uint64_t))abort,
			.dirty = (void (*)(void *, int, uint64_t, uint64_t))abort,
			.tod = (uint64_t (*)(void *))abort,
			.kick = (void (*)(void *, unsigned int))abort,
			.set_timer = (void (*)(void *, uint64_t))abort,
			.storage_changed = (void (*)(void *))abort,
		};
		char err[256], expected[256];

		snprintf(config.userid, sizeof(config.userid), "%s", taken[i]);
		ck_assert_ptr_null(cp_create(cp_system_of(fx.cp), &config, &host, err,
					     sizeof(err)));
		snprintf(expected, sizeof(expected),
			 "%s cannot log on: there is a user of that name", taken[i]);
		ck_assert_str_eq(err, expected);
	}
}

/* The order in which machines logged on, which everybody sees. */
TEST(users_in_order)
{
	static const char *const names[] = { "BOB", "ALICE", "CAROL", "*MSG", "*MONITOR" };

	fx_logon(CAROL, "CAROL", open_directory);
	for (unsigned int machine = 0; machine < 3; machine++) {
		fx_use(machine);
		for (unsigned int i = 0; i < 5; i++)
			ck_assert_str_eq(iucv_user_name(iucv_user_at(fx.cp, i)), names[i]);
	}
}

/* Three machines in a ring: each hears of its neighbour's message only. */
TEST(ring)
{
	static const char *const names[] = { "ALICE", "BOB", "CAROL" };
	uint16_t out[3], in[3];

	fx_logon(CAROL, "CAROL", open_directory);
	fx_declare(0);
	for (unsigned int i = 0; i < 3; i++) {
		fx_use(i);
		out[i] = connected_to(names[(i + 1) % 3], 0);
		fx_use((i + 1) % 3);
		in[(i + 1) % 3] = get_be16(fx_take(0) + IPPATHID);
		ck_cc(on_path(IUCV_ACCEPT, in[(i + 1) % 3], 0), 0);
		fx_use(i);
		take(IUCV_COMPLETE, out[i]);
	}
	for (unsigned int i = 0; i < 3; i++) {
		fx_use(i);
		memset(fx_at(DATA, 4), (int)i + 1, 4);
		ck_cc(send(out[i], IPNORPY, DATA, 4, 0), 0);
	}
	for (unsigned int i = 0; i < 3; i++) {
		fx_use(i);
		take(IUCV_MSG_PENDING, in[i]);
		ck_cc(message(IUCV_RECEIVE, in[i], IPFGPID, 0, 0, DATA + 0x100, 4), 0);
		ck_assert_uint_eq(*fx_at(DATA + 0x100, 1), (i + 2) % 3 + 1);
	}
	for (unsigned int i = 0; i < 3; i++) {
		fx_use(i);
		take(IUCV_MSG_COMPLETE, out[i]);
		ck_assert_ptr_null(fx_take(0));
	}
}
