/* SPDX-License-Identifier: MIT */
/* Orders to the process: all of CP is saved and loaded, while its machines stand still. */
#define _GNU_SOURCE /* memfd_create */
#include "system_check.h"

#include <sys/stat.h>

static int orders[2];
static struct emulator alice, bob;
static uint16_t path[2];
static char file[160];

static void setup(void)
{
	system_start();
	ck_assert_int_eq(pipe(orders), 0);
	/* The thread that serves waits in epoll, which may be added to. */
	ck_assert_int_eq(sys_take_orders(served, orders[0]), 0);
	snprintf(file, sizeof(file), "%s/cp", folder);
	emulator_new(&alice, "ALICE");
	emulator_new(&bob, "BOB");
	declare(&alice);
	declare(&bob);
	open_path(&alice, &bob, path);
}

static void teardown(void)
{
	emulator_end(&alice);
	emulator_end(&bob);
	close(orders[1]);
	unlink(file);
	system_stop();
	close(orders[0]);
}

CASE("system orders", setup, teardown);

static void order(const char *text)
{
	ck_assert_int_eq(write(orders[1], text, strlen(text)), (ssize_t)strlen(text));
}

/* The next line of the answers. */
static void ck_answered(const char *expected)
{
	struct pollfd waits = { .fd = server_starts[0], .events = POLLIN };
	char line[1024] = "";

	for (size_t len = 0; len < sizeof(line) - 1 && !strchr(line, '\n'); len++) {
		ck_assert_int_eq(poll(&waits, 1, LIMIT_MS), 1);
		ck_assert_int_eq(read(server_starts[0], line + len, 1), 1);
	}
	ck_assert_str_eq(line, expected);
}

static void give(const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), "%s %s\n", what, file);
	order(text);
}

static void ck_failed(const char *why)
{
	char line[512];

	snprintf(line, sizeof(line), "failed %s\n", why);
	ck_answered(line);
}

/* A path and a message come back, which are gone meanwhile. */
TEST(goes_back)
{
	uint32_t id;

	put(&alice, DATA, "hello", 5);
	id = send_message(&alice, path[0], 5);
	give("save");
	ck_answered("saved\n");
	ck_take(&bob, IUCV_MSG_PENDING);
	put_be16(parm_zero(&bob) + IPPATHID, path[1]);
	ck_iucv(&bob, IUCV_SEVER);
	ck_take(&alice, IUCV_SEVERED);
	give("load");
	ck_answered("loaded\n");
	ck_take(&bob, IUCV_MSG_PENDING);
	on_message(&bob, IUCV_RECEIVE, path[1], id, DATA, 5);
	on_message(&bob, IUCV_REPLY, path[1], id, DATA, 5);
	ck_take(&alice, IUCV_MSG_COMPLETE);
	ck_assert_mem_eq(alice.ram + ANSWER, "hello", 5);
}

TEST(refused)
{
	char why[300];
	FILE *out;

	give("load");
	snprintf(why, sizeof(why), "%s cannot be read: No such file or directory", file);
	ck_failed(why);
	out = fopen(file, "w");
	ck_assert_ptr_nonnull(out);
	fputs("something else", out);
	fclose(out);
	give("load");
	ck_failed("the CP's state cannot be loaded from the image: it is not a saved CP");
	give("save");
	snprintf(why, sizeof(why), "%s cannot be written: File exists", file);
	ck_failed(why);
	order("dance\n");
	ck_failed("unknown order");
	alice.port.calls->running(&alice.port, true);
	give("save");
	ck_failed("the machine of ALICE runs; stop all of them first");
	alice.port.calls->running(&alice.port, false);
}

/* Orders come in pieces, several at a time, and end. */
TEST(pieces)
{
	order("dan");
	order("ce\nsing\n");
	ck_failed("unknown order");
	ck_failed("unknown order");
	close(orders[1]);
	orders[1] = -1;
	ck_assert_int_eq(alice.port.calls->interrupt_pending(&alice.port, 0), 0);
}

/* What has no end is not listened to; the machines are served. */
TEST(too_long)
{
	char text[10000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	order(text);
	order("\ndance\n");
	ck_assert_int_eq(alice.port.calls->interrupt_pending(&alice.port, 0), 0);
	ck_assert_int_eq(poll(&(struct pollfd){ .fd = server_starts[0], .events = POLLIN }, 1, 0), 0);
}
