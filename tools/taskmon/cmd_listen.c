/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command.h"
#include "listener.h"
#include "exits.h"
#include "program.h"
#include "row.h"
#include "taskmon.h"

#define BUFFER_LEAST 2304u		/* SOCK_MIN_RCVBUF of 64-bit kernels */
#define BUFFER_MOST (UINT64_C(1) << 30)

struct arguments {
	struct output output;
	struct cpus possible, cpus;
	bool per_cpu;
	uint64_t duration_ns;	/* 0: none */
	uint64_t count;		/* 0: no limit */
	uint64_t buffer;
	const char *record;
	char **program;		/* NULL: none */
};

static void set_cpus(void *target, char *word, struct argp_state *state)
{
	struct arguments *arguments = target;
	char all[256];

	if (!cpus_parse(&arguments->cpus, word))
		argp_error(state, "invalid list of CPUs: '%s' (for example 0-3,5)", word);
	if (cpus_outside(&arguments->cpus, &arguments->possible) < CPUS_MAX) {
		cpus_format(&arguments->possible, all, sizeof(all));
		argp_error(state, "no such CPU: %u (possible: %s)",
			   cpus_outside(&arguments->cpus, &arguments->possible), all);
	}
}

static const struct option_row option_rows[] = {
	{ "cpus", '\0', "LIST", "CPUs whose exits are shown, such as 0-3,5 (default: all "
	  "possible CPUs)", TO_CALL(set_cpus) },
	{ "per-cpu", '\0', NULL, "use a reader for each CPU, which runs there",
	  TO_FLAG(struct arguments, per_cpu) },
	{ "duration", '\0', "TIME", "stop after this time, such as 10, 500ms or 2m",
	  TO_TIME(struct arguments, duration_ns, 1, UINT64_MAX),
	  .wrong = "invalid time: '%s' (for example 10, 500ms or 2m)" },
	{ "count", '\0', "N", "stop after N records",
	  TO_NUMBER(struct arguments, count, 1, UINT64_MAX),
	  .wrong = "invalid number of records: '%s'" },
	{ "buffer", '\0', "SIZE", "size of the receive buffer of each CPU (default: 8M)",
	  TO_SIZE(struct arguments, buffer, BUFFER_LEAST, BUFFER_MOST),
	  .wrong = "invalid size: '%s' (2304 to 1G, for example 64K or 8M)" },
	{ "record", '\0', "FILE", "also write the messages to this file, for 'taskmon replay'",
	  TO_WORD(struct arguments, record) },
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

static int begin_recording(struct collector *collector, const char *path)
{
	struct recording_header header = {
		.delayacct = (uint8_t)collector->accounting.state,
		.lacks = (uint8_t)collector->accounting.lacks,
		.time_ns = living_now(),
	};
	struct utsname name;
	int ret;

	collector->recording = fopen(path, "wbe");
	ret = collector->recording ? 0 : -errno;
	if (!ret && !uname(&name))
		snprintf(header.release, sizeof(header.release), "%.63s", name.release);
	if (!ret)
		ret = recording_write_header(collector->recording, &header);
	if (ret)
		complain("%s cannot be written: %s", path, strerror(-ret));
	return ret ? EXIT_USAGE : EXIT_PASS;
}

static int end_recording(struct collector *collector, const char *path)
{
	int error = collector->recording_error;

	if (!collector->recording)
		return EXIT_PASS;
	if (fclose(collector->recording) && !error)
		error = -errno;
	collector->recording = NULL;
	if (error)
		complain("%s cannot be written: %s", path, strerror(-error));
	return error ? EXIT_FAILED : EXIT_PASS;
}

/* Has the program run, if there is one, and waits for the end of it all. */
static int listen_started(struct listener *listener, const struct arguments *arguments,
			  struct program *program)
{
	int code = exits_probe(listener, &arguments->cpus), ret;

	if (!code && program->words)
		code = program_start(program);
	if (code)
		return code;
	ret = exits_wait(listener, arguments->duration_ns, program);
	if (ret)
		complain("listening failed: %s", strerror(-ret));
	return ret ? EXIT_FAILED : EXIT_PASS;
}

/* From the first registration to the last; the collector has everything then. */
static int listen_until_end(struct collector *collector, const struct arguments *arguments,
			    struct program *program)
{
	struct listener listener;
	int ret = listener_open(&listener, &arguments->cpus, arguments->buffer, collector);
	int code;

	if (ret) {
		code = exits_failed(ret, &listener);
		listener_close(&listener);
		return code;
	}
	if (listener.buffer < arguments->buffer / 2 * 2)
		complain("the receive buffers have %zu bytes each, not %llu: net.core.rmem_max "
			 "limits them", listener.buffer, (unsigned long long)arguments->buffer);
	ret = listener_start(&listener, arguments->per_cpu);
	if (ret) {
		complain("cannot start a reader: %s", strerror(-ret));
		code = EXIT_FAILED;
	} else {
		code = listen_started(&listener, arguments, program);
	}
	listener_stop(&listener);
	listener_close(&listener);
	return code;
}

static int run(struct collector *collector, const struct arguments *arguments,
	       struct program *program)
{
	int code = EXIT_PASS, end;

	collector->rows_max = arguments->count;
	collector->writer = output_open(&arguments->output);
	if (!collector->writer)
		return EXIT_FAILED;
	exits_look(collector);
	if (arguments->record)
		code = begin_recording(collector, arguments->record);
	if (!code) {
		warn_delayacct();
		code = listen_until_end(collector, arguments, program);
	}
	if (!code && !collector->rows_error)
		collector->rows_error = writer_flush(collector->writer);
	if (!code)
		collector_summary(collector, arguments->output.format);
	end = end_recording(collector, arguments->record);
	writer_close(collector->writer);
	/* Whoever closes the pipe has read enough. */
	if (collector->rows_error && collector->rows_error != -EPIPE) {
		complain("the records cannot be written: %s", strerror(-collector->rows_error));
		end = EXIT_FAILED;
	}
	code = code ? code : end;
	return program->pid ? program_end(program, code) : code;
}

int cmd_listen(int argc, char **argv)
{
	static const struct word_row words[] = { { TO_REST(struct arguments, program) }, { 0 } };
	static const struct command_line line = {
		.options = &options, .parts = output_parts, .words = words,
		.words_help = "[-- PROGRAM [ARGUMENT...]]",
		.help = "Shows tasks as they exit, and thread groups whose last task exits.  It stops "
			"after --duration, after --count, after a signal, or when PROGRAM ends.  Then "
			"it prints on standard error how many messages were received and lost on each "
			"CPU.",
	};
	static struct arguments arguments = { .buffer = KERNEL_BUFFER };
	struct collector collector;
	struct program program;
	bool unknown;
	int code;

	/* Help and what is wrong with the words come first: they need no machine. */
	unknown = cpus_read(&arguments.possible, "possible") != 0;
	if (unknown)
		memset(arguments.possible.is, true, sizeof(arguments.possible.is));
	arguments.cpus = arguments.possible;
	output_init(&arguments.output, TASKMON_ROW_TITLE, row_columns, ROW_COLUMNS);
	command_parse(&line, argc, argv, &arguments);
	if (unknown) {
		complain("/sys/devices/system/cpu/possible cannot be read: is /sys mounted?");
		return EXIT_CANNOT_RUN;
	}
	/* Before there is any thread: with these blocked every end is an orderly one. */
	if (program_init(&program, arguments.program) || !collector_init(&collector)) {
		complain("not enough memory to count messages");
		return EXIT_FAILED;
	}
	code = run(&collector, &arguments, &program);
	close(program.signals);
	collector_free(&collector);
	return code;
}
