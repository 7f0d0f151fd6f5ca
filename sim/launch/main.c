/* SPDX-License-Identifier: MIT */
/*
 * zvmlab-launch PARENT PROGRAM [ARGUMENT]...
 *
 * Becomes PROGRAM, which the kernel kills when the thread that started us ends (prctl(2)).  PARENT is
 * that thread's process: if it is our parent no more, it died before we could ask for the signal.
 *
 * setpriv(1) and a shell do the same, in three times the CPU time that a guest's start can spare: this
 * is linked statically, and needs no loader.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* As a shell has them. */
enum { EXIT_PARENT_GONE = 1, EXIT_USAGE = 2, EXIT_NOT_EXECUTED = 126, EXIT_NOT_FOUND = 127 };

int main(int argc, char **argv)
{
	char *end;
	long parent;

	if (argc < 3) {
		fputs("usage: zvmlab-launch PARENT PROGRAM [ARGUMENT]...\n", stderr);
		return EXIT_USAGE;
	}
	parent = strtol(argv[1], &end, 10);
	if (end == argv[1] || *end) {
		fprintf(stderr, "zvmlab-launch: not a process id: %s\n", argv[1]);
		return EXIT_USAGE;
	}
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
		fprintf(stderr, "zvmlab-launch: no signal at the end of %ld: %s\n", parent, strerror(errno));
		return EXIT_PARENT_GONE;
	}
	if (getppid() != parent)
		return EXIT_PARENT_GONE;
	execvp(argv[2], argv + 2);
	fprintf(stderr, "%s cannot be started: %s\n", argv[2], strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTED;
}
