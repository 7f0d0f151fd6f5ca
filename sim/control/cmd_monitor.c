/* SPDX-License-Identifier: MIT */
/* Commands for *MONITOR. */
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"
#include "bytes.h"
#include "random.h"
#include "smaller.h"
#include "zvmlab/appldata.h"
#include "zvmlab/monitor.h"

/* Elements of a request with their data, in one allocation. */
struct elements {
	unsigned int count;
	struct mon_element element[MON_MAX_MCES];
	uint8_t data[];
};

static size_t element_len(const json_t *entry)
{
	const json_t *fill = json_object_get(entry, "fill");

	return fill ? (size_t)ctl_int(fill, "length") : ctl_data_len(entry, "data");
}

/* SplitMix64 from the seed, each number as 8 bytes big-endian. */
static void fill_random(uint8_t *to, size_t len, uint64_t seed)
{
	for (size_t at = 0; at < len; at += 8) {
		uint8_t word[8];

		put_be64(word, random_next(&seed));
		memcpy(to + at, word, smaller(len - at, sizeof(word)));
	}
}

static void element_data(const json_t *entry, uint8_t *to, size_t len)
{
	const json_t *fill = json_object_get(entry, "fill");

	if (!fill)
		ctl_data(entry, "data", to, len);
	else if (json_object_get(fill, "seed"))
		fill_random(to, len, (uint64_t)ctl_int(fill, "seed"));
	else
		memset(to, (int)ctl_int(fill, "pattern"), len);
}

/* Checks beyond the schema.  Return: bytes of data in all, or -1. */
static int64_t check_elements(struct ctl_call *call, const json_t *list)
{
	int64_t total = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		const json_t *fill = json_object_get(entry, "fill");

		if (!fill == !json_object_get(entry, "data")) {
			ctl_fail(call, "BadArgument", "argument \"elements[%zu]\" must have either "
				 "\"data\" or \"fill\"", i);
			return -1;
		}
		if (fill && !json_object_get(fill, "seed") == !json_object_get(fill, "pattern")) {
			ctl_fail(call, "BadArgument", "argument \"elements[%zu].fill\" must have "
				 "either \"seed\" or \"pattern\"", i);
			return -1;
		}
		total += (int64_t)element_len(entry);
	}
	if (total <= CTL_MAX_SET)
		return total;
	ctl_fail(call, "BadArgument", "the elements have %lld bytes in all; %u is the limit",
		 (long long)total, CTL_MAX_SET);
	return -1;
}

static enum mon_kind kind_of(const struct ctl_call *call)
{
	return (enum mon_kind)ctl_index(ctl_mon_kinds, ctl_string(call->args, "kind"));
}

static struct elements *read_elements(struct ctl_call *call)
{
	const json_t *list = json_object_get(call->args, "elements");
	const enum mon_kind kind = kind_of(call);
	const bool sample = kind == MON_SAMPLE || kind == MON_SAMPLE_CONFIG;
	const int64_t total = check_elements(call, list);
	struct elements *elements = total < 0 ? NULL : malloc(sizeof(*elements) + (size_t)total);
	uint8_t *at;

	if (!elements)
		return NULL;
	at = elements->data;
	elements->count = (unsigned int)json_array_size(list);
	for (unsigned int i = 0; i < elements->count; i++) {
		const json_t *entry = json_array_get(list, i);
		const size_t len = element_len(entry);

		element_data(entry, at, len);
		elements->element[i] = (struct mon_element){
			.type = (uint8_t)ctl_int_or(entry, "type", sample ? MCE_SAMPLE : MCE_EVENT),
			.domains = (uint16_t)ctl_int(entry, "domains"),
			.byte3 = (uint8_t)ctl_int_or(entry, "byte3", 0),
			.data = at,
			.len = (uint32_t)len,
			.phase = (uint32_t)ctl_int_or(entry, "phase", 0),
		};
		at += len;
	}
	return elements;
}

static json_t *delivered(struct ctl_call *call, int64_t set, enum mon_fate fate)
{
	if (set >= 0)
		return json_pack("{s:I, s:s}", "set", (json_int_t)set, "fate",
				 ctl_mon_fates[fate]);
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_monitor_deliver(struct ctl_call *call)
{
	struct elements *elements = read_elements(call);
	enum mon_fate fate = MON_NO_USER;
	int64_t set;

	if (!elements)
		return NULL;
	set = monitor_deliver(call->cp, kind_of(call), elements->element, elements->count, &fate,
			      call->err, sizeof(call->err));
	free(elements);
	return delivered(call, set, fate);
}

json_t *ctl_monitor_raw(struct ctl_call *call)
{
	enum mon_fate fate = MON_NO_USER;
	const int64_t set = monitor_message_raw(
		call->cp, kind_of(call), (uint32_t)ctl_int(call->args, "mca-start"),
		(uint32_t)ctl_int(call->args, "mca-end"), &fate, call->err, sizeof(call->err));

	return delivered(call, set, fate);
}

json_t *ctl_monitor_repeat(struct ctl_call *call)
{
	struct elements *elements = read_elements(call);
	int result;

	if (!elements)
		return NULL;
	result = monitor_repeat(call->cp, kind_of(call), elements->element, elements->count,
				(uint32_t)ctl_int_or(call->args, "outstanding", 1),
				(uint64_t)ctl_int(call->args, "times"), call->err,
				sizeof(call->err));
	free(elements);
	if (result == 0)
		return json_object();
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_monitor_tick(struct ctl_call *call)
{
	monitor_tick(call->cp);
	return json_object();
}

json_t *ctl_monitor_manual(struct ctl_call *call)
{
	monitor_set_manual(call->cp, ctl_bool(call->args, "manual"));
	return json_object();
}

json_t *ctl_monitor_event(struct ctl_call *call)
{
	const enum mon_domain domain = (enum mon_domain)ctl_int(call->args, "domain");
	const size_t len = ctl_data_len(call->args, "record");
	uint8_t record[CP_PAGE_SIZE];

	ctl_data(call->args, "record", record, sizeof(record));
	return json_pack("{s:b}", "recorded",
			 monitor_event(call->cp, domain, record, (uint32_t)len));
}

json_t *ctl_monitor_sever(struct ctl_call *call)
{
	char user[9];
	unsigned int count;

	ctl_name(call->args, "user", user);
	count = monitor_sever(call->cp, user[0] ? user : NULL,
			      (uint8_t)ctl_int(call->args, "code"));
	return json_pack("{s:i}", "severed", (int)count);
}

json_t *ctl_monitor_quiesce(struct ctl_call *call)
{
	char user[9];
	unsigned int count;

	ctl_name(call->args, "user", user);
	count = monitor_quiesce(call->cp, user[0] ? user : NULL,
				ctl_bool(call->args, "quiesced"));
	return json_pack("{s:i}", "paths", (int)count);
}

static json_t *settings_json(struct cp *cp, bool event)
{
	const struct mon_settings *s = monitor_settings(cp, event);
	json_t *users = json_array();

	for (unsigned int i = 0; i < s->appldata.count; i++)
		json_array_append_new(users, json_string(s->appldata.name[i]));
	return json_pack("{s:b, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:b}", "active", s->active,
			 "domains", s->domains, "interval-seconds",
			 (json_int_t)s->interval_seconds, "pending-interval-seconds",
			 (json_int_t)s->pending_interval_seconds, "rate-hundredths",
			 (json_int_t)s->rate_hundredths, "config-pages",
			 (json_int_t)s->config_pages, "config-limit-seconds",
			 (json_int_t)s->config_limit_seconds, "block-pages", (json_int_t)s->block,
			 "partition-pages", (json_int_t)s->partition_pages, "appldata-users",
			 users, "appldata-except", s->appldata.except);
}

static json_t *users_json(const struct cp *cp)
{
	json_t *users = json_array();
	struct mon_user_info u;

	for (unsigned int i = 0; monitor_user(cp, i, &u); i++)
		json_array_append_new(
			users,
			json_pack("{s:s, s:i, s:b, s:b, s:I, s:I, s:o, s:o, s:o}", "name", u.name,
				  "path", u.path, "sample", u.sample, "event", u.event, "limit",
				  (json_int_t)u.limit, "outstanding", (json_int_t)u.outstanding,
				  "delivered", ctl_json_u64(u.delivered), "replied",
				  ctl_json_u64(u.replied), "lost", ctl_json_u64(u.lost)));
	return users;
}

static json_t *areas_json(const struct cp *cp)
{
	json_t *areas = json_array();
	struct mon_area_info a;

	for (unsigned int kind = 0; kind < MON_KINDS; kind++)
		if (monitor_area(cp, (enum mon_kind)kind, &a))
			json_array_append_new(
				areas, json_pack("{s:s, s:o, s:o, s:o}", "kind",
						 ctl_mon_kinds[kind], "start", ctl_json_u64(a.start),
						 "size", ctl_json_u64(a.size), "used",
						 ctl_json_u64(a.used)));
	return areas;
}

json_t *ctl_query_monitor(struct ctl_call *call)
{
	struct cp *cp = call->cp;

	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "segment", monitor_segment(cp), "sample",
			 settings_json(cp, false), "event", settings_json(cp, true), "users",
			 users_json(cp), "areas", areas_json(cp));
}

json_t *ctl_query_appldata(struct ctl_call *call)
{
	json_t *buffers = json_array();
	struct appldata_info info;

	for (unsigned int i = 0; appldata_at(call->cp, i, &info); i++) {
		char name[APPLDATA_PRODUCT_NUMBER + 1];

		appldata_name(info.buffer.product, name);
		json_array_append_new(
			buffers,
			json_pack("{s:s, s:o, s:s, s:o, s:i, s:o}", "product", name, "product-id",
				  ctl_json_data(info.buffer.product, APPLDATA_PRODUCT_SIZE), "kind",
				  ctl_appldata_kinds[info.kind], "address",
				  ctl_json_u64(info.buffer.address), "length", info.buffer.length,
				  "records", ctl_json_u64(info.records)));
	}
	return json_pack("{s:o}", "buffers", buffers);
}

json_t *ctl_query_set(struct ctl_call *call)
{
	const int64_t number = ctl_int(call->args, "set");
	struct mon_set_info info;

	if (!monitor_set(call->cp, (uint64_t)number, &info))
		return ctl_fail(call, "Failed", "set %lld is not in the segment any more, or never was",
				(long long)number);
	return json_pack("{s:o, s:s, s:I, s:I, s:I}", "set", ctl_json_u64(info.number), "kind",
			 ctl_mon_kinds[info.kind], "mca-start", (json_int_t)info.mca_start,
			 "mca-end", (json_int_t)info.mca_end, "waiting", (json_int_t)info.waiting);
}
