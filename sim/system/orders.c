/* SPDX-License-Identifier: MIT */
/*
 * Orders to the process: lines on a descriptor, each of which is answered by a line where XAUTOLOG
 * asks for machines, too.
 *
 *     save PATH	write all that CP has to a new file: "saved"
 *     load PATH	go on from such a file, with the machines that there were: "loaded"
 *
 * or else "failed" and one sentence.  All machines stand still meanwhile, and their emulators save or
 * restore what is theirs: first they, then CP.
 *
 *     expect NAME…	have these machines log on in this order (expected.c): no answer
 *     run		if machines take turns (turns.c): let them, up to "stands"
 *     stand		at the end of the turn that there is: "stands"
 *     await NAME	when this machine, which has been told to run, waits for its turn: "waits";
 *			if nobody of that name is logged on, or no more: "gone"
 */
#define _GNU_SOURCE /* TEMP_FAILURE_RETRY */
#include "system_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "zvmlab/state.h"

#define WHY_MAX 512u
#define IMAGE_MAX (1 << 30)

int sys_take_orders(struct sys *sys, int fd)
{
	sys->orders = fd;
	if (sys_watch(sys, fd, SYS_ORDER, NULL) == 0)
		return 0;
	sys->orders = -1;
	return -1;
}

static int fail(char why[WHY_MAX], const char *path, const char *what)
{
	snprintf(why, WHY_MAX, "%.256s cannot be %s: %s", path, what, strerror(errno));
	return -1;
}

/* The machine for which CP is asked, which may be any; NULL with the reason why nobody is. */
static struct cp *standing(const struct sys *sys, char why[WHY_MAX])
{
	struct cp *cp = NULL;

	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++) {
		const struct member *member = &sys->member[i];

		if (!member->port.cp)
			continue;
		cp = member->port.cp;
		if (!member->runs)
			continue;
		snprintf(why, WHY_MAX, "the machine of %s runs; stop all of them first",
			 cp_config_of(cp)->userid);
		return NULL;
	}
	if (!cp)
		snprintf(why, WHY_MAX, "nobody is logged on");
	return cp;
}

static int write_file(const char *path, const uint8_t *image, size_t len, char why[WHY_MAX])
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t at = 0;

	if (fd < 0)
		return fail(why, path, "written");
	while (at < len) {
		const ssize_t done = TEMP_FAILURE_RETRY(write(fd, image + at, len - at));

		if (done <= 0)
			break;
		at += (size_t)done;
	}
	if (at < len) {
		fail(why, path, "written");
		unlink(path);
	}
	close(fd);
	return at < len ? -1 : 0;
}

/* Return: malloc'd contents, or NULL. */
static uint8_t *read_file(const char *path, size_t *len, char why[WHY_MAX])
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *image = NULL;
	struct stat st;

	*len = 0;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= IMAGE_MAX)
		image = malloc((size_t)st.st_size + 1);
	while (image && *len < (size_t)st.st_size) {
		const ssize_t done = TEMP_FAILURE_RETRY(read(fd, image + *len,
							     (size_t)st.st_size - *len));

		if (done <= 0)
			break;
		*len += (size_t)done;
	}
	if (!image)
		fail(why, path, "read");
	if (fd >= 0)
		close(fd);
	return image;
}

static int save(struct sys *sys, const char *path, char why[WHY_MAX])
{
	struct cp *cp = standing(sys, why);
	uint8_t *image;
	size_t len;
	int rc;

	if (!cp)
		return -1;
	image = cp_save(cp, &len);
	if (!image) {
		snprintf(why, WHY_MAX, "there is not enough memory");
		return -1;
	}
	rc = write_file(path, image, len, why);
	free(image);
	return rc;
}

static int load(struct sys *sys, const char *path, char why[WHY_MAX])
{
	struct cp *cp = standing(sys, why);
	uint8_t *image;
	size_t len;
	int rc;

	image = cp ? read_file(path, &len, why) : NULL;
	if (!image)
		return -1;
	rc = cp_load(cp, image, len, why, WHY_MAX);
	free(image);
	/* An image that was refused has changed nothing. */
	for (unsigned int i = 0; rc != -1 && i < SYS_CONNECTIONS; i++)
		if (sys->member[i].port.cp)
			ctl_reattach(sys->member[i].port.ctl);
	return rc;
}

/* Return: false if it is another order. */
static bool take_turns(struct sys *sys, const char *order)
{
	if (strcmp(order, "run") == 0)
		sys_run_machines(sys);
	else if (strcmp(order, "stand") == 0)
		sys_stand(sys);
	else if (strncmp(order, "await ", 6) == 0)
		sys_await(sys, order + 6);
	else
		return false;
	return true;
}

static void carry_out(struct sys *sys, const char *order)
{
	char why[WHY_MAX] = "unknown order", line[WHY_MAX + sizeof("failed \n")];
	const bool saves = strncmp(order, "save ", 5) == 0;
	int rc = -1;

	if (strncmp(order, "expect ", 7) == 0) {
		sys_expect(sys, order + 7);
		member_admit_waiting(sys);
		return;
	}
	if (sys->turn_ns && take_turns(sys, order))
		return;
	if (saves)
		rc = save(sys, order + 5, why);
	else if (strncmp(order, "load ", 5) == 0)
		rc = load(sys, order + 5, why);
	if (rc == 0)
		snprintf(line, sizeof(line), saves ? "saved\n" : "loaded\n");
	else
		snprintf(line, sizeof(line), "failed %s\n", why);
	sys_tell(sys, line);
}

/* Whoever gives no orders any more, or longer ones than there are, is not listened to. */
static void end_orders(struct sys *sys)
{
	epoll_ctl(sys->epoll, EPOLL_CTL_DEL, sys->orders, NULL);
	sys->orders = -1;
}

void sys_ordered(struct sys *sys)
{
	const size_t room = sizeof(sys->order) - 1 - sys->order_len;
	const ssize_t got = read(sys->orders, sys->order + sys->order_len, room);
	char *end;

	if (got <= 0) {
		end_orders(sys);
		return;
	}
	sys->order_len += (size_t)got;
	sys->order[sys->order_len] = '\0';
	while ((end = memchr(sys->order, '\n', sys->order_len)) != NULL) {
		*end++ = '\0';
		carry_out(sys, sys->order);
		sys->order_len -= (size_t)(end - sys->order);
		memmove(sys->order, end, sys->order_len + 1);
	}
	if (sys->order_len == sizeof(sys->order) - 1)
		end_orders(sys);
}

void sys_look_for_orders(struct sys *sys)
{
	struct pollfd fd = { .fd = sys->orders, .events = POLLIN };

	if (poll(&fd, 1, 0) == 1)
		sys_ordered(sys);
}
