/* SPDX-License-Identifier: MIT */
/* Machines that start side by side log on in the order that was asked for. */
#define _GNU_SOURCE /* memfd_create */
#include "raw_machine.h"

static int orders[2];

static void setup(void)
{
	system_start();
	ck_assert_int_eq(pipe(orders), 0);
	ck_assert_int_eq(sys_take_orders(served, orders[0]), 0);
}

static void teardown(void)
{
	close(orders[1]);
	system_stop();
	close(orders[0]);
}

CASE("expected machines", setup, teardown);

static void expect(const char *users)
{
	dprintf(orders[1], "expect %s\n", users);
}

/* Its hello, and nothing more. */
static struct raw greeting(const char *user)
{
	struct raw raw = { .sock = connect_raw() };
	const int storage = storage_new(RAM);
	struct hello hello = {
		{ .magic = MEMBER_MAGIC, .ram_size = RAM, .can = CAN_ALL }, "userid",
	};
	char *at = hello.options + sizeof("userid");

	at = stpcpy(at, user) + 1;
	at = stpcpy(at, "storage") + 1;
	at = stpcpy(at, "0.4M") + 1;
	say(raw.sock, &hello, (size_t)(at - (char *)&hello), &storage, 1);
	close(storage);
	return raw;
}

static void ck_welcome(struct raw *raw)
{
	ck_assert_str_eq(answer(raw), "");
}

static void leave(struct raw *raw)
{
	for (unsigned int i = 0; i < MEMBER_FDS; i++)
		close(raw->fd[i]);
	close(raw->sock);
}

/* It has not been answered, although somebody who came later has. */
static void ck_waits(const struct raw *raw)
{
	struct raw later = greeting("LATER");

	ck_welcome(&later);
	leave(&later);
	ck_assert_int_eq(poll(&(struct pollfd){ .fd = raw->sock, .events = POLLIN }, 1, 0), 0);
}

/* The last first; each waits for those before it, and one that nobody expects for none. */
TEST(in_order)
{
	struct raw alice, bob, carol;

	expect("ALICE  BOB CAROL TOOLONGNAME");
	carol = greeting("CAROL");
	ck_waits(&carol);
	bob = greeting("BOB");
	alice = greeting("ALICE");
	ck_welcome(&alice);
	ck_welcome(&bob);
	ck_welcome(&carol);
	leave(&bob);
	leave(&carol);
	leave(&alice);
}

/* Whoever is refused has had its turn. */
TEST(refused)
{
	struct raw alice, bob, again;

	again = greeting("ALICE");
	ck_welcome(&again);
	expect("ALICE BOB");
	bob = greeting("BOB");
	alice = greeting("ALICE");
	ck_assert_str_eq(answer(&alice), "ALICE is logged on already");
	ck_ended(alice.sock);
	ck_welcome(&bob);
	leave(&bob);
	leave(&again);
}

/* One waits for a name, and the next one of it is refused; what it says then ends it. */
TEST(twice)
{
	struct raw bob, again;

	expect("ALICE BOB");
	bob = greeting("BOB");
	again = greeting("BOB");
	ck_assert_str_eq(answer(&again), "BOB is logged on already");
	ck_ended(again.sock);
	ck_assert_int_eq(send(bob.sock, "x", 1, MSG_NOSIGNAL), 1);
	ck_ended(bob.sock);
	again = greeting("BOB");
	ck_waits(&again);
	/* Another order: it has waited long enough. */
	expect("BOB ALICE");
	ck_welcome(&again);
	leave(&again);
}
