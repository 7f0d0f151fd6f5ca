/* SPDX-License-Identifier: MIT */
/* Users who are not logged on: who asks for their machines, and who starts them. */
#define _GNU_SOURCE /* memfd_create */
#include "system_check.h"

#include <sys/stat.h>

CASE("system directory", system_start, system_stop);

/* What has been asked for since the last time. */
static const char *asked(void)
{
	static char text[256];
	struct pollfd fd = { .fd = server_starts[0], .events = POLLIN };
	ssize_t len = 0;

	if (poll(&fd, 1, 0) == 1)
		len = read(server_starts[0], text, sizeof(text) - 1);
	ck_assert_int_ge(len, 0);
	text[len] = '\0';
	return text;
}

TEST(users)
{
	char name[16];

	system_halt();
	ck_assert_int_eq(sys_add_user(served, "bob", NULL, err, sizeof(err)), 0);
	ck_assert_int_eq(sys_add_user(served, "BOB", NULL, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "user=BOB: there is that user already");
	ck_assert_int_eq(sys_add_user(served, "Bob", NULL, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "user=Bob: there is that user already");
	ck_assert_int_eq(sys_add_user(served, "*MONITOR", NULL, err, sizeof(err)), -1);
	ck_assert_int_eq(sys_add_user(served, "NINECHARS", NULL, err, sizeof(err)), -1);
	for (unsigned int i = 1; i < CP_MAX_MACHINES; i++) {
		snprintf(name, sizeof(name), "U%u", i);
		ck_assert_int_eq(sys_add_user(served, name, NULL, err, sizeof(err)), 0);
	}
	ck_assert_int_eq(sys_add_user(served, "MORE", NULL, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "user=MORE: there are too many users");
}

/* What their machines are going to be configured with is looked at, and not kept. */
TEST(machines_of_users)
{
	system_halt();
	ck_assert_int_eq(sys_add_user(served, "ALICE", "class=G\ndirectory=IUCV ANY;IUCV ALLOW", err,
				      sizeof(err)), 0);
	ck_assert_int_eq(sys_add_user(served, "bob", "class=G\ndirectory=FROB 12", err, sizeof(err)),
			 -1);
	ck_assert_int_eq(strncmp(err, "BOB: directory \"FROB 12\": ", 26), 0);
	ck_assert_int_eq(sys_add_user(served, "BOB", "class=G\n", err, sizeof(err)), -1);
	ck_assert_str_eq(err, "BOB:  is not KEY=VALUE");
	ck_assert_int_eq(sys_add_user(served, "BOB", "frob=1", err, sizeof(err)), -1);
	ck_assert_int_eq(sys_add_user(served, "BOB", "class=G", err, sizeof(err)), 0);
}

TEST(autolog)
{
	struct emulator alice, bob;

	ck_assert_int_eq(sys_add_user(served, "BOB", NULL, err, sizeof(err)), 0);
	emulator_init(&alice, "ALICE");
	set(&alice, "class", "ABG");
	ck_assert_int_eq(emulator_start(&alice), 0);
	ck_assert_uint_eq(command(&alice, "XAUTOLOG CAROL"), 53);
	ck_assert_str_eq(asked(), "");
	ck_assert_uint_eq(command(&alice, "XAUTOLOG BOB"), 0);
	ck_assert_str_eq(asked(), "start BOB\n");
	emulator_new(&bob, "BOB");
	ck_assert_uint_eq(command(&alice, "XAUTOLOG BOB"), 54);
	ck_assert_uint_eq(command(&alice, "FORCE BOB"), 0);
	ck_assert_uint_eq(command(&alice, "XAUTOLOG BOB"), 361);
	ck_assert_str_eq(asked(), "");
	emulator_end(&bob);
	/* CP notices the end at its own time. */
	for (unsigned int tries = 0; command(&alice, "XAUTOLOG BOB") != 0; tries++) {
		ck_assert_uint_lt(tries, LIMIT_MS);
		poll(NULL, 0, 1);
	}
	ck_assert_str_eq(asked(), "start BOB\n");
	emulator_end(&alice);
}

/* Whoever was to read the lines does not: CP goes on, and starts nobody. */
TEST(nobody_reads)
{
	struct emulator alice;
	unsigned int lines = 0;

	ck_assert_int_eq(sys_add_user(served, "BOB", NULL, err, sizeof(err)), 0);
	emulator_init(&alice, "ALICE");
	set(&alice, "class", "ABG");
	ck_assert_int_eq(emulator_start(&alice), 0);
	while (command(&alice, "XAUTOLOG BOB") == 0)
		ck_assert_uint_lt(lines++, 100000);
	ck_assert_uint_gt(lines, 0);
	ck_assert_uint_eq(command(&alice, "XAUTOLOG BOB"), 361);
	emulator_end(&alice);
}

/* The trace of whoever is logged on is not somebody else's to write. */
TEST(second_of_a_name)
{
	struct emulator first, second;
	struct stat before, after;

	emulator_new(&first, "ALICE");
	ck_assert_int_eq(stat(first.trace, &before), 0);
	ck_assert_int_gt(before.st_size, 0);
	emulator_init(&second, "ALICE");
	ck_assert_int_eq(emulator_start(&second), -1);
	ck_assert_str_eq(err, "ALICE is logged on already");
	ck_assert_int_eq(stat(first.trace, &after), 0);
	ck_assert_int_eq(after.st_size, before.st_size);
	memcpy(second.trace, "", 1);
	emulator_end(&second);
	emulator_end(&first);
}
