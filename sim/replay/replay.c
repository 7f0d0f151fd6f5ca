/* SPDX-License-Identifier: MIT */
/* A trace from its first line to its last, or to the first difference. */
#include <stdlib.h>

#include "replay_private.h"

enum replay_result replay_run(FILE *in, FILE *out, uint64_t *records)
{
	struct replay *r = calloc(1, sizeof(*r));
	enum replay_result result;

	*records = 0;
	if (!r) {
		fprintf(out, "not enough memory for a replay\n");
		return REPLAY_UNUSABLE;
	}
	r->in = in;
	r->out = out;
	while (replay_need(r) && !r->stopped)
		replay_step(r, r->cp ? replay_input : replay_configuration);
	if (!r->cp)
		replay_unusable(r, "it is not there; a trace begins with the configuration");
	if (r->limited)
		fprintf(out, "line %llu: the trace has reached its limit here; all before it is the "
			"same\n", (unsigned long long)r->number);
	/* What the core does from here on is not compared. */
	r->stopped = true;
	replay_peers_end(r);
	cp_destroy(r->cp);
	replay_host_end(r);
	json_decref(r->record);
	free(r->line);
	*records = r->matched;
	result = r->result;
	free(r);
	return result;
}
