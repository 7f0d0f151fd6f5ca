/* SPDX-License-Identifier: MIT */
/* Traces from their first lines to their last, or to the first difference. */
#include <stdlib.h>

#include "replay_private.h"

static void step(struct replay *r)
{
	const bool begins = r->phase == REPLAY_BEGINS;

	if (!begins && !r->cp)
		replay_unusable(r, "its machine has logged off, and the trace goes on");
	else
		replay_step(r, begins ? replay_configuration : replay_input);
}

static void run(struct replay_all *all)
{
	struct replay *r;

	while ((r = replay_turn(all)) != NULL)
		step(r);
	for (size_t i = 0; i < all->count; i++)
		if (all->replay[i].phase == REPLAY_BEGINS)
			replay_unusable(&all->replay[i], "it is not there; a trace begins with the "
					"configuration");
	if (!all->limited)
		return;
	replay_at(all->limited);
	fprintf(all->out, "the trace has reached its limit here; all before it is the same\n");
}

/* What the core does from here on is not compared. */
static void end(struct replay_all *all)
{
	all->stopped = true;
	for (size_t i = 0; i < all->count; i++)
		replay_peers_end(&all->replay[i]);
	for (size_t i = 0; i < all->count; i++) {
		struct replay *r = &all->replay[i];

		/* Whoever has logged on ends with the system. */
		if (!all->system || r->phase == REPLAY_CREATED)
			cp_destroy(r->cp);
		json_decref(r->record);
		free(r->line);
	}
	cp_system_destroy(all->system);
	replay_storage_end(all);
	free(all->replay);
}

enum replay_result replay_run(const struct replay_trace *traces, size_t count, FILE *out,
			      uint64_t *records)
{
	struct replay_all all = {
		.replay = calloc(count, sizeof(struct replay)), .count = count, .out = out,
	};

	assert(count > 0);
	*records = 0;
	if (!all.replay) {
		fprintf(out, "not enough memory for a replay\n");
		return REPLAY_UNUSABLE;
	}
	for (size_t i = 0; i < count; i++) {
		all.replay[i].all = &all;
		all.replay[i].from = &traces[i];
	}
	run(&all);
	end(&all);
	*records = all.matched;
	return all.result;
}
