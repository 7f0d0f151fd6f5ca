/* SPDX-License-Identifier: MIT */
/* The end of a replay: what was wrong with the trace, or differs from it. */
#include <stdarg.h>

#include "replay_private.h"

void replay_at(const struct replay *r)
{
	if (r->all->count > 1)
		fprintf(r->all->out, "%s, ", r->from->name);
	fprintf(r->all->out, "line %llu: ", (unsigned long long)r->number);
}

static void stop(struct replay *r, enum replay_result result, const char *format, va_list args)
{
	struct replay_all *all = r->all;

	if (all->stopped)
		return;
	all->stopped = true;
	all->result = result;
	replay_at(r);
	vfprintf(all->out, format, args);
	fputc('\n', all->out);
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
