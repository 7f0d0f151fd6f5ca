/* SPDX-License-Identifier: MIT */
/*
 * A program's statistics at its end.  They are those of the message about its exit: it is sent
 * while the storage is still there, and has its size.  Where that does not come (in a namespace, or
 * because too much else exits), the process is asked for, which answers until it is waited for.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "command.h"
#include "cpus.h"
#include "program.h"
#include "row.h"
#include "taskmon.h"

struct arguments {
	struct output output;
	const char *file;	/* NULL: standard error */
	char **program;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "write the statistics there, not to standard error", 0 },
	{ 0 }
};

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->output;
		return 0;
	case 'o':
		arguments->file = word;
		return 0;
	case ARGP_KEY_ARG:
		/* The program, and all that follows is its own. */
		arguments->program = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->program)
			argp_error(state, "name a program, as in 'taskmon run -- sleep 1'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What is known of the program. */
struct end {
	pid_t child;
	bool has[2];			/* by kind */
	struct stats_record records[2];
};

static void keep(void *context, const struct stats_record *record)
{
	struct end *end = context;

	if (record->id != (uint32_t)end->child)
		return;
	end->records[record->kind] = *record;
	end->has[record->kind] = true;
}

static void keep_message(void *context, struct nlmsghdr *header)
{
	const size_t before = NLMSG_HDRLEN + GENL_HDRLEN;

	if (header->nlmsg_len >= before)
		stats_parse((const uint8_t *)header + before, header->nlmsg_len - before,
			    STATS_OWN_ORDER, keep, context);
}

/* Until the program has exited; it is not waited for.  @signals: SIGCHLD, which is blocked. */
static int read_until_exit(struct kernel *events, struct end *end, int signals)
{
	struct pollfd ready[] = {
		{ .fd = signals, .events = POLLIN }, { .fd = events->fd, .events = POLLIN },
	};
	struct signalfd_siginfo signal;

	while (!program_has_exited(end->child)) {
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (ready[0].revents && read(signals, &signal, sizeof(signal)) < 0)
			return -errno;
		kernel_read(events, keep_message, end);
	}
	/* The message was sent before the process could be seen to have exited. */
	kernel_read(events, keep_message, end);
	return 0;
}

/* The sums of a process of one task are all 0 once it has exited: that is no answer. */
static bool has_sums(const struct stats *stats)
{
	for (unsigned int field = STATS_VERSION + 1; field < STATS_FIELDS; field++)
		if (stats->present[field] && stats->value[field])
			return true;
	return false;
}

static int report(struct kernel *kernel, struct end *end, struct show *show)
{
	int ret = 0;

	if (!end->has[STATS_TASK])
		ret = kernel_get(kernel, STATS_TASK, (uint32_t)end->child, keep, end);
	if (!ret && !end->has[STATS_PROCESS])
		ret = kernel_get(kernel, STATS_PROCESS, (uint32_t)end->child, keep, end);
	if (end->has[STATS_TASK])
		show_record(show, &end->records[STATS_TASK]);
	if (end->has[STATS_PROCESS] && has_sums(&end->records[STATS_PROCESS].stats))
		show_record(show, &end->records[STATS_PROCESS]);
	if (ret)
		complain("the statistics are not complete: %s", kernel_reason(ret));
	return ret;
}

/* Whether the kernel would answer: to be known before a program runs that may take long. */
static int check_answers(struct kernel *kernel)
{
	struct show nowhere = { .error = -ECANCELED };
	int ret = kernel_get(kernel, STATS_TASK, 1, show_record, &nowhere);

	if (!ret || ret == -ESRCH)
		return EXIT_PASS;
	complain("%s", kernel_reason(ret));
	return exit_code_of(ret);
}

/* Events are listened to if the kernel lets us; without any, the process is asked for. */
static void open_events(struct kernel *events, struct end *end)
{
	struct cpus possible;
	char list[1024];

	if (kernel_open(events))
		return;
	if (cpus_read(&possible, "possible"))
		return;
	cpus_format(&possible, list, sizeof(list));
	(void)kernel_listen(events, list, keep_message, end);
}

static int run(struct kernel *kernel, const struct arguments *arguments, struct show *show)
{
	struct end end = { 0 };
	struct kernel events;
	sigset_t child_exits, before;
	int ret, signals, code;

	sigemptyset(&child_exits);
	sigaddset(&child_exits, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_exits, &before);
	signals = signalfd(-1, &child_exits, SFD_CLOEXEC);
	open_events(&events, &end);
	code = program_start(arguments->program, &before, &end.child);
	if (!code) {
		ret = signals < 0 ? -ENFILE : read_until_exit(&events, &end, signals);
		if (!ret)
			ret = report(kernel, &end, show);
		code = program_end(end.child, ret ? exit_code_of(ret) : EXIT_PASS);
	}
	kernel_close(&events);
	close(signals);
	return code;
}

static int run_shown(struct kernel *kernel, const struct arguments *arguments, FILE *out)
{
	struct show show = { 0 };
	int code, end;

	show.rows = rows_open(out, arguments->output.format, arguments->output.scaled,
			      &arguments->output.selection);
	if (!show.rows) {
		complain("there is no memory to write rows");
		return EXIT_FAILED;
	}
	code = run(kernel, arguments, &show);
	end = show_end(&show);
	return code ? code : end;
}

int cmd_run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &output_argp, 0, "Output:", 9 }, { 0 } };
	static const struct argp argp = {
		.options = options, .parser = parse, .children = children,
		.args_doc = "-- PROGRAM [ARGUMENT...]",
		.doc = "Runs a program, shows the statistics of its first task and of its thread "
		       "group when it has exited, and exits with its status.",
	};
	static struct arguments arguments;
	FILE *out = stderr;
	struct kernel kernel;
	int code;

	output_init(&arguments.output, TASKMON_ROW_TITLE, row_columns, ROW_COLUMNS);
	command_parse(&argp, argc, argv, &arguments);
	code = open_kernel(&kernel);
	if (code)
		return code;
	code = check_answers(&kernel);
	if (!code && arguments.file) {
		out = fopen(arguments.file, "we");
		if (!out) {
			complain("%s cannot be written: %s", arguments.file, strerror(errno));
			code = EXIT_USAGE;
		}
	}
	if (!code) {
		warn_delayacct();
		code = run_shown(&kernel, &arguments, out);
	}
	if (out && out != stderr && fclose(out)) {
		complain("%s cannot be written: %s", arguments.file, strerror(errno));
		code = code ? code : EXIT_FAILED;
	}
	kernel_close(&kernel);
	return code;
}
