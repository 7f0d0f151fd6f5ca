/* SPDX-License-Identifier: MIT */
/* The control socket: connections and events. */
#include "control_client.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/time.h>

CASE("socket", start, stop);

TEST(socket_is_private_and_goes)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFSOCK | 0600);
	ctl_close(ctl);
	ck_assert_int_eq(stat(path, &st), -1);
	ctl = NULL;
}

TEST(refused_paths)
{
	char text[640], long_path[200];
	struct ctl *other;
	int fd;

	ck_assert_ptr_null(ctl_open(path, err, sizeof(err)));
	snprintf(text, sizeof(text), "control socket %s is in use already; name another "
				     "path", path);
	ck_assert_str_eq(err, text);
	memset(long_path, 'a', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	ck_assert_ptr_null(ctl_open(long_path, err, sizeof(err)));
	snprintf(text, sizeof(text), "the control socket's path %s is longer than 107 bytes; use a "
				     "shorter directory", long_path);
	ck_assert_str_eq(err, text);
	snprintf(long_path, sizeof(long_path), "%s/none/control", folder);
	ck_assert_ptr_null(ctl_open(long_path, err, sizeof(err)));
	snprintf(text, sizeof(text), "control socket %s cannot be created: No such file or directory",
		 long_path);
	ck_assert_str_eq(err, text);
	snprintf(long_path, sizeof(long_path), "%s/file", folder);
	fd = open(long_path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	ck_assert_ptr_null(ctl_open(long_path, err, sizeof(err)));
	snprintf(text, sizeof(text), "%s exists and is not a socket; remove it or name another "
		 "path", long_path);
	ck_assert_str_eq(err, text);
	unlink(long_path);
	/* A socket that a dead process left behind. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	strcpy(address.sun_path, long_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	other = ctl_open(long_path, err, sizeof(err));
	ck_assert_msg(other != NULL, "%s", err);
	ctl_close(other);
	ck_assert_int_eq(access(long_path, F_OK), -1);
}

/* The machine's reason is told, whichever of the two descriptors is one too many. */
TEST(without_descriptors)
{
	struct rlimit was, few;
	char text[640], other[200];
	int next = dup(0);

	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	snprintf(other, sizeof(other), "%s/other", folder);
	snprintf(text, sizeof(text), "control socket %s cannot be watched: Too many open files", other);
	for (int room = 0; room < 2; room++) {
		few.rlim_cur = (rlim_t)(next + room);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		ck_assert_ptr_null(ctl_open(other, err, sizeof(err)));
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
		ck_assert_str_eq(err, text);
		ck_assert_int_eq(access(other, F_OK), -1);
	}
}

/* 108 bytes are what an address has; one of them is the zero behind the path. */
TEST(longest_path)
{
	char longest[200], text[640];
	struct ctl *other;
	size_t len;

	len = (size_t)snprintf(longest, sizeof(longest), "%s/", folder);
	memset(longest + len, 'a', sizeof(longest) - len);
	longest[108] = '\0';
	ck_assert_ptr_null(ctl_open(longest, err, sizeof(err)));
	snprintf(text, sizeof(text), "the control socket's path %s is longer than 107 bytes; use a "
				     "shorter directory", longest);
	ck_assert_str_eq(err, text);
	longest[107] = '\0';
	other = ctl_open(longest, err, sizeof(err));
	ck_assert_msg(other != NULL, "%s", err);
	ctl_close(other);
	ck_assert_int_eq(access(longest, F_OK), -1);
}

TEST(lines_in_pieces_and_together)
{
	const char *text = "{\"execute\":\"query-faults\",\"id\":1}\n{\"execute\":\"query-faults\","
			   "\"id\":2}\n";
	int fd = new_client();

	for (size_t i = 0; text[i]; i++) {
		say(fd, text + i, 1);
		step();
	}
	ck_assert_str_eq(read_line(fd), "{\"return\":{\"rules\":[]},\"id\":1}");
	ck_assert_str_eq(read_line(fd), "{\"return\":{\"rules\":[]},\"id\":2}");
	say(fd, text, strlen(text));
	ck_assert_str_eq(read_line(fd), "{\"return\":{\"rules\":[]},\"id\":1}");
	ck_assert_str_eq(read_line(fd), "{\"return\":{\"rules\":[]},\"id\":2}");
	close(fd);
}

/* Far more requests than one ctl_dispatch() answers, and nobody sends more. */
TEST(all_requests_get_their_turn)
{
	const char *text = "{\"execute\":\"query-users\"}\n";
	int fd = new_client();

	for (int i = 0; i < 1000; i++)
		say(fd, text, strlen(text));
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(strncmp(read_line(fd), "{\"return\":{\"users\":[{", 21), 0);
	ck_assert(!step());
	close(fd);
}

TEST(half_closed_client_is_answered)
{
	const char *text = "{\"execute\":\"query-faults\"}\n{\"execute\":\"query-faults\"}\n{";
	int fd = new_client();

	say(fd, text, strlen(text));
	shutdown(fd, SHUT_WR);
	ck_assert_str_eq(read_line(fd), "{\"return\":{\"rules\":[]}}");
	ck_assert_str_eq(read_line(fd), "{\"return\":{\"rules\":[]}}");
	ck_assert_str_eq(read_line(fd), "");
	ck_assert(!step());
	close(fd);
}

TEST(requests_wait_for_the_cp)
{
	struct ctl *with = ctl;
	char first[96];
	int fd;

	strcpy(first, path);
	snprintf(path, sizeof(path), "%s/early", folder);
	ctl = ctl_open(path, err, sizeof(err));
	ck_assert_ptr_nonnull(ctl);
	/* One that goes before it comes. */
	close(new_client());
	while (step())
		;
	ck_assert_ptr_null(ctl->client[0]);
	fd = new_client();
	say(fd, "{\"execute\":\"query-faults\"}\n", 27);
	ck_assert_str_eq(read_line(fd), "");
	ck_assert(!step());
	ctl_attach(ctl, fx.cp);
	ck_assert_str_eq(read_line(fd), "{\"return\":{\"rules\":[]}}");
	close(fd);
	ctl_close(ctl);
	ctl = with;
	strcpy(path, first);
}

TEST(endless_line_is_refused)
{
	static char chunk[1 << 16];
	int fd = new_client();

	memset(chunk, ' ', sizeof(chunk));
	for (int i = 0; i < 140; i++)
		say(fd, chunk, sizeof(chunk));
	ck_assert_str_eq(read_line(fd), bad("the request is longer than 8 MiB; the connection is "
					    "closed"));
	ck_assert_str_eq(read_line(fd), "");
	close(fd);
	close(new_client());
}

/* Nothing that follows is answered, even while the client has not read what it was sent before. */
TEST(nothing_after_a_line_that_is_too_long)
{
	char *const line = unit_large(CTL_MAX_LINE);
	static const char more[] = "\n{\"execute\":\"query-faults\"}\n";
	static char text[400001];
	const struct cp_event event = { .kind = CP_EVENT_CONSOLE, .name = "LINUX001",
					.text = memset(text, 'a', sizeof(text) - 1) };
	int fd = new_client();

	ctl_event(ctl, &event);
	say(fd, memset(line, ' ', CTL_MAX_LINE), CTL_MAX_LINE);
	while (step())
		;
	ck_assert(ctl->client[0]->ended && ctl->client[0]->out.len > 0);
	say(fd, more, sizeof(more) - 1);
	ctl_dispatch(ctl);
	ck_assert_int_eq(strncmp(read_line(fd), "{\"event\":\"console\"", 18), 0);
	ck_assert_str_eq(read_line(fd), bad("the request is longer than 8 MiB; the connection is "
					    "closed"));
	ck_assert_str_eq(read_line(fd), "");
	ck_assert_ptr_null(ctl->client[0]);
	close(fd);
}

/* As long as the longest line, and no end of it is there. */
TEST(line_without_an_end_is_refused)
{
	char *const line = unit_large(CTL_MAX_LINE);
	int fd = new_client();

	memset(line, ' ', CTL_MAX_LINE);
	say(fd, line, CTL_MAX_LINE);
	ck_assert_str_eq(read_line(fd), bad("the request is longer than 8 MiB; the connection is "
					    "closed"));
	close(fd);
}

TEST(longest_line_is_answered)
{
	char *const line = unit_large(CTL_MAX_LINE + 1);
	int fd = new_client();

	memset(line, ' ', CTL_MAX_LINE - 1);
	memcpy(line, "{\"execute\":\"query-faults\"}", 26);
	line[CTL_MAX_LINE - 1] = '\0';
	ask_is(fd, line, "{\"return\":{\"rules\":[]}}");
	close(fd);
}

/* Storage of a long line is freed when it is answered; storage of many lines is kept. */
TEST(room_of_a_long_line)
{
	static char line[300001];
	static const struct { size_t len, kept; } lines[] = {
		{ 100, 1 << 16 }, { 130000, 1 << 17 }, { 100, 1 << 17 }, { 300000, 0 },
	};
	int fd = new_client();

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct ctl_buffer *in = &ctl->client[0]->in;

		memset(line, ' ', sizeof(line));
		memcpy(line, "{\"execute\":\"query-faults\"}", 26);
		line[lines[i].len] = '\0';
		ask_is(fd, line, "{\"return\":{\"rules\":[]}}");
		ck_assert_uint_eq(in->capacity, lines[i].kept);
		ck_assert(in->len == 0 && (in->data != NULL) == (lines[i].kept > 0));
	}
	close(fd);
}

TEST(slow_client_is_dropped)
{
	const size_t len = 1000000;
	char *const text = unit_large(len + 1);
	const struct cp_event event = { .kind = CP_EVENT_CONSOLE, .name = "LINUX001",
					.text = memset(text, 'a', len) };
	int slow = new_client(), other = new_client(), events = 0;
	const char *line;

	do {
		ctl_event(ctl, &event);
		line = read_line(other);
		events += strncmp(line, "{\"event\":\"console\"", 18) == 0;
		ck_assert_int_lt(events, 100);
	} while (!strstr(line, "client-dropped"));
	ck_assert_ptr_nonnull(strstr(line, "\"data\":{\"client\":1,\"reason\":\"too slow: it does "
					   "not read what it is sent\"}"));
	/* 64 MiB and what the kernel has taken. */
	ck_assert_int_ge(events, 67);
	ck_assert_ptr_null(ctl->client[0]);
	close(slow);
	close(other);
}

/* In place of the C library's: events must not be longer at one time than at another. */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	ck_assert_ptr_null(zone);
	*now = (struct timeval){ .tv_sec = 1767225600, .tv_usec = 123456 };
	return 0;
}

/* An event with that much text; what of it waits for the first client. */
static size_t console(size_t len)
{
	static char *text;
	struct cp_event event = { .kind = CP_EVENT_CONSOLE, .name = "LINUX001" };
	const size_t before = ctl->client[0]->out.len, longest = 1250000;

	if (!text)
		text = unit_large(longest + 1);
	ck_assert_uint_le(len, longest);
	event.text = memset(text, 'a', len);
	text[len] = '\0';
	ctl_event(ctl, &event);
	return ctl->client[0]->out.len - before;
}

/* A client may have as much to read as the limit says, and not a byte more. */
TEST(limit_of_what_waits)
{
	for (size_t more = 0; more < 2; more++) {
		const int slow = new_client();
		const size_t *waits = &ctl->client[0]->out.len;
		size_t around;

		while (*waits + 2500000 < CTL_OUT_LIMIT)
			console(1000000);
		around = console(1000000) - 1000000;
		console((CTL_OUT_LIMIT - *waits) / 2);
		console(CTL_OUT_LIMIT - *waits - around + more);
		ck_assert(ctl->client[0]->dropped == (more > 0));
		ck_assert(more > 0 || *waits == CTL_OUT_LIMIT);
		close(slow);
		while (step())
			;
		ck_assert_ptr_null(ctl->client[0]);
	}
}

/* From 1 MiB that waits on, the guest is held up once for each event. */
TEST(guest_waits_for_a_slow_client)
{
	const struct cp_event event = { .kind = CP_EVENT_RESET };
	const int slow = new_client();
	const size_t *waits = &ctl->client[0]->out.len;
	size_t around;

	while (*waits == 0)
		console(100000);
	ck_assert(!ctl_needs_pause(ctl));
	around = console(0);
	while (*waits + 1250000 < (1u << 20))
		console(1000000);
	console((1u << 20) - *waits - around - 1);
	ck_assert_uint_eq(*waits, (1u << 20) - 1);
	ck_assert(!ctl_needs_pause(ctl));
	console(0);
	ck_assert(ctl_needs_pause(ctl));
	ck_assert(!ctl_needs_pause(ctl));
	close(slow);
	while (step())
		;
	ctl_event(ctl, &event);
	ck_assert(!ctl_needs_pause(ctl));
}

/* A client that reads nothing for so long is no longer waited for; one that reads again is. */
TEST(guest_does_not_wait_for_ever)
{
	static char taken[1 << 16];
	const int slow = new_client(), other = new_client();
	int pauses = 0;

	while (ctl->client[0]->out.len < (2u << 20))
		console(1000000);
	for (int i = 0; i < 20000; i++) {
		console(0);
		pauses += ctl_needs_pause(ctl);
		while (read(other, taken, sizeof(taken)) > 0)
			;
	}
	ck_assert_int_eq(pauses, 10000);
	ck_assert_int_gt(read(slow, taken, sizeof(taken)), 0);
	while (step())
		;
	console(0);
	ck_assert(ctl_needs_pause(ctl));
	close(slow);
	close(other);
}

/* If several things fail with a leaving client, the others are told the first reason. */
TEST(first_reason_is_kept)
{
	const int slow = new_client(), epoll_fd = ctl->epoll_fd;
	struct ctl_client *client = ctl->client[0];

	while (!client->dropped)
		console(1000000);
	client->watched = 0;
	ctl->epoll_fd = -1;
	ctl_client_serve(ctl, client, ctl_request);
	ctl->epoll_fd = epoll_fd;
	ck_assert_str_eq(client->reason, "too slow: it does not read what it is sent");
	close(slow);
	while (step())
		;
	ck_assert_ptr_null(ctl->client[0]);
}

/* Requests wait while their client does not read the answers, and go on when it does. */
TEST(requests_wait_for_their_client)
{
	/* An answer has some 100 KiB; the socket and CTL_OUT_PAUSE hold the first dozen. */
	enum { REQUESTS = 40 };
	const char *text = "{\"execute\":\"query-schema\"}\n";
	int fd = new_client();
	size_t waiting;

	for (int i = 0; i < REQUESTS; i++)
		say(fd, text, strlen(text));
	while (step())
		;
	waiting = ctl->client[0]->out.len;
	ck_assert_uint_ge(waiting, CTL_OUT_PAUSE);
	ck_assert_uint_gt(ctl->client[0]->in.len, 10 * strlen(text));
	for (int i = 0; i < REQUESTS; i++) {
		const char *line = read_line(fd);

		ck_assert_int_eq(strncmp(line, "{\"return\":{\"commands\":", 22), 0);
		ck_assert_uint_lt(waiting, CTL_OUT_PAUSE + strlen(line) + 1);
	}
	close(fd);
}

/* Short requests, faster than they are answered: those beyond 8 MiB wait in the client's socket. */
TEST(many_requests_take_no_more_room_than_a_long_one)
{
	static const char request[] = "{\"execute\":\"query-faults\"}    \n";
	static char text[2048 * (sizeof(request) - 1)];
	const struct ctl_buffer *in;
	int fd = new_client();
	unsigned int full = 0;
	size_t at = 0;

	in = &ctl->client[0]->in;
	for (size_t i = 0; i < sizeof(text); i += sizeof(request) - 1)
		memcpy(text + i, request, sizeof(request) - 1);
	for (unsigned int i = 0; i < 2000 && full < 20; i++) {
		ssize_t done;

		while ((done = send(fd, text + at, sizeof(text) - at, MSG_NOSIGNAL)) > 0)
			at = (at + (size_t)done) % sizeof(text);
		ck_assert(step());
		/* One piece of 64 KiB is read while there are less. */
		ck_assert_uint_lt(in->len, CTL_MAX_LINE + (64u << 10));
		full += in->len >= CTL_MAX_LINE - (64u << 10);
	}
	ck_assert_uint_eq(full, 20);
	close(fd);
	while (step())
		;
}

TEST(client_limit)
{
	int fd[CTL_MAX_CLIENTS], more;

	for (unsigned int i = 0; i < CTL_MAX_CLIENTS; i++)
		fd[i] = new_client();
	more = connect_client();
	ck_assert_str_eq(read_line(more),
			 "{\"error\":{\"class\":\"Failed\",\"desc\":\"the control socket has as many "
			 "clients as it can serve; disconnect one\"},\"id\":null}");
	ck_assert_str_eq(read_line(more), "");
	close(more);
	/* One that does not wait for the answer. */
	close(connect_client());
	while (step())
		;
	close(fd[7]);
	while (step())
		;
	fd[7] = new_client();
	for (unsigned int i = 0; i < CTL_MAX_CLIENTS; i++)
		close(fd[i]);
}

/* Every kind has exactly the members that the schema gives it. */
TEST(events_follow_the_schema)
{
	int fd = new_client();

	for (unsigned int kind = 0; kind < CP_EVENT_KINDS; kind++) {
		const struct cp_event event = { .kind = (enum cp_event_kind)kind, .name = "N\xfc",
						.text = "t\x01", .path = 3, .value = UINT64_MAX };
		const struct ctl_event_info *info = &ctl_events[kind];
		json_t *message, *data;
		size_t members = 0;

		ctl_event(ctl, &event);
		message = json_loads(read_line(fd), 0, NULL);
		ck_assert_str_eq(info->name, cp_event_name(event.kind));
		ck_assert_str_eq(json_string_value(json_object_get(message, "event")), info->name);
		ck_assert(json_is_object(json_object_get(message, "timestamp")));
		data = json_object_get(message, "data");
		for (const struct ctl_member *m = info->data; m && m->name; m++, members++) {
			const json_t *value = json_object_get(data, m->name);

			ck_assert_int_eq(json_typeof(value),
					 m->type == CTL_INT ? JSON_INTEGER : JSON_STRING);
			if (json_is_string(value))
				ck_assert(!strcmp(json_string_value(value), "N\xc3\xbc") ||
					  !strcmp(json_string_value(value), "t\x01"));
		}
		ck_assert_uint_eq(json_object_size(data), members);
		json_decref(message);
	}
	ctl_event(NULL, &(struct cp_event){ .kind = CP_EVENT_RESET, .name = "", .text = "" });
	close(fd);
}

/* Clients that come all at once wait to be accepted, or are told that there is no room. */
static void counted(void *opaque)
{
	++*(unsigned int *)opaque;
}

TEST(who_asked_is_told_of_each_event)
{
	const struct cp_event event = { .kind = CP_EVENT_RESET, .name = "", .text = "" };
	unsigned int told = 0;

	ctl_event(ctl, &event);
	ctl_on_event(ctl, counted, &told);
	ctl_event(ctl, &event);
	ctl_event(ctl, &event);
	ck_assert_uint_eq(told, 2);
	ctl_on_event(ctl, NULL, NULL);
	ctl_event(ctl, &event);
	ck_assert_uint_eq(told, 2);
}

TEST(burst_of_connections)
{
	enum { COUNT = 100 };
	unsigned int greeted = 0;
	int fd[COUNT];

	for (unsigned int i = 0; i < COUNT; i++)
		fd[i] = connect_client();
	for (unsigned int i = 0; i < COUNT; i++) {
		const char *line = read_line(fd[i]);

		greeted += strcmp(line, GREETING) == 0;
		ck_assert(strcmp(line, GREETING) == 0 ||
			  strstr(line, "the control socket has as many clients as it can serve"));
	}
	ck_assert_uint_eq(greeted, CTL_MAX_CLIENTS);
	for (unsigned int i = 0; i < COUNT; i++)
		close(fd[i]);
}

/* Each command that takes a file: none may wait for the other end of a FIFO. */
TEST(fifos_are_refused)
{
	static const char *const commands[] = {
		"state-save\",\"arguments\":{", "state-load\",\"arguments\":{",
		"segment-save\",\"arguments\":{\"name\":\"MONDCSS\",",
		"segment-load\",\"arguments\":{\"name\":\"MONDCSS\",",
		"segment-read\",\"arguments\":{\"name\":\"MONDCSS\",\"offset\":0,\"length\":1,",
		"monitor-capture\",\"arguments\":{",
	};
	int fd = new_client();
	char fifo[128], request[512];

	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(request, sizeof(request), "{\"execute\":\"%s\"file\":\"%s\"}}",
			 commands[i], fifo);
		ck_assert_ptr_nonnull(strstr(ask(fd, request), "is not a regular file"));
	}
	ck_assert_int_eq(unlink(fifo), 0);
	close(fd);
}

/* A client that says much, and many that come: each time a part of it is done. */
TEST(bounded_work)
{
	const char *request = "{\"execute\":\"query-faults\"}\n";
	int fd = new_client(), more[20];

	for (unsigned int i = 0; i < 70; i++)
		say(fd, request, strlen(request));
	for (unsigned int i = 1; i <= 3; i++) {
		ctl_dispatch(ctl);
		ck_assert_uint_eq(ctl->requests, i < 3 ? 32 * i : 70);
	}
	for (unsigned int i = 0; i < 20; i++)
		more[i] = connect_client();
	for (unsigned int i = 1; i <= 3; i++) {
		unsigned int clients = 0;

		ctl_dispatch(ctl);
		for (unsigned int slot = 0; slot < CTL_MAX_CLIENTS; slot++)
			clients += ctl->client[slot] != NULL;
		ck_assert_uint_eq(clients, i < 3 ? 1 + 8 * i : 21);
	}
	for (unsigned int i = 0; i < 20; i++)
		close(more[i]);
	close(fd);
}

/* Only what can be done is waited for; what one long line needed is given back. */
TEST(what_is_watched)
{
	char *const line = unit_large(CTL_MAX_LINE + 1);
	const struct ctl_client *client;
	int fd = new_client();

	client = ctl->client[0];
	ck_assert_uint_eq(client->watched, EPOLLIN);
	memset(line, ' ', CTL_MAX_LINE - 1);
	say(fd, line, 600000);
	while (step())
		;
	ck_assert_uint_eq(client->in.len, 600000);
	ck_assert_uint_eq(client->scanned, 600000);
	ck_assert_uint_ge(client->in.capacity, 600000);
	ask_is(fd, "{\"execute\":\"query-faults\"}", "{\"return\":{\"rules\":[]}}");
	ck_assert_uint_eq(client->in.len + client->scanned, 0);
	ck_assert_uint_le(client->in.capacity, 4 * 65536);
	for (unsigned int i = 0; i < 100; i++)
		say(fd, "{\"execute\":\"query-schema\"}\n", 27);
	while (step())
		;
	/* It does not read: nothing more is read from it. */
	ck_assert_uint_eq(client->watched, EPOLLOUT);
	for (unsigned int i = 0; i < 100; i++)
		read_line(fd);
	while (step())
		;
	ck_assert_uint_eq(client->watched, EPOLLIN);
	ck_assert_uint_eq(client->out.len + client->out.start, 0);
	ck_assert_uint_le(client->out.capacity, 4 * 65536);
	close(fd);
	while (step())
		;
	ck_assert_ptr_null(ctl->client[0]);
}

/* Somebody else's file at the socket's path stays when the socket is closed. */
TEST(what_is_not_ours_stays)
{
	FILE *file;

	ck_assert_int_eq(unlink(path), 0);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	ctl_close(ctl);
	ctl = NULL;
	ck_assert_int_eq(unlink(path), 0);
	ctl_close(NULL);
}

/* Connections, peers, requests, events; numbers of clients are not given again. */
TEST(counters)
{
	int fd = new_client(), second = new_client();
	json_t *counted_, *value;

	ask(fd, "{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\"}}");
	close(second);
	while (step())
		;
	second = new_client();
	ck_assert_uint_eq(ctl->client[1]->id, 3);
	ctl_event(ctl, &(struct cp_event){ .kind = CP_EVENT_RESET, .name = "", .text = "" });
	read_line(fd);
	counted_ = json_loads(ask(fd, "{\"execute\":\"query-counters\"}"), 0, NULL);
	value = json_object_get(counted_, "return");
	ck_assert_int_eq(json_integer_value(json_object_get(value, "clients")), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(value, "peers")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(value, "requests")), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(value, "events")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(value, "stray-calls")), 0);
	ck_assert_ptr_null(json_object_get(value, "last-stray"));
	ck_assert_ptr_null(json_object_get(value, "trace-ended"));
	json_decref(counted_);
	close(second);
	close(fd);
}
