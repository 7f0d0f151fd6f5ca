/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...)
{
	char sentence[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, sentence);
}
