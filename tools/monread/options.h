/* SPDX-License-Identifier: MIT */
/* monread: the command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporter.h"
#include "command_line.h"
#include "rotate.h"
#include "selection.h"
#include "threshold.h"

#define DEVICE "/dev/monreader"

struct options {
	struct word_list files;	/* one at least */
	const char *from, *to;	/* as they were given; NULL: not */
	struct span span;
	bool monwrite, check, json, values, summary, activity, tables, blocking;
	const char *write_stream, *write_monwrite, *csv, *html, *anonymise;	/* NULL: not asked for */
	uint64_t sets;		/* 0: all */
	unsigned int release;	/* 0: not told */
	const char *layout;	/* the last page of IBM's that was added; NULL: none, and of its release: */
	unsigned int layout_release;
	int timeout_ms;		/* -1: none */
	unsigned int reopen, reopen_wait_ms;
	struct rotation rotation;	/* of write_monwrite */
	struct thresholds thresholds;
	bool exporting;		/* "monread export"; nothing is printed then */
	struct export_options exports;
};

/* Ends the program if that is what the words ask for, or if they are wrong. */
void options_parse(struct options *options, int argc, char **argv);
/* Is text or JSON printed? */
bool options_print(const struct options *options);

#endif
