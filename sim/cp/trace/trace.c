/* SPDX-License-Identifier: MIT */
/*
 * Trace records: built in buffers that grow only with trace-data=full, handed
 * to the port as one line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "smaller.h"
#include "trace_private.h"
#include "zvmlab/state.h"
#include "zvmlab/trace.h"

#define HEAD_SIZE 256u
#define FIELDS_SIZE 32768u
#define ACCESS_SIZE 49152u
/* Of each other machine its name, of whose characters none is escaped, and the CPUs. */
#define KICKS_SIZE ((CP_MAX_MACHINES - 1) * (CP_NAME_LEN + 24u) + 16u)
#define TAIL_SIZE (256u + KICKS_SIZE)
#define LINE_SIZE (HEAD_SIZE + FIELDS_SIZE + 2 * ACCESS_SIZE + TAIL_SIZE)
/* Room that is left for the result when all else is full. */
#define RESULT_SIZE 96u
#define MAX_FIELDS 100u
#define MAX_KEY 32u
/* Longest text in full; the rest is counted. */
#define MAX_TEXT 1024u

struct trace {
	uint64_t seq;		/* of the last record */
	unsigned int depth;	/* calls open; 0: no record */
	bool full;		/* what a replay needs is there as a whole */
	char head[HEAD_SIZE];
	size_t head_len;
	struct trace_buffer fields;
	const char *keys[MAX_FIELDS];
	bool inner[MAX_FIELDS];	/* of a call inside the record's own */
	unsigned int key_count;
	uint32_t fields_lost;
	struct trace_accesses in, out;
	uint64_t kicked;	/* CPUs, one bit each; of another machine, by its record */
	bool timer_set, system_timer_set;
	uint64_t timer, system_timer;
	struct trace_buffer line;
};

static bool buffers_init(struct trace *t)
{
	const size_t most = t->full ? TRACE_FULL_MAX : 0;

	assert(!t->line.text && t->depth == 0);
	return trace_buffer_init(&t->fields, FIELDS_SIZE, most) &&
	       trace_buffer_init(&t->in.list, ACCESS_SIZE, most) &&
	       trace_buffer_init(&t->out.list, ACCESS_SIZE, 0) &&
	       trace_buffer_init(&t->line, LINE_SIZE, LINE_SIZE + 2 * most);
}

static void trace_fini(struct cp *cp)
{
	struct trace *t = cp->trace;

	cp->trace = NULL;
	if (!t)
		return;
	free(t->fields.text);
	free(t->in.list.text);
	free(t->out.list.text);
	free(t->line.text);
	free(t);
}

static int trace_init(struct cp *cp, char *err, size_t errlen)
{
	struct trace *t = calloc(1, sizeof(*t));

	cp->trace = t;
	if (t)
		t->full = cp->config.trace_full;
	if (!t || !buffers_init(t)) {
		snprintf(err, errlen, "not enough memory for the trace");
		trace_fini(cp);
		return -1;
	}
	trace_configuration(cp);
	return 0;
}

bool trace_enabled(const struct cp *cp)
{
	return cp->host.trace != NULL;
}

/* The trace with the record that is open, whichever machine's it is; NULL without. */
static struct trace *open_trace(const struct cp *cp)
{
	return cp->system->recording ? cp->system->recording->trace : NULL;
}

bool trace_full(const struct cp *cp)
{
	const struct cp *of = cp->system->recording ? cp->system->recording : cp;

	return of->host.trace && of->trace->full;
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

	assert(strlen(key) <= MAX_KEY && t->key_count <= MAX_FIELDS);
	if (t->key_count >= MAX_FIELDS - !result ||
	    !trace_buffer_room(&t->fields, max + MAX_KEY + 16 + !result * RESULT_SIZE)) {
		t->fields_lost++;
		return false;
	}
	for (unsigned int i = 0; i < t->key_count; i++)
		same += strcmp(t->keys[i], key) == 0 && (!result || t->inner[i] == inner);
	t->inner[t->key_count] = inner;
	t->keys[t->key_count++] = key;
	if (same == 1)
		trace_put(&t->fields, ",\"%s\":", key);
	else
		trace_put(&t->fields, ",\"%s#%u\":", key, same);
	return true;
}

/* Members of the record itself: fields of the same name get a number. */
static const char *const own_keys[] = {
	"seq", "order", "tod", "clock", "cpu", "call", "in", "out", "lost", "kick", "kicks", "timer",
	"system_timer",
};

static void open_record(struct cp *cp, int cpu, const char *call)
{
	struct trace *t = cp->trace;
	char cpu_text[16] = "null", order[40] = "", clock[32] = "";
	int len;

	_Static_assert(sizeof(own_keys) / sizeof(own_keys[0]) < MAX_FIELDS, "room for fields");
	assert(t->depth == 0);
	memcpy(t->keys, own_keys, sizeof(own_keys));
	t->key_count = sizeof(own_keys) / sizeof(own_keys[0]);
	t->fields.len = 0;
	t->fields_lost = 0;
	t->in.list.len = t->out.list.len = 0;
	t->in.more = t->out.more = 0;
	for (unsigned int i = 0; i < cp->system->machines; i++)
		cp->system->machine[i]->trace->kicked = 0;
	t->kicked = 0;
	t->timer_set = t->system_timer_set = false;
	t->depth = 1;
	cp->system->record_tod = cp_tod(cp);
	cp->system->record_clock = cp_system_tod(cp);
	cp->system->recording = cp;
	cp->system->order++;
	if (cpu != TRACE_NO_CPU)
		snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	if (!cp->system->alone) {
		snprintf(order, sizeof(order), "\"order\":%" PRIu64 ",", cp->system->order);
		snprintf(clock, sizeof(clock), ",\"clock\":\"%016" PRIx64 "\"",
			 cp->system->record_clock);
	}
	len = snprintf(t->head, HEAD_SIZE,
		       "{\"seq\":%" PRIu64 ",%s\"tod\":\"%016" PRIx64
		       "\"%s,\"cpu\":%s,\"call\":\"%.64s\"",
		       t->seq, order, cp->system->record_tod, clock, cpu_text, call);
	assert(len > 0 && (size_t)len < HEAD_SIZE);
	t->head_len = (size_t)len;
	assert(t->key_count < MAX_FIELDS);
}

void trace_begin(struct cp *cp, int cpu, const char *call)
{
	struct trace *t = open_trace(cp);

	if (cp->system->calls++ == 0)
		cp->system->call = call;
	if (!trace_enabled(cp))
		return;
	if (t) {
		t->depth++;
		trace_text(cp, "call", call);
		return;
	}
	cp->trace->seq++;
	open_record(cp, cpu, call);
}

static void begin_first(struct cp *cp, const char *call)
{
	assert(cp->trace->seq == 0);
	if (!trace_enabled(cp))
		return;
	cp->system->calls++;
	cp->system->call = call;
	open_record(cp, TRACE_NO_CPU, call);
}

void trace_number(struct cp *cp, const char *key, uint64_t value)
{
	struct trace *t = open_trace(cp);

	if (t && field_start(t, key, 24))
		trace_put(&t->fields, "%" PRIu64, value);
}

void trace_hex(struct cp *cp, const char *key, uint64_t value)
{
	struct trace *t = open_trace(cp);

	if (t && field_start(t, key, 24))
		trace_put(&t->fields, "\"%" PRIx64 "\"", value);
}

static void put_text(struct cp *cp, const char *key, const char *text, size_t most)
{
	struct trace *t = open_trace(cp);
	size_t len, shown;

	assert(text);
	if (!t)
		return;
	len = strlen(text);
	shown = smaller(len, most);
	if (!field_start(t, key, 6 * shown + 48))
		return;
	trace_put(&t->fields, "\"");
	trace_put_escaped(&t->fields, text, shown);
	if (shown < len)
		trace_put(&t->fields, " [%zu bytes more]", len - shown);
	trace_put(&t->fields, "\"");
}

void trace_text(struct cp *cp, const char *key, const char *text)
{
	put_text(cp, key, text, MAX_TEXT);
}

static void long_text(struct cp *cp, const char *key, const char *text)
{
	put_text(cp, key, text, SIZE_MAX);
}

void trace_gr(struct cp *cp, const uint64_t *gr, unsigned int count)
{
	struct trace *t = open_trace(cp);

	assert(count >= 1 && count <= 16);
	if (!t || !field_start(t, "gr", 20 * count + 2))
		return;
	for (unsigned int i = 0; i < count; i++)
		trace_put(&t->fields, "%c\"%" PRIx64 "\"", i == 0 ? '[' : ',', gr[i]);
	trace_put(&t->fields, "]");
}

void trace_bytes(struct cp *cp, const char *key, const void *bytes, size_t len)
{
	struct trace *t = open_trace(cp);

	if (!t || !field_start(t, key, 2 * TRACE_DATA_MAX + 2))
		return;
	if (len > TRACE_DATA_MAX) {
		trace_put(&t->fields, "[%zu,\"%016" PRIx64 "\"]", len,
			  hash_more(HASH_START, bytes, len));
		return;
	}
	trace_put(&t->fields, "\"");
	trace_put_hex(&t->fields, bytes, len);
	trace_put(&t->fields, "\"");
}

void trace_parts(struct cp *cp, const char *key, const struct trace_part *part, unsigned int count)
{
	struct trace *t = open_trace(cp);
	size_t len = 0;

	if (!t || !t->full)
		return;
	for (unsigned int i = 0; i < count; i++) {
		assert(part[i].bytes || part[i].len == 0);
		len += part[i].len;
	}
	if (len > TRACE_FULL_MAX || !field_start(t, key, 2 * len + 2))
		return;
	trace_put(&t->fields, "\"");
	for (unsigned int i = 0; i < count; i++)
		trace_put_hex(&t->fields, part[i].bytes, part[i].len);
	trace_put(&t->fields, "\"");
}

void trace_given(struct cp *cp, const char *key, const void *bytes, size_t len)
{
	const struct trace_part part = { bytes, len };

	if (trace_full(cp))
		trace_parts(cp, key, &part, 1);
	else
		trace_bytes(cp, key, bytes, len);
}

/* Whose storage it is, if not that of the machine whose record is open. */
static const char *other(const struct cp *cp)
{
	return cp == cp->system->recording ? NULL : cp->config.userid;
}

void trace_access(struct cp *cp, bool store, uint64_t addr, const void *bytes, size_t len)
{
	struct trace *t = open_trace(cp);

	if (t)
		trace_accesses_add(store ? &t->out : &t->in, t->full && !store, other(cp), addr,
				   bytes, len);
}

void trace_unmapped(struct cp *cp, uint64_t addr)
{
	struct trace *t = open_trace(cp);

	if (t && t->full)
		trace_accesses_unmapped(&t->in, other(cp), addr);
}

void trace_kick(struct cp *cp, unsigned int cpu)
{
	assert(cpu < CP_MAX_CPUS);
	cp->trace->kicked |= UINT64_C(1) << cpu;
}

void trace_timer(struct cp *cp, uint64_t tod)
{
	cp->trace->timer_set = true;
	cp->trace->timer = tod;
}

void trace_system_timer(struct cp *cp, uint64_t tod)
{
	struct trace *t = open_trace(cp);

	if (!t)
		return;
	t->system_timer_set = true;
	t->system_timer = tod;
}

/* CPUs of other machines, by their names. */
static void put_kicks(const struct cp *cp, struct trace_buffer *line)
{
	bool first = true;

	for (unsigned int i = 0; i < cp->system->machines; i++) {
		const struct cp *to = cp->system->machine[i];

		if (to == cp || to->trace->kicked == 0)
			continue;
		trace_put(line, "%s\"%s\":\"%" PRIx64 "\"", first ? ",\"kicks\":{" : ",",
			  to->config.userid, to->trace->kicked);
		first = false;
	}
	if (!first)
		trace_put(line, "}");
}

static void close_record(struct cp *cp)
{
	struct trace *t = cp->trace;
	struct trace_buffer *line = &t->line;

	assert(t->depth == 0 && cp->system->recording == cp);
	line->len = 0;
	/* Without memory for a long record its head says that all else is lost. */
	if (!trace_buffer_room(line, HEAD_SIZE + t->in.list.len + t->out.list.len + t->fields.len +
					     TAIL_SIZE)) {
		t->in.list.len = t->out.list.len = t->fields.len = 0;
		t->fields_lost++;
	}
	trace_put_text(line, t->head, t->head_len);
	trace_accesses_put(line, "in", &t->in);
	trace_accesses_put(line, "out", &t->out);
	trace_put_text(line, t->fields.text, t->fields.len);
	if (t->fields_lost > 0)
		trace_put(line, ",\"lost\":%" PRIu32, t->fields_lost);
	if (t->full && t->kicked != 0)
		trace_put(line, ",\"kick\":\"%" PRIx64 "\"", t->kicked);
	if (t->full)
		put_kicks(cp, line);
	if (t->full && t->timer_set)
		trace_put(line, ",\"timer\":\"%" PRIx64 "\"", t->timer);
	if (t->full && t->system_timer_set)
		trace_put(line, ",\"system_timer\":\"%" PRIx64 "\"", t->system_timer);
	trace_put(line, "}");
	cp->system->recording = NULL;
	cp->host.trace(cp->host.opaque, line->text, line->len);
}

void trace_end(struct cp *cp)
{
	struct trace *t = open_trace(cp);

	assert(cp->system->calls > 0);
	cp->system->calls--;
	if (!trace_enabled(cp))
		return;
	assert(t && t->depth > 0);
	if (--t->depth == 0)
		close_record(cp->system->recording);
}

void trace_end_result(struct cp *cp, const struct cp_result *result)
{
	if (result->how == CP_CC)
		trace_number(cp, "cc", result->cc);
	else if (result->how == CP_PROGRAM)
		trace_number(cp, "pgm", result->pgm);
	else
		trace_text(cp, "how", result->how == CP_PASS ? "pass" : "done");
	trace_end(cp);
}

/* The system's order goes on: no number of it comes twice. */
static void trace_state(struct cp *cp, struct state *s)
{
	state_tag(s, "TRAC");
	state_u64(s, &cp->trace->seq);
}

const struct cp_part trace_part = {
	.init = trace_init,
	.fini = trace_fini,
	.state = trace_state,
};

/* What of the system's configuration none of a machine's says. */
static void put_system(struct cp *cp)
{
	const struct cp_config *config = &cp->system->config;

	trace_number(cp, "system_cpus", config->cpus);
	trace_hex(cp, "system_console", config->console);
	trace_number(cp, "system_seed", config->seed);
}

void trace_configuration(struct cp *cp)
{
	char text[CP_CONFIG_TEXT_MAX];

	if (!trace_enabled(cp))
		return;
	begin_first(cp, "configuration");
	trace_number(cp, "version", TRACE_VERSION);
	trace_number(cp, "messages", cp->config.max_messages);
	for (unsigned int i = 0; cp_config_keys[i]; i++) {
		const int len = cp_config_get(&cp->config, cp_config_keys[i], text, sizeof(text));

		assert(len >= 0);
		(void)len;
		long_text(cp, cp_config_keys[i], text);
	}
	if (!cp->system->alone)
		put_system(cp);
	trace_end(cp);
}
