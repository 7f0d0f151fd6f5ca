/* SPDX-License-Identifier: MIT */
/*
 * What a program and all that it has started used, from the messages about their exits.  They are
 * sent while a task's storage is still there, and have its size.  Where they do not come (in a
 * namespace) the program's process is asked for, which answers until it is waited for.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "command.h"
#include "cpus.h"
#include "proc.h"
#include "program.h"
#include "row.h"
#include "taskmon.h"
#include "tree.h"

struct arguments {
	struct output output;
	const char *file;	/* NULL: standard error */
	char **program;
};

static const struct option_row option_rows[] = {
	{ "output", 'o', "FILE", "write the statistics to this file instead of standard error",
	  TO_WORD(struct arguments, file) },
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

/* The state of the program. */
struct end {
	const struct program *program;
	struct tree *tree;
	int tree_error;			/* why the tree is not known */
	uint32_t lost;			/* messages */
	struct accounting accounting;
	bool has[2];			/* by kind */
	struct stats_record records[2];
};

static void keep(void *context, const struct stats_record *record)
{
	struct end *end = context;

	if (record->id != (uint32_t)end->program->pid)
		return;
	end->records[record->kind] = *record;
	end->records[record->kind].exited = true;
	end->has[record->kind] = true;
}

/* A record without what the kernel has not counted. */
static void count(struct end *end, struct stats_record *record)
{
	const uint64_t now = living_now();

	accounting_look(&end->accounting, delayacct_read(), now);
	accounting_message(&end->accounting, record, now);
}

static void keep_exit(void *context, const struct stats_record *record)
{
	struct stats_record known = *record;
	struct end *end = context;

	count(end, &known);
	if (!end->tree_error)
		end->tree_error = tree_take(end->tree, &known);
	keep(context, &known);
}

/* The same of one that was asked for. */
static void keep_answer(void *context, const struct stats_record *record)
{
	struct stats_record known = *record;

	count(context, &known);
	keep(context, &known);
}

static void keep_message(void *context, struct nlmsghdr *header)
{
	size_t size;
	const uint8_t *attributes = kernel_attributes(header, &size);

	if (attributes)
		stats_parse(attributes, size, STATS_OWN_ORDER, keep_exit, context);
}

/* Until the program has exited; it is not waited for.  Return: 0, or -EINTR if it is given up. */
static int read_until_exit(struct kernel *events, struct end *end, struct program *program)
{
	struct pollfd ready[] = {
		{ .fd = program->signals, .events = POLLIN },
		{ .fd = events->fd, .events = POLLIN },
	};
	enum program_news news = PROGRAM_GOES_ON;

	while (news != PROGRAM_HAS_EXITED) {
		if (news == PROGRAM_GIVEN_UP)
			return -EINTR;
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return -errno;
		kernel_read(events, keep_message, end);
		news = program_news(program);
	}
	/* All messages were sent before the process could be seen to have exited. */
	kernel_read(events, keep_message, end);
	return 0;
}

/* Why the sums are not known, if they are not. */
static void complain_about_tree(const struct end *end)
{
	if (!end->tree_error)
		return;
	if (end->tree_error == -EINVAL)
		complain("the tree of the program is not known: the kernel reports exits only in "
			 "the initial PID namespace");
	else if (end->tree_error == -ENETUNREACH)
		complain("the tree of the program is not known: the kernel reports exits only in "
			 "the initial network namespace");
	else if (end->tree_error == -ENODATA)
		complain("the tree of the program is not known: before Linux 5.19 the kernel "
			 "does not report to which process a task belongs");
	else
		complain("the tree of the program is not known: %s",
			 kernel_reason(end->tree_error));
}

/* The tree is named after its first process, and has its status. */
static void show_tree(struct show *show, const struct end *end)
{
	const struct stats_record *first = &end->records[STATS_TASK];
	const struct stats_record *last = end->has[STATS_PROCESS] ? &end->records[STATS_PROCESS] :
								    first;
	struct stats_record tree = { .kind = STATS_TREE, .id = first->id, .exited = true };
	uint64_t unknown = tree_sum(end->tree, (uint32_t)getpid(), proc_parent, &tree);

	if (end->lost)
		complain("%" PRIu32 " messages about exits were lost: the sums of the tree lack "
			 "their statistics, and %" PRIu64 " tasks that may belong to it", end->lost,
			 unknown);
	memcpy(tree.stats.comm, first->stats.comm, sizeof(tree.stats.comm));
	tree.stats.comm_len = first->stats.comm_len;
	tree.stats.has_comm = first->stats.has_comm;
	tree.stats.present[STATS_EXITCODE] = true;
	tree.stats.value[STATS_EXITCODE] = (uint64_t)end->program->status;
	tree.has_elapsed = last->has_elapsed;
	tree.elapsed_us = last->elapsed_us;
	show_record(show, &tree);
}

static int report(struct kernel *kernel, const struct kernel *events, struct end *end,
		  struct show *show)
{
	uint32_t pid = (uint32_t)end->program->pid;
	bool heard = end->has[STATS_TASK];
	int ret = 0;

	if (!kernel_dropped(events, &end->lost))
		end->lost = 0;
	if (!heard && !end->lost && !end->tree_error)
		end->tree_error = -ENETUNREACH;
	complain_about_tree(end);
	if (!heard)
		ret = kernel_get(kernel, STATS_TASK, pid, keep_answer, end);
	/* Without its message: what it used itself is to be among what is below it. */
	if (!heard && !ret && !end->tree_error)
		end->tree_error = tree_take(end->tree, &end->records[STATS_TASK]);
	if (!ret && !heard)
		ret = kernel_get(kernel, STATS_PROCESS, pid, keep_answer, end);
	if (end->has[STATS_TASK])
		show_record(show, &end->records[STATS_TASK]);
	if (end->has[STATS_PROCESS] && stats_has_sums(&end->records[STATS_PROCESS].stats))
		show_record(show, &end->records[STATS_PROCESS]);
	if (end->has[STATS_TASK] && !end->tree_error)
		show_tree(show, end);
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
static int open_events(struct kernel *events, struct end *end)
{
	struct cpus possible;
	char list[1024];
	int ret = kernel_open(events);

	if (!ret)
		ret = cpus_read(&possible, "possible");
	if (ret)
		return ret;
	kernel_set_buffer(events, KERNEL_BUFFER);
	cpus_format(&possible, list, sizeof(list));
	ret = kernel_listen(events, list, keep_message, end);
	/* What a process has started and left behind is ours then, and known to be. */
	if (!ret && prctl(PR_SET_CHILD_SUBREAPER, 1))
		ret = -errno;
	return ret;
}

static int run_program(struct kernel *kernel, struct end *end, struct program *program,
		       struct show *show)
{
	struct kernel events;
	int ret, code;

	end->tree_error = open_events(&events, end);
	code = program_start(program);
	if (!code) {
		ret = read_until_exit(&events, end, program);
		if (!ret)
			ret = report(kernel, &events, end, show);
		code = program_end(program, ret ? exit_code_of(ret) : EXIT_PASS);
		if (!ret && !end->tree_error && program_left_some())
			complain("tasks that the program has started still run, and are not in "
				 "the sums");
	}
	kernel_close(&events);
	return code;
}

static int run(struct kernel *kernel, const struct arguments *arguments, struct show *show)
{
	struct program program;
	struct end end = {
		.program = &program, .tree = tree_new(), .accounting = ACCOUNTING_NONE,
	};
	int code = EXIT_FAILED;

	/* What the program starts begins after that. */
	(void)living_lacks(kernel, &end.accounting.lacks);
	accounting_look(&end.accounting, delayacct_read(), living_now());
	if (!program_init(&program, arguments->program) && end.tree)
		code = run_program(kernel, &end, &program, show);
	else
		complain("not enough memory to add up statistics");
	close(program.signals);
	tree_free(end.tree);
	return code;
}

static int run_shown(struct kernel *kernel, const struct arguments *arguments, FILE *out)
{
	struct show show = { 0 };
	int code, end;

	show.writer = writer_open(out, arguments->output.format, arguments->output.scaled,
				  &arguments->output.selection);
	if (!show.writer) {
		complain("not enough memory to write rows");
		return EXIT_FAILED;
	}
	code = run(kernel, arguments, &show);
	end = show_end(&show);
	return code ? code : end;
}

int cmd_run(int argc, char **argv)
{
	static const struct word_row words[] = {
		{ TO_REST(struct arguments, program),
		  .missing = "no program given; for example: taskmon run -- sleep 1" },
		{ 0 }
	};
	static const struct command_line line = {
		.options = &options, .parts = output_parts, .words = words,
		.words_help = "-- PROGRAM [ARGUMENT...]",
		.help = "Runs a program, and shows statistics when it has exited: of its first task, "
			"of its process if that had more than one task, and of the tree.  The tree is "
			"the program with all that it has started and that has exited.  Returns the "
			"program's status.",
	};
	static struct arguments arguments;
	FILE *out = stderr;
	struct kernel kernel;
	int code;

	output_init(&arguments.output, TASKMON_ROW_TITLE, row_columns, ROW_COLUMNS);
	command_parse(&line, argc, argv, &arguments);
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
