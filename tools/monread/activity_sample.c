/* SPDX-License-Identifier: MIT */
/* monread: what samples of users add: D4R3, their activity, and D4R4, their interaction. */
#include "activity.h"
#include "smaller.h"

/*
 * How the user's counters go on, whose samples of this kind are @seen.  @fell: one of them is
 * below what it was.
 */
static enum going going_of(const struct activity *f, const struct user_activity *user,
			   const struct user_sample *seen, bool fell)
{
	if (f->user_samples && user->logon > f->sampled_until)
		return BEGINS_ANEW;
	if (!seen->any)
		return BEGINS;
	if (fell)
		return BEGINS_ANEW;
	/* A complete sample without it: it was away, or not monitored. */
	return f->user_samples > seen->number + 1 ? BEGINS : GOES_ON;
}

static void saw(struct activity *f, struct user_sample *seen)
{
	seen->any = true;
	seen->number = f->user_samples;
	f->users_sampled = true;
}

static enum record_use take_activity(struct activity *f, struct user_activity *user,
				     const struct monrec_record *record)
{
	uint64_t time, logon;
	enum going going;

	if (!activity_value(f, record, FIELD_D4R3_TIME, &time))
		return RECORD_NOT_UNDERSTOOD;
	if (activity_value(f, record, FIELD_D4R3_LOGON, &logon) && logon <= record->tod)
		user->logon = larger(user->logon, logon);
	going = going_of(f, user, &user->activity, time < user->last);
	if (going != BEGINS)
		user->time += going == BEGINS_ANEW ? time : time - user->last;
	user->counted = true;
	user->source = (uint32_t)record->domain << 16 | record->number;
	user->last = time;
	activity_take_times(f, user, record, going);
	activity_take_pages(f, user, record, going);
	saw(f, &user->activity);
	return RECORD_USED;
}

static enum record_use take_interaction(struct activity *f, struct user_activity *user,
					const struct monrec_record *record)
{
	uint32_t now[USER_STATES];
	enum going going;

	if (!activity_states(f, record, FIELD_D4R4_SAMPLES, now))
		return RECORD_NOT_UNDERSTOOD;
	going = going_of(f, user, &user->interaction, states_begun_anew(&user->states, now));
	/* Whoever has just come has all of its samples since then. */
	user->states.counted = going != BEGINS;
	states_add(&user->states, now, going == BEGINS_ANEW, NULL);
	saw(f, &user->interaction);
	return RECORD_USED;
}

enum record_use activity_user_sample(struct activity *f, struct user_activity *user,
				     const struct monrec_record *record)
{
	return record->number == 3 ? take_activity(f, user, record) :
				     take_interaction(f, user, record);
}
