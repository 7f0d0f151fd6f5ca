/* SPDX-License-Identifier: MIT */
/* taskmon(1): statistics of tasks, by the kernel's taskstats interface. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "delayacct.h"
#include "row.h"
#include "taskmon.h"

int exit_code_of(int error)
{
	return error == -EPERM || error == -ENOENT ? EXIT_CANNOT_RUN : EXIT_FAILED;
}

int open_kernel(struct kernel *kernel)
{
	int ret = kernel_open(kernel);

	if (!ret)
		return EXIT_PASS;
	complain("%s", kernel_reason(ret));
	return exit_code_of(ret);
}

int open_living(struct living *living, struct kernel *kernel)
{
	int ret = living_open(living, kernel);

	if (!ret)
		return EXIT_PASS;
	complain("%s", kernel_reason(ret));
	return exit_code_of(ret);
}

void warn_delayacct(void)
{
	enum delayacct_state state = delayacct_read();

	if (state != DELAYACCT_SINCE_BOOT)
		complain("%s", delayacct_sentence(state));
}

void show_record(void *context, const struct stats_record *record)
{
	struct show *show = context;

	if (!show->error)
		show->error = row_put(show->rows, record, NULL);
}

int show_end(struct show *show)
{
	if (!show->error)
		show->error = rows_flush(show->rows);
	rows_close(show->rows);
	if (!show->error)
		return EXIT_PASS;
	complain("the output cannot be written: %s", strerror(-show->error));
	return EXIT_FAILED;
}

int main(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "get", "show statistics of living tasks and thread groups", cmd_get },
		{ "top", "show the busiest processes, refreshed periodically", cmd_top },
		{ "run", "run a program, and then show its statistics", cmd_run },
		{ "listen", "show statistics of tasks and thread groups as they exit", cmd_listen },
		{ "replay", "replay a recording of \"listen --record\"", cmd_replay },
		{ "export", "export sums over exited tasks to monitoring systems", cmd_export },
		{ "cgroup", "show how many tasks of a cgroup sleep, run and wait", cmd_cgroup },
		{ "status", "show what this kernel supports, and whether delays are accounted", cmd_status },
		{ 0 }
	};
	static const struct tool tool = {
		"taskmon", "Shows statistics of tasks: times, waits, storage, I/O.", commands
	};

	return tool_main(&tool, argc, argv);
}
