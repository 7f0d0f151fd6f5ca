/* SPDX-License-Identifier: MIT */
/* monread: the command. */
#include "monread.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exit_code.h"
#include "number.h"

#define DEVICE "/dev/monreader"
#define MOST_MINUTES 1440u

enum { OPTION_MONWRITE = 1, OPTION_CHECK, OPTION_JSON, OPTION_VALUES, OPTION_SETS, OPTION_RELEASE,
       OPTION_TIMEOUT };

struct options {
	const char *file;
	bool monwrite, check, json, values;
	uint64_t sets;		/* 0: all */
	unsigned int release;	/* 0: not told */
	int timeout_ms;
};

static const struct argp_option option_table[] = {
	{ "monwrite", OPTION_MONWRITE, NULL, 0, "the file is one of CMS' MONWRITE", 0 },
	{ "check", OPTION_CHECK, NULL, 0, "print only what breaks a rule of the format", 0 },
	{ "json", OPTION_JSON, NULL, 0, "print JSON lines", 0 },
	{ "values", OPTION_VALUES, NULL, 0, "print the fields of records, too", 0 },
	{ "sets", OPTION_SETS, "N", 0, "end after N sets", 0 },
	{ "release", OPTION_RELEASE, "V.R",
	  0, "release of z/VM: whose layouts hold (5.3), and with --check whose lengths", 0 },
	{ "timeout", OPTION_TIMEOUT, "TIME", 0, "end with 124 if no data come for so long", 0 },
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
	return true;
}

static error_t parse_option(int key, char *word, struct argp_state *state)
{
	struct options *options = state->input;
	uint64_t ns;

	switch (key) {
	case OPTION_MONWRITE:
		options->monwrite = true;
		break;
	case OPTION_CHECK:
		options->check = true;
		break;
	case OPTION_JSON:
		options->json = true;
		break;
	case OPTION_VALUES:
		options->values = true;
		break;
	case OPTION_SETS:
		if (!number_parse(word, 1, UINT64_MAX, &options->sets))
			argp_error(state, "'%s' is no number of sets", word);
		break;
	case OPTION_RELEASE:
		if (!parse_release(word, &options->release))
			argp_error(state, "'%s' is no release of z/VM, as 5.3 is", word);
		break;
	case OPTION_TIMEOUT:
		if (!number_parse_time(word, &ns) || ns / 60000000000u >= MOST_MINUTES)
			argp_error(state, "'%s' is no time below a day, as 10s or 500ms is", word);
		options->timeout_ms = (int)(ns / 1000000);
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "only one file can be read");
		options->file = word;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Prints z/VM monitor data: of " DEVICE ", of a file of the same bytes, of a file "
	       "of MONWRITE ('-': standard input).\v"
	       "A set's records come before it is known whether the set is complete; its last "
	       "line says so.\n\n"
	       "Exit code: 0; 1 a rule was broken or a set was lost; 2 wrong command line or "
	       "file; 77 the device is not there or cannot be used; 124 time-out.",
};

static void complain(const char *what, int error)
{
	fflush(stdout);
	fprintf(stderr, "monread: %s: %s\n", what, strerror(error));
}

/* Opens the file and tells its format. */
static int open_input(const struct options *options, struct input *input,
		      enum monrec_format *format)
{
	struct stat status;

	input->timeout_ms = options->timeout_ms;
	input->fd = strcmp(options->file, "-") == 0 ? STDIN_FILENO :
						      open(options->file, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0 || fstat(input->fd, &status)) {
		complain(options->file, errno);
		return strcmp(options->file, DEVICE) == 0 ? EXIT_CANNOT_RUN : EXIT_USAGE;
	}
	if (options->monwrite)
		*format = MONREC_MONWRITE;
	else if (S_ISCHR(status.st_mode) && input->fd != STDIN_FILENO)
		*format = MONREC_DEVICE;
	else
		*format = MONREC_SAVED;
	return EXIT_PASS;
}

/* What is printed of an item. */
static int show_item(const struct options *options, const struct show *show,
		     const struct monrec_item *item)
{
	if (options->check && item->kind != MONREC_VIOLATION && item->kind != MONREC_SET_LOST)
		return 0;
	if (options->json)
		return json_item(show, item);
	/* Without the lines around it, the line that a set is lost tells nothing. */
	if (options->check && item->kind == MONREC_SET_LOST && !item->error)
		return 0;
	return text_item(show, item);
}

/* Nothing comes any more; why. */
static int exit_code(const struct options *options, const struct input *input,
		     const struct tally *tally, int error)
{
	if (input->timed_out)
		error = ETIMEDOUT;
	if (error)
		complain(options->file, error);
	if (input->timed_out)
		return EXIT_TIMEOUT;
	return error || tally->violations || tally->lost || tally->overflows ? EXIT_FAILED :
									       EXIT_PASS;
}

static int read_all(const struct options *options, struct input *input,
		    struct monrec_reader *reader, struct tally *tally)
{
	const struct show show = {
		.out = stdout,
		.values = options->values,
		.release = options->release ? options->release : MONREC_REFERENCE,
	};
	struct monrec_item item;
	int error = 0;

	monrec_set_release(reader, options->release);
	while (monrec_next(reader, &item) != MONREC_END) {
		tally_item(tally, &item);
		if (item.kind == MONREC_ERROR)
			error = item.error;
		if (show_item(options, &show, &item)) {
			complain("standard output", errno);
			return EXIT_FAILED;
		}
		if (input_signal())
			return 128 + input_signal();
		if (options->sets && tally->sets + tally->lost == options->sets)
			break;
	}
	return exit_code(options, input, tally, error);
}

int main(int argc, char **argv)
{
	struct options options = { .file = DEVICE, .timeout_ms = -1 };
	enum monrec_format format = MONREC_SAVED;
	struct monrec_reader *reader;
	struct tally tally = { 0 };
	struct input input = { .fd = -1 };
	int code;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &options))
		return EXIT_USAGE;
	code = open_input(&options, &input, &format);
	if (code != EXIT_PASS)
		return code;
	reader = monrec_open(format, input_read, &input);
	if (!reader) {
		complain("no storage", errno);
		return EXIT_CANNOT_RUN;
	}
	input_catch_signals();
	code = read_all(&options, &input, reader, &tally);
	monrec_close(reader);
	if (fflush(stdout) && code == EXIT_PASS) {
		complain("standard output", errno);
		code = EXIT_FAILED;
	}
	tally_print(&tally, stderr);
	return code;
}
