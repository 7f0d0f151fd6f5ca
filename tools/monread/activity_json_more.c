/* SPDX-License-Identifier: MIT */
/* monread: states, paging, processors and the partition in the JSON line of an interval. */
#include "activity_json.h"

#include <stdio.h>

static void add_text(json_t *object, const char *name, const uint8_t *ebcdic, uint8_t len)
{
	char text[ACTIVITY_NAME_SIZE];

	if (*activity_text(ebcdic, len, text))
		json_object_set_new(object, name, json_string(text));
}

/* What was found between the two; false if that is nothing. */
static bool add_states(json_t *object, const struct state_counts *now,
		       const struct state_counts *before)
{
	uint64_t samples = 0;

	for (unsigned int i = 0; i < USER_STATES; i++)
		samples += now->found[i] - before->found[i];
	if (!samples)
		return false;
	json_object_set_new(object, "samples", json_integer((json_int_t)samples));
	for (unsigned int i = 0; i < USER_STATES; i++)
		json_object_set_new(object, activity_state_names[i],
				    json_real(100.0 * (double)(now->found[i] - before->found[i]) /
					      (double)samples));
	return true;
}

static json_t *waits(const struct activity *now, const struct activity *before)
{
	json_t *list = json_array(), *all = json_object();
	char name[ACTIVITY_NAME_SIZE];

	if (add_states(all, &now->system.states, &before->system.states))
		json_array_append(list, all);
	json_decref(all);
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		json_t *user;

		if (!now->user[i].states.counted)
			continue;
		user = json_pack("{s:s}", "user", activity_user_name(&now->user[i], name));
		if (add_states(user, &now->user[i].states, &before->user[i].states))
			json_array_append(list, user);
		json_decref(user);
	}
	return list;
}

static json_t *paging_users(const struct activity *now, const struct activity *before)
{
	json_t *list = json_array();
	char name[ACTIVITY_NAME_SIZE];

	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		const struct user_activity *user = &now->user[i], *last = &before->user[i];
		const uint64_t reads = user->pages.reads - last->pages.reads;
		const uint64_t writes = user->pages.writes - last->pages.writes;

		if (reads || writes)
			json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:I}",
				"user", activity_user_name(user, name),
				"read", (json_int_t)reads, "written", (json_int_t)writes,
				"resident", (json_int_t)user->resident,
				"slots", (json_int_t)user->slots));
	}
	return list;
}

static json_t *volumes(const struct activity *now, const struct activity *before, uint64_t time)
{
	json_t *list = json_array();
	char number[8];

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		const struct device_activity *device = &now->device[i], *last = &before->device[i];
		json_t *volume;

		if (!device->is_paging)
			continue;
		snprintf(number, sizeof(number), "%04X", device->number);
		volume = json_pack("{s:s, s:I, s:I}", "device", number, "slots",
				   (json_int_t)device->slots, "slots-used",
				   (json_int_t)device->slots_used);
		add_text(volume, "volume", device->volume, sizeof(device->volume));
		json_rate(volume, "page-reads", device->pages.reads - last->pages.reads, time);
		json_rate(volume, "page-writes", device->pages.writes - last->pages.writes, time);
		json_array_append_new(list, volume);
	}
	return list;
}

static json_t *processors(const struct activity *now, const struct activity *before)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < ACTIVITY_CPUS; i++) {
		const struct cpu_activity *cpu = &now->cpu[i], *last = &before->cpu[i];
		const double elapsed = (double)(cpu->elapsed - last->elapsed);

		if (elapsed > 0)
			json_array_append_new(list, json_pack("{s:i, s:s, s:f, s:f}", "processor",
				(int)cpu->address, "type", activity_type_names[cpu->type], "users",
				100.0 * (double)(cpu->users - last->users) / elapsed, "system",
				100.0 * (double)(cpu->system - last->system) / elapsed));
	}
	return list;
}

static json_t *partition(const struct system_activity *system)
{
	json_t *made = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}",
				 "number", system->number, "configured", system->configured,
				 "standby", system->standby, "shared", system->shared,
				 "dedicated", system->dedicated, "machine", system->machine);

	add_text(made, "name", system->partition, sizeof(system->partition));
	return made;
}

/* Records of the interval by why they were not used, each kind by its name. */
static json_t *unused(const struct activity *now, const struct activity *before)
{
	static const char *const names[RECORD_USES] = {
		[RECORD_NOT_UNDERSTOOD] = "not-understood", [RECORD_ELSEWHERE] = "elsewhere",
		[RECORD_NOT_SHOWN] = "not-shown",
	};
	json_t *made = json_object();
	char kind[24];

	for (unsigned int use = RECORD_NOT_UNDERSTOOD; use < RECORD_USES; use++) {
		json_t *of = json_object();

		for (unsigned int i = 0; i < ACTIVITY_DOMAINS * ACTIVITY_NUMBERS; i++) {
			const unsigned int domain = i / ACTIVITY_NUMBERS, number = i % ACTIVITY_NUMBERS;
			const uint64_t count = now->unused[domain][number][use] -
					       before->unused[domain][number][use];

			snprintf(kind, sizeof(kind), "D%uR%u", domain, number);
			if (count)
				json_object_set_new(of, kind, json_integer((json_int_t)count));
		}
		if (json_object_size(of))
			json_object_set(made, names[use], of);
		json_decref(of);
	}
	return made;
}

void activity_json_more(json_t *line, const struct activity *now, const struct activity *before)
{
	const struct bucket *bucket = &now->last;
	json_t *left = unused(now, before);
	const uint64_t starts = activity_user_starts(now) - activity_user_starts(before);
	const double response =
		now->system.states.counted && !bucket->devices_unknown ?
			activity_io_wait(now, bucket->found[STATE_IO_WAIT], starts) :
			-1;

	add_text(line, "system", now->system.name, sizeof(now->system.name));
	if (now->system.has_partition)
		json_object_set_new(line, "partition", partition(&now->system));
	json_object_set_new(line, "processors", processors(now, before));
	json_object_set_new(line, "waits", waits(now, before));
	json_object_set_new(line, "paging-users", paging_users(now, before));
	json_object_set_new(line, "volumes", volumes(now, before, bucket->time));
	if (response >= 0)
		json_object_set_new(line, "response", json_real(response));
	if (json_object_size(left))
		json_object_set(line, "unused", left);
	json_decref(left);
}
