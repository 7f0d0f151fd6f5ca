/* SPDX-License-Identifier: MIT */
/*
 * What the core asks of an emulator, answered from the trace: the clock, what
 * it reads from guest storage, where there is none.  What it writes is shown
 * by its records; the bytes themselves are forgotten again.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "number.h"
#include "replay_private.h"

/* Stores after which storage is forgotten, so that no trace needs more memory. */
#define FORGET_AFTER (UINT64_C(64) << 20)
/* The characters shown on each side of a difference in a long record. */
#define SHOWN 1500u

/* The next entry of the record's reads, NULL after the last. */
static const json_t *next_read(struct replay *r)
{
	if (!replay_need(r))
		return NULL;
	return json_array_get(json_object_get(r->record, "in"), r->reads);
}

static bool is_at(const json_t *entry, uint64_t addr)
{
	const char *text = json_string_value(json_array_get(entry, 0));
	uint64_t value;

	return text && replay_parse_hex(text, UINT64_MAX, &value) && value == addr;
}

static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct replay *r = opaque;
	const json_t *entry = next_read(r);

	(void)cpu;
	if (json_is_null(json_array_get(entry, 1)) && is_at(entry, addr)) {
		r->reads++;
		return NULL;
	}
	if (len <= REPLAY_STORAGE && addr <= REPLAY_STORAGE - len)
		return r->storage + addr;
	replay_unusable(r, "the core uses %" PRIu64 " bytes at %" PRIx64 ", above what a replay "
			"has room for", len, addr);
	return NULL;
}

static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct replay *r = opaque;

	(void)cpu;
	(void)addr;
	r->stored += len;
	if (r->stored < FORGET_AFTER)
		return;
	r->stored = 0;
	madvise(r->storage, REPLAY_STORAGE, MADV_DONTNEED);
}

static void host_fetch(void *opaque, int cpu, uint64_t addr, void *to, size_t len)
{
	struct replay *r = opaque;
	const json_t *entry = next_read(r), *data = json_array_get(entry, 1);

	(void)cpu;
	memset(to, 0, len);
	if (r->stopped)
		return;
	if (json_array_size(entry) == 3) {
		replay_unusable(r, "what was read at %" PRIx64 " is shortened; a replay needs it as a "
				"whole", addr);
	} else if (!is_at(entry, addr) || json_string_length(data) != 2 * len) {
		replay_differs(r, "the core reads %zu bytes at %" PRIx64 ", which the trace does not "
			       "have there", len, addr);
	} else if (!number_bytes(json_string_value(data), 2 * len, to)) {
		replay_unusable(r, "what was read at %" PRIx64 " is not a string of bytes in "
				"hexadecimal", addr);
	}
	r->reads++;
}

static uint64_t host_tod(void *opaque)
{
	struct replay *r = opaque;
	uint64_t tod = 0;

	if (replay_need(r))
		replay_parse_hex(json_string_value(json_object_get(r->record, "tod")), UINT64_MAX,
				 &tod);
	return tod;
}

static void host_kick(void *opaque, unsigned int cpu)
{
	(void)opaque;
	(void)cpu;
}

static void host_set_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	(void)tod;
}

static void host_cpus(void *opaque, uint64_t defined)
{
	(void)opaque;
	(void)defined;
}

static void host_storage_changed(void *opaque)
{
	(void)opaque;
}

static void host_page_changed(void *opaque, uint64_t addr, bool out)
{
	(void)opaque;
	(void)addr;
	(void)out;
}

static void show(struct replay *r, const char *title, const char *line, size_t len, size_t at)
{
	const size_t from = at > SHOWN ? at - SHOWN : 0;
	const size_t shown = len - from > 2 * SHOWN ? 2 * SHOWN : len - from;

	fprintf(r->out, "%s%s%.*s%s\n", title, from > 0 ? "…" : "", (int)shown, line + from,
		from + shown < len ? "…" : "");
}

static void host_trace(void *opaque, const char *line, size_t len)
{
	struct replay *r = opaque;
	size_t at = 0;

	if (r->stopped)
		return;
	if (!replay_need(r)) {
		if (r->stopped)
			return;
		replay_differs(r, "the trace ends before it; the core goes on with");
		show(r, "replayed: ", line, len, 0);
		return;
	}
	if (len == r->len && memcmp(line, r->line, len) == 0) {
		replay_next(r);
		return;
	}
	while (at < len && at < r->len && line[at] == r->line[at])
		at++;
	replay_differs(r, "record %" JSON_INTEGER_FORMAT " (%.64s) differs from byte %zu on",
		       json_integer_value(json_object_get(r->record, "seq")),
		       json_string_value(json_object_get(r->record, "call")), at + 1);
	show(r, "recorded: ", r->line, r->len, at);
	show(r, "replayed: ", line, len, at);
}

bool replay_host(struct replay *r, struct cp_host *host)
{
	void *storage = mmap(NULL, REPLAY_STORAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*host = (struct cp_host){
		.opaque = r, .map = host_map, .fetch = host_fetch, .dirty = host_dirty,
		.tod = host_tod, .kick = host_kick, .set_timer = host_set_timer,
		.cpus = host_cpus, .storage_changed = host_storage_changed, .page_changed = host_page_changed,
		.external = host_kick, .trace = host_trace,
	};
	if (storage == MAP_FAILED)
		return false;
	r->storage = storage;
	return true;
}

void replay_host_end(struct replay *r)
{
	if (r->storage)
		munmap(r->storage, REPLAY_STORAGE);
	r->storage = NULL;
}
