/* SPDX-License-Identifier: MIT */
/* monread: families of values, and what of the activity they are. */
#include "export.h"

#include <stdio.h>
#include <string.h>

#include "quantity.h"

/* The TOD clock counts 4096 to a microsecond since 1900 (z/Architecture PoP). */
#define TOD_MICROSECOND 4096u
#define US_PER_S UINT64_C(1000000)
#define SECONDS_1900_TO_1970 UINT64_C(2208988800)
#define NS_DECIMALS 9u
#define US_DECIMALS 6u
#define HUNDREDTHS 2u

const struct metric_family export_families[EXPORT_FAMILIES] = {
#define FAMILY(id, name, type, unit, help, ...) \
	[EXPORT_##id] = { name, METRIC_##type, unit, help, { __VA_ARGS__ } },
#include "quantities.def"
};

static const char *const kind_names[EVENT_KINDS] = {
	[EVENT_LOGON] = "logon", [EVENT_LOGOFF] = "logoff", [EVENT_PROCESSOR] = "processor",
	[EVENT_DEVICE] = "device", [EVENT_COMMAND] = "monitor", [EVENT_SUSPENDED] = "suspended",
};

static void add_time(struct metrics *metrics, enum export_family family, const char *const *labels,
		     uint64_t tod)
{
	/* Nanoseconds, so that no time is too long. */
	metrics_decimal(metrics, family, labels, tod / TOD_MICROSECOND * 1000 +
			tod % TOD_MICROSECOND * 1000 / TOD_MICROSECOND, NS_DECIMALS);
}

static void add_quantities(struct metrics *metrics, enum subject subject,
			   const char *const *labels, const void *it)
{
	for (const struct quantity *q = quantities(subject); q->heading || q->key; q++)
		quantity_metric(metrics, q, labels, it);
}

static void add_tally(struct metrics *metrics, const struct tally *tally)
{
	metrics_unsigned(metrics, EXPORT_SETS, NULL, tally->sets);
	metrics_unsigned(metrics, EXPORT_SETS_LOST, NULL, tally->lost);
	metrics_unsigned(metrics, EXPORT_OVERFLOWS, NULL, tally->overflows);
	metrics_unsigned(metrics, EXPORT_RECORDS, NULL, tally->records);
	metrics_unsigned(metrics, EXPORT_BYTES, NULL, tally->bytes);
	metrics_unsigned(metrics, EXPORT_SEVERS, NULL, tally->severs);
	for (unsigned int rule = 0; rule < MONREC_RULES; rule++)
		metrics_unsigned(metrics, EXPORT_VIOLATIONS,
				 (const char *const[]){ monrec_rule_name(rule) },
				 tally->broken[rule]);
}

static void add_bucket(struct metrics *metrics, const struct bucket *all)
{
	uint64_t us = all->last / TOD_MICROSECOND;

	if (us >= SECONDS_1900_TO_1970 * US_PER_S)
		metrics_decimal(metrics, EXPORT_UNTIL, NULL, us - SECONDS_1900_TO_1970 * US_PER_S,
				US_DECIMALS);
	for (unsigned int i = 0; i < ACTIVITY_TYPES; i++) {
		const char *const labels[] = { activity_type_names[i] };

		if (!all->elapsed[i])
			continue;
		add_time(metrics, EXPORT_BUSY, labels, all->busy[i]);
		add_time(metrics, EXPORT_TIME, labels, all->elapsed[i]);
	}
	for (const struct quantity *q = quantities(OF_INTERVAL); q->heading || q->key; q++)
		if (q->of(all))
			quantity_metric(metrics, q, NULL, all);
	for (unsigned int i = 0; i < EVENT_KINDS; i++)
		metrics_unsigned(metrics, EXPORT_EVENTS, (const char *const[]){ kind_names[i] },
				 all->events[i]);
	metrics_unsigned(metrics, EXPORT_EVENTS_LOST, NULL, all->suspended);
}

static void add_release(struct metrics *metrics, uint32_t releases)
{
	char text[MONREC_RELEASES_TEXT];

	if (releases)
		metrics_unsigned(metrics, EXPORT_RELEASE,
				 (const char *const[]){ monrec_releases_text(releases, text) }, 1);
}

static void add_partition(struct metrics *metrics, const struct system_activity *s)
{
	const struct { const char *kind; uint16_t count; } processors[] = {
		{ "configured", s->configured }, { "standby", s->standby }, { "shared", s->shared },
		{ "dedicated", s->dedicated },
	};
	char system[ACTIVITY_NAME_SIZE], partition[ACTIVITY_NAME_SIZE];

	activity_text(s->name, sizeof(s->name), system);
	activity_text(s->partition, sizeof(s->partition), partition);
	if (*system || *partition)
		metrics_unsigned(metrics, EXPORT_PARTITION,
				 (const char *const[]){ system, partition }, 1);
	if (!s->has_partition)
		return;
	metrics_unsigned(metrics, EXPORT_MACHINE, NULL, s->machine);
	for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
		metrics_unsigned(metrics, EXPORT_PROCESSORS,
				 (const char *const[]){ processors[i].kind }, processors[i].count);
}

static void add_load(struct metrics *metrics, const struct activity *activity)
{
	char number[8];

	for (unsigned int i = 0; i < ACTIVITY_CPUS; i++) {
		const struct cpu_activity *cpu = &activity->cpu[i];
		const char *const type = activity_type_names[cpu->type];

		if (!cpu->elapsed)
			continue;
		snprintf(number, sizeof(number), "%u", cpu->address);
		add_time(metrics, EXPORT_LOAD, (const char *const[]){ number, type, "users" },
			 cpu->users);
		add_time(metrics, EXPORT_LOAD, (const char *const[]){ number, type, "system" },
			 cpu->system);
		add_time(metrics, EXPORT_LOAD_TIME, (const char *const[]){ number, type },
			 cpu->elapsed);
	}
}

/* That of all users; D0R12 has no dormant ones. */
static void add_states(struct metrics *metrics, const struct system_activity *s)
{
	if (!s->states.counted)
		return;
	metrics_decimal(metrics, EXPORT_SAMPLE_INTERVAL, NULL, s->hf_rate, HUNDREDTHS);
	for (unsigned int i = 0; i < USER_STATES; i++)
		if (i != STATE_DORMANT)
			metrics_unsigned(metrics, EXPORT_SAMPLES,
					 (const char *const[]){ activity_state_names[i] },
					 s->states.found[i]);
}

static void add_volume(struct metrics *metrics, const char *number,
		       const struct device_activity *device)
{
	char name[ACTIVITY_NAME_SIZE];
	const char *const labels[] = {
		number, activity_text(device->volume, sizeof(device->volume), name),
	};

	add_quantities(metrics, OF_VOLUME, labels, device);
}

static void add_devices(struct metrics *metrics, const struct activity *activity)
{
	char number[8];

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		const struct device_activity *device = &activity->device[i];
		const char *const labels[] = { number };

		snprintf(number, sizeof(number), "%04X", device->number);
		if (device->source)
			add_quantities(metrics, OF_DEVICE, labels, device);
		if (device->is_paging)
			add_volume(metrics, number, device);
	}
}

static void add_users(struct metrics *metrics, const struct activity *activity)
{
	char name[ACTIVITY_NAME_SIZE], processor[8];

	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		const struct state_counts *states = &activity->user[i].states;
		struct user_activity user = activity->user[i];
		const char *labels[] = { NULL, processor, NULL };

		if (!user.counted && !states->counted && !user.pages.counted)
			continue;
		snprintf(processor, sizeof(processor), "%u", user.address);
		user.address = 0;
		labels[0] = activity_user_name(&user, name);
		if (user.counted)
			add_time(metrics, EXPORT_USER_TIME, labels, user.time);
		if (user.pages.counted)
			add_quantities(metrics, OF_USER, labels, &user);
		for (unsigned int j = 0; states->counted && j < USER_STATES; j++) {
			labels[2] = activity_state_names[j];
			metrics_unsigned(metrics, EXPORT_USER_SAMPLES, labels, states->found[j]);
		}
	}
}

static void add_unused(struct metrics *metrics, const struct activity *activity)
{
	uint64_t all = 0;
	char kind[24];

	for (unsigned int i = 0; i < ACTIVITY_DOMAINS * ACTIVITY_NUMBERS; i++) {
		const uint64_t *const count =
			activity->unused[i / ACTIVITY_NUMBERS][i % ACTIVITY_NUMBERS];

		snprintf(kind, sizeof(kind), "D%uR%u", i / ACTIVITY_NUMBERS, i % ACTIVITY_NUMBERS);
		if (count[RECORD_NOT_UNDERSTOOD])
			metrics_unsigned(metrics, EXPORT_NOT_UNDERSTOOD, (const char *const[]){ kind },
					 count[RECORD_NOT_UNDERSTOOD]);
		for (unsigned int use = 0; use < RECORD_USES; use++)
			all += count[use];
	}
	metrics_unsigned(metrics, EXPORT_UNUSED, NULL, all);
}

void export_values(struct metrics *metrics, const struct activity *activity,
		   const struct tally *tally)
{
	struct bucket all = { 0 };

	add_tally(metrics, tally);
	metrics_unsigned(metrics, EXPORT_LEFT_OUT, NULL, activity->left_out);
	add_unused(metrics, activity);
	metrics_unsigned(metrics, EXPORT_INTERVALS, NULL, activity->intervals);
	for (unsigned int i = 0; i < activity->buckets; i++)
		bucket_add(&all, &activity->bucket[i]);
	/* Of the interval that has not ended it is known already. */
	bucket_add(&all, &activity->now);
	add_bucket(metrics, &all);
	add_release(metrics, activity->releases);
	add_partition(metrics, &activity->system);
	add_load(metrics, activity);
	add_states(metrics, &activity->system);
	add_devices(metrics, activity);
	add_users(metrics, activity);
}
