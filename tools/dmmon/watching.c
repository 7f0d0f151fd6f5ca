// SPDX-License-Identifier: MIT
#include "watching.h"

#include "area_columns.h"
#include "command.h"
#include "commands.h"

const struct option_part watching_parts[] = {
	{ &choice_options, offsetof(struct watching, options.choice), .group = 3 },
	{ &range_options, offsetof(struct watching, options.range), .group = 5 },
	{ &output_options, offsetof(struct watching, output), .group = 9 },
	{ 0 }
};

const struct word_row watching_words[] = { DEVICE_WORD(struct watching), { 0 } };

static int show_watched(const struct watching *watching, struct device *device, struct rows *rows,
			watching_show *show, const void *arguments)
{
	struct interval interval;
	struct watched watched;
	int code = interval_open(&interval), end;

	if (code != EXIT_PASS)
		return code;
	code = watched_open(&watched, device, &watching->options);
	if (code == EXIT_PASS) {
		area_warn(device);
		code = show(arguments, rows, &watched, &interval);
		end = watched_close(&watched, &watching->options);
		code = code == EXIT_PASS ? end : code;
	}
	interval_close(&interval);
	return code;
}

int watching_run(struct watching *watching, watching_show *show, const void *arguments)
{
	struct device device;
	struct rows *rows;
	int code = device_open(&device, watching->device);

	if (code == EXIT_PASS) {
		rows = output_open(&watching->output);
		code = rows ? show_watched(watching, &device, rows, show, arguments) : EXIT_FAILED;
		rows_close(rows);
		device_close(&device);
	}
	range_free(&watching->options.range);
	return code;
}
