/* SPDX-License-Identifier: MIT */
/* monread: the command. */
#include "monread.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "exit_code.h"
#include "export.h"
#include "files.h"
#include "pass.h"

/* Of the page. */
static const char *title_of(const struct word_list *files)
{
	static char title[PATH_MAX + 32];

	if (files->count == 1)
		return files->word[0];
	snprintf(title, sizeof(title), "%s and %u more", files->word[0], files->count - 1);
	return title;
}

static bool open_sinks(const struct options *options, const struct releases *releases,
		       struct sinks *sinks)
{
	bool good = true;

	if (options->write_stream)
		good = sinks_add(sinks, stream_sink(options->write_stream), options->write_stream);
	if (good && options->write_monwrite)
		good = sinks_add(sinks, monwrite_sink(options->write_monwrite, &options->rotation),
				 options->write_monwrite);
	if (good && options->csv)
		good = sinks_add(sinks, csv_sink(options->csv), options->csv);
	if (good && options->html)
		good = sinks_add(sinks, html_sink(options->html, title_of(&options->files), releases,
						&options->thresholds),
				 options->html);
	if (good && options->summary)
		good = sinks_add(sinks, summary_sink(stdout), "standard output");
	if (good && options->tables)
		good = sinks_add(sinks, tables_sink(stdout, releases, &options->thresholds),
				 "standard output");
	if (good && options->activity)
		good = sinks_add(sinks, activity_sink(stdout, releases), "standard output");
	return good;
}

/* False, having told the user why, if there is no key. */
static bool open_key(const struct options *options, struct anonymiser *anonymiser)
{
	const int ret = options->anonymise ? anonymise_open(anonymiser, options->anonymise) : 0;

	if (ret == -EINVAL)
		fprintf(stderr, "monread: %s: a key has %u bytes, this file has fewer\n",
			options->anonymise, ANONYMISE_KEY_SIZE);
	else if (ret)
		complain_about(options->anonymise, -ret);
	return ret == 0;
}

/* Where data come from. */
struct source {
	struct input input;
	struct files files;	/* none: the input alone */
};

/* Opens the input, of several files the first one; the exit code. */
static int open_source(const struct options *options, struct source *source)
{
	const char *name = options->files.word[0];
	int ret;

	if (options->files.count > 1) {
		if (!files_open(&source->files, &options->files, options->monwrite))
			return EXIT_USAGE;
		name = source->files.file[0].name;
	}
	source->input = (struct input){
		.name = name, .timeout_ms = options->timeout_ms,
		.blocking = options->blocking, .reopen = options->reopen,
		.reopen_wait_ms = options->reopen_wait_ms,
	};
	ret = input_open(&source->input, options->monwrite);
	if (!ret)
		return EXIT_PASS;
	complain_about(name, -ret);
	return strcmp(name, DEVICE) == 0 ? EXIT_CANNOT_RUN : EXIT_USAGE;
}

static int read_all(const struct options *options, struct source *source, struct releases *releases,
		    struct sinks *sinks, struct tally *tally)
{
	struct anonymiser anonymiser = { 0 };
	struct pass pass = {
		.options = options, .input = &source->input,
		.files = source->files.count ? &source->files : NULL, .releases = releases, .sinks = sinks,
		.tally = tally,
		.anonymiser = options->anonymise ? &anonymiser : NULL,
	};
	int code;

	if (!open_key(options, &anonymiser))
		return EXIT_USAGE;
	code = pass_all(&pass);
	sinks_close(sinks);
	if (code == EXIT_PASS && sinks->failed)
		code = EXIT_FAILED;
	tally_print(tally, stderr);
	if (tally->records && (releases->contradicted || pass_tells_release(options)))
		releases_print(releases, stderr);
	return code;
}

/* As read_all(); "monread export" gives what is read to monitoring systems meanwhile. */
static int read_exporting(const struct options *options, struct source *source,
			  struct releases *releases, struct sinks *sinks)
{
	struct tally tally = { 0 };
	struct export *export = NULL;
	int code = EXIT_PASS;

	if (options->exporting)
		code = export_begin(&export, options, &tally, releases, sinks);
	if (!code) {
		code = read_all(options, source, releases, sinks, &tally);
		if (export)
			export_stay(export, &source->input, code);
	}
	sinks_close(sinks);
	return export_end(export, code);
}

int main(int argc, char **argv)
{
	struct options options;
	static struct releases releases;
	static struct source source;
	struct sinks sinks = { 0 };
	int code;

	options_parse(&options, argc, argv);
	code = open_source(&options, &source);
	if (code)
		return code;
	input_catch_signals();
	code = EXIT_USAGE;
	if (input_recognise(&source.input) && open_sinks(&options, &releases, &sinks))
		code = read_exporting(&options, &source, &releases, &sinks);
	sinks_close(&sinks);
	input_close(&source.input);
	return code;
}
