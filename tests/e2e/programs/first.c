/* SPDX-License-Identifier: MIT */
/*
 * first TASK PRIORITY: from now on the task runs before all that have none (SCHED_FIFO of
 * sched(7)); with priority 0 it is one of them again.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
	struct sched_param param;

	if (argc != 3)
		return 2;
	param.sched_priority = atoi(argv[2]);
	if (sched_setscheduler(atoi(argv[1]), param.sched_priority ? SCHED_FIFO : SCHED_OTHER,
			       &param)) {
		perror("sched_setscheduler");
		return 1;
	}
	return 0;
}
