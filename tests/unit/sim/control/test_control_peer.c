/* SPDX-License-Identifier: MIT */
/* The control socket: peers and their owners. */
#include "control_client.h"
#include "held.h"
#include "peer.h"
#include "state_check.h"

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

CASE("peers", start, stop);

TEST(reply_before_send_returns)
{
	static const struct iucv_user_ops ops = { .event = reply_at_once };
	int fd = new_client();
	const char *line;

	ck_assert_ptr_nonnull(iucv_service_create(cp_system_of(fx.cp), "*TEST", 4, &ops, NULL));
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

#define CREATE(arguments) "{\"execute\":\"peer-create\",\"arguments\":{" arguments "}}"
#define GIVE(peer, command) \
	"{\"execute\":\"peer-command\",\"arguments\":{\"peer\":\"" peer \
	"\",\"command\":\"" command "\"}}"

TEST(peer_gives_commands)
{
	int fd = new_client(), other = new_client();

	ask(fd, CREATE("\"name\":\"BOB\""));
	ask_is(fd, GIVE("bob", "QUERY USERID"),
	       "{\"return\":{\"response\":\"BOB      AT ZVMLAB\\n\",\"rc\":0}}");
	ask_is(fd, GIVE("BOB", "MSGNOH BOB x"),
	       "{\"return\":{\"response\":\"HCPCMD001E Unknown CP command: MSGNOH\\n\",\"rc\":1}}");
	ask_is(other, GIVE("BOB", "QUERY USERID"),
	       failed("this connection has no peer BOB; peer-create makes one"));
	ck_assert_ptr_nonnull(strstr(ask(fd, GIVE("BOB", "Q \\u20ac")), "that CP's code page lacks"));
	ask(fd, CREATE("\"name\":\"*SPY\""));
	ask_is(fd, GIVE("*SPY", "QUERY USERID"),
	       failed("*SPY is a service, which cannot give commands"));
	close(fd);
	close(other);
}

TEST(peer_has_the_classes_given)
{
	int fd = new_client();

	ck_assert_ptr_nonnull(strstr(ask(fd, CREATE("\"name\":\"BOB\",\"classes\":\"7\"")),
				     "privilege classes are A to Z and 1 to 6, such as BG"));
	ask(fd, CREATE("\"name\":\"BOB\",\"classes\":\"bgb\",\"persistent\":true"));
	ck_assert_ptr_nonnull(strstr(ask(fd, GIVE("BOB", "QUERY PRIVCLASS")), "Currently: BG\\n"));
	close(fd);
	/* Whoever takes it over says anew which it has. */
	fd = new_client();
	ask(fd, CREATE("\"name\":\"BOB\""));
	ck_assert_ptr_nonnull(strstr(ask(fd, GIVE("BOB", "QUERY PRIVCLASS")), "Currently: G\\n"));
	close(fd);
}

static void *no_json(size_t size)
{
	(void)size;
	return NULL;
}

/* A peer that has no room for its events is none. */
TEST(peer_without_storage)
{
	struct ctl_peer *peer;

	json_set_alloc_funcs(no_json, free);
	peer = ctl_peer_new(ctl, "BOB");
	json_set_alloc_funcs(malloc, free);
	ck_assert_ptr_null(peer);
	ck_assert_ptr_null(ctl->peers);
}

/* A peer that says nothing else has 64 paths. */
TEST(paths_that_a_peer_has)
{
	static const char connect[] = "{\"execute\":\"peer-call\",\"arguments\":{\"peer\":\"BOB\","
				      "\"function\":\"connect\",\"vmid\":\"ALICE\"}}";
	int fd = new_client();
	unsigned int paths = 0;

	ask(fd, CREATE("\"name\":\"ALICE\",\"max-paths\":100"));
	ask(fd, CREATE("\"name\":\"BOB\""));
	while (strstr(answer(fd, connect), "\"cc\":0"))
		paths++;
	ck_assert_uint_eq(paths, 64);
	close(fd);
}

TEST(peer_goes_with_its_connection)
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

TEST(persistent_peer_is_taken_over)
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

TEST(oldest_events_without_owner_are_lost)
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

static void write_file(const char *name, const void *bytes, size_t len)
{
	FILE *file = fopen(name, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
}

static const char *load_state(int fd, const char *name)
{
	char request[256];

	snprintf(request, sizeof(request),
		 "{\"execute\":\"state-load\",\"arguments\":{\"file\":\"%s\"}}", name);
	return ask(fd, request);
}

static uint32_t number_of(const char *line, const char *member)
{
	const char *at = strstr(line, member);

	ck_assert_ptr_nonnull(at);
	return (uint32_t)strtoul(at + strlen(member), NULL, 10);
}

/* ALICE's message to BOB, with room for an answer; return: its id. */
static uint32_t send_long(int alice, int bob)
{
	static char request[8192];
	char *at = request + sprintf(request, "\"send\",\"path\":0,\"answer-length\":4000,"
					      "\"data\":\"");
	static char whole[9000];

	for (unsigned int i = 0; i < 1333; i++)
		at += sprintf(at, "QUJD");
	strcpy(at, "\"");
	snprintf(whole, sizeof(whole), "{\"execute\":\"peer-call\",\"arguments\":{\"peer\":"
		 "\"ALICE\",\"function\":%s}}", request);
	ck_assert_ptr_nonnull(strstr(ask(alice, whole), "\"cc\":0,"));
	return number_of(read_line(bob), "\"msgid\":");
}

/* Messages point to what the control layer holds for them: an image that is refused leaves it. */
TEST(refused_state_keeps_messages)
{
	int alice = new_client(), bob = new_client();
	char file[128], call[160];
	const char *line;
	uint32_t msgid;
	uint8_t *image;
	size_t len;

	snprintf(file, sizeof(file), "%s/state", folder);
	ask(bob, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\"}}");
	ask(alice, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"ALICE\"}}");
	call_peer(alice, "ALICE", "\"connect\",\"vmid\":\"BOB\"");
	read_line(bob);
	call_peer(bob, "BOB", "\"accept\",\"path\":0");
	read_line(alice);
	msgid = send_long(alice, bob);
	write_file(file, "no state at all", 15);
	ck_assert_ptr_nonnull(strstr(load_state(alice, file), "it is not a saved CP"));
	image = fx_save(&len);
	image[state_find(image, len, "MON.")] ^= 1;
	state_sign(image, len);
	write_file(file, image, len);
	free(image);
	ck_assert_ptr_nonnull(strstr(load_state(alice, file), "contradict each other"));
	snprintf(call, sizeof(call), "\"receive\",\"path\":0,\"flags\":7,\"msgid\":%u,\"length\":4000",
		 msgid);
	line = call_peer(bob, "BOB", call);
	ck_assert_ptr_nonnull(strstr(line, "\"cc\":0,"));
	ck_assert_uint_eq(strspn(strstr(line, "\"data\":\"") + 8, "QUJD"), 4 * 1333);
	snprintf(call, sizeof(call), "\"reply\",\"path\":0,\"flags\":7,\"msgid\":%u,\"data\":\"QUJD\"",
		 msgid);
	ck_assert_ptr_nonnull(strstr(call_peer(bob, "BOB", call), "\"cc\":0,"));
	line = read_line(alice);
	ck_assert_ptr_nonnull(strstr(line, "\"type\":7"));
	ck_assert_ptr_nonnull(strstr(line, "\"data\":\"QUJD\""));
	close(alice);
	close(bob);
	ck_assert_int_eq(unlink(file), 0);
}

/* Arguments that are absent are 0: the trace has the list as it was given. */
TEST(absent_arguments)
{
	static const char *const zeros[] = {
		"\"path\":0,", "\"flags\":\"0\",", "\"msglim\":0,", "\"msgid\":0,", "\"trgcls\":\"0\",",
		"\"srccls\":\"0\",", "\"msgtag\":\"0\",", "\"length\":0,", "\"answer\":0,",
		"\"ipuser\":\"00000000000000000000000000000000\",", "\"rmmsg\":\"0000000000000000\"",
	};
	int fd = new_client();
	const char *record;

	ask(fd, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\"}}");
	fx.trace_len = 0;
	call_peer(fd, "BOB", "\"receive\"");
	fx.trace[fx.trace_len - 1] = '\0';
	record = strstr(fx.trace, "\"call\":\"iucv.receive\"");
	ck_assert_msg(record != NULL, "%s", fx.trace);
	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++)
		ck_assert_msg(strstr(record, zeros[i]) != NULL, "no %s in %s", zeros[i], record);
	ck_assert_ptr_null(strstr(record, "\"mask\""));
	close(fd);
}

/* Data are for who sends: receive has room for what comes, and no request may ask for more. */
/* All paths, some of them from one on; "next" is where to go on. */
TEST(paths_in_parts)
{
	static const struct iucv_user_ops ops = { .event = reply_at_once };
	struct iucv_user *one;
	int fd = new_client();
	const char *line;

	one = iucv_user_create(fx.cp, "ONE", 100, &ops, NULL);
	ck_assert_ptr_nonnull(iucv_service_create(cp_system_of(fx.cp), "*TEST", 100, &ops, NULL));
	for (unsigned int i = 0; i < 50; i++) {
		struct iucv_parm parm = { .vmid = "*TEST" };

		ck_assert_uint_eq(iucv_call(fx.cp, one, IUCV_CONNECT, &parm).cc, 0);
	}
	line = ask(fd, "{\"execute\":\"query-paths\",\"arguments\":{\"user\":\"ONE\"}}");
	ck_assert_ptr_nonnull(strstr(line, "\"path\":0,"));
	ck_assert_ptr_nonnull(strstr(line, "\"path\":49,"));
	ck_assert_ptr_nonnull(strstr(line, "],\"next\":65535}"));
	line = ask(fd, "{\"execute\":\"query-paths\",\"arguments\":{\"user\":\"ONE\","
		       "\"first\":40,\"limit\":2}}");
	ck_assert_ptr_null(strstr(line, "\"path\":39,"));
	ck_assert_ptr_nonnull(strstr(line, "\"path\":40,"));
	ck_assert_ptr_nonnull(strstr(line, "\"path\":41,"));
	ck_assert_ptr_null(strstr(line, "\"path\":42,"));
	ck_assert_ptr_nonnull(strstr(line, "],\"next\":42}"));
	close(fd);
}

TEST(data_only_to_send)
{
	static const char *const functions[] = {
		"query", "test-message", "describe", "receive", "test-completion", "reject", "purge",
		"connect", "accept", "sever", "quiesce", "resume", "set-mask", "set-control-mask",
		"declare-buffer", "retrieve-buffer",
	};
	int alice = new_client();
	char call[160];

	ask(alice, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"ALICE\"}}");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		for (unsigned int length = 0; length < 8; length++) {
			snprintf(call, sizeof(call), "\"%s\",\"data\":\"QUJD\",\"length\":%u",
				 functions[i], length);
			ck_assert_str_eq(call_peer(alice, "ALICE", call),
					 wrong("argument \\\"data\\\" is for send and reply; give "
					       "receive its room by \\\"length\\\""));
		}
	}
	close(alice);
}

/* The answer says "data" where the function has brought some, and nowhere else. */
TEST(data_of_what_brings_some)
{
	static const char none[] = "\"data\"";
	int alice = new_client(), bob = new_client();
	const char *line;

	ask(bob, CREATE("\"name\":\"BOB\""));
	ask(alice, CREATE("\"name\":\"ALICE\""));
	line = call_peer(alice, "ALICE", "\"connect\",\"vmid\":\"BOB\",\"flags\":128");
	ck_assert_ptr_null(strstr(line, none));
	read_line(bob);
	line = call_peer(bob, "BOB", "\"accept\",\"path\":0,\"flags\":128");
	ck_assert_ptr_null(strstr(line, none));
	read_line(alice);
	/* Two messages: one in a buffer; one in the parameter list, of which nobody tells BOB. */
	line = call_peer(alice, "ALICE",
			 "\"send\",\"path\":0,\"data\":\"QUJD\",\"answer-length\":9");
	ck_assert_ptr_nonnull(strstr(line, "\"cc\":0,"));
	ck_assert_ptr_null(strstr(line, none));
	read_line(bob);
	ask_is(bob, "{\"execute\":\"fault-arm\",\"arguments\":{\"point\":\"peer.message\","
		    "\"kind\":\"drop\"}}",
	       "{\"return\":{\"rule\":1}}");
	line = call_peer(alice, "ALICE",
			 "\"send\",\"path\":0,\"flags\":128,\"rmmsg\":\"QUJDREVGR0g=\"");
	ck_assert_ptr_nonnull(strstr(line, "\"cc\":0,"));
	ck_assert_ptr_null(strstr(line, none));
	ck_assert_ptr_null(strstr(call_peer(bob, "BOB", "\"test-message\""), none));
	line = call_peer(bob, "BOB", "\"receive\",\"length\":3");
	ck_assert_ptr_nonnull(strstr(line, "\"data\":\"QUJD\""));
	line = call_peer(bob, "BOB", "\"receive\",\"length\":3");
	ck_assert_ptr_nonnull(strstr(line, "\"rmmsg\":\"QUJDREVGR0g=\""));
	ck_assert_ptr_null(strstr(line, none));
	ck_assert_ptr_null(strstr(call_peer(alice, "ALICE", "\"test-completion\""), none));
	ck_assert_ptr_null(strstr(call_peer(alice, "ALICE", "\"quiesce\",\"path\":0"), none));
	close(alice);
	close(bob);
}

/* A message that was rejected brings no data, but what it took is given back. */
TEST(rejected_messages_are_over)
{
	int alice = new_client(), bob = new_client();
	const char *line;

	ask(bob, CREATE("\"name\":\"BOB\""));
	ask(alice, CREATE("\"name\":\"ALICE\""));
	call_peer(alice, "ALICE", "\"connect\",\"vmid\":\"BOB\"");
	read_line(bob);
	call_peer(bob, "BOB", "\"accept\",\"path\":0");
	read_line(alice);
	/* Nobody tells ALICE that it is over; so she asks. */
	ask_is(bob, "{\"execute\":\"fault-arm\",\"arguments\":{\"point\":\"peer.reply\","
		    "\"kind\":\"drop\"}}",
	       "{\"return\":{\"rule\":1}}");
	ck_assert_uint_eq(ctl_peer_find(ctl, "ALICE")->held.bytes, 0);
	line = call_peer(alice, "ALICE",
			 "\"send\",\"path\":0,\"data\":\"QUJD\",\"answer-length\":9");
	ck_assert_ptr_nonnull(strstr(line, "\"cc\":0,"));
	ck_assert_uint_eq(ctl_peer_find(ctl, "ALICE")->held.bytes, 12);
	read_line(bob);
	line = call_peer(bob, "BOB", "\"reject\",\"path\":0,\"flags\":2");
	ck_assert_ptr_nonnull(strstr(line, "\"cc\":0,"));
	line = call_peer(alice, "ALICE", "\"test-completion\"");
	ck_assert_ptr_nonnull(strstr(line, "\"cc\":3,"));
	ck_assert_ptr_null(strstr(line, "\"data\""));
	ck_assert_uint_eq(ctl_peer_find(ctl, "ALICE")->held.bytes, 0);
	close(alice);
	close(bob);
}

/* An answer in a buffer, as long as it came; nothing if there was room for none, or none came. */
TEST(answers)
{
	static const struct {
		size_t room;
		uint8_t flags;
		uint32_t audit, unused;
		const char *data;
	} cases[] = {
		{ 3, 0, 0, 0, "QUJD" }, { 3, 0, 0, 1, "QUI=" }, { 3, 0, 0, 3, "" },
		{ 3, 0, 0, 4, NULL }, { 3, 0, 0, UINT32_MAX, NULL }, { 0, 0, 0, 0, NULL },
		{ 3, IPRMDATA, 0, 0, NULL }, { 3, 0, 1, 0, NULL }, { 3, IPPRTY, 0, 0, "QUJD" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ctl_held_list list = { 0 };
		struct ctl_held *held = ctl_hold(&list, 1, 5, cases[i].room);
		json_t *data;

		ck_assert_ptr_nonnull(held);
		memcpy(held->bytes + 5, "ABC", cases[i].room);
		data = ctl_reply(held, cases[i].flags, cases[i].audit, cases[i].unused);
		ck_assert_int_eq(data != NULL, cases[i].data != NULL);
		if (data)
			ck_assert_str_eq(json_string_value(data), cases[i].data);
		json_decref(data);
		ctl_release(&list, NULL);
	}
	ck_assert_ptr_null(ctl_reply(NULL, 0, 0, 0));
}

static const struct iucv_user_ops deaf = { 0 };

/* Peers of connections, users of the CP, bytes that one peer has outstanding. */
TEST(limits)
{
	int fd = new_client();
	char request[200], user[9];
	const char *answer = "";

	for (unsigned int i = 0; i <= CTL_MAX_PEERS; i++) {
		snprintf(request, sizeof(request), "{\"execute\":\"peer-create\",\"arguments\":{"
			 "\"name\":\"P%u\",\"max-paths\":4}}", i);
		answer = ask(fd, request);
		ck_assert_int_eq(strstr(answer, "return") != NULL, i < CTL_MAX_PEERS);
	}
	ck_assert_str_eq(answer, failed("there are 128 peers, which is the limit; destroy one first"));
	ask_is(fd, "{\"execute\":\"peer-destroy\",\"arguments\":{\"peer\":\"P0\"}}",
	       "{\"return\":{}}");
	for (unsigned int i = 0; i < IUCV_MAX_USERS; i++) {
		snprintf(user, sizeof(user), "U%u", i);
		iucv_user_create(fx.cp, user, 1, &deaf, NULL);
	}
	ask_is(fd, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"ONEMORE\"}}",
	       failed("ONEMORE cannot be logged on: too many users"));
	close(fd);
}

TEST(bytes_that_a_peer_may_hold)
{
	struct ctl_held_list list = { 0 };
	struct ctl_held *held[3];
	struct iucv_result result = { 0 };
	struct iucv_parm parm = { .path = 1, .msgid = 7 };

	ck_assert_ptr_null(ctl_hold(&list, 0, (size_t)CTL_MAX_HELD + 1, 0));
	ck_assert_ptr_null(ctl_hold(&list, 0, 0, (size_t)CTL_MAX_HELD + 1));
	held[0] = ctl_hold(&list, 0, CTL_MAX_HELD - 8, 8);
	ck_assert_ptr_nonnull(held[0]);
	ck_assert_ptr_null(ctl_hold(&list, 0, 1, 0));
	/* Nothing is sent: it may go. */
	result.pgm = PGM_SPECIFICATION;
	ctl_settle(&list, IUCV_SEND, &parm, &result, held[0]);
	ck_assert_uint_eq(list.bytes, 0);
	result.pgm = 0;
	for (unsigned int i = 0; i < 3; i++) {
		held[i] = ctl_hold(&list, 1, 10, 10);
		parm.msgid = 7 + i;
		ctl_settle(&list, IUCV_SEND, &parm, &result, held[i]);
	}
	/* What is about other messages, or about none, leaves these alone. */
	for (enum iucv_function function = 0; function < IUCV_FUNCTIONS; function++) {
		struct iucv_parm other = { .path = 2, .msgid = 99 };

		if (function == IUCV_SEND || function == IUCV_RETRIEVE_BUFFER)
			continue;
		ctl_settle(&list, function, &other, &result, ctl_hold(&list, 2, 5, 5));
		ck_assert_uint_eq(list.bytes, 60);
	}
	ck_assert_ptr_null(ctl_take(&list, 2, 8));
	ck_assert_ptr_null(ctl_take(&list, 1, 99));
	ck_assert_ptr_null(ctl_take_answer(&list, &list));
	ck_assert_ptr_eq(ctl_take(&list, 1, 8), held[1]);
	ck_assert_ptr_eq(ctl_take_answer(&list, held[2]->bytes + 10), held[2]);
	free(held[1]);
	free(held[2]);
	held[1] = ctl_hold(&list, 1, 0, 0);
	ctl_settle(&list, IUCV_RETRIEVE_BUFFER, &parm, &result, held[1]);
	ck_assert_ptr_null(list.first);
	ck_assert_uint_eq(list.bytes, 0);
}
