/* SPDX-License-Identifier: MIT */
/* The lines of a trace, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"
#include "text.h"

#define FIRST_CAPACITY 65536u

static bool grow(struct replay *r)
{
	size_t capacity = r->capacity ? 2 * r->capacity : FIRST_CAPACITY;
	char *line;

	if (r->len == REPLAY_MAX_LINE) {
		replay_unusable(r, "it is longer than the %zu bytes that a record can have",
				(size_t)REPLAY_MAX_LINE);
		return false;
	}
	capacity = capacity < REPLAY_MAX_LINE ? capacity : REPLAY_MAX_LINE;
	line = realloc(r->line, capacity);
	if (!line) {
		replay_unusable(r, "not enough memory for a record of more than %zu bytes",
				r->capacity);
		return false;
	}
	r->line = line;
	r->capacity = capacity;
	return true;
}

/* One line without its newline; false at the end of the file. */
static bool read_line(struct replay *r)
{
	int c;

	r->len = 0;
	r->number++;
	while ((c = getc_unlocked(r->in)) != EOF && c != '\n') {
		if (r->len == r->capacity && !grow(r))
			return false;
		r->line[r->len++] = (char)c;
	}
	if (c == '\n')
		return true;
	if (ferror(r->in))
		replay_unusable(r, "it cannot be read");
	else if (r->len > 0)
		replay_unusable(r, "it is cut off; the trace ends in the middle of a record");
	r->ended = true;
	return false;
}

static bool well_formed(const json_t *record)
{
	const char *tod = json_string_value(json_object_get(record, "tod"));
	uint64_t value;

	return tod && replay_parse_hex(tod, UINT64_MAX, &value) &&
	       json_is_integer(json_object_get(record, "seq")) &&
	       json_is_string(json_object_get(record, "call"));
}

bool replay_need(struct replay *r)
{
	json_error_t error;

	if (r->record)
		return true;
	if (r->ended || r->stopped || !read_line(r))
		return false;
	if (ctl_modest(r->line, r->len, REPLAY_MAX_VALUES, REPLAY_MAX_DEPTH))
		r->record = json_loadb(r->line, r->len, JSON_REJECT_DUPLICATES, &error);
	r->reads = 0;
	if (r->record && well_formed(r->record))
		return true;
	replay_unusable(r, "it is no record of a CP trace");
	json_decref(r->record);
	r->record = NULL;
	return false;
}

void replay_next(struct replay *r)
{
	assert(r->record);
	json_decref(r->record);
	r->record = NULL;
	r->matched++;
}
