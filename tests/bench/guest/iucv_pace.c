// SPDX-License-Identifier: MIT
/*
 * Two ends of AF_IUCV sockets, in one guest or in two.
 *
 *   iucv_pace serve                          accept one connection after the other
 *   iucv_pace send USER COUNT SIZE           ns for so many messages one way, up to the last one's answer
 *   iucv_pace echo USER COUNT SIZE           ns for so many, each of which comes back before the next
 *
 * The first message says what is to come: struct plan, as tests/bench/systems.py has it, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef AF_IUCV
#define AF_IUCV 32
#endif

#define SERVER "PACE"
#define MOST 65536

/* Layout of struct sockaddr_iucv as the kernel's AF_IUCV takes it. */
struct sockaddr_iucv {
	sa_family_t family;
	uint16_t port;
	uint32_t addr;
	char nodeid[8], user_id[8], name[8];
};

struct plan {
	uint32_t count, size, echo;
};

static char buffer[MOST];

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void pad(char to[8], const char *from)
{
	memset(to, ' ', 8);
	memcpy(to, from, strnlen(from, 8));
}

static struct sockaddr_iucv address(const char *user, const char *name)
{
	struct sockaddr_iucv a = { .family = AF_IUCV };

	pad(a.nodeid, "");
	pad(a.user_id, user);
	pad(a.name, name);
	return a;
}

/* A record at a time. */
static int new_socket(const char *name)
{
	const struct sockaddr_iucv own = address("", name);
	const int fd = socket(AF_IUCV, SOCK_SEQPACKET, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&own, sizeof(own)) != 0)
		die("socket");
	return fd;
}

static void put(int fd, size_t size)
{
	if (send(fd, buffer, size, MSG_EOR) != (ssize_t)size)
		die("send");
}

static void get(int fd, size_t size)
{
	const ssize_t got = recv(fd, buffer, sizeof(buffer), 0);

	if (got != (ssize_t)size) {
		fprintf(stderr, "%zd bytes came instead of %zu\n", got, size);
		exit(EXIT_FAILURE);
	}
}

static void serve_one(int fd)
{
	struct plan plan;

	get(fd, sizeof(plan));
	memcpy(&plan, buffer, sizeof(plan));
	for (uint32_t i = 0; i < plan.count; i++) {
		get(fd, plan.size);
		if (plan.echo)
			put(fd, plan.size);
	}
	if (!plan.echo)
		put(fd, 1);
	/* The other end closes first. */
	while (recv(fd, buffer, sizeof(buffer), 0) > 0)
		;
	close(fd);
}

static void serve(void)
{
	const int fd = new_socket(SERVER);

	if (listen(fd, 1) != 0)
		die("listen");
	for (;;) {
		const int accepted = accept(fd, NULL, NULL);

		if (accepted < 0)
			die("accept");
		serve_one(accepted);
	}
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t ask(const char *user, struct plan plan)
{
	const struct sockaddr_iucv other = address(user, SERVER);
	const int fd = new_socket("CLIENT");
	uint64_t begun;

	if (connect(fd, (const struct sockaddr *)&other, sizeof(other)) != 0)
		die("connect");
	memcpy(buffer, &plan, sizeof(plan));
	begun = now();
	put(fd, sizeof(plan));
	for (uint32_t i = 0; i < plan.count; i++) {
		put(fd, plan.size);
		if (plan.echo)
			get(fd, plan.size);
	}
	if (!plan.echo)
		get(fd, 1);
	return now() - begun;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "serve") == 0)
		serve();
	if (argc != 5 || strtoul(argv[4], NULL, 10) > MOST) {
		fprintf(stderr, "usage: iucv_pace serve | send|echo USER COUNT SIZE\n");
		return 2;
	}
	printf("%" PRIu64 "\n", ask(argv[2], (struct plan){
		.count = (uint32_t)strtoul(argv[3], NULL, 10),
		.size = (uint32_t)strtoul(argv[4], NULL, 10), .echo = strcmp(argv[1], "echo") == 0,
	}));
	return 0;
}
