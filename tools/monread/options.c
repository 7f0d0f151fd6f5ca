/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "command_line.h"
#include "exit_code.h"
#include "monrec_catalogue.h"
#include "number.h"
#include "zvmlab_version.h"

#define MOST_MINUTES 1440u
#define MOST_TRIES 1000000u
#define MOST_PAGE 1048576u

/* "5.3" gives 530. */
static bool parse_release(const char *word, unsigned int *release)
{
	const char *const end = word + strlen(word);
	uint64_t version, minor;

	if (!number_take(&word, end, 10, UINT16_MAX, &version) || *word++ != '.')
		return false;
	if (end != word + 1 || !number_take(&word, end, 10, UINT16_MAX, &minor))
		return false;
	*release = (unsigned int)(version * 100 + minor * 10);
	return monrec_release_known(*release);
}

/* Pages that --layout names are all of one release, and that is what --release says, if it is given. */
static void check_release(struct options *options, const struct argp_state *state)
{
	if (options->layout && options->release && options->release != options->layout_release)
		argp_error(state, "--layout %s: it is of z/VM %u.%u, but the data are to be read as those "
			   "of %u.%u", options->layout, options->layout_release / 100,
			   options->layout_release / 10 % 10, options->release / 100,
			   options->release / 10 % 10);
	if (options->layout)
		options->release = options->layout_release;
}

static void set_release(void *target, char *word, struct argp_state *state)
{
	struct options *options = target;

	if (!parse_release(word, &options->release))
		argp_error(state, "invalid release of z/VM: '%s' (4.1 to 7.5)", word);
	check_release(options, state);
}

/* At most MOST_PAGE bytes of it; the page is of the release that the data are read as. */
static void set_layout(void *target, char *word, struct argp_state *state)
{
	static char text[MOST_PAGE];
	struct options *options = target;
	FILE *file = fopen(word, "re");
	char why[256];
	size_t len;

	if (!file) {
		argp_error(state, "--layout %s: %s", word, strerror(errno));
		return;
	}
	len = fread(text, 1, sizeof(text), file);
	if (ferror(file))
		argp_error(state, "--layout %s: %s", word, strerror(errno));
	fclose(file);
	options->layout_release = monrec_add_page(text, len, why, sizeof(why));
	if (!options->layout_release)
		argp_error(state, "--layout %s: %s", word, why);
	options->layout = word;
	check_release(options, state);
}

/* Milliseconds, less than a day of them. */
static unsigned int parse_time(const char *word, const struct argp_state *state)
{
	uint64_t ns;

	if (!number_parse_time(word, &ns) || ns / 60000000000u >= MOST_MINUTES)
		argp_error(state, "invalid time: '%s' (less than a day, for example 10s or 500ms)", word);
	return (unsigned int)(ns / 1000000);
}

static void set_timeout(void *target, char *word, struct argp_state *state)
{
	((struct options *)target)->timeout_ms = (int)parse_time(word, state);
}

static void set_reopen_wait(void *target, char *word, struct argp_state *state)
{
	((struct options *)target)->reopen_wait_ms = parse_time(word, state);
}

static void set_threshold(void *target, char *word, struct argp_state *state)
{
	struct options *options = target;

	if (!thresholds_set(&options->thresholds, word))
		argp_error(state, "invalid threshold: '%s' (NAME=VALUE or NAME=off, where NAME is busy, "
			   "cpu-wait, io-wait, page-wait, response, slots or paging)", word);
}

static void set_zone(void *target, char *word, struct argp_state *state)
{
	(void)target;
	if (!clock_set_zone(word))
		argp_error(state, "unknown time zone: '%s' (UTC, local, an offset as +02:00, or a name "
			   "of this machine's database as Europe/Berlin)", word);
}

/* Times of --from and --to are of the zone that the whole command line has chosen. */
static uint64_t tod_of(const char *name, const char *word)
{
	uint64_t tod = 0;

	if (word && !clock_parse(word, &tod)) {
		fprintf(stderr, "monread: invalid --%s: '%s' (a date with or without a time, for example "
			"2026-03-02 or 2026-03-02T10:15, as clocks of --time-zone show it; with a Z behind "
			"it, UTC)\n", name, word);
		exit(EXIT_USAGE);
	}
	return tod;
}

static void set_span(struct options *options)
{
	options->span.from = tod_of("from", options->from);
	options->span.to = tod_of("to", options->to);
	if (options->to && options->span.from >= options->span.to) {
		fputs("monread: --from is not before --to\n", stderr);
		exit(EXIT_USAGE);
	}
}

#define FLAG(member) TO_FLAG(struct options, member)
#define WORD(member) TO_WORD(struct options, member)

/* Of "monread export", too. */
static const struct option_row input_rows[] = {
	{ .help = "Input:", .group = 1 },
	{ "monwrite", '\0', NULL, "the file is a MONWRITE file, even if its beginning is damaged",
	  FLAG(monwrite), .group = 1 },
	{ "sets", '\0', "N", "stop after N sets", TO_NUMBER(struct options, sets, 1, UINT64_MAX),
	  .group = 1, .wrong = "invalid number of sets: '%s'" },
	{ "from", '\0', "TIME", "read only sets from this time on, for example 2026-03-02T10:15",
	  WORD(from), .group = 1 },
	{ "to", '\0', "TIME", "read only sets before this time", WORD(to), .group = 1 },
	{ "time-zone", '\0', "ZONE", "zone of --from and --to and of times in the page and the "
	  "tables: UTC (default), local, +02:00, Europe/Berlin", TO_CALL(set_zone), .group = 1 },
	{ "release", '\0', "V.R", "release of z/VM; also check the lengths of records (default: "
	  "found by these lengths)", TO_CALL(set_release), .group = 1 },
	{ "layout", '\0', "PAGE", "take the offsets of a record's fields from this saved page "
	  "of IBM's z/VM Monitor Records; may be repeated", TO_CALL(set_layout),
	  .group = 1 },
	{ "timeout", '\0', "TIME", "stop with exit code 124 if no data come for this time",
	  TO_CALL(set_timeout), .group = 1 },
	{ "blocking", '\0', NULL, "wait in read() instead of poll()", FLAG(blocking), .group = 1 },
	{ "reopen", '\0', "N", "reopen the device after CP severs the path; give up after N "
	  "consecutive failures (default: 5)",
	  TO_NUMBER(struct options, reopen, 0, MOST_TRIES), .group = 1,
	  .wrong = "invalid number of tries: '%s' (0 to 1000000)" },
	{ "reopen-wait", '\0', "TIME", "wait before the first try (default: 1s); it doubles for "
	  "each further try, up to 1m", TO_CALL(set_reopen_wait), .group = 1 },
	{ 0 },
};

static const struct option_table input_table = { .rows = input_rows };

static const struct option_row option_rows[] = {
	{ .help = "Printing (default: text):", .group = 2 },
	{ "check", '\0', NULL, "print only broken rules and lost sets", FLAG(check), .group = 2 },
	{ "json", '\0', NULL, "print JSON lines", FLAG(json), .group = 2 },
	{ "values", '\0', NULL, "also print the fields of records", FLAG(values), .group = 2 },
	{ "summary", '\0', NULL, "print a line for each set as soon as it is complete",
	  FLAG(summary), .group = 2 },
	{ "activity", '\0', NULL, "print the system's activity, a JSON line for each interval",
	  FLAG(activity), .group = 2 },
	{ "tables", '\0', NULL, "print tables at the end: load of the partition, waits of "
	  "users, response of devices, paging", FLAG(tables), .group = 2 },
	{ .help = "Output files, with complete sets only:", .group = 3 },
	{ "write-stream", '\0', "OUT", "write the bytes in the form of the device, and OUT.idx, "
	  "which says where sets end",
	  WORD(write_stream), .group = 3 },
	{ "write-monwrite", '\0', "OUT", "write a MONWRITE file", WORD(write_monwrite),
	  .group = 3 },
	{ "rotate-size", '\0', "SIZE", "with --write-monwrite: start a new file when OUT "
	  "reaches this size, "
	  "for example 100M; OUT becomes OUT.1, OUT.1 becomes OUT.2, and so on",
	  TO_SIZE(struct options, rotation.size, 1, UINT64_MAX), .group = 3,
	  .wrong = "invalid --rotate-size: '%s' (for example 100M)" },
	{ "rotate-time", '\0', "TIME", "start a new file when OUT covers this time, for example "
	  "1h",
	  TO_TIME(struct options, rotation.ns, 1000000, UINT64_MAX), .group = 3,
	  .wrong = "invalid --rotate-time: '%s' (1ms and more, for example 1h)" },
	{ "rotate-keep", '\0', "N", "number of rotated files to keep (default: 10)",
	  TO_NUMBER(struct options, rotation.keep, 1, ROTATE_KEEP_MOST), .group = 3,
	  .wrong = "invalid --rotate-keep: '%s' (1 to 1000)" },
	{ "csv", '\0', "FOLDER", "write a CSV file for each type of record", WORD(csv),
	  .group = 3 },
	{ "anonymise", '\0', "KEY", "in all outputs, replace names and numbers that identify users "
	  "and systems; the first 16 bytes of the file KEY are the key", WORD(anonymise),
	  .group = 3 },
	{ "html", '\0', "OUT", "write a page with charts of the system's activity", WORD(html),
	  .group = 3 },
	{ .help = "For --html and --tables:", .group = 4 },
	{ "threshold", '\0', "NAME=VALUE", "mark values above these limits; busy=90, cpu-wait=25, "
	  "io-wait=25, "
	  "page-wait=10, response=20, slots=70 and paging=1000 unless given; VALUE may be off",
	  TO_CALL(set_threshold), .group = 4 },
	{ 0 },
};

/* What a page explains it explains to whoever reads, not to the lists of what identifies somebody. */
static void check_input(const void *target, const struct argp_state *state)
{
	const struct options *options = target;

	if (options->layout && options->anonymise)
		argp_error(state, "--layout cannot be used with --anonymise");
}

static void check(const void *target, const struct argp_state *state)
{
	const struct options *options = target;

	check_input(target, state);
	if (!options->write_monwrite && rotation_wanted(&options->rotation))
		argp_error(state, "--rotate-size and --rotate-time need --write-monwrite");
	if (options->summary + options->activity + options->tables +
	    (options->check || options->json || options->values) > 1)
		argp_error(state, "only one of --summary, --activity, --tables, and the group of "
			   "--check, --json and --values can be used");
}

static const struct option_table option_table = { .rows = option_rows, .check = check };

static const struct option_part parts[] = { { &input_table, 0, .group = 1 }, { 0 } };

static const struct word_row words[] = { { TO_WORDS(struct options, files) }, { 0 } };

static const struct command_line line = {
	.options = &option_table,
	.parts = parts,
	.words = words,
	.words_help = "[FILE...]",
	.help = "Reads z/VM monitor data from " DEVICE ", from a file with the same bytes, or "
		"from a MONWRITE file ('-': standard input); several files are read as one recording, in the "
		"order of their time.\v"
		"The records of a set are printed before it is known whether the set is "
		"complete.  The last line of the set says so.\n\n"
		"Exit codes: 0 success; 1 a rule was broken, a set was lost or an output failed; "
		"2 wrong command line or file; 77 the device does not exist or cannot be used; "
		"124 time-out.\n\n"
		"A command, with options of its own:\n"
		"  export     export values to monitoring systems",
};

static const struct option_row export_rows[] = {
	{ "anonymise", '\0', "KEY", "replace names and numbers that identify users and systems; the "
	  "first 16 bytes of the file KEY are the key", WORD(anonymise), .group = 2 },
	{ 0 },
};

static const struct option_table export_table = { .rows = export_rows, .check = check_input };

static const struct option_part export_parts[] = {
	{ &input_table, 0, .group = 1 },
	{ &export_option_table, offsetof(struct options, exports), .group = 3 },
	{ 0 },
};

static const struct command_line export_line = {
	.options = &export_table,
	.parts = export_parts,
	.words = words,
	.words_help = "[FILE...]",
	.help = "Exports the activity of a z/VM system to monitoring systems: reads monitor data from "
		DEVICE ", or from a FILE as monread does.\v"
		"At the end of a file, the last values stay available at --listen until a signal "
		"comes.  A file with the name export is ./export.",
};

static void parse(struct options *options, const struct command_line *as, int argc, char **argv)
{
	*options = (struct options){
		.timeout_ms = -1, .reopen = 5, .reopen_wait_ms = 1000,
		.rotation = { .keep = 10 }, .thresholds = thresholds_default,
		.exports = EXPORT_OPTIONS_DEFAULT,
	};
	argp_program_version = "monread " ZVMLAB_VERSION;
	argp_err_exit_status = EXIT_USAGE;
	if (command_line_parse(as, 0, argc, argv, options))
		exit(EXIT_USAGE);
	if (options->files.count == 0)
		options->files = (struct word_list){ { DEVICE }, 1 };
	set_span(options);
}

void options_parse(struct options *options, int argc, char **argv)
{
	static char name[] = "monread export";

	if (argc < 2 || strcmp(argv[1], "export") != 0) {
		parse(options, &line, argc, argv);
		return;
	}
	argv[1] = name;
	parse(options, &export_line, argc - 1, argv + 1);
	options->exporting = true;
}

bool options_print(const struct options *options)
{
	return options->check || options->json || options->values ||
	       !(options->exporting || options->summary || options->activity ||
		 options->tables || options->write_stream || options->write_monwrite ||
		 options->csv || options->html);
}
