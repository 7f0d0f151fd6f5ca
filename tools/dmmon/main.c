// SPDX-License-Identifier: MIT
/*
 * dmmon: I/O statistics of device-mapper devices.
 *
 * dms_*.[ch]	what the kernel says and wants to be told, without a kernel
 * device	messages to a device, by libdevmapper; machine: what sysfs says
 * regions, look	a device's regions, their counters
 * devices	which devices
 * choice, range	options: which regions, or what kind of region
 * order	options: which areas, in what order
 * watched	a time for which regions are looked at
 * area_columns	what is reported of an area
 * cmd_*		the commands
 */
#include <stddef.h>

#include "command.h"
#include "commands.h"

int main(int argc, char **argv)
{
	static const struct command commands[] = {
		{ "create", "make a region", cmd_create },
		{ "list", "show regions", cmd_list },
		{ "print", "show the counters of areas; --clear also sets them to 0", cmd_print },
		{ "clear", "set counters to 0", cmd_clear },
		{ "delete", "delete regions", cmd_delete },
		{ "set-aux", "change a region's auxiliary data", cmd_set_aux },
		{ "clean", "remove the regions of killed commands", cmd_clean },
		{ "watch", "show rates and latencies, interval by interval", cmd_watch },
		{ "histogram", "draw how long I/Os take", cmd_histogram },
		{ "export", "export counters to monitoring systems", cmd_export },
		{ NULL, NULL, NULL },
	};
	static const struct tool tool = {
		.name = "dmmon",
		.summary = "I/O statistics of device-mapper devices.",
		.commands = commands,
	};

	return tool_main(&tool, argc, argv);
}
