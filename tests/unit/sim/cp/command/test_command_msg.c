/* SPDX-License-Identifier: MIT */
/* MESSAGE, MSGNOH and SMSG to peers and the operator. */
#include "command_check.h"
#include "cp_private.h"

static enum iucv_type last_type;
static uint8_t last_ipuser;

static void remember(struct cp *cp, struct iucv_user *user, void *opaque,
		     const struct iucv_event *event)
{
	(void)cp;
	(void)user;
	(void)opaque;
	last_type = event->type;
	last_ipuser = event->ipuser[0];
}

static const struct iucv_user_ops peer_ops = { .event = remember };

CASE("msg", fx_setup, fx_teardown);

/* A peer has no use for *MSG: its messages are events. */
TEST(peer_connects)
{
	struct iucv_user *peer = iucv_user_create(fx.cp, "PEER", 4, &peer_ops, NULL);
	struct iucv_parm parm = { .vmid = "*MSG", .msglim = 255 };

	ck_assert_int_eq(iucv_call(fx.cp, peer, IUCV_CONNECT, &parm).cc, 0);
	iucv_dispatch(fx.cp);
	ck_assert_int_eq(last_type, IUCV_SEVERED);
	ck_assert_int_eq(last_ipuser, 0);
}

TEST(to_users)
{
	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 4, &peer_ops, NULL));
	ck_guest("MSG PEER  Hello, World ", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_operator("MSG PEER  Hello, World ", 0, "");
	ck_assert_str_eq(fx.last_name, "PEER");
	ck_assert_str_eq(fx.last_text, "13:24:57  * MSG FROM OPERATOR: Hello, World ");
	ck_operator("MSGNOH PEER Hello", 0, "");
	ck_assert_str_eq(fx.last_text, "Hello");
	ck_operator("SMSG PEER Hello", 0, "");
	ck_assert_str_eq(fx.last_text, "13:24:57  * SMSG FROM OPERATOR: Hello");
	ck_operator("MSG OP Hello", 0, "");
	ck_assert_str_eq(fx.last_name, "OPERATOR");
	ck_operator("MSG * Hello", 0, "");
	ck_assert_str_eq(fx.last_name, "OPERATOR");
	ck_operator("M PEER a\x01\xff%s\"\\", 0, "");
	ck_assert_str_eq(fx.last_text, "13:24:57  * MSG FROM OPERATOR: a..%s\"\\");
	ck_assert_int_eq(msg_send(fx.cp, "ME", "PEER", "x", MSG_PLAIN), 0);
	ck_assert_str_eq(fx.last_text, "13:24:57  * MSG FROM ME      : x");
}

static const char *by_peer(const char *classes, const char *text, int rc)
{
	static char reply[1024];
	const struct cpcmd_response *r = cpcmd_run_peer(fx.cp, "PEER", classes, text, strlen(text));

	ck_assert_msg(r->rc == rc && r->len < sizeof(reply), "\"%s\": rc %d, not %d", text, r->rc,
		      rc);
	memcpy(reply, r->text, r->len);
	reply[r->len] = '\0';
	return reply;
}

TEST(by_a_peer)
{
	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 4, &peer_ops, NULL));
	by_peer("G", "SMSG OPERATOR Hello", 0);
	ck_assert_str_eq(fx.last_text, "13:24:57  * SMSG FROM PEER    : Hello");
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"issuer\":\"peer\",\"user\":\"PEER\","
					       "\"classes\":\"G\",\"text\":\"SMSG OPERATOR Hello\""));
	by_peer("G", "MSG * Hello", 0);
	ck_assert_str_eq(fx.last_name, "PEER");
	ck_assert_str_eq(by_peer("G", "MSGNOH OPERATOR x", 1), UNKNOWN("MSGNOH"));
	by_peer("BG", "MSGNOH OPERATOR x", 0);
	ck_assert_str_eq(fx.last_text, "x");
	ck_assert_str_eq(by_peer("G", "QUERY USERID", 0), "PEER     AT ZVMLAB\n");
	ck_assert_ptr_nonnull(strstr(by_peer("BG", "QUERY PRIVCLASS", 0),
				     "for user PEER\n          Currently: BG\n"));
	/* What a peer does is no event: it knows. */
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 0);
}

/* Commands for a virtual machine act on the issuer's, and a peer has none. */
TEST_LOOP(a_peer_has_no_machine, 0, 9)
{
	static const struct { const char *text; int rc; const char *reply; } machine[] = {
		{ "TERM HOLD ON", 1, UNKNOWN("TERM") },
		{ "DEFINE STORAGE 64M", 1, UNKNOWN("DEFINE") },
		{ "SAVESEG A", 1, UNKNOWN("SAVESEG") },
		{ "SET SMSG ON", 3, INVALID("CFS", "SMSG") },
		{ "SET RUN OFF", 3, INVALID("CFS", "RUN") },
		{ "QUERY CONSOLE", 3, INVALID("CQV", "CONSOLE") },
		{ "QUERY TERMINAL", 3, INVALID("CQV", "TERMINAL") },
		{ "QUERY VIRTUAL STORAGE", 3, INVALID("CQV", "VIRTUAL") },
		{ "QUERY SET", 3, INVALID("CQV", "SET") },
	};

	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 4, &peer_ops, NULL));
	ck_assert_str_eq(by_peer("ABCDEFG", machine[_i].text, machine[_i].rc), machine[_i].reply);
	ck_assert_uint_eq(msg_smsg(fx.cp), 0);
}

TEST(bad_users)
{
	ck_guest("MSG", 20, "HCPMSG020E Userid missing or invalid\n");
	ck_guest("SMSG", 20, "HCPSMS020E Userid missing or invalid\n");
	ck_guest("MSG OPERATOR", 26, MISSING("MSG"));
	ck_guest("SMSG OPERATOR  ", 26, MISSING("SMS"));
	ck_guest("MSG NOBODY A", 45, "HCPMSG045E NOBODY not logged on\n");
	ck_guest("SMSG *MONITOR A", 45, "HCPSMS045E *MONITOR not logged on\n");
	ck_guest("MSG NOBODYATALL A", 45, "HCPMSG045E NOBODYATALL not logged on\n");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 0);
}
