/* SPDX-License-Identifier: MIT */
/* A connection: what it says of itself, and how its machine logs on and off. */
#define _GNU_SOURCE /* memfd_create, F_GET_SEALS */
#include "system_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of guest storage, as of extents. */
#define RAM_MAX (UINT64_C(1) << 44)

static void forget_fds(struct member *member)
{
	for (unsigned int i = 0; i < MEMBER_FDS; i++)
		member->fd[i] = -1;
}

void member_connect(struct member *member, int sock)
{
	cp_port_init(&member->port, NULL, member_absolute);
	member->sock = sock;
	forget_fds(member);
	if (sys_watch(member->sys, sock, SYS_SOCKET, member) != 0)
		member_end(member);
}

void member_drop_image(struct member *member)
{
	free(member->image);
	member->image = NULL;
	member->image_len = member->image_size = 0;
}

void member_end(struct member *member)
{
	const uint64_t ram_size = member->port.ram_size;
	uint8_t *const ram = member->port.ram;
	const int ram_fd = member->port.ram_fd;

	if (member->sock < 0)
		return;
	member_goes(member);
	/* CP still looks at storage while the user logs off. */
	member->calling = false;
	cp_port_fini(&member->port);
	if (ram)
		munmap(ram, ram_size);
	if (ram_fd >= 0)
		close(ram_fd);
	if (member->page)
		munmap(member->page, sizeof(*member->page));
	if (member->fd[MEMBER_CALL] >= 0)
		sys_unwatch(member->sys, member->fd[MEMBER_CALL]);
	for (unsigned int i = 0; i < MEMBER_FDS; i++)
		if (member->fd[i] >= 0)
			close(member->fd[i]);
	close(member->sock);
	member_drop_image(member);
	member->runs = false;
	if (member->due)
		member->sys->due--;
	member->port.cp = NULL;
	member_stands(member);
	*member = (struct member){
		.sys = member->sys, .sock = -1, .listed = member->listed,
		.hopes = member->hopes,
	};
	forget_fds(member);
}

static int refuse(char err[MEMBER_SENTENCE_MAX], const char *why)
{
	snprintf(err, MEMBER_SENTENCE_MAX, "%s", why);
	return -1;
}

/* The one descriptor of a message, or -1; there can be two in the room for one. */
static int take_descriptor(struct msghdr *message)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(message);
	size_t count;
	int fd[2];

	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
		return -1;
	count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	assert(count <= 2);
	memcpy(fd, CMSG_DATA(head), count * sizeof(int));
	if (count == 1)
		return fd[0];
	while (count-- > 0)
		close(fd[count]);
	return -1;
}

/* Return: bytes of the hello, or -1; *@storage is a descriptor that came with it, or -1. */
static ssize_t receive_hello(int sock, void *hello, size_t size, int *storage)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { hello, size };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	const ssize_t len = recvmsg(sock, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	*storage = len >= 0 ? take_descriptor(&message) : -1;
	return len < 0 || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -1 : len;
}

/* Key, NUL, value, NUL, and so on. */
static int set_options(struct cp_port *port, const char *at, const char *end,
		       char err[MEMBER_SENTENCE_MAX])
{
	while (at < end) {
		const char *value = memchr(at, '\0', (size_t)(end - at));
		const char *last;

		last = value ? memchr(value + 1, '\0', (size_t)(end - value - 1)) : NULL;
		if (!last)
			return refuse(err, "the options of the hello are not complete");
		if (strcmp(at, "system") == 0)
			return refuse(err, "a member of a system has no other system");
		if (cp_port_set(port, at, value + 1, err, MEMBER_SENTENCE_MAX) != 0)
			return -1;
		at = last + 1;
	}
	return 0;
}

/* Whoever could make the file smaller could end the process. */
static bool keeps_size(int fd, uint64_t size)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 && st.st_size >= 0 &&
	       (uint64_t)st.st_size >= size;
}

static int take_storage(struct member *member, uint64_t size, int fd,
			char err[MEMBER_SENTENCE_MAX])
{
	void *ram;

	if (size == 0 || size % CP_PAGE_SIZE != 0 || size > RAM_MAX)
		return refuse(err, "guest storage is not whole pages below 16T");
	if (fd < 0)
		return refuse(err, "the hello came without a descriptor of guest storage");
	if (!keeps_size(fd, size))
		return refuse(err, "guest storage is not shared by a memfd that keeps its size");
	ram = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (ram == MAP_FAILED)
		return refuse(err, "guest storage cannot be mapped by the system");
	member->port.ram = ram;
	member->port.ram_size = size;
	return 0;
}

static bool create_fds(struct member *member)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int *fd = member->fd;
	void *page;

	fd[MEMBER_PAGE] = memfd_create("zvmlab-member", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	for (unsigned int i = MEMBER_CALL; i < MEMBER_FDS; i++)
		fd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd[MEMBER_PAGE] < 0 || fd[MEMBER_CALL] < 0 || fd[MEMBER_REPLY] < 0 ||
	    fd[MEMBER_NOTICE] < 0 || ftruncate(fd[MEMBER_PAGE], sizeof(*member->page)) != 0 ||
	    fcntl(fd[MEMBER_PAGE], F_ADD_SEALS, seals) != 0)
		return false;
	page = mmap(NULL, sizeof(*member->page), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd[MEMBER_PAGE], 0);
	if (page == MAP_FAILED)
		return false;
	member->page = page;
	return true;
}

/*
 * Nobody takes over what another machine has, not even its files.  Nor the place of one that waits: so
 * no more of them wait than there can be machines.
 */
static bool is_logged_on(const struct sys *sys, const char *userid)
{
	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++) {
		const struct member *member = &sys->member[i];

		if ((member->port.cp &&
		     strcmp(cp_config_of(member->port.cp)->userid, userid) == 0) ||
		    (member->waits && strcmp(member->port.config.userid, userid) == 0))
			return true;
	}
	return false;
}

static int log_on(struct member *member, char err[MEMBER_SENTENCE_MAX])
{
	struct cp_port *port = &member->port;
	struct cp_host host;

	if (is_logged_on(member->sys, port->config.userid)) {
		snprintf(err, MEMBER_SENTENCE_MAX, "%s is logged on already", port->config.userid);
		return -1;
	}
	if (!create_fds(member))
		return refuse(err, "the system has no descriptors or memory left for the machine");
	if (cp_port_open(port, err, MEMBER_SENTENCE_MAX) != 0)
		return -1;
	member_host(member, &host);
	port->cp = cp_create(member->sys->cp, &port->config, &host, err, MEMBER_SENTENCE_MAX);
	if (!port->cp)
		return -1;
	cp_logon(port->cp);
	member->logon = ++member->sys->logons;
	port->calls->attach(port);
	if (port->ctl && member->sys->turn_ns)
		ctl_on_event(port->ctl, member_told, member);
	if (sys_watch(member->sys, member->fd[MEMBER_CALL], SYS_CALL, member) != 0 ||
	    (port->ctl && sys_watch(member->sys, ctl_fd(port->ctl), SYS_CONTROL, member) != 0))
		return refuse(err, "the system cannot watch the machine");
	return 0;
}

static int take_hello(struct member *member, const struct member_hello *hello, ssize_t len,
		      int storage, char err[MEMBER_SENTENCE_MAX])
{
	if (len < (ssize_t)sizeof(*hello) || memcmp(hello->magic, "ZVMLMEM", MEMBER_MAGIC_LEN - 1) != 0)
		return refuse(err, "that is no hello of a machine");
	if (memcmp(hello->magic, MEMBER_MAGIC, MEMBER_MAGIC_LEN) != 0)
		return refuse(err, "the emulator and the system are of different versions of zvmlab;"
			      " build both anew");
	if (take_storage(member, hello->ram_size, storage, err) != 0 ||
	    set_options(&member->port, hello->options, (const char *)hello + len, err) != 0)
		return -1;
	member_set_clock(member, hello->tod, false);
	member->can = hello->can;
	return 0;
}

/* Return: false if nobody is there to hear it. */
static bool send_welcome(const struct member *member, struct member_welcome *welcome)
{
	union {
		char room[CMSG_SPACE(sizeof(member->fd))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct iovec part = { welcome, sizeof(*welcome) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	memcpy(welcome->magic, MEMBER_MAGIC, MEMBER_MAGIC_LEN);
	if (!welcome->refused[0]) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(member->fd));
		memcpy(CMSG_DATA(head), member->fd, sizeof(member->fd));
	}
	return sendmsg(member->sock, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*welcome);
}

static void answer(struct member *member, struct member_welcome *welcome)
{
	if (!send_welcome(member, welcome) || welcome->refused[0])
		member_end(member);
}

static void admit(struct member *member)
{
	struct member_welcome welcome = { .turn_ns = member->sys->turn_ns };

	member->waits = false;
	sys_has_come(member->sys, member->port.config.userid);
	if (log_on(member, welcome.refused) == 0)
		welcome.highest = cp_highest_address(member->port.cp);
	answer(member, &welcome);
}

void member_admit_waiting(struct sys *sys)
{
	struct member *member;

	while ((member = sys_next(sys)) != NULL)
		admit(member);
}

static bool must_wait(const struct member *member)
{
	const char *userid = member->port.config.userid;

	return sys_must_wait(member->sys, userid) && !is_logged_on(member->sys, userid);
}

static void greet(struct member *member)
{
	struct member_welcome welcome = { .highest = 0 };
	struct member_hello *hello = malloc(MEMBER_HELLO_MAX);
	int storage = -1, taken = -1;
	ssize_t len = -1;

	if (hello)
		len = receive_hello(member->sock, hello, MEMBER_HELLO_MAX, &storage);
	member->port.ram_fd = storage;
	if (!hello)
		refuse(welcome.refused, "the system has no memory left");
	else
		taken = take_hello(member, hello, len, storage, welcome.refused);
	free(hello);
	if (taken != 0) {
		answer(member, &welcome);
	} else if (must_wait(member)) {
		member->waits = true;
	} else {
		admit(member);
		member_admit_waiting(member->sys);
	}
}

void member_said(struct member *member)
{
	/* After its hello a machine says nothing but its end. */
	if (member->port.cp || member->waits)
		member_end(member);
	else
		greet(member);
}
