/* SPDX-License-Identifier: MIT */
/* Commands for what CP says of guests. */
#include <string.h>

#include "ctl_private.h"
#include "zvmlab/guests.h"

static uint64_t amount(const json_t *args, const char *name)
{
	return (uint64_t)ctl_int_or(args, name, 0);
}

static uint32_t number(const json_t *args, const char *name)
{
	return (uint32_t)ctl_int_or(args, name, 0);
}

json_t *ctl_guest_describe(struct ctl_call *call)
{
	const json_t *args = call->args;
	char name[9], group[9] = "";
	const struct guest_description description = {
		.name = name, .group = group,
		.cpu_us = amount(args, "cpu-us"), .online_us = amount(args, "online-us"),
		.cpu_percent = number(args, "cpu-percent"),
		.storage_min = amount(args, "storage-min"),
		.storage_max = amount(args, "storage-max"),
		.storage_share = amount(args, "storage-share"),
		.storage_used = amount(args, "storage-used"), .cpus = number(args, "cpus"),
		.operating = number(args, "operating"), .share_max = number(args, "share-max"),
		.share = number(args, "share"), .capped = (uint8_t)number(args, "capped"),
		.dedicated = ctl_bool_or(args, "dedicated", false),
		.cpu_use = number(args, "cpu-use"), .cpu_delay = number(args, "cpu-delay"),
		.page_wait = number(args, "page-wait"), .idle = number(args, "idle"),
		.other = number(args, "other"),
		.logged_off = ctl_bool_or(args, "logged-off", false),
	};

	ctl_name(args, "name", name);
	ctl_name(args, "group", group);
	if (guests_describe(call->cp, &description, call->err, sizeof(call->err)) == 0)
		return json_object();
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_guest_forget(struct ctl_call *call)
{
	char name[9];

	ctl_name(call->args, "name", name);
	if (guests_forget(call->cp, name))
		return json_object();
	return ctl_fail(call, "Failed", "no guest %s is described; query-guests lists all guests",
			name);
}

struct list {
	struct cp *cp;
	json_t *guests;
};

static json_t *guest_json(const struct guest_data *data)
{
	json_t *samples = json_array();

	for (unsigned int i = 0; i < GUESTS_SAMPLES; i++)
		json_array_append_new(samples, json_integer(data->sample[i]));
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:i, s:b, s:o}",
			 "name", data->name, "group", data->group, "cpu-us", ctl_json_u64(data->cpu_us), "online-us",
			 ctl_json_u64(data->online_us), "storage-min",
			 ctl_json_u64(data->storage_min), "storage-max",
			 ctl_json_u64(data->storage_max), "storage-share",
			 ctl_json_u64(data->storage_share), "storage-used",
			 ctl_json_u64(data->storage_used), "cpus", (json_int_t)data->cpus,
			 "operating", (json_int_t)data->operating, "share-max",
			 (json_int_t)data->share_max, "share", (json_int_t)data->share, "capped",
			 (int)data->capped, "dedicated", data->dedicated, "samples", samples);
}

static void append(void *opaque, const char *name)
{
	struct list *list = opaque;
	struct guest_data data;

	guests_data(list->cp, name, &data);
	json_array_append_new(list->guests, guest_json(&data));
}

json_t *ctl_query_guests(struct ctl_call *call)
{
	struct list list = { .cp = call->cp, .guests = json_array() };

	guests_all(call->cp, append, &list);
	return json_pack("{s:o}", "guests", list.guests);
}
