/* SPDX-License-Identifier: MIT */
/* monread: one pass through the data. */
#ifndef PASS_H
#define PASS_H

#include "anonymise.h"
#include "input.h"
#include "options.h"
#include "sink.h"

struct pass {
	const struct options *options;
	struct input *input;
	struct monrec_reader *reader;
	struct sinks *sinks;
	struct tally *tally;
	struct anonymiser *anonymiser;	/* NULL: data stay as they are */
};

/* Until nothing comes any more, or a signal does; the exit code. */
int pass_run(struct pass *pass);
/* The same with a reader of the input, which is there meanwhile. */
int pass_all(struct pass *pass);

#endif
