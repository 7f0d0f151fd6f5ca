/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "collector.h"
#include "command.h"
#include "replaying.h"
#include "row.h"
#include "taskmon.h"

struct arguments {
	struct output output;
	const char *path;
};

static int replay(FILE *file, const struct arguments *arguments, struct collector *collector)
{
	enum recording_result result;

	if (!replaying_take(file, arguments->path, collector, &result))
		return replaying_judge(result, arguments->path);
	if (!collector->rows_error)
		collector->rows_error = writer_flush(collector->writer);
	collector_summary(collector, arguments->output.format);
	if (collector->rows_error == -EPIPE)
		return EXIT_PASS;
	if (collector->rows_error) {
		complain("the records cannot be written: %s", strerror(-collector->rows_error));
		return EXIT_FAILED;
	}
	return replaying_judge(result, arguments->path);
}

int cmd_replay(int argc, char **argv)
{
	static const struct word_row words[] = {
		{ TO_WORD(struct arguments, path), .missing = "a recording is missing" }, { 0 }
	};
	static const struct command_line line = {
		.parts = output_parts, .words = words,
		.more_words = "one recording at a time, not '%s', too",
		.words_help = "FILE",
		.help = "Shows again what 'taskmon listen --record FILE' recorded on this machine or "
			"another, with the same summary.",
	};
	static struct arguments arguments;
	struct collector collector;
	int code = EXIT_FAILED;
	FILE *file;

	output_init(&arguments.output, TASKMON_ROW_TITLE, row_columns, ROW_COLUMNS);
	command_parse(&line, argc, argv, &arguments);
	signal(SIGPIPE, SIG_IGN);
	file = fopen(arguments.path, "rbe");
	if (!file) {
		complain("%s cannot be read: %s", arguments.path, strerror(errno));
		return EXIT_USAGE;
	}
	if (collector_init(&collector)) {
		collector.writer = output_open(&arguments.output);
		if (collector.writer)
			code = replay(file, &arguments, &collector);
		writer_close(collector.writer);
		collector_free(&collector);
	} else {
		complain("not enough memory to count messages");
	}
	fclose(file);
	return code;
}
