// SPDX-License-Identifier: MIT
/*
 * CPU time in nanoseconds of looking at statistics of a device-mapper device.
 *
 *	dm_cpu print DEVICE REGION COUNT	@stats_print so often, by nothing but ioctl
 *	dm_cpu run PROGRAM ARGUMENT…		a program, whatever it prints
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUFFER (4u << 20)

static void show(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	printf("%llu\n", 1000ull * (1000000ull * (unsigned long long)(usage.ru_utime.tv_sec +
								      usage.ru_stime.tv_sec) +
				    (unsigned long long)(usage.ru_utime.tv_usec +
							 usage.ru_stime.tv_usec)));
}

static int print(const char *device, const char *region, unsigned long count)
{
	int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	struct dm_ioctl *request = calloc(1, BUFFER);
	struct dm_target_msg *message;

	if (fd < 0 || !request)
		return 1;
	while (count--) {
		memset(request, 0, sizeof(*request));
		request->version[0] = DM_VERSION_MAJOR;
		request->data_size = BUFFER;
		request->data_start = sizeof(*request);
		strncpy(request->name, device, sizeof(request->name) - 1);
		message = (struct dm_target_msg *)(request + 1);
		message->sector = 0;
		sprintf(message->message, "@stats_print %s", region);
		if (ioctl(fd, DM_TARGET_MSG, request) || (request->flags & DM_BUFFER_FULL_FLAG))
			return 1;
	}
	show(RUSAGE_SELF);
	return 0;
}

static int run(char **argv)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0)
			execv(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return 1;
	show(RUSAGE_CHILDREN);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "print") == 0)
		return print(argv[2], argv[3], strtoul(argv[4], NULL, 10));
	if (argc > 2 && strcmp(argv[1], "run") == 0)
		return run(argv + 2);
	return 2;
}
