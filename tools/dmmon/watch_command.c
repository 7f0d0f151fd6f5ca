// SPDX-License-Identifier: MIT
#include "watch_command.h"

#include <stdlib.h>

#include "area_columns.h"
#include "command.h"
#include "commands.h"

const struct word_row watch_command_words[] = {
	DEVICE_WORDS(struct watch_command, devices), { 0 }
};

/* Ends all that was begun.  Return: an exit code. */
static int close_all(struct watch_command_all *all, const struct watch_command *command)
{
	int code = EXIT_PASS;

	for (size_t i = 0; i < all->count; i++) {
		int one = watched_close(&all->watched[i], &command->options);

		code = code == EXIT_PASS ? one : code;
	}
	free(all->watched);
	return code;
}

static int show_watched(struct watch_command *command, struct named_devices *devices,
			struct writer *writer, watch_command_show *show, const void *arguments)
{
	struct watch_command_all all = { .watched = calloc(devices->count, sizeof(*all.watched)) };
	struct interval interval;
	int code = interval_open(&interval), end;

	if (code == EXIT_PASS && !all.watched) {
		complain("not enough memory");
		code = EXIT_FAILED;
	}
	while (code == EXIT_PASS && all.count < devices->count) {
		struct device *device = &devices->device[all.count];

		code = watched_open(&all.watched[all.count], device, &command->options);
		if (code != EXIT_PASS)
			break;
		area_warn(device);
		all.count++;
	}
	if (code == EXIT_PASS)
		code = show(arguments, writer, &all, &interval);
	end = close_all(&all, command);
	interval_close(&interval);
	return code == EXIT_PASS ? end : code;
}

int watch_command_run(struct watch_command *command, watch_command_show *show,
		      const void *arguments)
{
	struct named_devices devices;
	struct writer *writer;
	int code = named_devices_open(&devices, &command->devices);

	if (code == EXIT_PASS && !devices.count) {
		complain("there is no device-mapper device");
		code = EXIT_USAGE;
	} else if (code == EXIT_PASS) {
		writer = output_open(&command->output);
		code = writer ? show_watched(command, &devices, writer, show, arguments) : EXIT_FAILED;
		writer_close(writer);
		named_devices_close(&devices);
	}
	range_free(&command->options.range);
	return code;
}
