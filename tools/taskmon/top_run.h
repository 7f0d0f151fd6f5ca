/* SPDX-License-Identifier: MIT */
/* 'taskmon top' on a terminal, and as text; where tasks come from is the caller's. */
#ifndef TASKMON_TOP_RUN_H
#define TASKMON_TOP_RUN_H

#include "output.h"
#include "top.h"

struct top_source {
	/*
	 * All tasks and processes, sorted, in @now, which is empty before; @parts as living_take().
	 * Return: 0 or -errno.
	 */
	int (*take)(void *context, struct snapshot *now, unsigned int parts);
	/*
	 * Those that exited since the last call, in @exited, which is empty before; NULL: it is not
	 * known.  Return: how many more there were.
	 */
	uint64_t (*exits)(void *context, struct snapshot *exited);
	const char *(*reason)(int error);	/* of @take, a sentence without its end */
	int (*code)(int error);			/* its exit code */
	void *context;
};

/* @intervals: 0: until somebody ends it.  Return: an exit code. */
int top_run_screen(struct top *top, const struct top_source *source, uint64_t interval_ns,
		   uint64_t intervals);
int top_run_batch(struct top *top, const struct top_source *source, const struct output *output,
		  uint64_t interval_ns, uint64_t intervals);

#endif
