/* SPDX-License-Identifier: MIT */
/* Machines that take turns: one at a time, in the order of their log-on, when that is ordered. */
#define _GNU_SOURCE /* memfd_create */
#include "system_check.h"

#define TURN_NS 1000000u
/* TOD clock of the system's first turn, and the units of a turn. */
#define FIRST ((UINT64_C(2208988800) + 1767225600) * UINT64_C(4096000000))
#define TURN_TOD UINT64_C(4096000)

static int orders[2];
static struct emulator alice, bob;

/* A machine that does nothing but ask for its next turn, in a thread of its own. */
struct player {
	struct emulator *e;
	pthread_t thread;
	unsigned int turns, wanted;	/* it has had, and at which of them it does something */
	bool ends;			/* then its emulator is about to end */
};

static struct player players[2];
/* Whose turns they were, in their order; written by whoever has one. */
static char history[256];
static unsigned int had;

static void setup(void)
{
	turn_ns = TURN_NS;
	system_start();
	ck_assert_int_eq(pipe(orders), 0);
	ck_assert_int_eq(sys_take_orders(served, orders[0]), 0);
	emulator_new(&alice, "ALICE");
	emulator_new(&bob, "BOB");
	had = 0;
	memset(history, 0, sizeof(history));
}

static void teardown(void)
{
	close(orders[1]);
	system_stop();
	close(orders[0]);
	turn_ns = 0;
}

CASE("turns", setup, teardown);

static void order(const char *text)
{
	ck_assert_int_eq(write(orders[1], text, strlen(text)), (ssize_t)strlen(text));
}

/* The next answer. */
static void ck_line(const char *expected)
{
	struct pollfd waits = { .fd = server_starts[0], .events = POLLIN };
	char line[16] = "";

	for (size_t len = 0; len < sizeof(line) - 1 && !strchr(line, '\n'); len++) {
		ck_assert_int_eq(poll(&waits, 1, LIMIT_MS), 1);
		ck_assert_int_eq(read(server_starts[0], line + len, 1), 1);
	}
	ck_assert_str_eq(line, expected);
}

static void ck_stands(void)
{
	ck_line("stands\n");
}

/* Up to the turn that is wanted, after which it stops. */
static void *play(void *opaque)
{
	struct player *player = opaque;
	struct cp_port *port = &player->e->port;

	while (player->turns < player->wanted) {
		ck_assert_uint_eq(port->calls->turn(port), TURN_NS);
		player->turns++;
		player->e->tod += TURN_TOD;
		history[had++] = player->e->user[0];
		/* Nobody else's turn begins before this one has ended. */
		poll(NULL, 0, 1);
		ck_assert_int_eq(history[had], 0);
	}
	if (player->ends)
		port->calls->ends(port);
	port->calls->running(port, false);
	return NULL;
}

static void begin(struct player *player, struct emulator *e, unsigned int turns)
{
	*player = (struct player){ .e = e, .wanted = turns };
	e->port.calls->running(&e->port, true);
	ck_assert_int_eq(pthread_create(&player->thread, NULL, play, player), 0);
}

static void end(struct player *player)
{
	ck_assert_int_eq(pthread_join(player->thread, NULL), 0);
	emulator_end(player->e);
}

TEST(in_the_order_of_the_log_on)
{
	ck_assert_uint_eq(alice.port.turn_ns, TURN_NS);
	begin(&players[1], &bob, 4);
	begin(&players[0], &alice, 3);
	/* Nobody runs before. */
	poll(NULL, 0, 20);
	ck_assert_uint_eq(had, 0);
	order("run\n");
	ck_stands();
	end(&players[0]);
	end(&players[1]);
	ck_assert_str_eq(history, "ABABABB");
}

/* Where nobody runs they stand at once; other orders are none. */
TEST(nobody)
{
	order("run\nstand\n");
	ck_stands();
	ck_stands();
	emulator_end(&alice);
	emulator_end(&bob);
}

/* One that ends has no turn any more, and keeps nobody from theirs. */
TEST(ends)
{
	begin(&players[0], &alice, 1000);
	begin(&players[1], &bob, 2);
	order("run\n");
	while (__atomic_load_n(&players[1].turns, __ATOMIC_ACQUIRE) < 2)
		poll(NULL, 0, 1);
	end(&players[1]);
	order("stand\n");
	ck_stands();
	ck_assert_int_eq(strncmp(history, "ABABAA", 4), 0);
	/* It waits for its turn: the end of the system is its own. */
	ck_assert_uint_lt(players[0].turns, 1000);
	players[0].wanted = 0;
	order("run\n");
	end(&players[0]);
	ck_stands();
}

/* Nobody has a turn between the end of a machine and that of its emulator, which takes its time. */
TEST(keeps_its_turn_to_the_end)
{
	begin(&players[0], &alice, 2);
	players[0].ends = true;
	begin(&players[1], &bob, 3);
	order("run\n");
	ck_assert_int_eq(pthread_join(players[0].thread, NULL), 0);
	poll(NULL, 0, 20);
	ck_assert_str_eq(history, "ABA");
	order("await ALICE\n");
	emulator_end(&alice);
	ck_line("gone\n");
	ck_stands();
	ck_assert_str_eq(history, "ABA");
	order("run\n");
	ck_stands();
	end(&players[1]);
	ck_assert_str_eq(history, "ABABB");
}

/* Somebody is told when a machine waits for its turn, or has gone. */
TEST(awaited)
{
	begin(&players[0], &alice, 1);
	order("await ALICE\n");
	ck_line("waits\n");
	order("await ALICE\n");
	ck_line("waits\n");
	order("await BOB\n");
	emulator_end(&bob);
	ck_line("gone\n");
	order("await BOB\n");
	ck_line("gone\n");
	order("run\n");
	end(&players[0]);
	ck_stands();
}
