/* SPDX-License-Identifier: MIT */
/* monread: families of values, and what of the activity they are. */
#include "export.h"

#include <stdio.h>
#include <string.h>

/* The TOD clock counts 4096 to a microsecond since 1900 (z/Architecture PoP). */
#define TOD_MICROSECOND 4096u
#define US_PER_S UINT64_C(1000000)
#define SECONDS_1900_TO_1970 UINT64_C(2208988800)
#define NS_DECIMALS 9u
#define US_DECIMALS 6u
#define HUNDREDTHS 2u
/* Unit of a measurement block's times in nanoseconds (z/Architecture PoP, format 0: 128 us). */
#define BLOCK_NS UINT64_C(128000)
#define PAGE_BYTES UINT64_C(4096)

const struct metric_family export_families[EXPORT_FAMILIES] = {
	[EXPORT_SETS] = { "monread_sets", METRIC_COUNTER, NULL,
			  "Data sets that were read to their end", { NULL } },
	[EXPORT_SETS_LOST] = { "monread_sets_lost", METRIC_COUNTER, NULL,
			       "Data sets that could not be read to their end", { NULL } },
	[EXPORT_OVERFLOWS] = { "monread_overflows", METRIC_COUNTER, NULL,
			       "Times that the message limit of CP was reached, and data were lost",
			       { NULL } },
	[EXPORT_RECORDS] = { "monread_records", METRIC_COUNTER, NULL, "Monitor records",
			     { NULL } },
	[EXPORT_BYTES] = { "monread_record_bytes", METRIC_COUNTER, "bytes",
			   "Bytes of monitor records", { NULL } },
	[EXPORT_VIOLATIONS] = { "monread_violations", METRIC_COUNTER, NULL,
				"Times that the data broke a rule of their format", { "rule" } },
	[EXPORT_SEVERS] = { "monread_severs", METRIC_COUNTER, NULL,
			    "Times that CP severed, and the device was opened anew", { NULL } },
	[EXPORT_LEFT_OUT] = { "monread_records_left_out", METRIC_COUNTER, NULL,
			      "Records of users and devices beyond those that there is room for",
			      { NULL } },
	[EXPORT_NOT_UNDERSTOOD] = { "monread_records_not_understood", METRIC_COUNTER, NULL,
				    "Records that values are made of, whose fields are not known in the "
				    "release", { "record" } },
	[EXPORT_UNUSED] = { "monread_records_unused", METRIC_COUNTER, NULL,
			    "Records of which no value was made, for any reason", { NULL } },
	[EXPORT_INTERVALS] = { "monread_intervals", METRIC_COUNTER, NULL,
			       "Ends of intervals (D1R11); the configuration has one, too", { NULL } },
	[EXPORT_UNTIL] = { "monread_interval_end_timestamp_seconds", METRIC_GAUGE, "seconds",
			   "End of the last sample interval, by the TOD clock", { NULL } },
	[EXPORT_RELEASE] = { "zvm_release_info", METRIC_GAUGE, NULL,
			     "Always 1; the release of z/VM, or those that the data can be of",
			     { "release" } },
	[EXPORT_BUSY] = { "zvm_processor_busy_seconds", METRIC_COUNTER, "seconds",
			  "Time that processors were busy, of all of a type", { "type" } },
	[EXPORT_TIME] = { "zvm_processor_online_seconds", METRIC_COUNTER, "seconds",
			  "Time for which it is known how busy they were, of all of a type",
			  { "type" } },
	[EXPORT_PAGE_READS] = { "zvm_page_reads", METRIC_COUNTER, NULL,
				"Pages that CP read from paging devices", { NULL } },
	[EXPORT_PAGE_WRITES] = { "zvm_page_writes", METRIC_COUNTER, NULL,
				 "Pages that CP wrote to paging devices", { NULL } },
	[EXPORT_EVENTS] = { "zvm_events", METRIC_COUNTER, NULL,
			    "Events of users, processors, devices and the monitor", { "kind" } },
	[EXPORT_EVENTS_LOST] = { "zvm_event_records_lost", METRIC_COUNTER, NULL,
				 "Event records that CP could not keep", { NULL } },
	[EXPORT_STARTS] = { "zvm_device_starts", METRIC_COUNTER, NULL,
			    "I/Os that were started", { "device" } },
	[EXPORT_USER_TIME] = { "zvm_user_cpu_seconds", METRIC_COUNTER, "seconds",
			       "CPU time of a virtual processor of a user",
			       { "user", "processor" } },
	[EXPORT_PARTITION] = { "zvm_partition_info", METRIC_GAUGE, NULL,
			       "Always 1; names of the system and of its logical partition",
			       { "system", "partition" } },
	[EXPORT_PROCESSORS] = { "zvm_partition_processors", METRIC_GAUGE, NULL,
				"Processors of the partition that are configured, standby, shared and "
				"dedicated", { "kind" } },
	[EXPORT_MACHINE] = { "zvm_machine_processors", METRIC_GAUGE, NULL,
			     "Processors of the machine", { NULL } },
	[EXPORT_LOAD] = { "zvm_logical_processor_busy_seconds", METRIC_COUNTER, "seconds",
			  "Time that a processor worked, for users and for the system",
			  { "processor", "type", "mode" } },
	[EXPORT_LOAD_TIME] = { "zvm_logical_processor_online_seconds", METRIC_COUNTER, "seconds",
			       "Time for which it is known how busy a processor was",
			       { "processor", "type" } },
	[EXPORT_SAMPLES] = { "zvm_state_samples", METRIC_COUNTER, NULL,
			     "High-frequency samples of all users, by the state that they found",
			     { "state" } },
	[EXPORT_SAMPLE_INTERVAL] = { "zvm_sample_interval_seconds", METRIC_GAUGE, "seconds",
				     "Time between two high-frequency samples", { NULL } },
	[EXPORT_USER_SAMPLES] = { "zvm_user_state_samples", METRIC_COUNTER, NULL,
				  "High-frequency samples of a user, by the state that they found",
				  { "user", "processor", "state" } },
	[EXPORT_RESPONSE] = { "zvm_device_response_seconds", METRIC_GAUGE, "seconds",
			      "Mean duration of an I/O, from all D6R3 of the device, or its last D6R14",
			      { "device" } },
	[EXPORT_SLOTS] = { "zvm_volume_slots", METRIC_GAUGE, NULL,
			   "Slots of a paging volume, of a page each", { "device", "volume" } },
	[EXPORT_SLOTS_USED] = { "zvm_volume_slots_used", METRIC_GAUGE, NULL,
				"Slots of a paging volume that are in use", { "device", "volume" } },
	[EXPORT_VOLUME_READS] = { "zvm_volume_page_reads", METRIC_COUNTER, NULL,
				  "Pages that CP read from a paging volume",
				  { "device", "volume" } },
	[EXPORT_VOLUME_WRITES] = { "zvm_volume_page_writes", METRIC_COUNTER, NULL,
				   "Pages that CP wrote to a paging volume",
				   { "device", "volume" } },
	[EXPORT_USER_READS] = { "zvm_user_page_reads", METRIC_COUNTER, NULL,
				"Pages of a user that CP read from paging volumes",
				{ "user", "processor" } },
	[EXPORT_USER_WRITES] = { "zvm_user_page_writes", METRIC_COUNTER, NULL,
				 "Pages of a user that CP wrote to paging volumes",
				 { "user", "processor" } },
	[EXPORT_USER_STARTS] = { "zvm_user_starts", METRIC_COUNTER, NULL,
				 "I/Os that a user started", { "user", "processor" } },
	[EXPORT_RESIDENT] = { "zvm_user_resident_bytes", METRIC_GAUGE, "bytes",
			      "Storage of a user that is resident", { "user", "processor" } },
	[EXPORT_PAGED_OUT] = { "zvm_user_paged_out_bytes", METRIC_GAUGE, "bytes",
			       "Storage of a user that is on paging volumes",
			       { "user", "processor" } },
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
	if (all->paging_records) {
		metrics_unsigned(metrics, EXPORT_PAGE_READS, NULL, all->page_reads);
		metrics_unsigned(metrics, EXPORT_PAGE_WRITES, NULL, all->page_writes);
	}
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

	metrics_unsigned(metrics, EXPORT_SLOTS, labels, device->slots);
	metrics_unsigned(metrics, EXPORT_SLOTS_USED, labels, device->slots_used);
	metrics_unsigned(metrics, EXPORT_VOLUME_READS, labels, device->pages.reads);
	metrics_unsigned(metrics, EXPORT_VOLUME_WRITES, labels, device->pages.writes);
}

static void add_devices(struct metrics *metrics, const struct activity *activity)
{
	char number[8];

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		const struct device_activity *device = &activity->device[i];
		const char *const labels[] = { number };

		snprintf(number, sizeof(number), "%04X", device->number);
		if (device->source)
			metrics_unsigned(metrics, EXPORT_STARTS, labels, device->starts);
		if (device->measured)
			metrics_decimal(metrics, EXPORT_RESPONSE, labels,
					device->response * BLOCK_NS / device->measured, NS_DECIMALS);
		if (device->is_paging)
			add_volume(metrics, number, device);
	}
}

static void add_user_paging(struct metrics *metrics, const char *const *labels,
			    const struct user_activity *user)
{
	metrics_unsigned(metrics, EXPORT_USER_READS, labels, user->pages.reads);
	metrics_unsigned(metrics, EXPORT_USER_WRITES, labels, user->pages.writes);
	metrics_unsigned(metrics, EXPORT_USER_STARTS, labels, user->starts);
	metrics_unsigned(metrics, EXPORT_RESIDENT, labels, user->resident * PAGE_BYTES);
	metrics_unsigned(metrics, EXPORT_PAGED_OUT, labels, user->slots * PAGE_BYTES);
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
			add_user_paging(metrics, labels, &user);
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
