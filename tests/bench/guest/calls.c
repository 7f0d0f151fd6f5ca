// SPDX-License-Identifier: MIT
/*
 * The first process of a guest: system calls, then processes.  Before and after each, a line
 * on the console, and a rest in which the emulator's CPU time can be read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As tests/bench/qemu_speed.py has them. */
#define CALLS 100000
#define PROCESSES 100

static void say(const char *line)
{
	static const struct timespec rest = { .tv_nsec = 200000000 };

	printf("bench: %s\n", line);
	fflush(stdout);
	nanosleep(&rest, NULL);
}

/* One byte read, one byte written: two system calls. */
static void calls(int from, int to)
{
	char byte;

	for (int i = 0; i < CALLS; i++)
		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
			say("failed");
}

/* Each is this program, which ends at once, because it has an argument. */
static void processes(void)
{
	for (int i = 0; i < PROCESSES; i++) {
		const pid_t child = fork();

		if (child == 0) {
			execl("/bench", "bench", "end", NULL);
			_exit(1);
		}
		int status = 1;

		if (child < 0 || waitpid(child, &status, 0) != child || status)
			say("failed");
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1 && getpid() != 1)
		return 0;
	if (mkdir("/benchdev", 0700) || mount("devtmpfs", "/benchdev", "devtmpfs", 0, NULL))
		say("failed");
	const int from = open("/benchdev/zero", O_RDONLY), to = open("/benchdev/null", O_WRONLY);

	say("begins");
	calls(from, to);
	say("calls");
	processes();
	say("processes");
	reboot(RB_POWER_OFF);
	return 0;
}
