/* SPDX-License-Identifier: MIT */
/* The control socket: peers and their owners. */
#include "control_client.h"

/* A service that replies inside the peer's SEND, before its message id is known. */
static void reply_at_once(struct cp *cp, struct iucv_user *user, void *opaque,
			  const struct iucv_event *event)
{
	struct iucv_parm parm = { .path = event->path, .msgid = event->msgid,
				  .trgcls = event->trgcls,
				  .flags = IPFGMID | IPFGPID | IPFGMCL };

	(void)opaque;
	if (event->type == IUCV_PENDING) {
		parm.flags = 0;
		parm.msglim = 5;
		ck_assert_uint_eq(iucv_call(cp, user, IUCV_ACCEPT, &parm).cc, 0);
	} else if (event->type == IUCV_MSG_PENDING) {
		char text[] = "reply";

		parm.buffer = (struct iucv_area){ .host = true, .ptr = text, .len = 5 };
		ck_assert_uint_eq(iucv_call(cp, user, IUCV_RECEIVE, &parm).cc, 0);
		memcpy(text, "reply", 5);
		parm.buffer = (struct iucv_area){ .host = true, .ptr = text, .len = 5 };
		ck_assert_uint_eq(iucv_call(cp, user, IUCV_REPLY, &parm).cc, 0);
	}
}

START_TEST(reply_before_send_returns)
{
	static const struct iucv_user_ops ops = { .event = reply_at_once };
	int fd = new_client();
	const char *line;

	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "*TEST", 4, &ops, NULL));
	ask(fd, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\"}}");
	ask(fd, "{\"execute\":\"peer-call\",\"arguments\":{\"peer\":\"BOB\",\"function\":"
		"\"connect\",\"vmid\":\"*TEST\"}}");
	read_line(fd);
	line = ask(fd, "{\"execute\":\"peer-call\",\"arguments\":{\"peer\":\"BOB\",\"function\":"
		       "\"send\",\"path\":0,\"data\":\"AAAA\",\"answer-length\":10}}");
	ck_assert_ptr_nonnull(strstr(line, "\"type\":7"));
	ck_assert_ptr_nonnull(strstr(line, "\"answer-length\":5"));
	ck_assert_ptr_nonnull(strstr(line, "\"data\":\"cmVwbHk=\""));
	ck_assert_ptr_nonnull(strstr(read_line(fd), "{\"return\":{\"cc\":0,\"code\":0,"));
	close(fd);
}
END_TEST

START_TEST(peer_goes_with_its_connection)
{
	int fd = new_client(), other = new_client();

	ask_is(fd, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"bob\"}}",
	       "{\"return\":{\"name\":\"BOB\",\"adopted\":false,\"lost\":0}}");
	ask_is(fd, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"Bob\"}}",
	       failed("BOB is logged on already; choose another name"));
	ask_is(other, "{\"execute\":\"peer-destroy\",\"arguments\":{\"peer\":\"BOB\"}}",
	       failed("this connection has no peer BOB; peer-create makes one"));
	ck_assert_ptr_nonnull(iucv_user_find(fx.cp, "BOB"));
	close(fd);
	while (step())
		;
	ck_assert_ptr_null(iucv_user_find(fx.cp, "BOB"));
	ask_is(other, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\"}}",
	       "{\"return\":{\"name\":\"BOB\",\"adopted\":false,\"lost\":0}}");
	ask_is(other, "{\"execute\":\"peer-destroy\",\"arguments\":{\"peer\":\"BOB\"}}",
	       "{\"return\":{}}");
	ck_assert_ptr_null(iucv_user_find(fx.cp, "BOB"));
	close(other);
}
END_TEST

static const char *call_peer(int fd, const char *peer, const char *call)
{
	char request[256];

	snprintf(request, sizeof(request),
		 "{\"execute\":\"peer-call\",\"arguments\":{\"peer\":\"%s\",\"function\":%s}}", peer,
		 call);
	return ask(fd, request);
}

/* A path from ALICE, played by @fd, to BOB, who stays when his connection ends. */
static void persistent_bob(int fd)
{
	int bob = new_client();

	ask(bob, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\",\"persistent\":true}}");
	ask(fd, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"ALICE\"}}");
	ck_assert_ptr_nonnull(
		strstr(call_peer(fd, "ALICE", "\"connect\",\"vmid\":\"BOB\""), "\"cc\":0,"));
	ck_assert_ptr_nonnull(strstr(read_line(bob), "\"type\":1,"));
	ck_assert_ptr_nonnull(strstr(call_peer(bob, "BOB", "\"accept\",\"path\":0"), "\"cc\":0,"));
	ck_assert_ptr_nonnull(strstr(read_line(fd), "\"type\":2,"));
	close(bob);
	while (step())
		;
	ck_assert_ptr_nonnull(iucv_user_find(fx.cp, "BOB"));
}

START_TEST(persistent_peer_is_taken_over)
{
	const char *create = "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\"}}";
	int alice = new_client(), bob;

	persistent_bob(alice);
	ck_assert_ptr_nonnull(strstr(call_peer(alice, "ALICE", "\"quiesce\",\"path\":0"), "\"cc\":0,"));
	ck_assert_ptr_nonnull(strstr(call_peer(alice, "ALICE", "\"resume\",\"path\":0"), "\"cc\":0,"));
	bob = new_client();
	ck_assert_ptr_nonnull(strstr(ask(bob, create), "\"type\":4,"));
	ck_assert_ptr_nonnull(strstr(read_line(bob), "\"type\":5,"));
	ck_assert_str_eq(read_line(bob),
			 "{\"return\":{\"name\":\"BOB\",\"adopted\":true,\"lost\":0}}");
	close(bob);
	ck_assert_ptr_nonnull(strstr(read_line(alice), "\"type\":3,"));
	ck_assert_ptr_null(iucv_user_find(fx.cp, "BOB"));
	close(alice);
}
END_TEST

START_TEST(oldest_events_without_owner_are_lost)
{
	const char *create = "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\"}}";
	int alice = new_client(), bob;

	persistent_bob(alice);
	for (unsigned int i = 0; i < CTL_MAX_KEPT / 2 + 5; i++) {
		call_peer(alice, "ALICE", "\"quiesce\",\"path\":0");
		call_peer(alice, "ALICE", "\"resume\",\"path\":0");
	}
	bob = new_client();
	ck_assert_ptr_nonnull(strstr(ask(bob, create), "\"type\":4,"));
	for (unsigned int i = 1; i < CTL_MAX_KEPT; i++)
		ck_assert_ptr_nonnull(strstr(read_line(bob), "\"event\":\"iucv-event\""));
	ck_assert_str_eq(read_line(bob),
			 "{\"return\":{\"name\":\"BOB\",\"adopted\":true,\"lost\":10}}");
	close(bob);
	close(alice);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control peers");
	TCase *tc = tcase_create("peers");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, reply_before_send_returns);
	tcase_add_test(tc, peer_goes_with_its_connection);
	tcase_add_test(tc, persistent_peer_is_taken_over);
	tcase_add_test(tc, oldest_events_without_owner_are_lost);
	suite_add_tcase(suite, tc);
	return fx_run(suite);
}
