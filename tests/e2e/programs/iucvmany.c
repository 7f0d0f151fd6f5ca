// SPDX-License-Identifier: MIT
/*
 * iucvmany USERID N: N connections of AF_IUCV sockets of this guest with one another at a time,
 * each with data in both directions.  Prints "N connected", waits for the end of standard input,
 * exchanges the data and closes them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME "MANY    "

/* Layout of struct sockaddr_iucv as the kernel's AF_IUCV takes it. */
struct sockaddr_iucv {
	sa_family_t family;
	uint16_t port;
	uint32_t addr;
	char nodeid[8], user_id[8], name[8];
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static struct sockaddr_iucv address(const char *user)
{
	struct sockaddr_iucv a = { .family = AF_IUCV };

	memset(a.nodeid, ' ', sizeof(a.nodeid));
	memset(a.user_id, ' ', sizeof(a.user_id));
	memcpy(a.user_id, user, strlen(user) < 8 ? strlen(user) : 8);
	memcpy(a.name, NAME, 8);
	return a;
}

static int new_socket(void)
{
	int fd = socket(AF_IUCV, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	return fd;
}

static void pass(int from, int to, uint32_t number)
{
	uint32_t found = ~number;

	if (send(from, &number, sizeof(number), 0) != sizeof(number))
		die("send");
	if (recv(to, &found, sizeof(found), 0) != sizeof(found) || found != number)
		die("recv");
}

int main(int argc, char **argv)
{
	uint32_t count = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	const struct rlimit limit = { 2 * count + 64, 2 * count + 64 };
	struct sockaddr_iucv to = address(argc == 3 ? argv[1] : "");
	int (*pair)[2] = calloc(count, sizeof(*pair)), server;
	char end;

	if (count == 0 || !pair)
		return 2;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	server = new_socket();
	if (bind(server, (struct sockaddr *)&to, sizeof(to)) || listen(server, 10))
		die("listen");
	for (uint32_t i = 0; i < count; i++) {
		pair[i][0] = new_socket();
		if (connect(pair[i][0], (struct sockaddr *)&to, sizeof(to)))
			die("connect");
		pair[i][1] = accept(server, NULL, NULL);
		if (pair[i][1] < 0)
			die("accept");
	}
	printf("%u connected\n", count);
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	for (uint32_t i = 0; i < count; i++) {
		pass(pair[i][0], pair[i][1], i);
		pass(pair[i][1], pair[i][0], ~i);
	}
	for (uint32_t i = 0; i < count; i++)
		if (close(pair[i][0]) || close(pair[i][1]))
			die("close");
	puts("closed");
	return 0;
}
