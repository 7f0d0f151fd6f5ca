// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: a trace that somebody has made up, replayed.  Where the core writes another
 * record than the trace has, the trace gets what the core wrote and is replayed again: so far
 * it must come then, and what follows is reached.
 */
#include "fuzz_target.h"
#include "mutate_lines.h"
#include "replay.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT 65536
#define MOST_REPAIRS 8

static char text[MOST_TEXT];
static size_t text_len;
static char report[16384];

#define REQUIRE(condition)                                                                 \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "a replay is not what it promises: %s\nreport: %s" \
					"trace:\n%.*s", #condition, report, (int)text_len, \
				text);                                                     \
			abort();                                                           \
		}                                                                          \
	} while (0)

static enum replay_result replay(uint64_t *records)
{
	FILE *in = fmemopen(text, text_len, "r");
	FILE *out = fmemopen(report, sizeof(report) - 1, "w");
	const struct replay_trace trace = { in, "trace" };
	enum replay_result result;

	if (!in || !out)
		abort();
	memset(report, 0, sizeof(report));
	result = replay_run(&trace, 1, out, records);
	fclose(in);
	fclose(out);
	return result;
}

/* The line that the report is about, from 1. */
static uint64_t reported_line(void)
{
	char *end;
	uint64_t number;

	REQUIRE(strncmp(report, "line ", 5) == 0);
	number = strtoull(report + 5, &end, 10);
	REQUIRE(number >= 1 && strncmp(end, ": ", 2) == 0);
	return number;
}

/* Puts @len bytes in place of a line, behind the last line if it is the next one. */
static bool replace(uint64_t number, const char *line, size_t len)
{
	char *at = text, *end = text + text_len, *next;

	while (--number > 0) {
		at = memchr(at, '\n', (size_t)(end - at));
		REQUIRE(at);
		at++;
	}
	next = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
	next = next ? next + 1 : end;
	if (text_len - (size_t)(next - at) + len > MOST_TEXT)
		return false;
	memmove(at + len, next, (size_t)(end - next));
	memcpy(at, line, len);
	text_len = text_len - (size_t)(next - at) + len;
	return true;
}

/* Corrects the trace by the report; false if that does not hold all of the record. */
static bool repair(uint64_t number)
{
	static const char title[] = "\nreplayed: ", cut[] = "…\n";
	const char *line = strstr(report, title);
	size_t len;

	if (strstr(report, "the core does not write the record"))
		return replace(number, "", 0);
	if (!line)
		return false;
	line += sizeof(title) - 1;
	len = strlen(line);
	if (strncmp(line, cut, sizeof(cut) - 2) == 0 || len < sizeof(cut) ||
	    strcmp(line + len - (sizeof(cut) - 1), cut) == 0)
		return false;
	return replace(number, line, len);
}

/* Records are not made up: the core would write others. */
size_t new_line(uint8_t *line, size_t max, uint32_t *random)
{
	(void)line;
	(void)max;
	(void)random;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum replay_result result;
	uint64_t records, number, last = 0;

	if (size == 0 || size > MOST_TEXT)
		return 0;
	memcpy(text, data, size);
	text_len = size;
	for (unsigned int repairs = 0; repairs < MOST_REPAIRS && text_len; repairs++) {
		result = replay(&records);
		if (result == REPLAY_SAME) {
			/* A trace that has reached its limit is the same so far, and that is said. */
			REQUIRE(report[0] == '\0' || strstr(report, "has reached its limit here"));
			REQUIRE(records > 0);
			break;
		}
		number = reported_line();
		REQUIRE(records + 1 == number);
		/* A CP may be refused when it has written its configuration, line 1. */
		REQUIRE(number > last ||
			(result == REPLAY_UNUSABLE && number == 1 && last == 1));
		if (result == REPLAY_UNUSABLE || !repair(number))
			break;
		/* What has been corrected once is right; where a line was taken out is the next. */
		last = strstr(report, "the core does not write the record") ? number - 1 : number;
	}
	return 0;
}
