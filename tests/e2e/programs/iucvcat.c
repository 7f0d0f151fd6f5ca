/* SPDX-License-Identifier: MIT */
/*
 * AF_IUCV stream sockets for the tests.
 *
 *   iucvcat connect USERID NAME         send stdin, then copy what comes to stdout
 *   iucvcat listen NAME                 accept one connection, then the same
 *   iucvcat count USERID NAME N         send the numbers 0 … N-1, four bytes each, one a message
 *
 * "listen" writes its name into the FIFO /tmp/iucvcat.ready once it listens.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef AF_IUCV
#define AF_IUCV 32
#endif

#define READY "/tmp/iucvcat.ready"
#define CHUNK 32768
#define SECONDS 120	/* for the last messages to be taken; the kernel itself waits for two */

/* Layout of struct sockaddr_iucv as the kernel's AF_IUCV takes it. */
struct sockaddr_iucv {
	sa_family_t family;
	uint16_t port;		/* unused, zero */
	uint32_t addr;		/* unused, zero */
	char nodeid[8];		/* unused, blanks */
	char user_id[8];
	char name[8];
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static void pad(char to[8], const char *from)
{
	size_t len = strlen(from);

	memset(to, ' ', 8);
	memcpy(to, from, len < 8 ? len : 8);
}

static struct sockaddr_iucv address(const char *user, const char *name)
{
	struct sockaddr_iucv a = { .family = AF_IUCV };

	pad(a.nodeid, "");
	pad(a.user_id, user);
	pad(a.name, name);
	return a;
}

static int open_socket(const char *name)
{
	struct sockaddr_iucv own = address("", name);
	int fd = socket(AF_IUCV, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0)
		die("bind");
	return fd;
}

static int connect_to(const char *user, const char *name)
{
	struct sockaddr_iucv to = address(user, name);
	int fd = open_socket("CLIENT");

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("connect");
	return fd;
}

static int accept_one(const char *name)
{
	int fd = open_socket(name), ready, peer;

	if (listen(fd, 1) < 0)
		die("listen");
	ready = open(READY, O_WRONLY);
	if (ready < 0 || dprintf(ready, "%s\n", name) < 0)
		die(READY);
	close(ready);
	peer = accept(fd, NULL, NULL);
	if (peer < 0)
		die("accept");
	return peer;
}

static void *send_stdin(void *arg)
{
	static char chunk[CHUNK];
	int fd = *(int *)arg;
	ssize_t got;

	while ((got = read(STDIN_FILENO, chunk, sizeof(chunk))) > 0)
		for (ssize_t at = 0, put; at < got; at += put) {
			put = send(fd, chunk + at, (size_t)(got - at), 0);
			if (put < 0)
				die("send");
		}
	if (got < 0)
		die("stdin");
	if (shutdown(fd, SHUT_WR) < 0)
		die("shutdown");
	return NULL;
}

static void exchange(int fd)
{
	static char chunk[CHUNK];
	pthread_t sender;
	ssize_t got;

	if (pthread_create(&sender, NULL, send_stdin, &fd) != 0)
		die("pthread_create");
	while ((got = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		if (fwrite(chunk, 1, (size_t)got, stdout) != (size_t)got)
			die("stdout");
	if (got < 0)
		die("recv");
	pthread_join(sender, NULL);
}

static void count(int fd, uint32_t n)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = SECONDS };

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) < 0)
		die("setsockopt");
	for (uint32_t i = 0; i < n; i++) {
		unsigned char bytes[4] = { (unsigned char)(i >> 24), (unsigned char)(i >> 16),
					   (unsigned char)(i >> 8), (unsigned char)i };

		if (send(fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
			die("send");
	}
	if (shutdown(fd, SHUT_WR) < 0)
		die("shutdown");
}

int main(int argc, char **argv)
{
	int fd;

	if (argc == 4 && strcmp(argv[1], "connect") == 0) {
		fd = connect_to(argv[2], argv[3]);
		exchange(fd);
	} else if (argc == 3 && strcmp(argv[1], "listen") == 0) {
		fd = accept_one(argv[2]);
		exchange(fd);
	} else if (argc == 5 && strcmp(argv[1], "count") == 0) {
		fd = connect_to(argv[2], argv[3]);
		count(fd, (uint32_t)strtoul(argv[4], NULL, 10));
	} else {
		fprintf(stderr, "usage: iucvcat connect USERID NAME | listen NAME | count USERID NAME N\n");
		return 2;
	}
	return close(fd) < 0 || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
