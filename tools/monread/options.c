/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <argp.h>
#include <stdlib.h>

#include "exit_code.h"
#include "monrec_catalogue.h"
#include "number.h"
#include "version.h"

#define MOST_MINUTES 1440u

enum { OPTION_MONWRITE = 1, OPTION_CHECK, OPTION_JSON, OPTION_VALUES, OPTION_SETS, OPTION_RELEASE,
       OPTION_TIMEOUT, OPTION_BLOCKING, OPTION_REOPEN, OPTION_REOPEN_WAIT, OPTION_SUMMARY,
       OPTION_FIGURES,
       OPTION_CSV, OPTION_HTML, OPTION_ANONYMISE, OPTION_WRITE_STREAM, OPTION_WRITE_MONWRITE };

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "What is read:", 1 },
	{ "monwrite", OPTION_MONWRITE, NULL, 0, "the file is one of CMS' MONWRITE, even if it does not begin as one", 1 },
	{ "sets", OPTION_SETS, "N", 0, "end after N sets", 1 },
	{ "release", OPTION_RELEASE, "V.R",
	  0, "release of z/VM: whose layouts hold (5.3), and with --check whose lengths", 1 },
	{ "timeout", OPTION_TIMEOUT, "TIME", 0, "end with 124 if no data come for so long", 1 },
	{ "blocking", OPTION_BLOCKING, NULL, 0, "wait in read(), not in poll()", 1 },
	{ "reopen", OPTION_REOPEN, "N",
	  0, "when CP has severed, open the device anew, N tries in a row at most (5)", 1 },
	{ "reopen-wait", OPTION_REOPEN_WAIT, "TIME",
	  0, "before the first try (1s); before each further one twice as long, up to 1m", 1 },
	{ NULL, 0, NULL, 0, "What is printed (text, if nothing is asked for):", 2 },
	{ "check", OPTION_CHECK, NULL, 0, "only what breaks a rule of the format", 2 },
	{ "json", OPTION_JSON, NULL, 0, "JSON lines", 2 },
	{ "values", OPTION_VALUES, NULL, 0, "the fields of records, too", 2 },
	{ "summary", OPTION_SUMMARY, NULL, 0, "a line for each set as soon as it is complete", 2 },
	{ "figures", OPTION_FIGURES, NULL, 0, "JSON lines: what the system did in each interval", 2 },
	{ NULL, 0, NULL, 0, "What is written, complete sets only:", 3 },
	{ "write-stream", OPTION_WRITE_STREAM, "OUT",
	  0, "the bytes as the device gives them, and OUT.idx: where sets end", 3 },
	{ "write-monwrite", OPTION_WRITE_MONWRITE, "OUT", 0, "a file as MONWRITE writes it", 3 },
	{ "csv", OPTION_CSV, "FOLDER", 0, "a CSV file for each type of record", 3 },
	{ "anonymise", OPTION_ANONYMISE, "KEY",
	  0, "in all outputs, replace names and numbers that tell whom and what the data are of, "
	  "by a key: the first 16 bytes of the file KEY", 3 },
	{ "html", OPTION_HTML, "OUT", 0, "a page with charts of what the system did", 3 },
	{ 0 },
};

/* "5.3" gives 530. */
static bool parse_release(const char *word, unsigned int *release)
{
	char *end;
	unsigned long version = strtoul(word, &end, 10), minor;

	if (end == word || *end != '.' || *word < '0' || *word > '9' || version > 99)
		return false;
	word = end + 1;
	minor = strtoul(word, &end, 10);
	if (end != word + 1 || *end || *word < '0' || *word > '9')
		return false;
	*release = (unsigned int)(version * 100 + minor * 10);
	return monrec_release_known(*release);
}

/* Milliseconds, less than a day of them. */
static unsigned int parse_time(const char *word, struct argp_state *state)
{
	uint64_t ns = 0;

	if (!number_parse_time(word, &ns) || ns / 60000000000u >= MOST_MINUTES)
		argp_error(state, "'%s' is no time below a day, as 10s or 500ms is", word);
	return (unsigned int)(ns / 1000000);
}

static error_t parse_input(struct options *options, int key, char *word, struct argp_state *state)
{
	uint64_t number = 0;

	switch (key) {
	case OPTION_MONWRITE:
		options->monwrite = true;
		return 0;
	case OPTION_SETS:
		if (!number_parse(word, 1, UINT64_MAX, &options->sets))
			argp_error(state, "'%s' is no number of sets", word);
		return 0;
	case OPTION_RELEASE:
		if (!parse_release(word, &options->release))
			argp_error(state, "'%s' is no release of z/VM from 4.1 to 7.5, as 5.3 is", word);
		return 0;
	case OPTION_TIMEOUT:
		options->timeout_ms = (int)parse_time(word, state);
		return 0;
	case OPTION_BLOCKING:
		options->blocking = true;
		return 0;
	case OPTION_REOPEN:
		if (!number_parse(word, 0, 1000000, &number))
			argp_error(state, "'%s' is no number of tries from 0 to 1000000", word);
		options->reopen = (unsigned int)number;
		return 0;
	case OPTION_REOPEN_WAIT:
		options->reopen_wait_ms = parse_time(word, state);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "only one file can be read");
		options->file = word;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *word, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_CHECK:
		options->check = true;
		return 0;
	case OPTION_JSON:
		options->json = true;
		return 0;
	case OPTION_VALUES:
		options->values = true;
		return 0;
	case OPTION_SUMMARY:
		options->summary = true;
		return 0;
	case OPTION_FIGURES:
		options->figures = true;
		return 0;
	case OPTION_WRITE_STREAM:
		options->write_stream = word;
		return 0;
	case OPTION_WRITE_MONWRITE:
		options->write_monwrite = word;
		return 0;
	case OPTION_CSV:
		options->csv = word;
		return 0;
	case OPTION_ANONYMISE:
		options->anonymise = word;
		return 0;
	case OPTION_HTML:
		options->html = word;
		return 0;
	case ARGP_KEY_END:
		if (options->summary + options->figures +
		    (options->check || options->json || options->values) > 1)
			argp_error(state, "--summary and --figures are instead of each other and of "
				   "--check, --json and --values");
		return 0;
	default:
		return parse_input(options, key, word, state);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Reads z/VM monitor data: of " DEVICE ", of a file of the same bytes, of a file "
	       "of MONWRITE ('-': standard input).\v"
	       "A set's records are printed before it is known whether the set is complete; its "
	       "last line says so.\n\n"
	       "Exit code: 0; 1 a rule was broken, a set was lost or an output failed; 2 wrong "
	       "command line or file; 77 the device is not there or cannot be used; 124 time-out.",
};

void options_parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){
		.file = DEVICE, .timeout_ms = -1, .reopen = 5, .reopen_wait_ms = 1000,
	};
	argp_program_version = "monread " ZVMLAB_VERSION;
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, options))
		exit(EXIT_USAGE);
}

bool options_print(const struct options *options)
{
	return options->check || options->json || options->values ||
	       !(options->summary || options->figures || options->write_stream || options->write_monwrite ||
		 options->csv || options->html);
}

unsigned int options_release(const struct options *options)
{
	return options->release ? options->release : MONREC_REFERENCE;
}
