/* SPDX-License-Identifier: MIT */
/*
 * taskmon export: sums over tasks that live and that exit, for monitoring systems.
 *
 * They do so on this machine, or have exited in a recording.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "exporter.h"
#include "listener.h"
#include "exits.h"
#include "living.h"
#include "proc.h"
#include "replaying.h"
#include "row.h"
#include "sums.h"
#include "taskmon.h"

struct arguments {
	struct export_options exports;
	enum sums_by by;
	bool by_given;
	struct rules rules;
	const char *path;	/* NULL: this machine */
};

static void set_by(void *target, char *word, struct argp_state *state)
{
	struct arguments *arguments = target;

	arguments->by_given = true;
	if (strcmp(word, "command") == 0)
		arguments->by = SUMS_BY_COMMAND;
	else if (strcmp(word, "user") == 0)
		arguments->by = SUMS_BY_USER;
	else
		argp_error(state, "invalid --by: '%s' (command or user)", word);
}

static void add_rule(void *target, char *word, struct argp_state *state)
{
	struct arguments *arguments = target;
	const char *wrong = rules_add(&arguments->rules, word);

	if (wrong)
		argp_error(state, "invalid --group: '%s' (%s)", word, wrong);
}

static const struct option_row option_rows[] = {
	{ "group", 'g', "RULE", "add up by groups; a rule GROUP=WHAT:PATTERN puts processes whose name, "
	  "cgroup, user or cmdline is like PATTERN into GROUP; may be repeated, and the first that fits "
	  "counts",
	  TO_CALL(add_rule), .group = 1 },
	{ "by", '\0', "WHAT", "add up by command (default), the program of the process, or by user, "
	  "its number", TO_CALL(set_by), .group = 1 },
	{ 0 }
};

static void check(const void *target, const struct argp_state *state)
{
	const struct arguments *arguments = target;

	if (arguments->rules.count && arguments->by_given)
		argp_error(state, "--by and --group cannot be used together");
	if (arguments->path && (rules_ask(&arguments->rules, RULE_CGROUP) ||
				rules_ask(&arguments->rules, RULE_CMDLINE)))
		argp_error(state, "a recording has names and users, but no cgroups and command lines "
			   "for --group");
}

static const struct option_table options = { .rows = option_rows, .check = check };

static const struct option_part parts[] = {
	{ &export_option_table, offsetof(struct arguments, exports), .group = 3 }, { 0 }
};

/* The data that the exporter's thread sees. */
struct export {
	struct collector collector;
	struct sums sums;
	struct listener *listener;	/* NULL: nothing else uses the collector */
	struct kernel kernel;		/* to look at what lives, while @looks */
	struct living living;
	bool looks;
	struct snapshot *found;		/* by a look; NULL: it failed */
	struct metric_family families[SUMS_FAMILIES];
	struct export_source source;
	struct exporter *exporter;
	struct metrics *metrics;	/* while values are collected */
};

static void take(void *context, const struct stats_record *record)
{
	struct export *export = context;

	sums_take(&export->sums, record);
}

/* A sum has room for more than /proc has. */
static bool program_of(uint32_t process, char name[STATS_COMM_MAX + 1])
{
	return proc_read_name(process, name);
}
_Static_assert(STATS_COMM_MAX + 1 >= PROC_NAME_SIZE, "there is room for a name");

static void end_sums(void *context)
{
	struct export *export = context;

	sums_end(&export->sums);
}

static void add_values(void *context)
{
	struct export *export = context;

	sums_values(&export->sums, &export->collector, living_now(), export->metrics);
}

static void begin_look(void *context)
{
	struct export *export = context;

	sums_look(&export->sums);
}

static void end_look(void *context)
{
	struct export *export = context;

	sums_looked(&export->sums, export->found, living_now());
}

/* Looks at what lives.  Meanwhile messages are taken.  Return: 0 or -errno as living_take(). */
static int look(struct export *export)
{
	struct rules *rules = export->sums.rules;
	struct snapshot tasks = { 0 };
	unsigned int more = 0;
	int ret;

	if (rules && rules_ask(rules, RULE_CGROUP))
		more |= LIVING_CGROUPS;
	if (rules && rules_ask(rules, RULE_CMDLINE))
		more |= LIVING_ARGUMENTS;
	listener_look(export->listener, begin_look, export);
	ret = living_take(&export->living, &tasks, more);
	export->found = ret ? NULL : &tasks;
	listener_look(export->listener, end_look, export);
	snapshot_free(&tasks);
	return ret;
}

/* export_source */
static void collect(void *context, struct metrics *metrics)
{
	struct export *export = context;

	if (export->looks)
		look(export);
	export->metrics = metrics;
	if (export->listener)
		listener_look(export->listener, add_values, export);
	else
		add_values(export);
}

static int begin(struct export *export, const struct arguments *arguments)
{
	struct selection selection;
	FILE *lines;
	int code = exporter_open(&export->exporter, &arguments->exports, &export->source);

	if (code)
		return code;
	lines = exporter_lines(export->exporter);
	if (!lines)
		return EXIT_PASS;
	selection_standard(&selection, row_columns, ROW_COLUMNS);
	selection_parse(&selection, "all", NULL, 0);
	export->collector.writer = writer_open(lines, WRITER_JSON, false, &selection);
	if (export->collector.writer)
		return EXIT_PASS;
	complain("not enough memory to write rows");
	return EXIT_FAILED;
}

static int end(struct export *export, int code)
{
	int ended = EXIT_PASS;

	writer_close(export->collector.writer);
	if (export->exporter)
		ended = exporter_close(export->exporter);
	return code ? code : ended;
}

/* A rule that fits nothing may have a mistake in it. */
static void complain_about_rules(const struct rules *rules, const char *of)
{
	for (unsigned int i = 0; rules && i < rules->count; i++)
		if (!rules->rule[i].matched)
			complain("--group '%s' fits no task %s", rules->rule[i].word, of);
}

/* The first look, before messages are taken. */
static void begin_looking(struct export *export)
{
	int ret = kernel_open(&export->kernel);

	if (!ret) {
		ret = living_open(&export->living, &export->kernel);
		if (!ret)
			ret = look(export);
		export->looks = !ret;
		if (ret)
			kernel_close(&export->kernel);
	}
	if (ret)
		complain("the values are without tasks that live: %s", living_reason(ret));
	else
		complain_about_rules(export->sums.rules, "that lives now; it may fit later ones");
}

/* From the first registration to the last. */
static int listen_here(struct export *export, const struct arguments *arguments,
		       struct program *signals)
{
	static struct cpus cpus;
	struct listener listener;
	int code, ret;

	if (cpus_read(&cpus, "possible")) {
		complain("/sys/devices/system/cpu/possible cannot be read: is /sys mounted?");
		return EXIT_CANNOT_RUN;
	}
	ret = listener_open(&listener, &cpus, KERNEL_BUFFER, &export->collector);
	if (ret) {
		code = exits_failed(ret, &listener);
		listener_close(&listener);
		return code;
	}
	/* cppcheck-suppress autoVariables ; it is taken back below */
	export->listener = &listener;
	begin_looking(export);
	code = begin(export, arguments);
	ret = code ? 0 : listener_start(&listener, false);
	if (!code && !ret)
		code = exits_probe(&listener, &cpus);
	if (!code && !ret)
		ret = exits_wait(&listener, 0, signals);
	if (ret) {
		complain("listening failed: %s", strerror(-ret));
		code = EXIT_FAILED;
	}
	listener_stop(&listener);
	listener_look(&listener, end_sums, export);
	/* The last values are those with the messages that were queued. */
	code = end(export, code);
	if (export->looks)
		kernel_close(&export->kernel);
	export->looks = false;
	export->listener = NULL;
	listener_close(&listener);
	return code;
}

/* The sums of a recording; somebody may ask for them until a signal comes. */
static int read_recording(struct export *export, const struct arguments *arguments,
			  struct program *signals)
{
	FILE *file = fopen(arguments->path, "rbe");
	struct pollfd news = { .fd = signals->signals, .events = POLLIN };
	enum recording_result result;
	int code;

	if (!file) {
		complain("%s cannot be read: %s", arguments->path, strerror(errno));
		return EXIT_USAGE;
	}
	replaying_take(file, arguments->path, &export->collector, &result);
	sums_end(&export->sums);
	fclose(file);
	code = replaying_judge(result, arguments->path);
	if (code != EXIT_USAGE) {
		int began = begin(export, arguments);

		complain_about_rules(export->sums.rules, "of the recording");
		code = began ? began : code;
		while (!began && arguments->exports.listen &&
		       program_news(signals) == PROGRAM_GOES_ON)
			poll(&news, 1, -1);
	}
	return end(export, code);
}

static int run(struct arguments *arguments, struct program *signals)
{
	struct export *export = calloc(1, sizeof(*export));
	int code = EXIT_FAILED;

	if (export && collector_init(&export->collector)) {
		export->sums.by = arguments->rules.count ? SUMS_BY_RULE : arguments->by;
		export->sums.rules = arguments->rules.count ? &arguments->rules : NULL;
		sums_families(export->sums.by, export->families);
		export->collector.each = take;
		export->collector.each_context = export;
		export->source = (struct export_source){
			.tool = "taskmon", .families = export->families, .count = SUMS_FAMILIES,
			.collect = collect, .context = export,
		};
		if (arguments->path) {
			code = read_recording(export, arguments, signals);
		} else {
			export->sums.program_of = program_of;
			warn_delayacct();
			exits_look(&export->collector);
			code = listen_here(export, arguments, signals);
		}
		collector_free(&export->collector);
		sums_free(&export->sums);
	} else {
		complain("not enough memory to count messages");
	}
	free(export);
	return code;
}

int cmd_export(int argc, char **argv)
{
	static const struct word_row words[] = { { TO_WORD(struct arguments, path) }, { 0 } };
	static const struct command_line line = {
		.options = &options, .parts = parts, .words = words,
		.more_words = "one recording at a time, not '%s', too",
		.words_help = "[FILE]",
		.help = "Exports sums over all tasks, those that live and those that exit, to "
			"monitoring systems, until a signal comes.  With FILE, a recording of "
			"'taskmon listen --record', the sums are those of the recording.",
	};
	static struct arguments arguments = { .exports = EXPORT_OPTIONS_DEFAULT };
	struct program signals;
	int code;

	command_parse(&line, argc, argv, &arguments);
	if (program_init(&signals, NULL)) {
		complain("not enough memory to count messages");
		return EXIT_FAILED;
	}
	code = run(&arguments, &signals);
	close(signals.signals);
	return code;
}
