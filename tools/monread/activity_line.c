/* SPDX-License-Identifier: MIT */
#include "activity_line.h"

#include <stdio.h>

#include "monread.h"
#include "quantity.h"

/* A volume's name stands between what it has and what was done with it. */
enum which { IS_ANY, IS_LATEST, IS_GROWTH };

/* Those that a line has; @time in TOD units, of which 0 gives no rate. */
static void add_quantities(json_t *object, enum subject subject, enum which which, const void *now,
			   const void *before, uint64_t time)
{
	for (const struct quantity *q = quantities(subject); q->heading || q->key; q++) {
		const enum which is = q->as == AS_LATEST ? IS_LATEST : IS_GROWTH;

		if (q->key && (which == IS_ANY || which == is))
			quantity_json(object, q, now, before, time);
	}
}

static json_t *busy(const struct bucket *bucket)
{
	json_t *types = json_object();

	for (unsigned int i = 0; i < ACTIVITY_TYPES; i++)
		if (bucket->elapsed[i])
			json_object_set_new(types, activity_type_names[i],
					    json_real(100.0 * (double)bucket->busy[i] /
						      (double)bucket->elapsed[i]));
	return types;
}

/* Entries stay where they are, so that those of two lines can be compared. */
static json_t *users(const struct activity *now, const struct activity *before)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		const uint64_t time = now->user[i].time - before->user[i].time;
		char name[ACTIVITY_NAME_SIZE];

		if (time)
			json_array_append_new(list, json_pack("{s:s, s:f}", "user",
				activity_user_name(&now->user[i], name), "seconds",
				(double)time / (double)TOD_SECOND));
	}
	return list;
}

/* The responses of D6R14 are of all I/Os that it has measured, not of those of the interval. */
static struct device_activity response_since(const struct device_activity *now,
					     const struct device_activity *before)
{
	struct device_activity since = *before;

	if (!now->sampled || !before->sampled)
		activity_no_times(&since);
	return since;
}

static json_t *devices(const struct activity *now, const struct activity *before, uint64_t time)
{
	json_t *list = json_array();
	char number[8];

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		const struct device_activity *device = &now->device[i], *last = &before->device[i];

		snprintf(number, sizeof(number), "%04X", device->number);
		if (device->starts != last->starts && time) {
			const struct device_activity since = response_since(device, last);
			json_t *object = json_pack("{s:s}", "device", number);

			add_quantities(object, OF_DEVICE, IS_ANY, device, &since, time);
			json_array_append_new(list, object);
		}
	}
	return list;
}

static json_t *events(const struct activity *now, const struct activity *before)
{
	json_t *list = json_array();

	for (unsigned int i = before->listed; i < now->listed; i++)
		json_array_append_new(list, json_string(now->event[i].text));
	return list;
}

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
		json_t *object;

		if (user->pages.reads == last->pages.reads && user->pages.writes == last->pages.writes)
			continue;
		object = json_pack("{s:s}", "user", activity_user_name(user, name));
		add_quantities(object, OF_USER, IS_ANY, user, last, 0);
		json_array_append_new(list, object);
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
		volume = json_pack("{s:s}", "device", number);
		add_quantities(volume, OF_VOLUME, IS_LATEST, device, last, time);
		add_text(volume, "volume", device->volume, sizeof(device->volume));
		add_quantities(volume, OF_VOLUME, IS_GROWTH, device, last, time);
		json_array_append_new(list, volume);
	}
	return list;
}

static json_t *processors(const struct activity *now, const struct activity *before)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < ACTIVITY_CPUS; i++) {
		const struct cpu_activity *cpu = &now->cpu[i], *last = &before->cpu[i];
		json_t *object;

		if (cpu->elapsed == last->elapsed)
			continue;
		object = json_pack("{s:i, s:s}", "processor", (int)cpu->address, "type",
				   activity_type_names[cpu->type]);
		add_quantities(object, OF_PROCESSOR, IS_ANY, cpu, last, 0);
		json_array_append_new(list, object);
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

/* States, paging, processors and the partition. */
static void add_system(json_t *line, const struct activity *now, const struct activity *before)
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

/* Of which records have told. */
static void add_interval(json_t *line, const struct bucket *bucket)
{
	static const struct bucket none;

	for (const struct quantity *q = quantities(OF_INTERVAL); q->heading || q->key; q++)
		if (q->of(bucket))
			quantity_json(line, q, bucket, &none, bucket->time);
}

json_t *activity_line(const struct activity *now, const struct activity *before, uint32_t releases)
{
	const struct bucket *bucket = &now->last;
	char until[TOD_TEXT_SIZE], release[MONREC_RELEASES_TEXT];
	json_t *line = json_object();

	if (releases)
		json_object_set_new(line, "release",
				    json_string(monrec_releases_text(releases, release)));
	json_object_set_new(line, "until", json_string(tod_text(bucket->last, until)));
	json_object_set_new(line, "sets", json_integer((json_int_t)now->sets));
	json_object_set_new(line, "records", json_integer((json_int_t)now->records));
	json_object_set_new(line, "busy", busy(bucket));
	add_interval(line, bucket);
	json_object_set_new(line, "users", users(now, before));
	json_object_set_new(line, "devices", devices(now, before, bucket->time));
	json_object_set_new(line, "events", events(now, before));
	json_object_set_new(line, "lost", json_integer(bucket->lost));
	json_object_set_new(line, "overflows", json_integer(bucket->overflows));
	add_system(line, now, before);
	return line;
}
