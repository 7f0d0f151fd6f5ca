/* SPDX-License-Identifier: MIT */
#include "curves.h"

#include <string.h>

static float seconds(uint64_t now, uint64_t before)
{
	return (float)((double)(now - before) / (double)TOD_SECOND);
}

/* As the activity's buckets: each two become one. */
static void fold(struct user_curve *curve)
{
	const unsigned int half = ACTIVITY_BUCKETS / 2;

	for (unsigned int i = 0; i < half; i++) {
		const unsigned int one = 2 * i, other = one + 1;

		curve->of[i].known = curve->of[one].known || curve->of[other].known;
		curve->of[i].time = curve->of[one].time + curve->of[other].time;
		curve->of[i].total = curve->of[one].total + curve->of[other].total;
		curve->of[i].virtual = curve->of[one].virtual + curve->of[other].virtual;
	}
	memset(&curve->of[half], 0, half * sizeof(curve->of[0]));
}

/* Has the last sample a record of the user?  Application data come in each. */
static bool is_sampled(const struct activity *f, const struct user_activity *user)
{
	if (user->activity.any)
		return user->activity.number + 1 == f->user_samples;
	return activity_is_sampled(user);
}

static void take(struct user_curve *curve, const struct activity *f, const struct user_activity *user)
{
	const unsigned int last = f->buckets - 1;

	if (is_sampled(f, user)) {
		curve->of[last].known = true;
		curve->of[last].time += seconds(user->time, curve->time);
		curve->of[last].total += seconds(user->total, curve->total);
		curve->of[last].virtual += seconds(user->virtual, curve->virtual);
	}
	curve->time = user->time;
	curve->total = user->total;
	curve->virtual = user->virtual;
}

void curves_take(struct user_curves *curves, const struct activity *f)
{
	if (f->intervals == curves->intervals || !f->buckets)
		return;
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		if (!f->user[i].counted)
			continue;
		for (unsigned int merged = curves->merged; merged && merged < f->merged; merged *= 2)
			fold(&curves->user[i]);
		take(&curves->user[i], f, &f->user[i]);
	}
	curves->intervals = f->intervals;
	curves->merged = f->merged;
}

double curves_busy(const struct user_curves *curves, const struct activity *f, unsigned int user,
		   unsigned int bucket)
{
	const double time = (double)f->bucket[bucket].time / (double)TOD_SECOND;

	if (!curves->user[user].of[bucket].known || time <= 0)
		return -1;
	return 100 * (double)curves->user[user].of[bucket].time / time;
}

double curves_ratio(const struct user_curves *curves, unsigned int user, unsigned int bucket)
{
	const double virtual = (double)curves->user[user].of[bucket].virtual;

	return virtual > 0 ? (double)curves->user[user].of[bucket].total / virtual : -1;
}
