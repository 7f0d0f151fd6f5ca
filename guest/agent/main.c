// SPDX-License-Identifier: MIT
/*
 * The agent as a program.  As process 1 it is the guest's init; otherwise it
 * serves a stream that it was given (--fd N), or connects by itself
 * (--iucv USER NAME), and ends with the stream.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

#define ATTACH_S 10u

static int usage(void)
{
	fputs("usage: zvmlab-agent --fd N | --iucv USER NAME\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static struct agent agent;
	char *end;
	long fd;

	if (getpid() == 1)
		init_main(&agent);
	if (argc == 4 && !strcmp(argv[1], "--iucv"))
		return agent_create(&agent, false) ?
			       serve_iucv(&agent, argv[2], argv[3], ATTACH_S) : 1;
	if (argc != 3 || strcmp(argv[1], "--fd"))
		return usage();
	fd = strtol(argv[2], &end, 10);
	if (*end || end == argv[2] || fd < 0 || fd > 1023)
		return usage();
	if (fcntl((int)fd, F_SETFD, FD_CLOEXEC) || !agent_create(&agent, false)) {
		perror("zvmlab-agent");
		return 1;
	}
	agent_serve(&agent, (int)fd);
	return 0;
}
