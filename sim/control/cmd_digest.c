/* SPDX-License-Identifier: MIT */
/* Has anything been left behind?  A number for each part of what users and clients have of CP. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl_private.h"
#include "hash.h"

static int add(const char *text, size_t len, void *opaque)
{
	uint64_t *hash = opaque;

	*hash = hash_more(*hash, text, len);
	return 0;
}

static uint64_t hash_json(const json_t *value)
{
	uint64_t hash = HASH_START;

	json_dump_callback(value, add, &hash, JSON_COMPACT | JSON_ENCODE_ANY);
	return hash;
}

static json_t *digest(uint64_t hash)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	return json_string(text);
}

/* Users may come back in another order. */
static json_t *users_digest(struct cp *cp)
{
	const struct iucv_user *user;
	uint64_t sum = 0;

	for (unsigned int i = 0; (user = iucv_user_at(cp, i)); i++)
		sum += hash_more(HASH_START, iucv_user_name(user), strlen(iucv_user_name(user)));
	return digest(sum);
}

/* Their place and what they have at first do not change; their contents nobody relies on. */
static json_t *segments_digest(struct ctl_call *call)
{
	static const char *const kept[] = { "name", "class", "users", "loaded", "exclusive" };
	json_t *answer = ctl_query_segments(call);
	const json_t *segment;
	uint64_t sum = 0;
	size_t index;

	json_array_foreach(json_object_get(answer, "segments"), index, segment) {
		uint64_t hash = HASH_START;

		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
			const uint64_t one = hash_json(json_object_get(segment, kept[i]));

			hash = hash_more(hash, &one, sizeof(one));
		}
		sum += hash;
	}
	json_decref(answer);
	return digest(sum);
}

/* One member of an answer. */
static json_t *member_digest(const json_t *answer, const char *name)
{
	return digest(hash_json(json_object_get(answer, name)));
}

/* One member of a query's answer. */
static json_t *query_digest(struct ctl_call *call, json_t *(*query)(struct ctl_call *call),
			    const char *name)
{
	json_t *answer = query(call);
	json_t *result = member_digest(answer, name);

	json_decref(answer);
	return result;
}

/* How many interruptions there were is not left behind. */
static json_t *pages_digest(struct ctl_call *call)
{
	json_t *answer = ctl_query_pages(call);
	const uint64_t of[] = {
		hash_json(json_object_get(answer, "pages")),
		hash_json(json_object_get(answer, "faults")),
		json_array_size(json_object_get(answer, "handshakes")),
	};

	json_decref(answer);
	return digest(hash_more(HASH_START, of, sizeof(of)));
}

json_t *ctl_query_digests(struct ctl_call *call)
{
	json_t *monitor = ctl_query_monitor(call);
	json_t *result =
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "users",
			  users_digest(call->cp), "faults",
			  query_digest(call, ctl_query_faults, "rules"), "segments",
			  segments_digest(call), "pages", pages_digest(call), "appldata",
			  query_digest(call, ctl_query_appldata, "buffers"), "monitor-sample",
			  member_digest(monitor, "sample"), "monitor-event",
			  member_digest(monitor, "event"), "monitor-users",
			  member_digest(monitor, "users"));

	json_decref(monitor);
	return result;
}
