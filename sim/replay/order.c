/* SPDX-License-Identifier: MIT */
/* The order of records in the traces of a system's machines: their numbers are one sequence. */
#include <inttypes.h>

#include "replay_private.h"

/* Of the record, or of the last that a repeat stands for. */
static uint64_t order_of(const struct replay *r)
{
	if (!r->record)
		return r->order;
	return (uint64_t)json_integer_value(json_object_get(r->record, "order"));
}

/* Is there a record that has still to come, or something that stands for several? */
static bool has_more(const struct replay *r)
{
	return r->record || r->again > 0;
}

/* Has the trace the record of this number and no other one before it? */
static bool must_be(const struct replay *r, uint64_t order)
{
	if (r->repeating)
		return r->again == 1 && r->order == order;
	return has_more(r) && order_of(r) == order && (r->record || r->again == 1);
}

/* Or can that be one of those that a repeat stands for?  Of the last of them the number is known. */
static bool may_be(const struct replay *r, uint64_t order)
{
	return r->again > 1 && order < r->order;
}

/* A repeat's record becomes one of those that have still to come. */
static void put_back(struct replay *r)
{
	if (!r->repeating)
		return;
	json_decref(r->record);
	r->record = NULL;
	r->repeating = false;
}

static struct replay *take(struct replay *r, uint64_t order)
{
	r->all->next = r;
	if (!r->record && !replay_repeat_line(r, order))
		return NULL;
	return r;
}

/* Have a record of each trace, as far as there is one. */
static bool look(struct replay_all *all)
{
	for (size_t i = 0; i < all->count && !all->stopped; i++) {
		struct replay *r = &all->replay[i];

		replay_need(r);
		if (all->count > 1 && r->number > 0 && !r->member)
			replay_unusable(r, "it is of a guest that is alone, whose trace is replayed "
					"by itself");
	}
	return !all->stopped;
}

/* The trace whose next record has the lowest number; NULL if all have ended. */
static struct replay *lowest(struct replay_all *all)
{
	struct replay *found = NULL;

	for (size_t i = 0; i < all->count; i++) {
		struct replay *r = &all->replay[i];

		if (has_more(r) && (!found || order_of(r) < order_of(found)))
			found = r;
	}
	return found;
}

/* Of repeats in several traces those come first whose last number is the lowest. */
static struct replay *find(struct replay_all *all, uint64_t order)
{
	struct replay *found = NULL, *repeats = NULL;

	for (size_t i = 0; i < all->count; i++) {
		struct replay *r = &all->replay[i];

		if (must_be(r, order) && found) {
			replay_unusable(r, "%s has a record %" PRIu64 " of its system as well; give "
					"the traces of one system, each once", found->from->name,
					order);
			return NULL;
		}
		if (must_be(r, order))
			found = r;
		if (may_be(r, order) && (!repeats || r->order < repeats->order))
			repeats = r;
	}
	return found ? found : repeats;
}

/* No trace has the record. */
static void miss(struct replay_all *all, uint64_t order)
{
	struct replay *r = lowest(all);

	for (size_t i = 0; i < all->count; i++) {
		if (!all->replay[i].limited)
			continue;
		/* What the core does from here on has not been recorded. */
		all->limited = &all->replay[i];
		all->stopped = true;
		return;
	}
	if (r && order_of(r) < order)
		replay_unusable(r, "record %" PRIu64 " of its system has been in another trace; give "
				"the traces of one system, each once", order_of(r));
	else if (r)
		replay_unusable(r, "it is record %" PRIu64 " of its system, and no trace has record %"
				PRIu64 "; give those of all machines that have been logged on",
				order_of(r), order);
}

struct replay *replay_turn(struct replay_all *all)
{
	const uint64_t order = all->order + 1;
	struct replay *r;

	if (all->stopped || all->next)
		return all->stopped ? NULL : all->next;
	if (!look(all))
		return NULL;
	if (!all->replay[0].member)
		return all->next = all->replay[0].record ? &all->replay[0] : NULL;
	r = find(all, order);
	if (r)
		return take(r, order);
	if (!all->stopped)
		miss(all, order);
	return NULL;
}

void replay_expect(struct replay *r)
{
	const struct replay_all *all = r->all;
	const uint64_t order = all->order + 1;
	struct replay *turn = replay_turn(r->all);

	if (!turn || turn == r || !turn->repeating || !may_be(r, order))
		return;
	put_back(turn);
	take(r, order);
}
