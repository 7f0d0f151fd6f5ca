/* SPDX-License-Identifier: MIT */
/* monread: one pass through the data. */
#ifndef PASS_H
#define PASS_H

#include "anonymise.h"
#include "files.h"
#include "hold.h"
#include "input.h"
#include "keep.h"
#include "options.h"
#include "releases.h"
#include "selection.h"
#include "sink.h"

struct pass {
	const struct options *options;
	struct input *input;
	struct monrec_reader *reader;
	struct sinks *sinks;
	struct tally *tally;
	struct anonymiser *anonymiser;	/* NULL: data stay as they are */
	struct releases *releases;
	bool holding;			/* the release is not known yet: */
	struct hold hold;
	struct files *files;		/* that are one recording; NULL: there is only the input */
	struct selection selection;
	struct hold earlier;		/* records of the system before those that are wanted */
	bool open;			/* the outputs have a set that has not ended */
	bool failed;			/* a file could not be read */
	bool regular;			/* standard output is a regular file: */
	struct keep printed;
};

/* Until nothing comes any more, or a signal does; the exit code. */
int pass_run(struct pass *pass);
/* Is the release that the data are of worth a line at the end? */
bool pass_tells_release(const struct options *options);
/* The same as pass_run() with a reader of the input, which is there meanwhile. */
int pass_all(struct pass *pass);

#endif
