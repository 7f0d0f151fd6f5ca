/* SPDX-License-Identifier: MIT */
/* The lines of a trace, one after the other. */
#define _GNU_SOURCE /* memmem */
#include <inttypes.h>
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
	while ((c = getc_unlocked(r->from->in)) != EOF && c != '\n') {
		if (r->len == r->capacity && !grow(r))
			return false;
		r->line[r->len++] = (char)c;
	}
	if (c == '\n')
		return true;
	if (ferror(r->from->in))
		replay_unusable(r, "it cannot be read");
	else if (r->len > 0)
		replay_unusable(r, "it is cut off; the trace ends in the middle of a record");
	r->ended = true;
	return false;
}

static bool is_hex(const json_t *record, const char *name)
{
	const char *text = json_string_value(json_object_get(record, name));
	uint64_t value;

	return text && replay_parse_hex(text, UINT64_MAX, &value);
}

static bool well_formed(const struct replay *r)
{
	return is_hex(r->record, "tod") && json_is_integer(json_object_get(r->record, "seq")) &&
	       json_is_string(json_object_get(r->record, "call")) &&
	       (!r->member || (is_hex(r->record, "clock") &&
			       json_integer_value(json_object_get(r->record, "order")) > 0));
}

/* For lines that repeat it: all of this one after its number and time. */
static void remember(struct replay *r)
{
	static const char member[] = ",\"cpu\":";
	const char *body = memmem(r->line, r->len, member, sizeof(member) - 1);
	const size_t len = body ? (size_t)(r->line + r->len - body) : 0;

	r->seq = (uint64_t)json_integer_value(json_object_get(r->record, "seq"));
	r->same_len = len <= sizeof(r->same) ? len : 0;
	memcpy(r->same, body ? body : r->line, r->same_len);
}

/* A record that says how often the one before has come again. */
static bool start_repeat(struct replay *r)
{
	const uint64_t seq = (uint64_t)json_integer_value(json_object_get(r->record, "seq"));

	r->again = replay_number(r, r->record, "times", TRACE_SAME_TIMES);
	r->tod = replay_hex(r, r->record, "tod", UINT64_MAX);
	r->clock = replay_hex_or(r, r->record, "clock", UINT64_MAX, 0);
	r->order = (uint64_t)json_integer_value(json_object_get(r->record, "order"));
	if (!r->all->stopped && (r->same_len == 0 || r->again == 0 || seq != r->seq + r->again))
		replay_unusable(r, "it repeats another record than the one before it");
	json_decref(r->record);
	r->record = NULL;
	return !r->all->stopped;
}

static int put_head(const struct replay *r, uint64_t order, char *head, size_t size)
{
	if (!r->member)
		return snprintf(head, size, "{\"seq\":%" PRIu64 ",\"tod\":\"%016" PRIx64 "\"",
				r->seq + 1, r->tod);
	return snprintf(head, size, "{\"seq\":%" PRIu64 ",\"order\":%" PRIu64 ",\"tod\":\"%016" PRIx64
			"\",\"clock\":\"%016" PRIx64 "\"", r->seq + 1, order, r->tod, r->clock);
}

/* The line that is to come again. */
static bool put_line(struct replay *r, uint64_t order)
{
	char head[160];
	const int len = put_head(r, order, head, sizeof(head));

	r->len = (size_t)len + r->same_len;
	while (r->capacity < r->len)
		if (!grow(r))
			return false;
	memcpy(r->line, head, (size_t)len);
	memcpy(r->line + len, r->same, r->same_len);
	return true;
}

static bool is_call(const struct replay *r, const char *call)
{
	return strcmp(json_string_value(json_object_get(r->record, "call")), call) == 0;
}

/* Parse the line.  Return: is it a record? */
static bool take_line(struct replay *r)
{
	json_error_t error;

	if (ctl_modest(r->line, r->len, REPLAY_MAX_VALUES, REPLAY_MAX_DEPTH))
		r->record = json_loadb(r->line, r->len, JSON_REJECT_DUPLICATES, &error);
	r->reads = 0;
	if (r->number == 1)
		r->member = json_object_get(r->record, "order");
	if (r->record && well_formed(r))
		return true;
	replay_unusable(r, "it is not a record of a CP trace");
	json_decref(r->record);
	r->record = NULL;
	return false;
}

bool replay_repeat_line(struct replay *r, uint64_t order)
{
	assert(r->again > 0 && !r->record);
	if (!put_line(r, order) || !take_line(r))
		return false;
	r->repeating = true;
	return true;
}

/* Its place among other machines' records is that of the last which it has. */
static void reach_limit(struct replay *r)
{
	r->ended = r->limited = true;
	json_decref(r->record);
	r->record = NULL;
	if (r->member)
		return;
	/* What the core does from here on has not been recorded. */
	r->all->limited = r;
	r->all->stopped = true;
}

bool replay_need(struct replay *r)
{
	if (r->record)
		return true;
	if (r->all->stopped || (r->ended && r->again == 0))
		return false;
	if (r->again == 0) {
		if (!read_line(r) || !take_line(r))
			return false;
		if (is_call(r, "trace.limit")) {
			reach_limit(r);
			return false;
		}
		if (!is_call(r, "repeat")) {
			remember(r);
			return true;
		}
		if (!start_repeat(r))
			return false;
	}
	/* Which number each has follows from the other traces. */
	return r->member || replay_repeat_line(r, 0);
}

void replay_next(struct replay *r)
{
	struct replay_all *all = r->all;

	assert(r->record);
	all->order = (uint64_t)json_integer_value(json_object_get(r->record, "order"));
	all->next = NULL;
	all->questions = 0;
	all->matched++;
	if (r->repeating) {
		r->again--;
		r->seq++;
	}
	r->repeating = false;
	json_decref(r->record);
	r->record = NULL;
}

void replay_step(struct replay *r, void (*give)(struct replay *r, const json_t *record))
{
	const uint64_t matched = r->all->matched;
	json_t *record = json_incref(r->record);

	give(r, record);
	if (!r->all->stopped && r->all->matched == matched)
		replay_differs(r, "the core does not write the record \"%.64s\" now",
			       json_string_value(json_object_get(record, "call")));
	json_decref(record);
}
