// SPDX-License-Identifier: MIT
/*
 * Nanoseconds that exits of tasks take while somebody listens to their statistics.
 *
 *	exit_rate listen COUNT		by nothing but a loop of recv(); an error if a record is lost
 *	exit_rate run PROGRAM ARGUMENT…	a program, whatever it prints
 *	exit_rate exits COUNT		so many children, one after the other; prints nothing
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER (8 << 20)
#define CPUS "0"
#define SECONDS 60

/* A request with one attribute. */
struct request {
	struct nlmsghdr head;
	struct genlmsghdr generic;
	struct nlattr attribute;
	char value[64];
};

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static int ask(int fd, uint16_t family, uint8_t command, uint16_t type, const char *value)
{
	struct request request = {
		.head = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.generic = { .cmd = command, .version = 1 },
		.attribute = { .nla_type = type },
	};

	strncpy(request.value, value, sizeof(request.value) - 1);
	request.attribute.nla_len = (uint16_t)(NLA_HDRLEN + strlen(value) + 1);
	request.head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN + NLA_ALIGN(request.attribute.nla_len));
	return send(fd, &request, request.head.nlmsg_len, 0) < 0 ? -1 : 0;
}

static int acknowledged(int fd)
{
	struct { struct nlmsghdr head; struct nlmsgerr error; char rest[1024]; } answer;

	return recv(fd, &answer, sizeof(answer), 0) > 0 && answer.head.nlmsg_type == NLMSG_ERROR &&
	       answer.error.error == 0;
}

/* Return: the family's number, 0 if the kernel has none. */
static uint16_t family_of(int fd)
{
	char buffer[4096] __attribute__((aligned(8)));
	struct nlmsghdr *head = (struct nlmsghdr *)buffer;
	struct nlattr *attribute = (struct nlattr *)((char *)NLMSG_DATA(head) + GENL_HDRLEN);
	uint16_t family = 0;
	ssize_t len;

	if (ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME))
		return 0;
	len = recv(fd, buffer, sizeof(buffer), 0);
	if (len <= 0 || head->nlmsg_type == NLMSG_ERROR)
		return 0;
	while ((char *)attribute < buffer + len && attribute->nla_type != CTRL_ATTR_FAMILY_ID)
		attribute = (struct nlattr *)((char *)attribute + NLA_ALIGN(attribute->nla_len));
	if ((char *)attribute < buffer + len)
		memcpy(&family, (char *)attribute + NLA_HDRLEN, sizeof(family));
	return acknowledged(fd) ? family : 0;
}

static void exits(unsigned long count)
{
	while (count--) {
		pid_t child = vfork();

		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			_exit(1);
	}
	_exit(0);
}

static int listen_to(unsigned long count)
{
	static char buffer[65536] __attribute__((aligned(8)));
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), size = BUFFER;
	uint16_t family = fd < 0 ? 0 : family_of(fd);
	struct timeval limit = { .tv_sec = SECONDS };
	unsigned long records = 0;
	uint64_t begun;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (!family || ask(fd, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, CPUS) ||
	    !acknowledged(fd))
		return 1;
	begun = now();
	if (fork() == 0)
		exits(count);
	/* Each child's, and that of their parent. */
	while (records < count + 1) {
		ssize_t len = recv(fd, buffer, sizeof(buffer), 0);

		if (len < 0)
			return 1;
		for (struct nlmsghdr *head = (struct nlmsghdr *)buffer; NLMSG_OK(head, len);
		     head = NLMSG_NEXT(head, len))
			records += head->nlmsg_type == family;
	}
	printf("%llu\n", (unsigned long long)(now() - begun));
	return 0;
}

static int run(char **argv)
{
	uint64_t begun = now();
	pid_t child = fork();
	int status;

	if (child == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (dup2(null, STDOUT_FILENO) >= 0)
			execv(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 1;
	printf("%llu\n", (unsigned long long)(now() - begun));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "listen") == 0)
		return listen_to(strtoul(argv[2], NULL, 10));
	if (argc > 2 && strcmp(argv[1], "run") == 0)
		return run(argv + 2);
	if (argc == 3 && strcmp(argv[1], "exits") == 0)
		exits(strtoul(argv[2], NULL, 10));
	return 2;
}
