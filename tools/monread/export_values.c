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
	[EXPORT_INTERVALS] = { "monread_intervals", METRIC_COUNTER, NULL,
			       "Ends of intervals (D1R11); the configuration has one, too", { NULL } },
	[EXPORT_UNTIL] = { "monread_interval_end_timestamp_seconds", METRIC_GAUGE, "seconds",
			   "End of the last sample interval, by the TOD clock", { NULL } },
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
	metrics_unsigned(metrics, EXPORT_PAGE_READS, NULL, all->page_reads);
	metrics_unsigned(metrics, EXPORT_PAGE_WRITES, NULL, all->page_writes);
	for (unsigned int i = 0; i < EVENT_KINDS; i++)
		metrics_unsigned(metrics, EXPORT_EVENTS, (const char *const[]){ kind_names[i] },
				 all->events[i]);
	metrics_unsigned(metrics, EXPORT_EVENTS_LOST, NULL, all->suspended);
}

static void add_devices(struct metrics *metrics, const struct activity *activity)
{
	char number[8];

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		if (!activity->device[i].source)
			continue;
		snprintf(number, sizeof(number), "%04X", activity->device[i].number);
		metrics_unsigned(metrics, EXPORT_STARTS, (const char *const[]){ number },
				 activity->device[i].starts);
	}
}

static void add_users(struct metrics *metrics, const struct activity *activity)
{
	char name[ACTIVITY_NAME_SIZE], processor[8];

	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		struct user_activity user = activity->user[i];

		if (!user.counted)
			continue;
		snprintf(processor, sizeof(processor), "%u", user.address);
		user.address = 0;
		add_time(metrics, EXPORT_USER_TIME,
			 (const char *const[]){ activity_user_name(&user, name), processor },
			 user.time);
	}
}

void export_values(struct metrics *metrics, const struct activity *activity,
		   const struct tally *tally)
{
	struct bucket all = { 0 };

	add_tally(metrics, tally);
	metrics_unsigned(metrics, EXPORT_LEFT_OUT, NULL, activity->left_out);
	metrics_unsigned(metrics, EXPORT_INTERVALS, NULL, activity->intervals);
	for (unsigned int i = 0; i < activity->buckets; i++)
		bucket_add(&all, &activity->bucket[i]);
	/* Of the interval that has not ended it is known already. */
	bucket_add(&all, &activity->now);
	add_bucket(metrics, &all);
	add_devices(metrics, activity);
	add_users(metrics, activity);
}
