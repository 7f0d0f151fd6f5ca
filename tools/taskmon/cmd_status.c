/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command.h"
#include "cpus.h"
#include "delayacct.h"
#include "row.h"
#include "taskmon.h"

struct arguments {
	struct output output;
};

enum { RELEASE, FAMILY, VERSION, SIZE, POSSIBLE, ONLINE, DELAYACCT, COLUMNS };

static const struct column columns[] = {
	[RELEASE] = { "release", COLUMN_TEXT, UNIT_NONE, 0, true, "of the kernel" },
	[FAMILY] = { "family", COLUMN_UNSIGNED, UNIT_NONE, 0, true,
		     "number of the netlink family TASKSTATS" },
	[VERSION] = { "version", COLUMN_UNSIGNED, UNIT_NONE, 0, true, "of struct taskstats" },
	[SIZE] = { "size_bytes", COLUMN_UNSIGNED, UNIT_BYTES, 0, true, "of struct taskstats" },
	[POSSIBLE] = { "possible", COLUMN_TEXT, UNIT_NONE, 0, true,
		       "possible CPUs, which taskmon listen covers" },
	[ONLINE] = { "online", COLUMN_TEXT, UNIT_NONE, 0, true, "CPUs online now" },
	[DELAYACCT] = { "delayacct", COLUMN_TEXT, UNIT_NONE, 0, true,
			"unknown, off, on since boot, or switched on later" },
};

static void keep(void *context, const struct stats_record *record)
{
	*(struct stats_record *)context = *record;
}

static struct cell list_cell(const char *name, char *list, size_t size)
{
	struct cpus cpus;

	if (cpus_read(&cpus, name))
		return cell_absent();
	cpus_format(&cpus, list, size);
	return cell_text(list, strlen(list));
}

static int print(const struct arguments *arguments, const struct kernel *kernel,
		 const struct stats *stats)
{
	static const char *const states[DELAYACCT_STATES] = {
		[DELAYACCT_UNKNOWN] = "unknown", [DELAYACCT_OFF] = "off",
		[DELAYACCT_SINCE_BOOT] = "boot", [DELAYACCT_SWITCHED] = "later",
	};
	const char *state = states[delayacct_read()];
	struct show show = { .writer = output_open(&arguments->output) };
	char possible[256], online[256];
	struct cell cells[COLUMNS] = { 0 };
	struct utsname name;

	if (!show.writer)
		return EXIT_FAILED;
	if (!uname(&name))
		cells[RELEASE] = cell_text(name.release, strlen(name.release));
	cells[FAMILY] = cell_unsigned((uint64_t)kernel->family);
	cells[VERSION] = cell_unsigned(stats->version);
	cells[SIZE] = cell_unsigned(stats->size);
	cells[POSSIBLE] = list_cell("possible", possible, sizeof(possible));
	cells[ONLINE] = list_cell("online", online, sizeof(online));
	cells[DELAYACCT] = cell_text(state, strlen(state));
	show.error = writer_put(show.writer, cells);
	return show_end(&show);
}

int cmd_status(int argc, char **argv)
{
	static const struct command_line line = {
		.parts = output_parts,
		.help = "Shows what this kernel supports.  Standard error shows whether and since when "
			"delays are accounted, and how to turn that on.",
	};
	static struct arguments arguments;
	struct stats_record own;
	struct kernel kernel;
	int code, ret;

	output_init(&arguments.output, "what a kernel offers", columns, COLUMNS);
	command_parse(&line, argc, argv, &arguments);
	code = open_kernel(&kernel);
	if (code)
		return code;
	ret = kernel_get(&kernel, STATS_TASK, (uint32_t)getpid(), keep, &own);
	if (ret) {
		complain("%s", kernel_reason(ret));
		code = exit_code_of(ret);
	} else {
		code = print(&arguments, &kernel, &own.stats);
	}
	complain("%s", delayacct_sentence(delayacct_read()));
	kernel_close(&kernel);
	return code;
}
