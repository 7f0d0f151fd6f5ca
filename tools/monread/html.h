/* SPDX-License-Identifier: MIT */
/* monread: the activity as a page of their own, without anything from elsewhere. */
#ifndef HTML_H
#define HTML_H

#include <stdio.h>

#include "activity.h"
#include "clock.h"
#include "curves.h"
#include "report.h"

/* All of the page.  0, or -errno if @out fails. */
int html_page(FILE *out, const struct activity *f, const struct user_curves *curves,
	      const char *title, const struct thresholds *thresholds);

/* A value for each series in each bucket; below 0: there is none. */
struct chart {
	const char *id, *title, *unit;
	unsigned int series;
	const char *const *names;	/* may have markup's characters */
	const void *of;			/* what the values are of */
	double (*value)(const void *of, const struct bucket *bucket, unsigned int series);
	/* The highest of the intervals that a bucket combines; NULL: it is not known. */
	double (*most)(const void *of, const struct bucket *bucket, unsigned int series);
	int decimals;		/* in its table */
	bool marks;		/* values above this one are marked: */
	double threshold;
};

/* html_chart.c: lines over time, gaps where sets were lost, and the same as a table */
void html_chart(FILE *out, const struct activity *f, const struct chart *chart);
/* Events over time, a row for each kind. */
void html_timeline(FILE *out, const struct activity *f);

/* html_table.c */
void html_users(FILE *out, const struct activity *f);
/* Those whose CPU time is known, the largest first.  Return: how many. */
unsigned int html_users_by_time(const struct activity *f,
				const struct user_activity *user[ACTIVITY_USERS]);
void html_devices(FILE *out, const struct activity *f);
/* A section; what is above a threshold has a mark before it, and a line says of what. */
void html_report(FILE *out, const struct report *report);
void html_events(FILE *out, const struct activity *f);
void html_gaps(FILE *out, const struct activity *f);

/* html_text.c; text where markup is: none of it is markup */
void html_text(FILE *out, const char *text);
extern const char *const html_event_names[EVENT_KINDS];

#endif
