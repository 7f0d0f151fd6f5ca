/* SPDX-License-Identifier: MIT */
/* taskmon(1): statistics of tasks, by the kernel's taskstats interface. */
#include "command.h"
#include "taskmon.h"

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
