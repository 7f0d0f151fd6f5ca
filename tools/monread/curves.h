/* SPDX-License-Identifier: MIT */
/*
 * monread: CPU time of users over time, in the buckets of an activity.
 *
 * They are beside the activity, which is copied at each set: they are too large for that.
 */
#ifndef CURVES_H
#define CURVES_H

#include "activity.h"

struct user_curve {
	uint64_t time, total, virtual;	/* of the activity, at the end of the last interval */
	struct {
		bool known;		/* a record of the user came in an interval */
		float time, total, virtual;	/* seconds */
	} of[ACTIVITY_BUCKETS];
};

struct user_curves {
	uint64_t intervals;		/* that were taken in */
	unsigned int merged;
	struct user_curve user[ACTIVITY_USERS];	/* as the activity has them */
};

/* Take in the intervals that have ended since the last call; of several the last one gets all. */
void curves_take(struct user_curves *curves, const struct activity *f);

/* Per cent of a processor; total to virtual time.  Below 0: it is not known. */
double curves_busy(const struct user_curves *curves, const struct activity *f, unsigned int user,
		   unsigned int bucket);
double curves_ratio(const struct user_curves *curves, unsigned int user, unsigned int bucket);

#endif
