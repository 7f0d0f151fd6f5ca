/* SPDX-License-Identifier: MIT */
/* Trace records: what was read from guest storage, and written to it. */
#include <inttypes.h>
#include <string.h>

#include "trace_private.h"
#include "bytes.h"
#include "hash.h"
#include "zvmlab/trace.h"

/* One access at its longest without its bytes: ,["user ID","16 digits",""] */
#define ACCESS_MAX 48u
/* The end of a list: ,["more",4294967295,"16 digits"] */
#define MORE_MAX 48u

/* No room: counted, and told from others by its hash. */
static void add_more(struct trace_accesses *to, const char *machine, uint64_t addr,
		     const void *bytes, size_t len)
{
	uint8_t where[8];

	if (to->more++ == 0)
		to->more_hash = HASH_START;
	if (machine)
		to->more_hash = hash_more(to->more_hash, machine, strlen(machine));
	put_be64(where, addr);
	to->more_hash = hash_more(hash_more(to->more_hash, where, sizeof(where)), bytes, len);
}

/* The beginning of an entry: whose storage it is, if it is another machine's, and where. */
static void put_place(struct trace_buffer *list, const char *machine, uint64_t addr)
{
	trace_put(list, "%s[", list->len == 0 ? "" : ",");
	/* A user ID has no character that needs to be escaped. */
	if (machine)
		trace_put(list, "\"%s\",", machine);
	trace_put(list, "\"%" PRIx64 "\",", addr);
}

void trace_accesses_add(struct trace_accesses *to, bool full, const char *machine, uint64_t addr,
			const void *bytes, size_t len)
{
	const bool whole = full || len <= TRACE_DATA_MAX;
	const size_t shown = whole ? len : TRACE_DATA_MAX;
	struct trace_buffer *list = &to->list;

	if (to->more > 0 || len > TRACE_FULL_MAX ||
	    !trace_buffer_room(list, ACCESS_MAX + MORE_MAX + 2 * shown)) {
		add_more(to, machine, addr, bytes, len);
		return;
	}
	assert(bytes || shown == 0);
	put_place(list, machine, addr);
	if (whole) {
		trace_put(list, "\"");
		trace_put_hex(list, bytes, len);
		trace_put(list, "\"]");
	} else {
		trace_put(list, "%zu,\"%016" PRIx64 "\"]", len,
			  hash_more(HASH_START, bytes, len));
	}
}

void trace_accesses_unmapped(struct trace_accesses *to, const char *machine, uint64_t addr)
{
	struct trace_buffer *list = &to->list;

	if (to->more > 0 || !trace_buffer_room(list, ACCESS_MAX + MORE_MAX)) {
		add_more(to, machine, addr, "", 0);
		return;
	}
	put_place(list, machine, addr);
	trace_put(list, "null]");
}

void trace_accesses_put(struct trace_buffer *line, const char *key, struct trace_accesses *from)
{
	if (from->list.len == 0 && from->more == 0)
		return;
	trace_put(line, ",\"%s\":[", key);
	trace_put_text(line, from->list.text, from->list.len);
	if (from->more > 0)
		trace_put(line, "%s[\"more\",%" PRIu32 ",\"%016" PRIx64 "\"]",
			  from->list.len == 0 ? "" : ",", from->more, from->more_hash);
	trace_put(line, "]");
}
