/* SPDX-License-Identifier: MIT */
/* monread: what quantities.def says of each subject, and what is made of it where. */
#ifndef QUANTITY_H
#define QUANTITY_H

#include <jansson.h>

#include "activity.h"
#include "families.h"
#include "threshold.h"

/* Each with the structure that it is of. */
enum subject {
	OF_INTERVAL,		/* struct bucket */
	OF_PROCESSOR,		/* struct cpu_activity */
	OF_DEVICE,		/* struct device_activity */
	OF_VOLUME,		/* struct device_activity */
	OF_USER,		/* struct user_activity */
	OF_USER_TIME,		/* struct user_activity */
};

/* In a table of all of the time; in a JSON line, of an interval; in a family. */
enum quantity_as {
	AS_COUNT,		/* what was counted, in each */
	AS_LATEST,		/* as it was last, in each */
	AS_RATE,		/* a second; a second; what was counted */
	AS_SHARE,		/* per cent; per cent; none */
	AS_MEAN_TIME,		/* ms; ms; s: of a measurement block's times */
	AS_PAGES,		/* MiB, pages, bytes, as it was last */
	AS_RATIO,		/* in a table alone, as the next ones: what it is to the other value */
	AS_TIME,		/* TOD; 0: none */
	AS_IT_IS,		/* a number that the activity has computed */
};

struct quantity {
	const char *heading;	/* NULL: no table has it */
	const char *key;	/* NULL: no JSON line has it */
	enum quantity_as as;
	int decimals;		/* in a table */
	enum threshold threshold;
	enum export_family family;
	uint64_t (*value)(const void *it);
	uint64_t (*of)(const void *it);
	double (*real)(const void *it);	/* the value of AS_IT_IS */
};

/* All of a subject, as quantities.def has them; the last one has neither heading nor key. */
const struct quantity *quantities(enum subject subject);

/* What a table has, where @seconds passed in all; below 0: it is not known. */
double quantity_value(const struct quantity *quantity, const void *it, double seconds);

/* Adds what there was between the two, in @time of the TOD clock, unless it is not known. */
void quantity_json(json_t *line, const struct quantity *quantity, const void *now,
		   const void *before, uint64_t time);

/* Adds the family's value, if it has one and it is known. */
void quantity_metric(struct metrics *metrics, const struct quantity *quantity,
		     const char *const *labels, const void *it);

#endif
