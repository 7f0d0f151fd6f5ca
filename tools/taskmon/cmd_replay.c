/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "collector.h"
#include "command.h"
#include "cpus.h"
#include "delayacct.h"
#include "row.h"
#include "taskmon.h"

struct arguments {
	struct output output;
	const char *path;
};

static void take(struct collector *collector, const struct recording_frame *frame)
{
	switch (frame->type) {
	case RECORDING_MESSAGE:
		collector_message(collector, frame);
		break;
	case RECORDING_COUNTERS:
		collector_counters(collector, frame);
		break;
	case RECORDING_OWN:
		collector_own(collector, frame);
		break;
	case RECORDING_END:
		break;
	}
}

/* Return: an exit code; what is wrong with the file has been said. */
static int judge(enum recording_result result, const char *path)
{
	switch (result) {
	case RECORDING_OVER:
		return EXIT_PASS;
	case RECORDING_CUT:
		complain("%s is incomplete: the end of the recording is missing", path);
		return EXIT_FAILED;
	case RECORDING_UNREADABLE:
		complain("%s cannot be read: %s", path, strerror(errno));
		return EXIT_USAGE;
	case RECORDING_FRAME:
	case RECORDING_BAD:
		break;
	}
	complain("%s is not a recording of taskmon, or it is damaged", path);
	return EXIT_USAGE;
}

static int replay(FILE *file, const struct arguments *arguments, struct collector *collector)
{
	static uint8_t buffer[RECORDING_PAYLOAD_MAX];
	struct recording_header header;
	struct recording_frame frame;
	enum recording_result result = recording_read_header(file, &header);

	if (result != RECORDING_FRAME)
		return judge(result, arguments->path);
	collector->order = header.order;
	complain("%s was recorded on Linux %s; %s", arguments->path, header.release,
		 delayacct_sentence((enum delayacct_state)header.delayacct));
	while (!collector->rows_error) {
		result = recording_read_frame(file, &header, &frame, buffer);
		if (result != RECORDING_FRAME)
			break;
		take(collector, &frame);
	}
	if (!collector->rows_error)
		collector->rows_error = rows_flush(collector->rows);
	collector_summary(collector, arguments->output.format);
	if (collector->rows_error == -EPIPE)
		return EXIT_PASS;
	if (collector->rows_error) {
		complain("the records cannot be written: %s", strerror(-collector->rows_error));
		return EXIT_FAILED;
	}
	return judge(result, arguments->path);
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
		collector.rows = output_open(&arguments.output);
		if (collector.rows)
			code = replay(file, &arguments, &collector);
		rows_close(collector.rows);
		collector_free(&collector);
	} else {
		complain("not enough memory to count messages");
	}
	fclose(file);
	return code;
}
