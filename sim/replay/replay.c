/* SPDX-License-Identifier: MIT */
/* A trace from its first line to its last, or to the first difference. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"

static void stop(struct replay *r, enum replay_result result, const char *format, va_list args)
{
	if (r->stopped)
		return;
	r->stopped = true;
	r->result = result;
	fprintf(r->out, "line %llu: ", (unsigned long long)r->number);
	vfprintf(r->out, format, args);
	fputc('\n', r->out);
}

void replay_unusable(struct replay *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	stop(r, REPLAY_UNUSABLE, format, args);
	va_end(args);
}

void replay_differs(struct replay *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	stop(r, REPLAY_DIFFERS, format, args);
	va_end(args);
}

void replay_step(struct replay *r, void (*give)(struct replay *r, const json_t *record))
{
	const uint64_t matched = r->matched;
	json_t *record = json_incref(r->record);

	give(r, record);
	if (!r->stopped && r->matched == matched)
		replay_differs(r, "the core does not write the record \"%.64s\" now",
			       json_string_value(json_object_get(record, "call")));
	json_decref(record);
}

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
