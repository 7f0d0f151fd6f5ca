/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "taskmon.h"

struct arguments {
	struct output output;
	const char *path;
};

enum { SLEEPING, RUNNING, STOPPED, UNINTERRUPTIBLE, IO_WAIT, COLUMNS };

static const struct column columns[] = {
	[SLEEPING] = { "sleeping", COLUMN_UNSIGNED, UNIT_NONE, 0, true, "tasks that sleep" },
	[RUNNING] = { "running", COLUMN_UNSIGNED, UNIT_NONE, 0, true, "tasks that run or could" },
	[STOPPED] = { "stopped", COLUMN_UNSIGNED, UNIT_NONE, 0, true, "stopped tasks" },
	[UNINTERRUPTIBLE] = { "uninterruptible", COLUMN_UNSIGNED, UNIT_NONE, 0, true,
			      "tasks that sleep and cannot be woken by signals" },
	[IO_WAIT] = { "io_wait", COLUMN_UNSIGNED, UNIT_NONE, 0, true, "tasks that wait for I/O" },
};

static int print(const struct arguments *arguments, const struct kernel_cgroup *cgroup)
{
	struct cell cells[COLUMNS] = {
		[SLEEPING] = cell_unsigned(cgroup->sleeping),
		[RUNNING] = cell_unsigned(cgroup->running),
		[STOPPED] = cell_unsigned(cgroup->stopped),
		[UNINTERRUPTIBLE] = cell_unsigned(cgroup->uninterruptible),
		[IO_WAIT] = cell_unsigned(cgroup->io_wait),
	};
	struct show show = { .writer = output_open(&arguments->output) };

	if (!show.writer)
		return EXIT_FAILED;
	show.error = writer_put(show.writer, cells);
	return show_end(&show);
}

int cmd_cgroup(int argc, char **argv)
{
	static const struct word_row words[] = {
		{ TO_WORD(struct arguments, path), .missing = "a folder of a cgroup is missing" },
		{ 0 }
	};
	static const struct command_line line = {
		.parts = output_parts, .words = words,
		.more_words = "one folder of a cgroup at a time, not '%s', too",
		.words_help = "PATH",
		.help = "Shows how many tasks of a cgroup are in each state.  This needs no privilege. "
			"The kernel supports it only for cgroups of version 1.",
	};
	static struct arguments arguments;
	struct kernel_cgroup cgroup;
	struct kernel kernel;
	int code, folder, ret;

	output_init(&arguments.output, "tasks of a cgroup", columns, COLUMNS);
	command_parse(&line, argc, argv, &arguments);
	folder = open(arguments.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0) {
		complain("the folder %s cannot be opened: %s", arguments.path,
			 strerror(errno));
		return EXIT_USAGE;
	}
	code = open_kernel(&kernel);
	if (!code) {
		ret = kernel_cgroup(&kernel, folder, &cgroup);
		kernel_close(&kernel);
		if (ret == -EINVAL) {
			complain("%s is not a folder in a hierarchy of cgroups of version 1",
				 arguments.path);
			code = EXIT_USAGE;
		} else if (ret) {
			complain("%s: %s", arguments.path, kernel_reason(ret));
			code = exit_code_of(ret);
		} else {
			code = print(&arguments, &cgroup);
		}
	}
	close(folder);
	return code;
}
