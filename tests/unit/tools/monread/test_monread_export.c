/* SPDX-License-Identifier: MIT */
/* The values that monread export gives: each family with its labels and unit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ebcdic.h"
#include "export.h"
#include "unit_test.h"

/* 1970-01-01T00:00:00 by the TOD clock (z/Architecture PoP). */
#define TOD_1970 UINT64_C(0x7d91048bca000000)

void complain_about(const char *what, int error)
{
	ck_abort_msg("%s: %d", what, error);
}

static struct activity activity;
static struct tally tally;
static struct text out;

static void start(void)
{
	activity_init(&activity);
	tally = (struct tally){ 0 };
}

static void stop(void)
{
	text_free(&out);
}

CASE("monread_export", start, stop);

static const char *written(void)
{
	struct metrics metrics;

	ck_assert(metrics_open(&metrics, export_families, EXPORT_FAMILIES));
	export_values(&metrics, &activity, &tally);
	text_clear(&out);
	metrics_write(&metrics, METRICS_OPENMETRICS, &out);
	text_append(&out, "", 1);
	ck_assert(!out.failed);
	metrics_close(&metrics);
	return out.bytes;
}

static void ck_has(const char *line)
{
	char whole[160];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	ck_assert_msg(strstr(out.bytes, whole), "no %s", line);
}

TEST(nothing_yet)
{
	written();
	ck_has("monread_sets_total 0");
	ck_has("monread_sets_lost_total 0");
	ck_has("zvm_events_total{kind=\"logon\"} 0");
	ck_has("zvm_event_records_lost_total 0");
	ck_assert_ptr_null(strstr(out.bytes, "timestamp"));
	ck_assert_ptr_null(strstr(out.bytes, "processor_busy"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_device"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_user"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_release"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_partition"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_machine"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_logical"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_state"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_sample"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_volume"));
	/* No record has told of paging: it is unknown, not 0. */
	ck_assert_ptr_null(strstr(out.bytes, "zvm_page_reads_total"));
	ck_has("monread_records_unused_total 0");
	ck_assert_ptr_null(strstr(out.bytes, "monread_records_not_understood_total"));
}

TEST(what_was_read)
{
	tally = (struct tally){ .sets = 1, .lost = 2, .overflows = 3, .records = 4, .bytes = 5,
				.severs = 6 };
	tally.broken[0] = 7;
	activity.left_out = 8;
	activity.intervals = 9;
	activity.unused[4][3][RECORD_NOT_UNDERSTOOD] = 10;
	activity.unused[6][3][RECORD_NOT_UNDERSTOOD] = 11;
	activity.unused[0][1][RECORD_NOT_SHOWN] = 12;
	activity.unused[4][9][RECORD_ELSEWHERE] = 13;
	written();
	ck_has("monread_sets_total 1");
	ck_has("monread_sets_lost_total 2");
	ck_has("monread_overflows_total 3");
	ck_has("monread_records_total 4");
	ck_has("monread_record_bytes_total 5");
	ck_has("monread_severs_total 6");
	ck_has("monread_violations_total{rule=\"element-cut\"} 7");
	ck_has("monread_records_left_out_total 8");
	ck_has("monread_intervals_total 9");
	ck_has("monread_records_not_understood_total{record=\"D4R3\"} 10");
	ck_has("monread_records_not_understood_total{record=\"D6R3\"} 11");
	ck_assert_ptr_null(strstr(out.bytes, "D0R1"));
	ck_has("monread_records_unused_total 46");
}

/* Sums of all buckets and of the interval that has not ended. */
TEST(all_intervals)
{
	activity.buckets = 2;
	activity.bucket[0] = (struct bucket){ .first = TOD_1970, .last = TOD_1970 + TOD_SECOND,
					      .page_reads = 1, .page_writes = 10, .suspended = 100,
					      .paging_records = 1 };
	activity.bucket[0].busy[0] = TOD_SECOND / 2;
	activity.bucket[0].elapsed[0] = TOD_SECOND;
	activity.bucket[1] = (struct bucket){ .last = TOD_1970 + 2 * TOD_SECOND + 4096,
					      .page_reads = 2, .page_writes = 20, .suspended = 200 };
	activity.bucket[1].busy[3] = 5;
	activity.bucket[1].elapsed[3] = 3 * TOD_SECOND + 4095;
	activity.bucket[1].events[EVENT_LOGOFF] = 5;
	activity.now = (struct bucket){ .page_reads = 4, .page_writes = 40, .suspended = 400 };
	activity.now.events[EVENT_LOGOFF] = 6;
	activity.now.events[EVENT_LOGON] = 1;
	activity.now.events[EVENT_PROCESSOR] = 2;
	activity.now.events[EVENT_DEVICE] = 3;
	activity.now.events[EVENT_COMMAND] = 4;
	activity.now.events[EVENT_SUSPENDED] = 7;
	activity.now.elapsed[0] = TOD_SECOND;
	written();
	ck_has("monread_interval_end_timestamp_seconds 2.000001");
	ck_has("zvm_processor_busy_seconds_total{type=\"CP\"} 0.5");
	ck_has("zvm_processor_online_seconds_total{type=\"CP\"} 2");
	ck_has("zvm_processor_busy_seconds_total{type=\"IFL\"} 0.000000001");
	ck_has("zvm_processor_online_seconds_total{type=\"IFL\"} 3.000000999");
	ck_has("zvm_page_reads_total 7");
	ck_has("zvm_page_writes_total 70");
	ck_has("zvm_event_records_lost_total 700");
	ck_has("zvm_events_total{kind=\"logon\"} 1");
	ck_has("zvm_events_total{kind=\"processor\"} 2");
	ck_has("zvm_events_total{kind=\"device\"} 3");
	ck_has("zvm_events_total{kind=\"monitor\"} 4");
	ck_has("zvm_events_total{kind=\"suspended\"} 7");
	ck_has("zvm_events_total{kind=\"logoff\"} 11");
	ck_assert_ptr_null(strstr(out.bytes, "zIIP"));
	/* The first second that Unix knows, and the one before it. */
	activity.bucket[1].last = TOD_1970;
	written();
	ck_has("monread_interval_end_timestamp_seconds 0");
	activity.bucket[1].last = TOD_1970 - 1;
	ck_assert_ptr_null(strstr(written(), "timestamp"));
}

/* One release, and several of which the data can be. */
TEST(release)
{
	activity.releases = monrec_release_bit(730);
	written();
	ck_has("zvm_release_info{release=\"7.3\"} 1");
	activity.releases |= monrec_release_bit(740) | monrec_release_bit(750) |
			     monrec_release_bit(530);
	written();
	ck_has("zvm_release_info{release=\"5.3, 7.3 to 7.5\"} 1");
}

TEST(users_and_devices)
{
	static const uint8_t linux1[8] = { 0xd3, 0xc9, 0xd5, 0xe4, 0xe7, 0xf1, 0x40, 0x40 };

	memcpy(activity.user[0].name, linux1, 8);
	activity.user[0].counted = true;
	activity.user[0].time = TOD_SECOND + 4096;
	memcpy(activity.user[ACTIVITY_USERS - 1].name, linux1, 8);
	activity.user[ACTIVITY_USERS - 1].counted = true;
	activity.user[ACTIVITY_USERS - 1].address = 65535;
	activity.user[ACTIVITY_USERS - 1].time = 2 * TOD_SECOND;
	/* One whose time is not known. */
	memcpy(activity.user[5].name, linux1, 8);
	activity.user[5].address = 5;
	activity.device[0] = (struct device_activity){ .number = 0x1a, .source = 1, .starts = 17 };
	activity.device[ACTIVITY_DEVICES - 1] =
		(struct device_activity){ .number = 0xffff, .source = 1, .starts = 18 };
	activity.device[3] = (struct device_activity){ .number = 3, .starts = 19 };
	written();
	ck_has("zvm_user_cpu_seconds_total{user=\"LINUX1\",processor=\"0\"} 1.000001");
	ck_has("zvm_user_cpu_seconds_total{user=\"LINUX1\",processor=\"65535\"} 2");
	ck_assert_ptr_null(strstr(out.bytes, "processor=\"5\""));
	ck_has("zvm_device_starts_total{device=\"001A\"} 17");
	ck_has("zvm_device_starts_total{device=\"FFFF\"} 18");
	ck_assert_ptr_null(strstr(out.bytes, "0003"));
}

TEST(partition_and_its_load)
{
	ebcdic_name(activity.system.name, "ZVM1");
	written();
	ck_has("zvm_partition_info{system=\"ZVM1\",partition=\"\"} 1");
	ck_assert_ptr_null(strstr(out.bytes, "zvm_partition_processors"));
	ebcdic_name(activity.system.partition, "LPAR\"A");
	activity.system.has_partition = true;
	activity.system.machine = 64;
	activity.system.configured = 5;
	activity.system.standby = 2;
	activity.system.shared = 4;
	activity.system.dedicated = 1;
	activity.cpu[0] = (struct cpu_activity){ .address = 12, .type = 3, .users = TOD_SECOND,
						 .system = TOD_SECOND / 4,
						 .elapsed = 10 * TOD_SECOND };
	activity.cpu[ACTIVITY_CPUS - 1] = (struct cpu_activity){ .address = 65535,
								  .elapsed = TOD_SECOND };
	/* One that was seen once. */
	activity.cpu[7] = (struct cpu_activity){ .used = true, .address = 7 };
	written();
	ck_has("zvm_partition_info{system=\"ZVM1\",partition=\"LPAR\\\"A\"} 1");
	ck_has("zvm_machine_processors 64");
	ck_has("zvm_partition_processors{kind=\"configured\"} 5");
	ck_has("zvm_partition_processors{kind=\"standby\"} 2");
	ck_has("zvm_partition_processors{kind=\"shared\"} 4");
	ck_has("zvm_partition_processors{kind=\"dedicated\"} 1");
	ck_has("zvm_logical_processor_busy_seconds_total"
	       "{processor=\"12\",type=\"IFL\",mode=\"users\"} 1");
	ck_has("zvm_logical_processor_busy_seconds_total"
	       "{processor=\"12\",type=\"IFL\",mode=\"system\"} 0.25");
	ck_has("zvm_logical_processor_online_seconds_total{processor=\"12\",type=\"IFL\"} 10");
	ck_has("zvm_logical_processor_busy_seconds_total"
	       "{processor=\"65535\",type=\"CP\",mode=\"users\"} 0");
	ck_has("zvm_logical_processor_online_seconds_total{processor=\"65535\",type=\"CP\"} 1");
	ck_assert_ptr_null(strstr(out.bytes, "processor=\"7\""));
}

/* States of all users, and of one about whom nothing else is known. */
TEST(states)
{
	static const char *const words[] = {
		"running", "cpu-wait", "io-wait", "page-wait", "simulation", "idle", "dormant",
		"other",
	};
	char line[120];

	activity.system.states.counted = true;
	activity.system.hf_rate = 150;
	ebcdic_name(activity.user[3].name, "USER3");
	activity.user[3].address = 2;
	activity.user[3].states.counted = true;
	for (unsigned int i = 0; i < USER_STATES; i++) {
		activity.system.states.found[i] = UINT64_C(10000000000) + i;
		activity.user[3].states.found[i] = 10 + i;
	}
	written();
	ck_has("zvm_sample_interval_seconds 1.5");
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(line, sizeof(line), "zvm_user_state_samples_total"
			 "{user=\"USER3\",processor=\"2\",state=\"%s\"} %u", words[i], 10 + i);
		ck_has(line);
		snprintf(line, sizeof(line), "zvm_state_samples_total{state=\"%s\"} 1000000000%u",
			 words[i], i);
		/* D0R12 does not count dormant users. */
		if (i != 6)
			ck_has(line);
	}
	ck_assert_ptr_null(strstr(out.bytes, "zvm_state_samples_total{state=\"dormant"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_user_cpu"));
	ck_assert_ptr_null(strstr(out.bytes, "zvm_user_page"));
}

TEST(paging_and_responses)
{
	struct device_activity *volume = &activity.device[5];

	activity.device[2] = (struct device_activity){ .number = 0x2000, .source = 1,
						       .connect = 15, .measured = 8 };
	/* The longest that a record can have. */
	activity.device[3] = (struct device_activity){
		.number = 0x2001, .source = 1, .pending = 3 * UINT64_C(0xffffffff), .measured = 1,
	};
	*volume = (struct device_activity){ .number = 0xabc, .source = 1, .is_paging = true,
					    .pages = { .slots = UINT32_MAX, .slots_used = 4,
						       .reads = 50, .writes = 60 } };
	memcpy(volume->volume, (const uint8_t[]){ 0xd7, 0xc1, 0xc7, 0xf0, 0xf0, 0xf1 }, 6);
	ebcdic_name(activity.user[1].name, "PAGER");
	activity.user[1].pages = (struct user_pages){ .counted = true, .starts = 7, .slots = 3,
						      .resident = UINT32_MAX,
						      .reads = 8, .writes = 9 };
	written();
	/* 15 units of 128 us, by 8. */
	ck_has("zvm_device_response_seconds{device=\"2000\"} 0.00024");
	ck_has("zvm_device_response_seconds{device=\"2001\"} 1649267.44128");
	ck_assert_ptr_null(strstr(out.bytes, "response_seconds{device=\"0ABC"));
	ck_has("zvm_volume_slots{device=\"0ABC\",volume=\"PAG001\"} 4294967295");
	ck_has("zvm_volume_slots_used{device=\"0ABC\",volume=\"PAG001\"} 4");
	ck_has("zvm_volume_page_reads_total{device=\"0ABC\",volume=\"PAG001\"} 50");
	ck_has("zvm_volume_page_writes_total{device=\"0ABC\",volume=\"PAG001\"} 60");
	ck_assert_ptr_null(strstr(out.bytes, "slots{device=\"2000"));
	ck_has("zvm_user_page_reads_total{user=\"PAGER\",processor=\"0\"} 8");
	ck_has("zvm_user_page_writes_total{user=\"PAGER\",processor=\"0\"} 9");
	ck_has("zvm_user_starts_total{user=\"PAGER\",processor=\"0\"} 7");
	ck_has("zvm_user_resident_bytes{user=\"PAGER\",processor=\"0\"} 17592186040320");
	ck_has("zvm_user_paged_out_bytes{user=\"PAGER\",processor=\"0\"} 12288");
	ck_assert_ptr_null(strstr(out.bytes, "zvm_user_state"));
}

/* As many years as a counter of the TOD clock has. */
TEST(longest_time)
{
	activity.user[0].name[0] = 0xc1;
	activity.user[0].counted = true;
	activity.user[0].time = UINT64_MAX;
	written();
	ck_has("zvm_user_cpu_seconds_total{user=\"A\",processor=\"0\"} 4503599627.370495999");
}
