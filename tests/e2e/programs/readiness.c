// SPDX-License-Identifier: MIT
/*
 * readiness FD - what each interface says about an open file, without waiting.
 *
 * Prints NAME=VALUE words: select, poll (revents in hex), and for epoll the
 * results of two waits in a row: level-triggered, edge-triggered, one-shot, and
 * of a third one for one-shot after it has been armed again.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static int wait_once(int epoll)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, 0);
}

static void try_epoll(const char *name, int fd, uint32_t flags)
{
	struct epoll_event event = { .events = EPOLLIN | flags };
	const int epoll = epoll_create1(0);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) {
		perror("epoll");
		exit(1);
	}
	printf(" %s=%d", name, wait_once(epoll));
	printf(",%d", wait_once(epoll));
	if (flags & EPOLLONESHOT) {
		epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
		printf(",%d", wait_once(epoll));
	}
	close(epoll);
}

int main(int argc, char **argv)
{
	const int fd = argc == 2 ? atoi(argv[1]) : -1;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct timeval now = { 0, 0 };
	fd_set set;

	if (fd < 0 || fd >= FD_SETSIZE) {
		fprintf(stderr, "usage: readiness FD\n");
		return 2;
	}
	FD_ZERO(&set);
	FD_SET(fd, &set);
	printf("select=%d", select(fd + 1, &set, NULL, NULL, &now));
	poll(&poll_fd, 1, 0);
	printf(" poll=%x", (unsigned int)poll_fd.revents);
	try_epoll("level", fd, 0);
	try_epoll("edge", fd, EPOLLET);
	try_epoll("oneshot", fd, EPOLLONESHOT);
	putchar('\n');
	return 0;
}
