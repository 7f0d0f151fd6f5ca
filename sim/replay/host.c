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

/* The next entry of the reads of the record that comes next, NULL after the last. */
static const json_t *next_read(const struct replay *turn)
{
	return turn ? json_array_get(json_object_get(turn->record, "in"), turn->reads) : NULL;
}

/* Where the entry has the address: behind the user ID, if the storage is another machine's. */
static size_t place(const struct replay *turn, const struct replay *r)
{
	return turn == r ? 0 : 1;
}

/* Is it what the record's machine has read in the storage of @r's at @addr? */
static bool is_at(const json_t *entry, const struct replay *turn, const struct replay *r,
		  uint64_t addr)
{
	const size_t at = place(turn, r);
	const char *user = at == 0 ? "" : json_string_value(json_array_get(entry, 0));
	const char *text = json_string_value(json_array_get(entry, at));
	uint64_t value;

	return user && (at == 0 || strcmp(user, r->userid) == 0) && text &&
	       replay_parse_hex(text, UINT64_MAX, &value) && value == addr;
}

static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct replay *r = opaque, *turn = replay_turn(r->all);
	const json_t *entry = next_read(turn);

	(void)cpu;
	if (entry && is_at(entry, turn, r, addr) &&
	    json_is_null(json_array_get(entry, place(turn, r) + 1))) {
		turn->reads++;
		return NULL;
	}
	if (len <= REPLAY_STORAGE && addr <= REPLAY_STORAGE - len)
		return r->all->storage + addr;
	replay_unusable(r, "the core uses %" PRIu64 " bytes at %" PRIx64 ", above what a replay "
			"has room for", len, addr);
	return NULL;
}

/* What the guest reads there is its own business; what CP reads for it is in the trace. */
static bool host_window(void *opaque, const struct cp_window *window)
{
	(void)opaque;
	(void)window;
	return true;
}

static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct replay *r = opaque;

	(void)cpu;
	(void)addr;
	r->all->stored += len;
	if (r->all->stored < FORGET_AFTER)
		return;
	r->all->stored = 0;
	madvise(r->all->storage, REPLAY_STORAGE, MADV_DONTNEED);
}

static void host_fetch(void *opaque, int cpu, uint64_t addr, void *to, size_t len)
{
	struct replay *r = opaque, *turn = replay_turn(r->all);
	const json_t *entry = next_read(turn), *data;

	(void)cpu;
	memset(to, 0, len);
	/* Without a record the difference is found when the core writes one. */
	if (!turn)
		return;
	data = json_array_get(entry, place(turn, r) + 1);
	if (json_is_integer(data)) {
		replay_unusable(turn, "what was read at %" PRIx64 " is shortened; a replay needs it as "
				"a whole", addr);
	} else if (!is_at(entry, turn, r, addr) || json_string_length(data) != 2 * len) {
		replay_differs(turn, "the core reads %zu bytes at %" PRIx64 "%s%s, which the trace "
			       "does not have there", len, addr, turn == r ? "" : " of ",
			       turn == r ? "" : r->userid);
	} else if (!number_bytes(json_string_value(data), 2 * len, to)) {
		replay_unusable(turn, "what was read at %" PRIx64 " is not a string of bytes in "
				"hexadecimal", addr);
	}
	turn->reads++;
}

/* A time that the record has been found to have. */
static uint64_t time_of(const struct replay *r, const char *name)
{
	uint64_t time = 0;

	replay_parse_hex(json_string_value(json_object_get(r->record, name)), UINT64_MAX, &time);
	return time;
}

static uint64_t host_tod(void *opaque)
{
	struct replay *r = opaque;

	replay_expect(r);
	if (!replay_need(r))
		return 0;
	return r->record ? time_of(r, "tod") : r->tod;
}

static uint64_t system_tod(void *opaque)
{
	const struct replay *turn = replay_turn(opaque);

	return turn ? time_of(turn, "clock") : 0;
}

/* What the system's directory says is in the record; a second answer has another name. */
static bool system_in_directory(void *opaque, const char *userid)
{
	struct replay_all *all = opaque;
	struct replay *turn = replay_turn(all);
	char name[32] = "in_directory";

	(void)userid;
	if (++all->questions > 1)
		snprintf(name, sizeof(name), "in_directory#%u", all->questions);
	return turn && replay_number_or_0(turn, turn->record, name, 1);
}

static bool system_start(void *opaque, const char *userid)
{
	struct replay *turn = replay_turn(opaque);

	(void)userid;
	return turn && replay_number_or_0(turn, turn->record, "started", 1);
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

static void show(const struct replay *r, const char *title, const char *line, size_t len, size_t at)
{
	const size_t from = at > SHOWN ? at - SHOWN : 0;
	const size_t shown = len - from > 2 * SHOWN ? 2 * SHOWN : len - from;

	fprintf(r->all->out, "%s%s%.*s%s\n", title, from > 0 ? "…" : "", (int)shown, line + from,
		from + shown < len ? "…" : "");
}

static void host_trace(void *opaque, const char *line, size_t len)
{
	struct replay *r = opaque;
	size_t at = 0;

	if (r->all->stopped)
		return;
	if (!replay_need(r)) {
		if (r->all->stopped)
			return;
		replay_differs(r, "the trace ends before it; the core goes on with");
		show(r, "replayed: ", line, len, 0);
		return;
	}
	/* It is not this machine's turn, by the other traces. */
	if (!r->record && !replay_repeat_line(r, r->all->order + 1))
		return;
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

bool replay_storage(struct replay_all *all)
{
	void *storage;

	if (all->storage)
		return true;
	storage = mmap(NULL, REPLAY_STORAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (storage == MAP_FAILED)
		return false;
	all->storage = storage;
	return true;
}

void replay_storage_end(struct replay_all *all)
{
	if (all->storage)
		munmap(all->storage, REPLAY_STORAGE);
	all->storage = NULL;
}

void replay_host(struct replay *r, struct cp_host *host)
{
	*host = (struct cp_host){
		.opaque = r, .map = host_map, .window = host_window, .fetch = host_fetch, .dirty = host_dirty,
		.tod = host_tod, .kick = host_kick, .set_timer = host_set_timer,
		.cpus = host_cpus, .sclp = true, .storage_changed = host_storage_changed,
		.page_changed = host_page_changed,
		.external = host_kick, .trace = host_trace,
	};
}

void replay_system_host(struct replay_all *all, struct cp_system_host *host)
{
	*host = (struct cp_system_host){
		.opaque = all, .tod = system_tod, .set_timer = host_set_timer,
		.in_directory = system_in_directory, .start = system_start,
	};
}
