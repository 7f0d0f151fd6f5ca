/* SPDX-License-Identifier: MIT */
/* The end of a replay: what was wrong with the trace, or differs from it. */
#include <stdarg.h>

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
