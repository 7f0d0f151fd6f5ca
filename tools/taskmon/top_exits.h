/* SPDX-License-Identifier: MIT */
/* Exits while 'taskmon top' runs, which it would not see between two looks. */
#ifndef TASKMON_TOP_EXITS_H
#define TASKMON_TOP_EXITS_H

#include "listener.h"
#include "snapshot.h"

struct top_exits {
	struct collector collector;
	struct listener listener;
	struct snapshot tasks;	/* that exited since they were taken last */
	uint64_t missed;	/* for which there was no room */
	uint64_t lost;		/* by the kernel, in all */
	bool open;
};

/* Return: false, having said why, if exits are not heard; to be closed in either case. */
bool top_exits_open(struct top_exits *exits);

/* Gives the tasks that exited since the last call.  Return: how many more there were. */
uint64_t top_exits_take(struct top_exits *exits, struct snapshot *exited);

void top_exits_close(struct top_exits *exits);

#endif
