// SPDX-License-Identifier: MIT
/*
 * exits COUNT WORKERS: so many tasks are created and exit, as fast as can be, shared among
 * worker processes; prints how many have exited by then, the workers included.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[1]) : 0, workers = argc > 2 ? atol(argv[2]) : 0;
	int status, failed = 0;

	if (count < 1 || workers < 1 || count % workers)
		return 2;
	for (long worker = 0; worker < workers; worker++) {
		if (fork())
			continue;
		for (long i = 0; i < count / workers; i++) {
			pid_t child = vfork();

			if (child == 0)
				_exit(0);
			if (child < 0 || waitpid(child, NULL, 0) != child)
				_exit(1);
		}
		_exit(0);
	}
	for (long worker = 0; worker < workers; worker++)
		failed |= wait(&status) < 0 || status != 0;
	printf("%ld\n", count + workers);
	return failed;
}
