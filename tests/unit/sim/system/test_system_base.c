/* SPDX-License-Identifier: MIT */
/* Members that go on as a machine that was alone when it was saved. */
#define _GNU_SOURCE /* memfd_create */
#include "system_check.h"

#include <sys/wait.h>

#include "zvmlab/command.h"

static uint8_t *image;
static size_t len;

/* A machine with CP of its own, which has declared a buffer. */
static void setup(void)
{
	struct emulator alone;
	struct cp_host host;

	system_start();
	emulator_init(&alone, CP_BASE_USERID);
	free(alone.port.system_path);
	alone.port.system_path = NULL;
	ck_assert_int_eq(cp_port_open(&alone.port, err, sizeof(err)), 0);
	emulator_host(&alone, &host);
	ck_assert_msg(cp_port_create(&alone.port, &host, err, sizeof(err)) == 0, "%s", err);
	declare(&alone);
	image = alone.port.calls->save(&alone.port, &len);
	ck_assert_ptr_nonnull(image);
	emulator_end(&alone);
}

static void teardown(void)
{
	free(image);
	system_stop();
}

CASE("system base", setup, teardown);

static int load(struct emulator *e)
{
	return e->port.calls->load(&e->port, image, len, err, sizeof(err));
}

/* Buffers and masks are there: they talk at once, each under its own name. */
TEST(go_on)
{
	struct emulator alice, bob;
	const unsigned int changes = 0;
	uint16_t path[2];
	uint8_t *p;
	uint32_t id;

	emulator_new(&alice, "ALICE");
	emulator_new(&bob, "BOB");
	ck_assert_msg(load(&alice) == 0, "%s", err);
	ck_assert_uint_gt(alice.changes, changes);
	ck_assert_msg(load(&bob) == 0, "%s", err);
	open_path(&alice, &bob, path);
	put(&alice, DATA, "hello", 5);
	id = send_message(&alice, path[0], 5);
	p = bob.ram + BUFFER;
	ck_take(&bob, IUCV_MSG_PENDING);
	ck_assert_uint_eq(get_be32(p + IPMSGID), id);
	on_message(&bob, IUCV_RECEIVE, path[1], id, DATA, 5);
	ck_assert_mem_eq(bob.ram + DATA, "hello", 5);
	emulator_end(&alice);
	emulator_end(&bob);
}

/* The sentence comes back, and the next image is another one. */
TEST(refused)
{
	struct emulator alice;

	emulator_new(&alice, "ALICE");
	image[len - 1] ^= 1;
	ck_assert_int_eq(load(&alice), -1);
	ck_assert_str_eq(err, "the CP's state cannot be loaded from the image: its checksum is "
			      "wrong; it is damaged");
	image[len - 1] ^= 1;
	ck_assert_msg(load(&alice) == 0, "%s", err);
	ck_assert_int_eq(load(&alice), 0);
	emulator_end(&alice);
}

/* Without an end: the machine logs off, and others go on. */
TEST(too_long)
{
	struct emulator alice, bob;
	char trace[128];
	pid_t pid;
	int status;

	emulator_new(&bob, "BOB");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		uint8_t *all = calloc(1, 17u << 20);

		emulator_new(&alice, "ALICE");
		alice.port.calls->load(&alice.port, all, 17u << 20, err, sizeof(err));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	snprintf(trace, sizeof(trace), "%s/ALICE.jsonl", folder);
	ck_assert_int_eq(unlink(trace), 0);
	ck_assert_msg(load(&bob) == 0, "%s", err);
	emulator_end(&bob);
}
