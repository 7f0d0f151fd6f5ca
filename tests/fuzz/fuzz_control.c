// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: what clients say to the control socket.  An input is lines; the first
 * character says who says the rest:
 *
 *   0 to 3   a client, which is connected then: a line
 *   a to d   the same client, without a line break
 *   A to D   the same client hangs up
 *   !        not a client: the guest, the clock, a saved file (do_world())
 *
 * Every line must have one answer, of the form that the schema gives it, with the line's id; all
 * events must be of that form, too; and tables of peers and of the core must agree.
 */
#define _GNU_SOURCE /* memmem */
#include "fuzz_target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "files.h"
#include "peer.h"
#include "world.h"
#include "bytes.h"
#include "hash.h"
#include "ebcdic.h"

#define CLIENTS 4
#define MOST_LINES 120
#define MOST_TURNS 64
#define MOST_ASKED 1024
/* Lines that name data of many megabytes: each takes a tenth of a second. */
#define MOST_HEAVY 2
#define HEAVY_DIGITS 7
/* Where the guest is told of things: it answers what it was told last. */
#define BUFFER 0x2000u

struct client {
	int fd; /* -1: none */
	bool ended; /* nothing more will be answered */
	json_t *asked[MOST_ASKED]; /* requests without an answer; NULL: not JSON */
	unsigned int first, last;
	char *pending; /* what has been said of a line */
	size_t pending_len;
	char *heard;
	size_t heard_len;
};

static struct client clients[CLIENTS];
static struct ctl *ctl;
static char path[64];
static unsigned int heavy;

static void observe(const struct cp_event *event)
{
	ctl_event(ctl, event);
}

/* What comes back. */

static json_t *next_asked(struct client *c)
{
	if (c->first == c->last)
		world_fail("an answer to no request");
	return c->asked[c->first++ % MOST_ASKED];
}

static const struct ctl_command *command_named(const char *name)
{
	for (size_t i = 0; name && i < ctl_command_count; i++)
		if (strcmp(ctl_commands[i].name, name) == 0)
			return &ctl_commands[i];
	return NULL;
}

static void require_form(const struct ctl_member *members, const json_t *value, const char *what)
{
	static const struct ctl_member none[] = { { .name = NULL } };
	char err[256];

	if (!ctl_check(members ? members : none, value, err, sizeof(err)))
		world_fail("%s is not of the schema's form: %s", what, err);
}

static void check_answer(const json_t *asked, const json_t *answer)
{
	static const char *const classes[] = {
		"BadRequest",
		"BadArgument",
		"CommandNotFound",
		"Failed",
	};
	const json_t *id = json_object_get(answer, "id");
	const json_t *error = json_object_get(answer, "error"),
		     *value = json_object_get(answer, "return");
	const json_t *wanted = json_object_get(asked, "id");
	const char *class = json_string_value(json_object_get(error, "class"));
	const char *name = json_string_value(json_object_get(asked, "execute"));
	unsigned int i = 0;

	if (!value == !error)
		world_fail("an answer has either a return or an error");
	if (value) {
		if (!command_named(name) || (id != wanted && !json_equal(id, wanted)))
			world_fail("an answer to something else than was asked");
		require_form(command_named(name)->returns, value, name);
		return;
	}
	while (i < 4 && (!class || strcmp(class, classes[i]) != 0))
		i++;
	if (i == 4 || !json_string_length(json_object_get(error, "desc")))
		world_fail("an error has a class and a sentence");
	if (!json_is_null(id) && !json_equal(id, wanted))
		world_fail("an error with another id than was asked");
}

static void check_event(const json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));

	for (size_t i = 0; name && i < ctl_event_count; i++) {
		if (strcmp(ctl_events[i].name, name) != 0)
			continue;
		require_form(ctl_events[i].data, json_object_get(event, "data"), name);
		return;
	}
	world_fail("an event that the schema does not know");
}

static void heard_line(struct client *c, const char *line, size_t len)
{
	json_error_t error;
	json_t *said = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	json_t *asked = NULL;

	if (!said)
		world_fail("a line that is not JSON: %s: %.*s", error.text, (int)len, line);
	if (json_object_get(said, "event"))
		check_event(said);
	else if (!json_object_get(said, "zvmlab"))
		check_answer(asked = next_asked(c), said);
	json_decref(asked);
	json_decref(said);
}

static void hear(struct client *c)
{
	static char bytes[65536];
	ssize_t len;
	char *end;

	while ((len = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		c->heard = realloc(c->heard, c->heard_len + (size_t)len);
		if (!c->heard)
			abort();
		memcpy(c->heard + c->heard_len, bytes, (size_t)len);
		c->heard_len += (size_t)len;
		while (c->heard_len && (end = memchr(c->heard, '\n', c->heard_len))) {
			const size_t line = (size_t)(end - c->heard) + 1;

			heard_line(c, c->heard, line - 1);
			c->heard_len -= line;
			memmove(c->heard, c->heard + line, c->heard_len);
		}
	}
	if (len == 0)
		c->ended = true;
}

/* Tables of the control layer. */
static void check_peers(void)
{
	unsigned int count = 0;

	for (const struct ctl_peer *peer = ctl->peers; peer; peer = peer->next) {
		size_t bytes = 0;

		for (const struct ctl_held *h = peer->held.first; h; h = h->next)
			bytes += h->len + h->answer_len;
		if (bytes != peer->held.bytes || bytes > CTL_MAX_HELD)
			world_fail("peer %s holds %zu bytes, %zu are accounted", peer->name, bytes,
				   peer->held.bytes);
		if (iucv_user_find(world.cp, peer->name) != peer->user)
			world_fail("peer %s is not the user of that name", peer->name);
		if (json_array_size(peer->kept) > CTL_MAX_KEPT || ++count > CTL_MAX_PEERS)
			world_fail("peer %s is beyond a limit", peer->name);
		if (!peer->owner && !peer->persistent)
			world_fail("peer %s has no owner and is not persistent", peer->name);
	}
}

/* As an emulator's loop would, until there is nothing to do. */
static void serve(void)
{
	struct pollfd ready = { .fd = ctl_fd(ctl), .events = POLLIN };

	for (unsigned int turn = 0; turn < MOST_TURNS && poll(&ready, 1, 0) == 1; turn++) {
		ctl_dispatch(ctl);
		for (unsigned int i = 0; i < CLIENTS; i++)
			if (clients[i].fd >= 0)
				hear(&clients[i]);
		if (turn == MOST_TURNS - 1)
			world_fail("the socket is never done");
	}
	for (unsigned int i = 0; i < CLIENTS; i++)
		if (clients[i].fd >= 0 && !clients[i].ended && clients[i].first != clients[i].last)
			world_fail("client %u has no answer", i);
	check_peers();
	check_tables(world.cp, false);
}

/* What clients do. */

static void hang_up(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	while (c->first != c->last)
		json_decref(next_asked(c));
	free(c->pending);
	free(c->heard);
	*c = (struct client){ .fd = -1 };
}

static void call_up(struct client *c)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		world_fail("the socket takes no client: %s", strerror(errno));
}

static void say(struct client *c, const char *text, size_t len, bool whole)
{
	if (c->fd < 0)
		call_up(c);
	c->pending = realloc(c->pending, c->pending_len + len + 1);
	if (!c->pending)
		abort();
	memcpy(c->pending + c->pending_len, text, len);
	c->pending_len += len;
	if (send(c->fd, text, len, MSG_NOSIGNAL) < 0 ||
	    (whole && send(c->fd, "\n", 1, MSG_NOSIGNAL) < 0))
		c->ended = true;
	if (!whole)
		return;
	c->asked[c->last++ % MOST_ASKED] =
		json_loadb(c->pending, c->pending_len, JSON_REJECT_DUPLICATES, NULL);
	c->pending_len = 0;
}

/* The guest, the clock, a file that somebody has changed. */

static struct iucv_parm connect_parm(char name)
{
	static const char *const names[] = { "PEER1", "PEER2", "*MONITOR", "*MSG", "LINUX001" };
	struct iucv_parm parm = { .flags = IPRMDATA, .msglim = 5, .ipuser = { 1, 0xc0 } };

	strcpy(parm.vmid, names[(uint8_t)name % 5]);
	ebcdic_name(parm.ipuser + 8, "MONDCSS");
	return parm;
}

static void tamper(const char *line, size_t len)
{
	size_t size;
	uint8_t *bytes = len > 4 ? files_take((uint8_t)line[1], &size) : NULL;

	if (!bytes)
		return;
	if (size > 8) {
		bytes[((uint8_t)line[2] << 8 | (uint8_t)line[3]) % (size - 8)] ^= (uint8_t)line[4];
		put_be64(bytes + size - 8, hash_more(HASH_START, bytes, size - 8));
	}
	files_give(bytes, size);
}

static void do_world(const char *line, size_t len)
{
	const char a = len > 1 ? line[1] : 0, b = len > 2 ? line[2] : 0;
	const uint16_t number = (uint8_t)a % 8;
	struct iucv_parm parm = {
		.path = number,
		.flags = (uint8_t)(b & 0xb0),
		.buffer = { .addr = 0x8000, .len = (uint8_t)b },
		.answer = { .addr = 0x9000, .len = 16 },
		.msgid = get_be32(world_at(BUFFER + 4)),
		.trgcls = get_be32(world_at(BUFFER + 8)),
	};

	switch (len > 0 ? line[0] : 0) {
	case 'd':
		world_guest_call(0, IUCV_DECLARE_BUFFER,
				 &(struct iucv_parm){ .buffer.addr = BUFFER });
		break;
	case 'c':
		parm = connect_parm(a);
		world_guest_call(0, IUCV_CONNECT, &parm);
		break;
	case 'f':
		/* The function that a letter stands for. */
		world_guest_call(0,
				 (enum iucv_function)((uint8_t)(len > 3 ? line[3] : 0) %
						      IUCV_FUNCTIONS),
				 &parm);
		break;
	case 't':
		world_take(0);
		break;
	case 'x':
		cp_reset(world.cp);
		break;
	case 'w':
		world.tod += UINT64_C(4096000000) * (1 + (uint8_t)a);
		cp_timer(world.cp);
		break;
	case '~':
		tamper(line, len);
		break;
	default:
		break;
	}
}

/* Does a request name so many bytes that an input of many such would take seconds? */
static bool too_heavy(const char *line, size_t len)
{
	unsigned int digits = 0;

	if (!memmem(line, len, "fill", 4))
		return false;
	for (size_t i = 0; i < len; i++) {
		digits = line[i] >= '0' && line[i] <= '9' ? digits + 1 : 0;
		if (digits == HEAVY_DIGITS)
			return heavy++ >= MOST_HEAVY;
	}
	return false;
}

static void do_line(const char *line, size_t len)
{
	const char who = line[0];

	if (who >= '0' && who < '0' + CLIENTS && !too_heavy(line, len))
		say(&clients[who - '0'], line + 1, len - 1, true);
	else if (who >= 'a' && who < 'a' + CLIENTS)
		say(&clients[who - 'a'], line + 1, len - 1, false);
	else if (who >= 'A' && who < 'A' + CLIENTS)
		hang_up(&clients[who - 'A']);
	else if (who == '!')
		do_world(line + 1, len - 1);
	serve();
}

static void start(void)
{
	static const uint8_t head[WORLD_HEAD] = { 4, 15, 15, 0x20 };
	char err[256];

	world_start(head);
	world.model.lost = true;
	if (!path[0])
		snprintf(path, sizeof(path), "/tmp/zvmlab-fuzz-%d", (int)getpid());
	ctl = ctl_open(path, err, sizeof(err));
	if (!ctl)
		world_fail("%s", err);
	ctl_attach(ctl, world.cp);
	world.observe = observe;
	for (unsigned int i = 0; i < CLIENTS; i++)
		clients[i].fd = -1;
	heavy = 0;
	files_start();
}

static void end(void)
{
	files_end();
	for (unsigned int i = 0; i < CLIENTS; i++)
		hang_up(&clients[i]);
	ctl_close(ctl);
	ctl = NULL;
	world_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *last = at + size;

	start();
	for (unsigned int lines = 0; at < last && lines < MOST_LINES; lines++) {
		const char *next = memchr(at, '\n', (size_t)(last - at));
		const size_t len = (size_t)((next ? next : last) - at);

		if (len > 0)
			do_line(at, len);
		at += len + 1;
	}
	check_tables(world.cp, true);
	end();
	return 0;
}
