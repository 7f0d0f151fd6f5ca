/* SPDX-License-Identifier: MIT */
/* The commands of taskmon; each returns an exit code. */
#ifndef TASKMON_H
#define TASKMON_H

#include "command_line.h"
#include "living.h"
#include "output.h"

#define TASKMON_ROW_TITLE "statistics of a task or a thread group"

int cmd_get(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_listen(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_cgroup(int argc, char **argv);
int cmd_status(int argc, char **argv);

/* The options about struct output, the first member of every command's arguments. */
extern const struct option_part output_parts[];

/* kernel_open() that complains.  Return: an exit code. */
int open_kernel(struct kernel *kernel);

/* living_open() that complains.  Return: an exit code. */
int open_living(struct living *living, struct kernel *kernel);

/* The exit code of an error of the functions in kernel.h. */
int exit_code_of(int error);

/* Tells on standard error if delays are not accounted, or not of every task. */
void warn_delayacct(void);

/* The sink for records that come one by one: stats_each with a pointer to this. */
struct show {
	struct writer *writer;
	int error;	/* the first one, -errno */
};

void show_record(void *context, const struct stats_record *record);

/* Ends what show_record() has written.  Return: EXIT_PASS or, having complained, EXIT_FAILED. */
int show_end(struct show *show);

#endif
