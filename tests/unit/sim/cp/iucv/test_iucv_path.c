/* SPDX-License-Identifier: MIT */
/* IUCV: who may connect to whom, limits; users. */
#include <stdio.h>

#include "iucv_check.h"
#include "zvmlab/guests.h"

static struct note a, b;

static void setup(void)
{
	fx_setup();
	note_user(&a, "ALPHA", 8);
	note_user(&b, "BETA", 2);
	fx_declare(0);
}

CASE("path", setup, fx_teardown);

static void setup_directory(void)
{
	static const char *const options[] = {
		"directory",
		"IUCV ALPHA MSGLIMIT 20 PRIORITY;IUCV *SERV MSGLIMIT 255;IUCV *FREE;"
		"OPTION MAXCONN 3", NULL,
	};

	fx_setup_with(options);
	note_user(&a, "ALPHA", 8);
	note_user(&b, "BETA", 2);
	fx_declare(0);
}

TEST(connect_and_accept)
{
	struct iucv_parm q = { .flags = IPRMDATA, .msglim = 7 };
	struct iucv_path_info info;
	const struct iucv_event *e;
	const uint8_t *i;

	ck_cc(connect_to("ALPHA", IPRMDATA, 100), 0);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), 0);
	ck_assert_uint_eq(parm()[IPFLAGS1], IPRMDATA);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 100);
	e = last(&a, IUCV_PENDING);
	ck_assert_str_eq(e->vmid, "LINUX001");
	ck_assert_uint_eq(e->flags, IPRMDATA);
	ck_assert_uint_eq(e->msglim, 100);
	ck_assert_uint_eq(e->ipuser[15], 0xc1);
	ck_assert(iucv_path_info(iucv_user_guest(fx.cp), 0, &info));
	ck_assert_uint_eq(info.state, IUCV_PATH_CONNECTING);
	ck_rc(send(0, 0, DATA, 4, 4), IUCV_INVALID_PATH);
	memset(q.ipuser, 0x5a, 16);
	ck_call(iucv_call(fx.cp, a.user, IUCV_ACCEPT, &q), 0, 0);
	ck_assert_uint_eq(q.msglim, 7);
	/* A call of a peer that went well has no program interruption in its record. */
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"iucv.accept\",\"user\":\"ALPHA\""));
	ck_assert_ptr_null(strstr(fx.trace, "\"pgm\":"));
	i = take(IUCV_COMPLETE, 0);
	ck_assert_uint_eq(i[2], IPRMDATA);
	ck_assert_uint_eq(get_be16(i + 4), 7);
	ck_assert_uint_eq(i[16], 0x5a);
	ck_assert_uint_eq(i[31], 0x5a);
	ck_assert(iucv_path_info(iucv_user_guest(fx.cp), 0, &info));
	ck_assert_uint_eq(info.state, IUCV_PATH_OPEN);
	ck_assert_uint_eq(info.msglim_send, 100);
	ck_assert_uint_eq(info.msglim_receive, 7);
	ck_assert_str_eq(info.partner, "ALPHA");
	ck_assert(!info.quiesced_here && !info.quiesced_there);
	ck_assert(!iucv_path_info(iucv_user_guest(fx.cp), 1, &info));
	ck_call(peer_path(&a, IUCV_ACCEPT, 0, 0), 1, IUCV_INVALID_PATH);
}

TEST(peer_to_guest)
{
	struct iucv_parm q = { .vmid = "LINUX001", .flags = IPRMDATA | IPPRTY | IPQUSCE };
	const uint8_t *i;
	uint8_t name[8];

	memset(q.ipuser, 0x77, 16);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 0, 0);
	ck_assert_uint_eq(q.msglim, IUCV_DEFAULT_MSGLIM);
	i = take(IUCV_PENDING, 0);
	ebcdic_name(name, "ALPHA");
	ck_assert_mem_eq(i + 8, name, 8);
	ck_assert_uint_eq(i[2], IPRMDATA | IPPRTY | IPQUSCE);
	ck_assert_uint_eq(get_be16(i + 4), 10);
	ck_assert_uint_eq(i[16], 0x77);
	ck_assert_uint_eq(i[IPPOLLFG], 0x80);
	put_be16(parm_zero() + IPMSGLIM, 128);
	parm()[IPFLAGS1] = IPPRTY;
	ck_cc(guest(IUCV_ACCEPT), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 10);
	ck_assert_uint_eq(last(&a, IUCV_COMPLETE)->flags, IPPRTY);
	/* The originator has quiesced it. */
	ck_rc(send(0, 0, DATA, 4, 4), IUCV_QUIESCED);
}

static void describe(const char *name, bool logged_off)
{
	const struct guest_description guest = { .name = name, .logged_off = logged_off };
	char err[256] = "";

	ck_assert_msg(guests_describe(fx.cp, &guest, err, sizeof(err)) == 0, "%s", err);
}

TEST(connect_codes)
{
	struct iucv_parm q = { .vmid = "LINUX001" };

	ck_rc(connect_to("NOBODY", 0, 0), IUCV_NOT_LOGGED_ON);
	ck_rc(connect_to("", 0, 0), IUCV_NOT_LOGGED_ON);
	ck_rc(connect_to("*NOTHING", 0, 0), IUCV_INVALID_SERVICE);
	ck_rc(connect_to("ALPHA", IPPRTY, 0), IUCV_NO_PRIORITY);
	for (int i = 0; i < 2; i++)
		ck_cc(connect_to("BETA", 0, 0), 0);
	ck_rc(connect_to("BETA", 0, 0), IUCV_TARGET_MAX);
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 2);
	ck_call(iucv_call(fx.cp, b.user, IUCV_CONNECT, &q), 1, IUCV_OWN_MAX);
	/* Logged on, without a program: the operator, and a guest that does not run. */
	ck_rc(connect_to("OPERATOR", 0, 0), IUCV_NO_BUFFER);
	describe("WEB", false);
	ck_rc(connect_to("WEB", 0, 0), IUCV_NO_BUFFER);
	ck_rc(connect_to("WEB", IPPRTY, 0), IUCV_NO_PRIORITY);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &(struct iucv_parm){ .vmid = "WEB" }), 1,
		IUCV_NO_BUFFER);
	/* In the directory only. */
	describe("WEB", true);
	ck_rc(connect_to("WEB", 0, 0), IUCV_NOT_LOGGED_ON);
	parm_zero();
	ck_cc(guest(IUCV_RETRIEVE_BUFFER), 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 1, IUCV_NO_BUFFER);
}

/* Linux's AF_IUCV asks for 65535. */
TEST(highest_limit)
{
	ck_cc(connect_to("ALPHA", 0, 65535), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 65535);
	ck_assert_uint_eq(last(&a, IUCV_PENDING)->msglim, 65535);
}

TEST(target_system)
{
	note_user(&b, "*SERV", 2);
	parm_zero();
	ebcdic_name(parm() + IPVMID, "ALPHA");
	ebcdic_name(parm() + IPTARGET, "OTHER");
	ck_rc(guest(IUCV_CONNECT), IUCV_NOT_LOGGED_ON);
	ebcdic_name(parm() + IPVMID, "*SERV");
	ck_rc(guest(IUCV_CONNECT), IUCV_NOT_FOR_SERVICE);
	ebcdic_name(parm() + IPVMID, "ALPHA");
	parm()[IPFLAGS1] = IPLOCAL;
	ck_cc(guest(IUCV_CONNECT), 0);
}

TEST(allow_opens_oneself)
{
	struct cp_result r;

	fx_teardown();
	fx_setup_with((const char *const[]){ "directory", "IUCV ALLOW;OPTION MAXCONN 3", NULL });
	note_user(&a, "ALPHA", 8);
	fx_declare(0);
	ck_rc(connect_to("ALPHA", 0, 0), IUCV_NOT_AUTHORISED);
	r = connect_to("LINUX001", 0, 0);
	ck_cc(r, 0);
	take(IUCV_PENDING, 1);
	/* Two ids are needed, one is left. */
	ck_rc(connect_to("LINUX001", 0, 0), IUCV_OWN_MAX);
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 2);
}

/* The guest in which all users and services are refused still has its agent. */
TEST(directory_leaves_the_agent_alone)
{
	static const char *const directories[] = {
		"", "IUCV ALLOW", "IUCV ALPHA", "IUCV ZVMLAB MSGLIMIT 1", "IUCV ANY MSGLIMIT 1",
		"OPTION MAXCONN 1", "NAMESAVE MONDCSS",
	};

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		struct note agent;

		fx_teardown();
		fx_setup_with((const char *const[]){ "directory", directories[i], NULL });
		note_user(&agent, CP_AGENT_USERID, 2);
		fx_declare(0);
		ck_cc(connect_to(CP_AGENT_USERID, IPRMDATA | IPPRTY, 65535), 0);
		ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 65535);
		ck_assert_str_eq(last(&agent, IUCV_PENDING)->vmid, "LINUX001");
	}
}

/* OPTION MAXCONN counts the guest's own paths, whether the agent's came first or last. */
TEST(agent_takes_no_path_of_the_guest)
{
	struct note agent;

	for (unsigned int first = 0; first < 2; first++) {
		fx_teardown();
		fx_setup_with((const char *const[]){ "directory", "IUCV ANY;OPTION MAXCONN 2",
						     NULL });
		note_user(&a, "ALPHA", 8);
		note_user(&agent, CP_AGENT_USERID, 2);
		fx_declare(0);
		/* Linux takes no path whose id is not below this. */
		fx.gr[1] = 0;
		ck_cc(fx_iucv(0, IUCV_QUERY, 0), 0);
		ck_assert_uint_eq(fx.gr[1], 3);
		for (unsigned int i = 0; i < 2; i++) {
			if (i == first)
				ck_cc(connect_to(CP_AGENT_USERID, 0, 0), 0);
			ck_cc(connect_to("ALPHA", 0, 0), 0);
		}
		ck_rc(connect_to("ALPHA", 0, 0), IUCV_OWN_MAX);
		ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT,
				  &(struct iucv_parm){ .vmid = "LINUX001" }), 1, IUCV_TARGET_MAX);
		ck_rc(connect_to(CP_AGENT_USERID, 0, 0), IUCV_OWN_MAX);
		ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 3);
	}
	/* Without it, its id is nobody's. */
	ck_cc(on_path(IUCV_SEVER, 1, 0), 0);
	ck_call(peer_path(&agent, IUCV_SEVER, 0, 0), 0, 0);
	ck_rc(connect_to("ALPHA", 0, 0), IUCV_OWN_MAX);
	ck_cc(connect_to(CP_AGENT_USERID, 0, 0), 0);
}

TEST(accept_codes)
{
	ck_rc(on_path(IUCV_ACCEPT, 0, 0), IUCV_INVALID_PATH);
	ck_rc(on_path(IUCV_ACCEPT, 0xffff, 0), IUCV_INVALID_PATH);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT,
			  &(struct iucv_parm){ .vmid = "LINUX001" }), 0, 0);
	take(IUCV_PENDING, 0);
	ck_rc(on_path(IUCV_ACCEPT, 0, IPPRTY), IUCV_NO_PRIORITY);
	ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
	ck_rc(on_path(IUCV_ACCEPT, 0, 0), IUCV_ORIGIN_SEVERED);
	take(IUCV_SEVERED, 0);
	ck_cc(on_path(IUCV_SEVER, 0, 0), 0);
	ck_rc(on_path(IUCV_SEVER, 0, 0), IUCV_INVALID_PATH);
}

/* The interruption is not needed to accept; it goes when the guest is quicker. */
TEST(accept_before_the_interruption)
{
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT,
			  &(struct iucv_parm){ .vmid = "LINUX001" }), 0, 0);
	ck_cc(on_path(IUCV_ACCEPT, 0, 0), 0);
	ck_assert_ptr_null(fx_take(0));
	ck_assert_uint_eq(last(&a, IUCV_COMPLETE)->path, 0);
}

TEST(peers_among_themselves)
{
	struct iucv_parm q = { .vmid = "BETA", .msglim = 1 };
	char text[] = "hello", into[8] = "";
	uint32_t id;

	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 0, 0);
	ck_assert_str_eq(last(&b, IUCV_PENDING)->vmid, "ALPHA");
	ck_call(peer_path(&b, IUCV_ACCEPT, 0, 0), 0, 0);
	last(&a, IUCV_COMPLETE);
	id = peer_send(&a, 0, 0, text, 5, into, 8);
	ck_assert_uint_eq(last(&b, IUCV_MSG_PENDING)->msgid, id);
	q = (struct iucv_parm){ .flags = IPFGMID, .msgid = id,
				.buffer = { .host = true, .ptr = into, .len = 8 } };
	ck_call(iucv_call(fx.cp, b.user, IUCV_RECEIVE, &q), 0, 0);
	ck_assert_str_eq(into, "hello");
	q = (struct iucv_parm){ .msgid = id, .trgcls = 0x44444444,
				.buffer = { .host = true, .ptr = (char[]){ "bye" }, .len = 4 } };
	ck_call(iucv_call(fx.cp, b.user, IUCV_REPLY, &q), 0, 0);
	ck_assert_str_eq(into, "bye");
	ck_assert_uint_eq(last(&a, IUCV_MSG_COMPLETE)->answer_length, 4);
	ck_assert_ptr_eq(last(&a, IUCV_MSG_COMPLETE)->answer, into);
	iucv_user_destroy(fx.cp, b.user);
	last(&a, IUCV_SEVERED);
	ck_assert_ptr_null(iucv_user_find(fx.cp, "BETA"));
}

TEST(users)
{
	struct note n;
	char name[9];
	unsigned int count = 0;

	ck_assert_str_eq(iucv_user_name(iucv_user_at(fx.cp, 0)), "LINUX001");
	ck_assert_ptr_eq(iucv_user_at(fx.cp, 0), iucv_user_guest(fx.cp));
	while (iucv_user_at(fx.cp, count))
		count++;
	ck_assert_ptr_eq(iucv_user_at(fx.cp, count - 1), b.user);
	ck_assert(!iucv_user_is_service(b.user));
	ck_assert_ptr_null(iucv_user_create(fx.cp, "BETA", 1, &note_ops, &n));
	for (; count < IUCV_MAX_USERS; count++) {
		snprintf(name, sizeof(name), "U%u", count);
		ck_assert_ptr_nonnull(iucv_user_create(fx.cp, name, 1, &note_ops, &n));
	}
	ck_assert_ptr_null(iucv_user_create(fx.cp, "LAST", 1, &note_ops, &n));
	iucv_user_destroy(fx.cp, a.user);
	note_user(&n, "LAST", 1);
	ck_assert_ptr_eq(iucv_user_at(fx.cp, IUCV_MAX_USERS - 1), n.user);
}

/* Logging off: paths to others, to the guest and to itself. */
TEST(logoff)
{
	struct iucv_parm q = { .vmid = "ALPHA" };

	open_path(&a, 0, 0, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 0, 0);
	ck_call(peer_path(&a, IUCV_ACCEPT, last(&a, IUCV_PENDING)->path, 0), 0, 0);
	peer_send(&a, q.path, 0, "data", 4, NULL, 0);
	peer_send(&a, 0, 0, "data", 4, NULL, 0);
	iucv_user_destroy(fx.cp, a.user);
	take(IUCV_SEVERED, 0);
	ck_assert_ptr_null(fx_take(0));
	ck_rc(connect_to("ALPHA", 0, 0), IUCV_NOT_LOGGED_ON);
}

TEST(all_65535_paths)
{
	struct note n;

	fx_teardown();
	fx_setup_with((const char *const[]){ "directory", "IUCV ANY;OPTION MAXCONN 65535", NULL });
	fx_declare(0);
	note_user(&n, "MANY", CP_MAX_PATHS);
	for (uint32_t i = 0; i < CP_MAX_PATHS; i++) {
		n.count = 0;
		fx.trace_len = 0;
		ck_cc(connect_to("MANY", 0, 0), 0);
		ck_assert_uint_eq(get_be16(parm() + IPPATHID), i);
	}
	ck_rc(connect_to("MANY", 0, 0), IUCV_OWN_MAX);
	ck_cc(on_path(IUCV_SEVER, 0x8123, 0), 0);
	ck_call(peer_path(&n, IUCV_SEVER, 0x8123, 0), 0, 0);
	ck_cc(connect_to("MANY", 0, 0), 0);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), 0x8123);
	/* The first of the 4096 that are looked up together: when it is taken, none is free again. */
	ck_cc(on_path(IUCV_SEVER, 4096, 0), 0);
	ck_call(peer_path(&n, IUCV_SEVER, 4096, 0), 0, 0);
	ck_cc(connect_to("MANY", 0, 0), 0);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), 4096);
	ck_rc(connect_to("MANY", 0, 0), IUCV_OWN_MAX);
}

/* One more than those that have a place together. */
TEST(all_65_paths)
{
	struct note n;

	fx_teardown();
	fx_setup_with((const char *const[]){ "directory", "IUCV ANY;OPTION MAXCONN 100", NULL });
	fx_declare(0);
	note_user(&n, "MANY", 65);
	for (uint32_t i = 0; i < 65; i++) {
		ck_cc(connect_to("MANY", 0, 0), 0);
		n.count = 0;
	}
	ck_rc(connect_to("MANY", 0, 0), IUCV_TARGET_MAX);
}

CASE("directory", setup_directory, fx_teardown);

TEST(directory)
{
	struct note service, other;

	note_user(&service, "*SERV", 8);
	note_user(&other, "*OTHER", 8);
	ck_rc(connect_to("BETA", 0, 0), IUCV_NOT_AUTHORISED);
	ck_rc(connect_to("LINUX001", 0, 0), IUCV_NOT_AUTHORISED);
	ck_rc(connect_to("*OTHER", 0, 0), IUCV_NOT_AUTHORISED);
	ck_cc(connect_to("ALPHA", IPPRTY, 255), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 20);
	ck_rc(connect_to("*SERV", IPPRTY, 255), IUCV_NO_PRIORITY);
	ck_cc(connect_to("*SERV", 0, 255), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 255);
	/* A path asked for by somebody the directory names has that limit, too. */
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT,
			  &(struct iucv_parm){ .vmid = "LINUX001", .msglim = 200 }), 0, 0);
	put_be16(parm_zero(), 2);
	ck_cc(guest(IUCV_ACCEPT), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 20);
	ck_rc(connect_to("ALPHA", 0, 0), IUCV_OWN_MAX);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT,
			  &(struct iucv_parm){ .vmid = "LINUX001" }), 1, IUCV_TARGET_MAX);
}
