/* SPDX-License-Identifier: MIT */
/*
 * monread: an output that takes data sets whole or not at all.
 *
 * Items come as libmonrec gives them, from MONREC_SET to MONREC_SET_END, and
 * MONREC_OVERFLOW in between; violations come, too.  Behind MONREC_SET_END follows
 * keep(): what came since the last time stays.  drop() instead: it goes, because the
 * set is lost, or because it has not come to its end.
 */
#ifndef SINK_H
#define SINK_H

#include "monread.h"
#include "releases.h"
#include "rotate.h"
#include "threshold.h"

struct sink;

/* 0 or -errno; after an error only drop() and close() follow. */
struct sink_ops {
	int (*item)(struct sink *sink, const struct monrec_item *item);
	int (*keep)(struct sink *sink);
	int (*drop)(struct sink *sink);
	/* Frees it; what was kept stays. */
	int (*close)(struct sink *sink);
	bool frames;		/* wants MONREC_FRAME items */
};

struct sink {
	const struct sink_ops *ops;
	const char *name;	/* of the file or folder; the caller's */
	/* Takes what a record before those that are wanted says of the system; NULL: does not. */
	void (*earlier)(struct sink *sink, const struct monrec_record *record);
};

/*
 * NULL with errno set.  ESPIPE: @name is there and no regular file; ECANCELED, which close() may
 * give, too: the user was told what is wrong.
 */
/* The bytes as the device gives them; NAME.idx says where sets end. */
struct sink *stream_sink(const char *name);
struct sink *monwrite_sink(const char *name, const struct rotation *rotation);
/* A file for each type of record in the folder @name, which is made if it is not there. */
struct sink *csv_sink(const char *name);
/*
 * A page with charts, when all has been read; @title is the input's name; the caller's, as are
 * the @releases that the data turn out to be of (NULL: not told).
 */
struct sink *html_sink(const char *name, const char *title, const struct releases *releases,
		       const struct thresholds *thresholds);
/* The tables of the page as text on @out, when all has been read. */
struct sink *tables_sink(FILE *out, const struct releases *releases,
			 const struct thresholds *thresholds);
/* A JSON object a line for what the system did in each interval, on @out. */
struct sink *activity_sink(FILE *out, const struct releases *releases);
/* A line for each set, on @out. */
struct sink *summary_sink(FILE *out);

#define MOST_SINKS 8u

struct sinks {
	struct sink *sink[MOST_SINKS];
	unsigned int count;	/* that still take items */
	bool failed;		/* one of them could not be written */
	bool frames;		/* one of them wants MONREC_FRAME items */
};

/* False, having told the user why, if @sink is NULL (errno). */
bool sinks_add(struct sinks *sinks, struct sink *sink, const char *name);
/*
 * Gives the item to all.  One that fails is told of, and ends at the last set; the
 * others go on.
 */
void sinks_item(struct sinks *sinks, const struct monrec_item *item);
/* A record of sets before those that are wanted. */
void sinks_earlier(struct sinks *sinks, const struct monrec_record *record);
/* A set that has not come to its end is dropped. */
void sinks_close(struct sinks *sinks);

#endif
