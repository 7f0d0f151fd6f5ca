/* SPDX-License-Identifier: MIT */
/* Trace records: built in fixed buffers, handed to the port as one line. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cp_private.h"
#include "zvmlab/bytes.h"
#include "zvmlab/state.h"
#include "zvmlab/trace.h"

#define HEAD_SIZE 256u
#define FIELDS_SIZE 32768u
#define ACCESS_SIZE 49152u
#define TAIL_SIZE 256u
#define LINE_SIZE (HEAD_SIZE + FIELDS_SIZE + 2 * ACCESS_SIZE + TAIL_SIZE)
/* Room that is left for the result when all else is full. */
#define RESULT_SIZE 96u
#define MAX_FIELDS 96u
#define MAX_KEY 32u
/* Longest text in full; the rest is counted. */
#define MAX_TEXT 1024u

/* One access at its longest: ,["16 digits","512 digits"] */
#define ACCESS_MAX (2 * TRACE_DATA_MAX + 32u)
/* What closes a list: ,["more",4294967295,"16 digits"] */
#define MORE_MAX 48u

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

struct accesses {
	char text[ACCESS_SIZE];
	size_t len;
	uint32_t more;		/* accesses that found no room … */
	uint64_t more_hash;	/* … and the hash of their addresses and bytes */
};

struct trace {
	uint64_t seq;		/* of the last record */
	unsigned int depth;	/* calls open; 0: no record */
	char head[HEAD_SIZE];
	size_t head_len;
	char fields[FIELDS_SIZE];
	size_t fields_len;
	const char *keys[MAX_FIELDS];
	bool inner[MAX_FIELDS];	/* of a call inside the record's own */
	unsigned int key_count;
	uint32_t fields_lost;
	struct accesses in, out;
	char line[LINE_SIZE];
};

int trace_init(struct cp *cp, char *err, size_t errlen)
{
	cp->trace = calloc(1, sizeof(*cp->trace));
	if (!cp->trace) {
		snprintf(err, errlen, "not enough memory for the trace");
		return -1;
	}
	return 0;
}

void trace_fini(struct cp *cp)
{
	free(cp->trace);
	cp->trace = NULL;
}

bool trace_enabled(const struct cp *cp)
{
	return cp->host.trace != NULL;
}

static uint64_t fnv1a(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * FNV_PRIME;
	return hash;
}

static size_t put_hex(char *to, const uint8_t *bytes, size_t len)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		to[2 * i] = digit[bytes[i] >> 4];
		to[2 * i + 1] = digit[bytes[i] & 15];
	}
	return 2 * len;
}

/* JSON string contents; bytes above 0x7e are taken as ISO 8859-1.  At most 6 × @len. */
static size_t put_escaped(char *to, const char *text, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		const uint8_t c = (uint8_t)text[i];

		if (c == '"' || c == '\\') {
			to[at++] = '\\';
			to[at++] = (char)c;
		} else if (c >= 0x20 && c < 0x7f) {
			to[at++] = (char)c;
		} else {
			memcpy(to + at, "\\u00", 4);
			at += 4 + put_hex(to + at + 4, &c, 1);
		}
	}
	return at;
}

static __attribute__((format(printf, 4, 5))) size_t put_format(char *buffer, size_t at, size_t size,
							       const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(buffer + at, size - at, format, args);
	va_end(args);
	assert(len >= 0 && (size_t)len < size - at);
	return at + (size_t)len;
}

/* The result of the outermost call keeps these; calls inside it get a number. */
static bool is_result(const char *key)
{
	return strcmp(key, "cc") == 0 || strcmp(key, "pgm") == 0 || strcmp(key, "how") == 0;
}

/* Room for @key and @max bytes of value?  Then the key has been written. */
static bool field_start(struct trace *t, const char *key, size_t max)
{
	const bool result = is_result(key), inner = t->depth > 1;
	unsigned int same = result && inner ? 2 : 1;

	assert(strlen(key) <= MAX_KEY);
	if (t->key_count >= MAX_FIELDS - !result ||
	    FIELDS_SIZE - t->fields_len < max + MAX_KEY + 16 + !result * RESULT_SIZE) {
		t->fields_lost++;
		return false;
	}
	for (unsigned int i = 0; i < t->key_count; i++)
		same += strcmp(t->keys[i], key) == 0 && (!result || t->inner[i] == inner);
	t->inner[t->key_count] = inner;
	t->keys[t->key_count++] = key;
	if (same == 1)
		t->fields_len = put_format(t->fields, t->fields_len, FIELDS_SIZE, ",\"%s\":", key);
	else
		t->fields_len = put_format(t->fields, t->fields_len, FIELDS_SIZE, ",\"%s#%u\":",
					   key, same);
	return true;
}

/* Members of the record itself: fields of the same name get a number. */
static const char *const own_keys[] = {
	"seq", "tod", "cpu", "call", "in", "out", "lost",
};

void trace_begin(struct cp *cp, int cpu, const char *call)
{
	struct trace *t = cp->trace;
	char cpu_text[16] = "null";

	if (!trace_enabled(cp))
		return;
	if (t->depth++ > 0) {
		trace_text(cp, "call", call);
		return;
	}
	_Static_assert(sizeof(own_keys) / sizeof(own_keys[0]) < MAX_FIELDS, "room for fields");
	memcpy(t->keys, own_keys, sizeof(own_keys));
	t->key_count = sizeof(own_keys) / sizeof(own_keys[0]);
	t->fields_len = 0;
	t->fields_lost = 0;
	t->in.len = t->out.len = 0;
	t->in.more = t->out.more = 0;
	if (cpu != TRACE_NO_CPU)
		snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	t->head_len = put_format(t->head, 0, HEAD_SIZE,
				 "{\"seq\":%" PRIu64 ",\"tod\":\"%016" PRIx64
				 "\",\"cpu\":%s,\"call\":\"%.64s\"",
				 ++t->seq, cp_tod(cp), cpu_text, call);
}

void trace_number(struct cp *cp, const char *key, uint64_t value)
{
	struct trace *t = cp->trace;

	if (t->depth > 0 && field_start(t, key, 24))
		t->fields_len = put_format(t->fields, t->fields_len, FIELDS_SIZE, "%" PRIu64, value);
}

void trace_hex(struct cp *cp, const char *key, uint64_t value)
{
	struct trace *t = cp->trace;

	if (t->depth > 0 && field_start(t, key, 24))
		t->fields_len = put_format(t->fields, t->fields_len, FIELDS_SIZE, "\"%" PRIx64 "\"",
					   value);
}

void trace_text(struct cp *cp, const char *key, const char *text)
{
	struct trace *t = cp->trace;
	size_t len, shown;

	if (t->depth == 0)
		return;
	len = strlen(text);
	shown = len > MAX_TEXT ? MAX_TEXT : len;
	if (!field_start(t, key, 6 * shown + 48))
		return;
	t->fields[t->fields_len++] = '"';
	t->fields_len += put_escaped(t->fields + t->fields_len, text, shown);
	if (shown < len)
		t->fields_len = put_format(t->fields, t->fields_len, FIELDS_SIZE,
					   " [%zu bytes more]", len - shown);
	t->fields[t->fields_len++] = '"';
}

void trace_gr(struct cp *cp, const uint64_t *gr, unsigned int count)
{
	struct trace *t = cp->trace;

	assert(count >= 1 && count <= 16);
	if (t->depth == 0 || !field_start(t, "gr", 20 * count + 2))
		return;
	for (unsigned int i = 0; i < count; i++)
		t->fields_len = put_format(t->fields, t->fields_len, FIELDS_SIZE,
					   "%c\"%" PRIx64 "\"", i == 0 ? '[' : ',', gr[i]);
	t->fields[t->fields_len++] = ']';
}

void trace_bytes(struct cp *cp, const char *key, const void *bytes, size_t len)
{
	struct trace *t = cp->trace;

	if (t->depth == 0 || !field_start(t, key, 2 * TRACE_DATA_MAX + 2))
		return;
	if (len > TRACE_DATA_MAX) {
		t->fields_len = put_format(t->fields, t->fields_len, FIELDS_SIZE,
					   "[%zu,\"%016" PRIx64 "\"]", len,
					   fnv1a(FNV_START, bytes, len));
		return;
	}
	t->fields[t->fields_len++] = '"';
	t->fields_len += put_hex(t->fields + t->fields_len, bytes, len);
	t->fields[t->fields_len++] = '"';
}

void trace_access(struct cp *cp, bool store, uint64_t addr, const void *bytes, size_t len)
{
	struct trace *t = cp->trace;
	struct accesses *to = store ? &t->out : &t->in;

	if (t->depth == 0)
		return;
	if (ACCESS_SIZE - to->len < ACCESS_MAX + MORE_MAX) {
		uint8_t where[8];

		if (to->more++ == 0)
			to->more_hash = FNV_START;
		put_be64(where, addr);
		to->more_hash = fnv1a(fnv1a(to->more_hash, where, sizeof(where)), bytes, len);
		return;
	}
	to->len = put_format(to->text, to->len, ACCESS_SIZE, "%s[\"%" PRIx64 "\",",
			     to->len == 0 ? "" : ",", addr);
	if (len > TRACE_DATA_MAX) {
		to->len = put_format(to->text, to->len, ACCESS_SIZE, "%zu,\"%016" PRIx64 "\"]", len,
				     fnv1a(FNV_START, bytes, len));
		return;
	}
	to->text[to->len++] = '"';
	to->len += put_hex(to->text + to->len, bytes, len);
	to->text[to->len++] = '"';
	to->text[to->len++] = ']';
}

static size_t put_accesses(char *line, size_t at, const char *key, struct accesses *list)
{
	if (list->len == 0)
		return at;
	if (list->more > 0)
		list->len = put_format(list->text, list->len, ACCESS_SIZE,
				       ",[\"more\",%" PRIu32 ",\"%016" PRIx64 "\"]", list->more,
				       list->more_hash);
	at = put_format(line, at, LINE_SIZE, ",\"%s\":[", key);
	memcpy(line + at, list->text, list->len);
	at += list->len;
	line[at++] = ']';
	return at;
}

static void end(struct cp *cp)
{
	struct trace *t = cp->trace;
	size_t at = t->head_len;

	memcpy(t->line, t->head, at);
	at = put_accesses(t->line, at, "in", &t->in);
	at = put_accesses(t->line, at, "out", &t->out);
	memcpy(t->line + at, t->fields, t->fields_len);
	at += t->fields_len;
	if (t->fields_lost > 0)
		at = put_format(t->line, at, LINE_SIZE, ",\"lost\":%" PRIu32, t->fields_lost);
	at = put_format(t->line, at, LINE_SIZE, "}");
	cp->host.trace(cp->host.opaque, t->line, at);
}

void trace_end(struct cp *cp)
{
	struct trace *t = cp->trace;

	if (!trace_enabled(cp))
		return;
	assert(t->depth > 0);
	if (--t->depth == 0)
		end(cp);
}

void trace_end_result(struct cp *cp, const struct cp_result *result)
{
	struct trace *t = cp->trace;

	if (!trace_enabled(cp))
		return;
	assert(t->depth > 0);
	if (result->how == CP_CC)
		trace_number(cp, "cc", result->cc);
	else if (result->how == CP_PROGRAM)
		trace_number(cp, "pgm", result->pgm);
	else
		trace_text(cp, "how", result->how == CP_PASS ? "pass" : "done");
	if (--t->depth == 0)
		end(cp);
}

void trace_state(struct cp *cp, struct state *s)
{
	uint64_t seq = cp->trace->seq;

	state_tag(s, "TRAC");
	state_u64(s, &seq);
	if (s->loading && !s->failed)
		cp->trace->seq = seq;
}
