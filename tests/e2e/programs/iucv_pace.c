// SPDX-License-Identifier: MIT
/*
 * Two ends of AF_IUCV sockets, in one guest or in two.
 *
 *   iucv_pace serve                          accept one connection after the other
 *   iucv_pace send USER COUNT SIZE           ns for so many messages one way, up to the last one's answer
 *   iucv_pace echo USER COUNT SIZE           ns for so many, each of which comes back before the next
 *   iucv_pace both USER COUNT SIZE           ns for so many each way at the same time, numbered and compared
 *   iucv_pace ring USER ROUNDS               ns for a token that the next one in the ring, and so on, sends on
 *   iucv_pace pass USER                      send on what comes, until nothing more does
 *
 * The first message says what is to come: struct plan, as tests/bench/systems.py has it.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
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

enum { ONE_WAY, ECHO, BOTH_WAYS };

struct plan {
	uint32_t count, size, way;
};

struct stream {
	int fd;
	struct plan plan;
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

/* What no other message has. */
static void fill(unsigned char *to, size_t size, uint32_t number)
{
	uint64_t x = number;

	for (size_t i = 0; i < size; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		to[i] = (unsigned char)(x >> 56);
	}
}

static void *send_numbered(void *arg)
{
	static unsigned char message[MOST];
	const struct stream *stream = arg;
	const size_t size = stream->plan.size;

	for (uint32_t i = 0; i < stream->plan.count; i++) {
		fill(message, size, i);
		if (send(stream->fd, message, size, MSG_EOR) != (ssize_t)size)
			die("send");
	}
	return NULL;
}

/* None is lost, comes twice, or out of order. */
static void exchange_numbered(int fd, struct plan plan)
{
	static unsigned char expected[MOST];
	struct stream stream = { fd, plan };
	pthread_t sender;

	if (pthread_create(&sender, NULL, send_numbered, &stream) != 0)
		die("pthread_create");
	for (uint32_t i = 0; i < plan.count; i++) {
		get(fd, plan.size);
		fill(expected, plan.size, i);
		if (memcmp(buffer, expected, plan.size) != 0) {
			fprintf(stderr, "message %u is another one\n", i);
			exit(EXIT_FAILURE);
		}
	}
	pthread_join(sender, NULL);
}

static void serve_one(int fd)
{
	struct plan plan;

	get(fd, sizeof(plan));
	memcpy(&plan, buffer, sizeof(plan));
	if (plan.way == BOTH_WAYS)
		exchange_numbered(fd, plan);
	for (uint32_t i = 0; plan.way != BOTH_WAYS && i < plan.count; i++) {
		get(fd, plan.size);
		if (plan.way == ECHO)
			put(fd, plan.size);
	}
	if (plan.way == ONE_WAY)
		put(fd, 1);
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
	if (plan.way == BOTH_WAYS)
		exchange_numbered(fd, plan);
	for (uint32_t i = 0; plan.way != BOTH_WAYS && i < plan.count; i++) {
		put(fd, plan.size);
		if (plan.way == ECHO)
			get(fd, plan.size);
	}
	if (plan.way == ONE_WAY)
		get(fd, 1);
	begun = now() - begun;
	/* It closes first: whoever closes after the other waits for what CP has not told it yet. */
	while (recv(fd, buffer, sizeof(buffer), 0) > 0)
		;
	return begun;
}

/* The next one in the ring may not listen yet. */
static int connect_patiently(const char *user)
{
	const struct sockaddr_iucv other = address(user, SERVER);

	for (unsigned int tries = 0; tries < 6000; tries++) {
		const int fd = new_socket("CLIENT");

		if (connect(fd, (const struct sockaddr *)&other, sizeof(other)) == 0)
			return fd;
		if (errno != ECONNREFUSED)
			break;
		close(fd);
		usleep(10000);
	}
	die("connect");
	return -1;
}

/* Return: ns of all rounds, for the one that begins them. */
static uint64_t ring(const char *user, uint32_t rounds)
{
	const int listening = new_socket(SERVER);
	uint64_t begun = 0;
	int next, before;

	if (listen(listening, 1) != 0)
		die("listen");
	next = connect_patiently(user);
	before = accept(listening, NULL, NULL);
	if (before < 0)
		die("accept");
	for (uint32_t round = 0; round < rounds; round++) {
		if (round == 1)
			begun = now();
		memcpy(buffer, &round, sizeof(round));
		put(next, sizeof(round));
		get(before, sizeof(round));
		if (memcmp(buffer, &round, sizeof(round)) != 0) {
			fprintf(stderr, "round %u: another token came back\n", round);
			exit(EXIT_FAILURE);
		}
	}
	if (rounds > 0)
		return now() - begun;
	while (recv(before, buffer, sizeof(uint32_t), 0) == sizeof(uint32_t))
		put(next, sizeof(uint32_t));
	return 0;
}

static uint32_t way_of(const char *word)
{
	return strcmp(word, "both") == 0 ? BOTH_WAYS : strcmp(word, "echo") == 0 ? ECHO : ONE_WAY;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "ring") == 0) {
		/* One more: all are connected when the first token is back. */
		printf("%" PRIu64 "\n", ring(argv[2], 1 + (uint32_t)strtoul(argv[3], NULL, 10)));
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "pass") == 0)
		return ring(argv[2], 0) != 0;
	if (argc == 2 && strcmp(argv[1], "serve") == 0)
		serve();
	if (argc != 5 || strtoul(argv[4], NULL, 10) > MOST) {
		fprintf(stderr, "usage: iucv_pace serve | send|echo|both USER COUNT SIZE | ring USER ROUNDS |"
			" pass USER\n");
		return 2;
	}
	printf("%" PRIu64 "\n", ask(argv[2], (struct plan){
		.count = (uint32_t)strtoul(argv[3], NULL, 10),
		.size = (uint32_t)strtoul(argv[4], NULL, 10), .way = way_of(argv[1]),
	}));
	return 0;
}
