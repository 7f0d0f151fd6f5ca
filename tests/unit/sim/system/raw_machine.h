/* SPDX-License-Identifier: MIT */
/* Connections to a system that no emulator makes, and machines that can say anything. */
#ifndef RAW_MACHINE_H
#define RAW_MACHINE_H

#include "system_check.h"

/* As QEMU's. */
#define CAN_ALL (MEMBER_CAN_PAGE | MEMBER_CAN_CPUS | MEMBER_CAN_MACHINE | MEMBER_CAN_DEVICES | \
		 MEMBER_CAN_SCLP | MEMBER_CAN_CONSOLE)

struct hello {
	struct member_hello head;
	char options[512];
};

static inline int connect_raw(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(sock, 0);
	strcpy(address.sun_path, socket_path);
	ck_assert_int_eq(connect(sock, (const struct sockaddr *)&address, sizeof(address)), 0);
	return sock;
}

/* @fds: descriptors that go with it. */
static inline void say(int sock, const void *bytes, size_t len, const int *fds, unsigned int count)
{
	union {
		char room[CMSG_SPACE(sizeof(int[4]))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct iovec part = { (void *)(uintptr_t)bytes, len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (count > 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(head), fds, count * sizeof(int));
	}
	ck_assert_int_eq(sendmsg(sock, &message, MSG_NOSIGNAL), (ssize_t)len);
}

struct raw {
	int sock, fd[MEMBER_FDS];
	struct member_page *page;
	uint8_t *ram;
};

/* The answer; with descriptors if it is welcome.  Return: the sentence. */
static inline const char *answer(struct raw *raw)
{
	static struct member_welcome welcome;
	union {
		char room[CMSG_SPACE(sizeof(raw->fd))];
		struct cmsghdr align;
	} control;
	struct iovec part = { &welcome, sizeof(welcome) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	struct pollfd waits = { .fd = raw->sock, .events = POLLIN };

	ck_assert_int_eq(poll(&waits, 1, LIMIT_MS), 1);
	ck_assert_int_eq(recvmsg(raw->sock, &message, MSG_CMSG_CLOEXEC), sizeof(welcome));
	ck_assert_mem_eq(welcome.magic, MEMBER_MAGIC, MEMBER_MAGIC_LEN);
	if (!welcome.refused[0])
		memcpy(raw->fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(raw->fd));
	else
		ck_assert_ptr_null(CMSG_FIRSTHDR(&message));
	return welcome.refused;
}

static inline void ck_ended(int sock)
{
	struct pollfd waits = { .fd = sock, .events = POLLIN };
	char byte;

	/* Behind what was said before. */
	do
		ck_assert_int_eq(poll(&waits, 1, LIMIT_MS), 1);
	while (recv(sock, &byte, 1, 0) > 0);
	close(sock);
}

static inline void raw_log_on(struct raw *raw, const void *hello, size_t len)
{
	const int storage = storage_new(RAM);

	raw->sock = connect_raw();
	say(raw->sock, hello, len, &storage, 1);
	ck_assert_str_eq(answer(raw), "");
	raw->page = mmap(NULL, sizeof(*raw->page), PROT_READ | PROT_WRITE, MAP_SHARED,
			 raw->fd[MEMBER_PAGE], 0);
	ck_assert(raw->page != MAP_FAILED);
	raw->ram = mmap(NULL, RAM, PROT_READ | PROT_WRITE, MAP_SHARED, storage, 0);
	ck_assert(raw->ram != MAP_FAILED);
	close(storage);
}

static inline void raw_log_off(struct raw *raw)
{
	for (unsigned int i = 0; i < MEMBER_FDS; i++)
		close(raw->fd[i]);
	munmap(raw->page, sizeof(*raw->page));
	munmap(raw->ram, RAM);
}

/* Return: was there a reply, or has the connection ended? */
static inline bool call_raw(struct raw *raw)
{
	struct pollfd waits[2] = {
		{ .fd = raw->fd[MEMBER_REPLY], .events = POLLIN },
		{ .fd = raw->sock },
	};
	eventfd_t count;

	raw->page->sides.machine_waits = 1;
	__atomic_fetch_add(&raw->page->sides.called, 1, __ATOMIC_SEQ_CST);
	ck_assert_int_eq(eventfd_write(raw->fd[MEMBER_CALL], 1), 0);
	ck_assert_int_ge(poll(waits, 2, LIMIT_MS), 1);
	if (!(waits[0].revents & POLLIN))
		return false;
	ck_assert_int_eq(eventfd_read(raw->fd[MEMBER_REPLY], &count), 0);
	return true;
}

#endif
