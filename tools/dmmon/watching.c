// SPDX-License-Identifier: MIT
#include "watching.h"

#include <stdlib.h>

#include "area_columns.h"
#include "command.h"
#include "commands.h"

const struct word_row watching_words[] = {
	DEVICES_WORDS(struct watching, devices), { 0 }
};

/* Ends all that was begun.  Return: an exit code. */
static int close_all(struct watching_all *all, const struct watching *watching)
{
	int code = EXIT_PASS;

	for (size_t i = 0; i < all->count; i++) {
		int one = watched_close(&all->watched[i], &watching->options);

		code = code == EXIT_PASS ? one : code;
	}
	free(all->watched);
	return code;
}

static int show_watched(struct watching *watching, struct devices *devices, struct rows *rows,
			watching_show *show, const void *arguments)
{
	struct watching_all all = { .watched = calloc(devices->count, sizeof(*all.watched)) };
	struct interval interval;
	int code = interval_open(&interval), end;

	if (code == EXIT_PASS && !all.watched) {
		complain("not enough memory");
		code = EXIT_FAILED;
	}
	while (code == EXIT_PASS && all.count < devices->count) {
		struct device *device = &devices->device[all.count];

		code = watched_open(&all.watched[all.count], device, &watching->options);
		if (code != EXIT_PASS)
			break;
		area_warn(device);
		all.count++;
	}
	if (code == EXIT_PASS)
		code = show(arguments, rows, &all, &interval);
	end = close_all(&all, watching);
	interval_close(&interval);
	return code == EXIT_PASS ? end : code;
}

int watching_run(struct watching *watching, watching_show *show, const void *arguments)
{
	struct devices devices;
	struct rows *rows;
	int code = devices_open(&devices, &watching->devices);

	if (code == EXIT_PASS && !devices.count) {
		complain("there is no device-mapper device");
		code = EXIT_USAGE;
	} else if (code == EXIT_PASS) {
		rows = output_open(&watching->output);
		code = rows ? show_watched(watching, &devices, rows, show, arguments) : EXIT_FAILED;
		rows_close(rows);
		devices_close(&devices);
	}
	range_free(&watching->options.range);
	return code;
}
