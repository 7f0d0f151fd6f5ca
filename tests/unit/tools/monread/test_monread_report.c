/* SPDX-License-Identifier: MIT */
/*
 * monread: tables of what records tell, made from records with values at the offsets that
 * zvmlab records has for 5.3.
 */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "blank_record.h"
#include "bytes.h"
#include "clock.h"
#include "ebcdic.h"
#include "report.h"
#include "sink.h"

/* 2026-03-02, midnight: date -u -d '2026-03-02' +%s */
#define BEGIN ((UINT64_C(2208988800) + 1772409600) * TOD_SECOND)

static struct activity f;
static struct report report;
static struct thresholds thresholds;
static uint8_t bytes[600];
static struct monrec_item item;

/* Stands in for main.c. */
void complain_about(const char *what, int error)
{
	(void)what;
	(void)error;
}

static void start(void)
{
	activity_init(&f);
	f.releases = monrec_release_bit(MONREC_REFERENCE);
	thresholds = thresholds_default;
	ck_assert(clock_set_zone("UTC"));
}

CASE("monread report", start, NULL);

/* The next record, @seconds after the begin, zeros behind its header. */
static uint16_t release = MONREC_REFERENCE;

static void record(unsigned int domain, unsigned int number, uint32_t len, unsigned int seconds)
{
	blank_record(&item, bytes, sizeof(bytes), domain, number, len, BEGIN + seconds * TOD_SECOND);
	item.record.release = release;
}

static void give(void)
{
	activity_item(&f, &item);
}

static void interval_ends(unsigned int seconds)
{
	record(1, 11, 20, seconds);
	give();
}

static void words(unsigned int offset, const uint32_t *values, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		put_be32(bytes + offset + 4 * i, values[i]);
}

static void make(enum report_kind kind)
{
	report_make(&report, kind, &f, &thresholds);
}

/* The row's cells with '|' between; '!' before one that is high. */
static void ck_row(unsigned int row, const char *expected)
{
	char found[512] = "";

	ck_assert_uint_lt(row, report.rows);
	for (unsigned int i = 0; report.columns[i].head; i++) {
		strcat(found, i ? "|" : "");
		strcat(found, report.cell[row][i].high ? "!" : "");
		strcat(found, report.cell[row][i].text);
	}
	ck_assert_str_eq(found, expected);
}

TEST(numbers)
{
	static const struct { double value; int decimals; const char *text; } cases[] = {
		{ 0, 0, "0" }, { 999, 0, "999" }, { 1000, 0, "1,000" }, { 999.96, 1, "1,000.0" },
		{ 1234567.891, 2, "1,234,567.89" }, { -1234, 1, "-1,234.0" }, { -123, 0, "-123" },
		{ 1e15, 0, "1,000,000,000,000,000" }, { 1e300, 1, "1e+300" },
	};
	char text[REPORT_CELL];

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(report_number(text, cases[i].value, cases[i].decimals),
				 cases[i].text);
	ck_assert_str_eq(report_count(text, 0), "0");
	ck_assert_str_eq(report_count(text, 123456), "123,456");
	ck_assert_str_eq(report_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

/* D4R10: user ID 20, samples 48, then the states from 88 on. */
static void interaction(const char *name, uint32_t samples, uint32_t idle, uint32_t io_wait,
			uint32_t simulation, uint32_t page_wait, uint32_t cpu_wait, uint32_t running,
			uint32_t dormant)
{
	record(4, 10, 200, 10);
	ebcdic_name(bytes + 20, name);
	put_be32(bytes + 48, samples);
	put_be32(bytes + 88, idle);
	put_be32(bytes + 96, io_wait);
	put_be32(bytes + 104, simulation);
	put_be32(bytes + 108, page_wait);
	put_be32(bytes + 112, cpu_wait);
	put_be32(bytes + 116, running);
	put_be32(bytes + 128, dormant);
	give();
}

TEST(waits)
{
	make(REPORT_WAITS);
	ck_assert_uint_eq(report.rows, 0);
	/* What the first one of each has is what the next is held against. */
	interaction("IDLER", 100, 100, 0, 0, 0, 0, 0, 0);
	interaction("WAITER", 1000, 0, 0, 0, 0, 0, 0, 0);
	make(REPORT_WAITS);
	ck_assert_uint_eq(report.rows, 0);
	interaction("IDLER", 300, 200, 1, 2, 3, 4, 10, 20);
	/* 1000 were in no state that has a field; 200 more in each, but 4 of 1 more in all. */
	interaction("WAITER", 1000 + 800, 8, 200, 100, 300, 150, 42, 0);
	make(REPORT_WAITS);
	ck_assert_str_eq(report.id, "waits");
	ck_assert_uint_eq(report.rows, 2);
	ck_row(0, "WAITER|5.2|18.8|25.0|!37.5|12.5|1.0|0.0|0.0|800");
	ck_row(1, "IDLER|5.0|2.0|0.5|1.5|1.0|50.0|10.0|30.0|200");
	ck_assert_str_eq(report.note,
			 "CPU wait above 25 %, I/O wait above 25 %, page wait above 10 %");
	thresholds.of[THRESHOLD_IO_WAIT] = 24.9;
	thresholds.of[THRESHOLD_PAGE_WAIT] = -1;
	make(REPORT_WAITS);
	ck_row(0, "WAITER|5.2|18.8|!25.0|37.5|12.5|1.0|0.0|0.0|800");
	ck_assert_str_eq(report.note, "CPU wait above 25 %, I/O wait above 24.9 %");
	/* A user that has logged on again: all of it is new. */
	interaction("IDLER", 100, 50, 0, 0, 0, 0, 50, 0);
	make(REPORT_WAITS);
	ck_row(1, "IDLER|20.0|1.3|0.3|1.0|0.7|50.0|6.7|20.0|300");
}

/* D0R12: idle 20, service machines 24, I/O 28, page 32, console 36, simulation 40, ... other 52. */
static void all_users(unsigned int seconds, uint32_t times)
{
	const uint32_t counts[] = { 50, 1, 20, 10, 2, 3, 4, 5, 5 };

	record(0, 12, 160, seconds);
	for (unsigned int i = 0; i < 9; i++)
		put_be32(bytes + 20 + 4 * i, counts[i] * times);
	give();
}

TEST(waits_of_all)
{
	all_users(60, 0xffffffff / 50);
	interval_ends(60);
	all_users(120, 0xffffffff / 50 + 2);
	interval_ends(120);
	make(REPORT_WAITS);
	ck_assert_uint_eq(report.rows, 1);
	ck_assert_uint_eq(f.bucket[0].found[STATE_IDLE], 0);
	ck_assert_uint_eq(f.bucket[1].found[STATE_IO_WAIT], 40);
	/* This one has wrapped. */
	ck_assert_uint_eq(f.bucket[1].found[STATE_IDLE], 100);
	activity_init(&f);
	all_users(60, 1000);
	all_users(120, 1002);
	make(REPORT_WAITS);
	ck_row(0, "(all users)|5.0|4.0|20.0|10.0|3.0|50.0|0.0|8.0|200");
	/* Ten rows, of users one less; of equal ones the first of the table of users. */
	for (unsigned int i = 0; i < 12; i++) {
		char name[9];

		snprintf(name, sizeof(name), "U%u", i);
		interaction(name, 0, 0, 0, 0, 0, 0, 0, 0);
		interaction(name, 100, 100 - i, i, 0, 0, 0, 0, 0);
	}
	make(REPORT_WAITS);
	ck_assert_uint_eq(report.rows, 10);
	ck_row(1, "U11|0.0|0.0|11.0|0.0|0.0|89.0|0.0|0.0|100");
	ck_row(9, "U3|0.0|0.0|3.0|0.0|0.0|97.0|0.0|0.0|100");
	ck_assert_uint_eq(report.left_out, 3);
}

/* The mean of two intervals is below the threshold, one of them is above it. */
TEST(most_waits_of_all)
{
	make(REPORT_MOST_WAITS);
	ck_assert_uint_eq(report.rows, 0);
	interval_ends(0);
	all_users(60, 1000);
	interval_ends(60);
	all_users(120, 1001);
	interval_ends(120);
	/* 90 more samples of users that waited for pages, and 10 of others. */
	record(0, 12, 160, 180);
	for (unsigned int i = 0; i < 9; i++)
		put_be32(bytes + 20 + 4 * i, (const uint32_t[]){ 50, 1, 20, 10, 2, 3, 4, 5, 5 }[i] * 1001 +
						     (const uint32_t[]){ 10, 0, 0, 90 }[i < 4 ? i : 1]);
	give();
	interval_ends(180);
	make(REPORT_MOST_WAITS);
	ck_assert_str_eq(report.id, "most-waits");
	ck_assert_uint_eq(report.rows, 1);
	ck_row(0, "(all users)|4.0|2026-03-02 00:02:00|20.0|2026-03-02 00:02:00|!90.0|"
		  "2026-03-02 00:03:00");
	ck_assert_str_eq(report.note,
			 "CPU wait above 25 %, I/O wait above 25 %, page wait above 10 %");
}

/* D6R24: device 20, transfers 40. */
static void device(unsigned int seconds, uint16_t number, uint32_t starts)
{
	record(6, 24, 316, seconds);
	put_be16(bytes + 20, number);
	put_be32(bytes + 40, starts);
	give();
}

/* D6R3: samples 54, connect 56, pending 60, disconnect 64, starts 192, samples 196, device 200. */
static void sampled(unsigned int seconds, uint16_t number, uint32_t starts, uint32_t samples,
		    uint32_t each)
{
	const uint32_t times[] = { starts * each, starts * 2 * each, starts * 3 * each };

	record(6, 3, 260, seconds);
	put_be16(bytes + 54, (uint16_t)starts);
	words(56, times, 3);
	put_be32(bytes + 192, starts);
	put_be32(bytes + 196, samples);
	put_be16(bytes + 200, number);
	give();
}

/* D6R14: device 24, samples 30, connect 32, pending 36, disconnect 40, all samples 64. */
static void measured(uint16_t number, uint16_t samples, uint32_t all)
{
	const uint32_t times[] = { 1000, 200, 300 };

	record(6, 14, 68, 100);
	put_be16(bytes + 24, number);
	put_be16(bytes + 30, samples);
	words(32, times, 3);
	put_be32(bytes + 64, all);
	give();
}

/* D3R4: volume 20, device 26, slots 36, pages read 48, written 52, slots in use 64, starts 168. */
static void volume(unsigned int seconds, uint16_t number, uint32_t used, uint32_t reads,
		   uint32_t writes, uint32_t starts)
{
	char name[9];
	uint8_t padded[8];

	record(3, 4, 172, seconds);
	snprintf(name, sizeof(name), "PAG%03u", number % 1000u);
	ebcdic_name(padded, name);
	memcpy(bytes + 20, padded, 6);
	put_be16(bytes + 26, number);
	put_be32(bytes + 36, 1000);
	put_be32(bytes + 48, reads);
	put_be32(bytes + 52, writes);
	put_be32(bytes + 64, used);
	put_be32(bytes + 168, starts);
	give();
}

TEST(responses)
{
	make(REPORT_RESPONSES);
	ck_assert_uint_eq(report.rows, 0);
	device(60, 0x1000, 100);
	device(60, 0x2000, 0xfffffff0);
	volume(60, 3, 0, 0, 0, 0);
	all_users(60, 1000);
	interval_ends(60);
	device(120, 0x1000, 700);
	device(120, 0x2000, 0xfffffff0);
	all_users(120, 1001);
	interval_ends(120);
	device(180, 0x1000, 700 + 1800);
	/* The counter wraps. */
	device(180, 0x2000, 584);
	volume(180, 3, 0, 0, 0, 5000);
	all_users(180, 1006);
	interval_ends(180);
	make(REPORT_RESPONSES);
	/* 120 samples of users waiting, of 2 s each, by 3,000 I/Os: 80 ms; in 120 s. */
	/* Of the second interval 20 samples by 600 I/Os, of the third 100 by 2,400: 83.3 ms. */
	ck_row(0, "(all)|8,000|66.7|123.3|2026-03-02 00:03:00|!80.00|!83.33|2026-03-02 00:03:00|D0R12");
	ck_row(1, "0003|5,000|41.7|83.3|2026-03-02 00:03:00||||");
	ck_row(2, "1000|2,400|20.0|30.0|2026-03-02 00:03:00||||");
	ck_row(3, "2000|600|5.0|10.0|2026-03-02 00:03:00||||");
	ck_assert_uint_eq(report.rows, 4);
	/* D1R9 says how far samples are apart, in hundredths of a second: at 24. */
	record(1, 9, 36, 180);
	put_be32(bytes + 24, 100);
	give();
	thresholds.of[THRESHOLD_RESPONSE] = 40;
	make(REPORT_RESPONSES);
	ck_row(0, "(all)|8,000|66.7|123.3|2026-03-02 00:03:00|40.00|!83.33|2026-03-02 00:03:00|D0R12");
	/* 1,500 units of 128 us: 192 ms. */
	measured(0x1000, 100, 0);
	measured(0x2000, 7, 3000);
	measured(0x4000, 1, 0);
	make(REPORT_RESPONSES);
	ck_row(2, "1000|2,400|20.0|30.0|2026-03-02 00:03:00|1.92|||D6R14");
	ck_row(3, "2000|600|5.0|10.0|2026-03-02 00:03:00|0.06|||D6R14");
	ck_assert_uint_eq(report.rows, 4);
	measured(0x1000, 0, 0);
	make(REPORT_RESPONSES);
	ck_row(2, "1000|2,400|20.0|30.0|2026-03-02 00:03:00||||");
}

/* Times of measurement blocks since the first sample, by what was measured since then. */
TEST(responses_of_samples)
{
	sampled(60, 0x1000, 1000, 1000, 1);
	interval_ends(60);
	make(REPORT_RESPONSES);
	ck_row(1, "1000|0||0.0|||||");
	/* 6 units of 128 us for each of 100 more starts, then as many for each of 50. */
	sampled(120, 0x1000, 1100, 1100, 1);
	interval_ends(120);
	make(REPORT_RESPONSES);
	ck_row(0, "(all)|100|1.7|1.7|2026-03-02 00:02:00||||");
	ck_row(1, "1000|100|1.7|1.7|2026-03-02 00:02:00|0.77|0.77|2026-03-02 00:02:00|D6R3");
	/* What SET SCMEASURE OFF tells of it adds nothing. */
	measured(0x1000, 1, 0);
	/* The device was varied off and on: everything is counted from 0. */
	sampled(180, 0x1000, 50, 50, 4);
	interval_ends(180);
	make(REPORT_RESPONSES);
	/* 100 of 6 units, and 50 of 24: 12 units, and 24 in the last interval. */
	ck_row(1, "1000|150|1.2|1.7|2026-03-02 00:02:00|1.54|3.07|2026-03-02 00:03:00|D6R3");
	ck_assert_str_eq(report.note, "response above 20 ms");
	thresholds.of[THRESHOLD_RESPONSE] = 3;
	make(REPORT_RESPONSES);
	ck_row(1, "1000|150|1.2|1.7|2026-03-02 00:02:00|1.54|!3.07|2026-03-02 00:03:00|D6R3");
	/* Without the count of 4 bytes that of 2. */
	sampled(180, 0x2000, 65535, 0, 1);
	sampled(240, 0x2000, 65545, 0, 1);
	interval_ends(240);
	make(REPORT_RESPONSES);
	ck_row(2, "2000|10|0.1|0.2|2026-03-02 00:04:00|0.77|0.77|2026-03-02 00:04:00|D6R3");
}

/* If the I/Os of some devices are unknown, so is the sum of all. */
TEST(responses_without_a_layout)
{
	device(60, 0x1000, 100);
	all_users(60, 1000);
	interval_ends(60);
	device(120, 0x1000, 700);
	record(6, 3, 100, 120);
	give();
	all_users(120, 1006);
	interval_ends(120);
	make(REPORT_RESPONSES);
	ck_row(0, "(all)|unknown|unknown|unknown|unknown|unknown|unknown|unknown|");
	ck_row(1, "1000|600|10.0|10.0|2026-03-02 00:02:00||||");
	ck_assert_str_eq(report.facts,
			 "1 records of samples (D6R3) were not understood.  A sum of the devices that "
			 "others tell of would not be that of all.  Give IBM's page of the record with "
			 "--layout.");
	make(REPORT_UNUSED);
	ck_assert_str_eq(report.facts, "1 of 7 records are in no table and no chart.");
	ck_row(0, "D6R3|1|its fields are not known in this release|device activity");
	/* Others come behind it, however many they are: D0R1, D10R2 of another length. */
	for (unsigned int i = 0; i < 3; i++) {
		record(0, 1, 116, 120);
		give();
	}
	record(15, 300, 40, 120);
	give();
	make(REPORT_UNUSED);
	ck_assert_str_eq(report.facts, "5 of 11 records are in no table and no chart.");
	ck_row(0, "D6R3|1|its fields are not known in this release|device activity");
	ck_row(1, "D0R1|3|no table has it|system data, per processor");
	ck_row(2, "D15R63|1|no table has it|");
	ck_assert_uint_eq(report.rows, 3);
}

/* The first interval has no begin, and is none of the busiest. */
TEST(responses_of_devices_that_do_little)
{
	device(60, 0x1000, 100);
	interval_ends(60);
	device(160, 0x1000, 150);
	interval_ends(160);
	device(260, 0x1000, 160);
	interval_ends(260);
	make(REPORT_RESPONSES);
	ck_row(0, "(all)|60|0.3|0.5|2026-03-02 00:02:40||||");
	ck_row(1, "1000|60|0.3|0.5|2026-03-02 00:02:40||||");
	ck_assert_uint_eq(report.rows, 2);
}

TEST(volumes)
{
	make(REPORT_VOLUMES);
	ck_assert_uint_eq(report.rows, 0);
	for (unsigned int i = 0; i < 11; i++)
		volume(60, (uint16_t)(100 + i), 5, 1000, 1000, 100);
	interval_ends(60);
	for (unsigned int i = 0; i < 11; i++)
		volume(160, (uint16_t)(100 + i), i == 10 ? 701 : 700, 1000 + 100 * i,
		       1000 + (i == 10 ? 100000 : 0), 100 + 10 * i);
	interval_ends(160);
	make(REPORT_VOLUMES);
	ck_assert_uint_eq(report.rows, 10);
	ck_assert_uint_eq(report.left_out, 1);
	ck_row(0, "PAG110|006E|1,000|!70.1|!70.1|2026-03-02 00:02:40|10.0|1,000.0|!1,010.0|!1,010.0|"
		  "2026-03-02 00:02:40|1.0");
	ck_row(1, "PAG109|006D|1,000|70.0|70.0|2026-03-02 00:02:40|9.0|0.0|9.0|9.0|"
		  "2026-03-02 00:02:40|0.9");
	ck_assert_str_eq(report.note, "slots used above 70 %, pages above 1,000 pages/s");
	/* The fullest moment stays, though less is used later: 10 * 700 + 701 of 11,000 slots. */
	for (unsigned int i = 0; i < 11; i++)
		volume(260, (uint16_t)(100 + i), 110, 3000, 200000, 1000);
	interval_ends(260);
	make(REPORT_VOLUMES);
	/* Of 200 s nothing in the first 100, then 2,000 reads and 199,000 writes in 100. */
	ck_row(0, "PAG100|0064|1,000|11.0|70.0|2026-03-02 00:02:40|10.0|995.0|!1,005.0|!2,010.0|"
		  "2026-03-02 00:04:20|4.5");
	ck_assert_str_eq(report.facts, "Of all slots, 11.0 % were in use at the end, and most, 70.0 %, at "
				       "2026-03-02 00:02:40.");
}

/* D4R9: user 20, resident 64, on volumes 92, read 104, written 108, I/Os 128. */
static void transaction(const char *name, uint32_t resident, uint32_t slots, uint32_t reads,
			uint32_t writes, uint32_t starts)
{
	record(4, 9, 360, 10);
	ebcdic_name(bytes + 20, name);
	put_be32(bytes + 64, resident);
	put_be32(bytes + 92, slots);
	put_be32(bytes + 104, reads);
	put_be32(bytes + 108, writes);
	put_be32(bytes + 128, starts);
	give();
}

TEST(user_paging)
{
	make(REPORT_USER_PAGING);
	ck_assert_uint_eq(report.rows, 0);
	transaction("A", 1, 1, 100, 100, 100);
	transaction("<B>", 1, 1, 0, 0, 0);
	transaction("A", 256, 128, 1100, 300, 1250100);
	transaction("<B>", 2560, 0, 1000, 201, 5);
	make(REPORT_USER_PAGING);
	ck_row(0, "<B>|1,000|201|||10.0|0.0|5");
	ck_row(1, "A|1,000|200|||1.0|0.5|1,250,000");
	/* Logged on again. */
	transaction("A", 256, 128, 1, 2, 3);
	make(REPORT_USER_PAGING);
	ck_row(0, "A|1,001|202|||1.0|0.5|1,250,003");
}

/* D0R2: address 20, users 32, system 40, type 104; times in seconds. */
static void processor(unsigned int seconds, uint16_t address, uint8_t type, uint64_t users,
		      uint64_t system)
{
	record(0, 2, 108, seconds);
	put_be16(bytes + 20, address);
	put_be64(bytes + 32, users * TOD_SECOND);
	put_be64(bytes + 40, system * TOD_SECOND);
	bytes[104] = type;
	give();
}

TEST(load)
{
	make(REPORT_LOAD);
	ck_assert_uint_eq(report.rows, 0);
	ck_assert_str_eq(report.facts, "");
	processor(0, 0, 0, 0, 0);
	processor(0, 7, 3, 0, 0);
	interval_ends(0);
	processor(100, 0, 0, 80, 15);
	processor(100, 7, 3, 10, 1);
	interval_ends(100);
	processor(200, 0, 0, 90, 16);
	processor(200, 7, 3, 70, 1);
	interval_ends(200);
	make(REPORT_LOAD);
	ck_assert_uint_eq(report.rows, 2);
	ck_row(0, "0|CP|53.0|45.0|8.0|!95.0|2026-03-02 00:01:40");
	ck_row(1, "7|IFL|35.5|35.0|0.5|60.0|2026-03-02 00:03:20");
	ck_assert_str_eq(report.facts, "Processors in use: 0.89.");
	/* D0R15: machine 26, number 28, configured 34, standby 36, name 40, dedicated 52, shared 54. */
	record(0, 15, 56, 200);
	put_be16(bytes + 26, 24);
	put_be16(bytes + 28, 5);
	put_be16(bytes + 34, 2);
	put_be16(bytes + 36, 1);
	ebcdic_name(bytes + 40, "LP&5");
	put_be16(bytes + 52, 3);
	put_be16(bytes + 54, 4);
	give();
	make(REPORT_LOAD);
	ck_assert_str_eq(report.facts,
			 "Partition LP&5, number 5: 2 processors configured, 1 standby; 4 shared, "
			 "3 dedicated; the machine has 24.  Processors in use: 0.89.");
}

/* Records that end before a field have it not, and releases that have none neither. */
TEST(short_records)
{
	static const struct { uint8_t domain, number; } kinds[] = {
		{ 0, 12 }, { 0, 15 }, { 1, 4 }, { 1, 9 }, { 3, 4 }, { 4, 9 }, { 4, 10 }, { 6, 14 },
		{ 4, 3 }, { 4, 4 }, { 6, 3 }, { 6, 24 },
	};

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (uint32_t len = 20; len < 400; len++) {
			/* So that a byte that is read beyond is noticed. */
			uint8_t *alone = malloc(len);

			ck_assert_ptr_nonnull(alone);
			memset(alone, 0xc1, len);
			record(kinds[i].domain, kinds[i].number, len, 1);
			item.record.data = alone;
			give();
			free(alone);
		}
	for (unsigned int kind = 0; kind < REPORT_KINDS; kind++)
		make(kind);
	activity_init(&f);
	release = 410;
	all_users(1, 1);
	all_users(2, 2);
	interaction("A", 1, 1, 1, 1, 1, 1, 1, 1);
	interaction("A", 2, 2, 2, 2, 2, 2, 2, 2);
	make(REPORT_WAITS);
	ck_assert_uint_eq(report.rows, 0);
}

/* D4R9: total time 32, virtual time 40; a number of seconds. */
static void times(const char *name, unsigned int seconds, uint64_t total, uint64_t virtual)
{
	uint8_t padded[8];

	record(4, 9, 360, seconds);
	ebcdic_name(padded, name);
	memcpy(bytes + 20, padded, sizeof(padded));
	put_be64(bytes + 32, total * TOD_SECOND);
	put_be64(bytes + 40, virtual * TOD_SECOND);
	give();
}

/* D10R2 of 92 bytes: user 52, CPU time 60. */
static void application(const char *name, unsigned int seconds, uint64_t time)
{
	record(10, 2, 92, seconds);
	ebcdic_name(bytes + 52, name);
	put_be64(bytes + 60, time * TOD_SECOND);
	give();
}

/* The ratio is of what both have grown by; at a logon they begin anew. */
TEST(users_by_time)
{
	make(REPORT_USERS);
	ck_assert_uint_eq(report.rows, 0);
	times("A", 0, 100, 90);
	application("B", 0, 0);
	interval_ends(0);
	times("A", 50, 130, 110);
	application("B", 100, 20);
	interval_ends(100);
	times("A", 150, 12, 10);
	application("B", 200, 25);
	interval_ends(200);
	make(REPORT_USERS);
	/* 30 and 12 of 20 and 10 s, in 200 s.  When a transaction ends says nothing of an interval. */
	ck_row(0, "A|42.000|21.0|||1.40|D4R9");
	ck_row(1, "B|25.000|12.5|20.0|2026-03-02 00:01:40||D10R2");
	ck_assert_uint_eq(report.rows, 2);
}

/* Half of the time idle: the mean is below the threshold, an interval is above. */
TEST(most_of_the_system)
{
	processor(0, 0, 0, 0, 0);
	interval_ends(0);
	processor(100, 0, 0, 95, 0);
	interval_ends(100);
	processor(200, 0, 0, 95, 1);
	interval_ends(200);
	make(REPORT_SYSTEM);
	ck_row(0, "CP busy %|48.0|!95.0|2026-03-02 00:01:40");
	ck_assert_uint_eq(report.rows, 1);
}

/* What a bucket combines keeps the highest of its intervals; one without a value has none. */
TEST(most_of_combined_intervals)
{
	uint64_t busy = 0;

	interval_ends(0);
	for (unsigned int i = 0; i < 2 * ACTIVITY_BUCKETS; i++) {
		busy += i == 100 ? 90 : 10;
		processor(100 * i, 0, 0, busy, 0);
		interval_ends(100 * i);
	}
	ck_assert_uint_eq(f.merged, 4);
	/* The interval that ends at 10,000 s is number 101, or 102 with the one at the begin. */
	for (unsigned int i = 0; i < f.buckets; i++) {
		const bool has_it = f.bucket[i].last >= BEGIN + 10000 * TOD_SECOND &&
				    f.bucket[i].first < BEGIN + 10000 * TOD_SECOND;

		ck_assert_double_eq_tol(f.bucket[i].most[SYSTEM_BUSY], has_it ? 90 : 10, 1e-4);
		ck_assert(f.bucket[i].most[SYSTEM_READS] < 0);
		if (has_it)
			ck_assert_double_eq_tol(activity_system_value(&f.bucket[i], SYSTEM_BUSY), 30, 1e-4);
	}
}

TEST(as_text)
{
	char *text = NULL, *line;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct sink *sink;

	ck_assert_ptr_nonnull(out);
	sink = tables_sink(out, NULL, &thresholds);
	ck_assert_ptr_nonnull(sink);
	for (unsigned int i = 0; i < 3; i++) {
		processor(100 * i, 7, 3, i * 95, 0);
		ck_assert_int_eq(sink->ops->item(sink, &item), 0);
		record(1, 11, 20, 100 * i);
		ck_assert_int_eq(sink->ops->item(sink, &item), 0);
		ck_assert_int_eq(i < 2 ? sink->ops->keep(sink) : sink->ops->drop(sink), 0);
	}
	/* D1R4: system at 88. */
	record(1, 4, 184, 200);
	ebcdic_name(bytes + 88, "ZVMLAB");
	ck_assert_int_eq(sink->ops->item(sink, &item), 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	ck_assert_int_eq(sink->ops->close(sink), 0);
	fclose(out);
	line = strstr(text, "\n\nWhat users");
	ck_assert_ptr_nonnull(line);
	*line = '\0';
	ck_assert_str_eq(text,
			 "System ZVMLAB, 2026-03-02 00:00:00 UTC to 2026-03-02 00:01:40 UTC\n"
			 "\nThe system\n"
			 "  value         mean  most in an interval  until              \n"
			 "  IFL busy %  ! 95.0               ! 95.0  2026-03-02 00:01:40\n"
			 "  !: busy above 90 %\n"
			 "\nLoad of the partition\n  Processors in use: 0.95.\n"
			 "  processor  type  busy %  users %  system %  most busy %  until              \n"
			 "  7          IFL   ! 95.0     95.0       0.0       ! 95.0  2026-03-02 00:01:40\n"
			 "  !: busy above 90 %\n\nUsers by CPU time\n  No data.");
	ck_assert_str_eq(line + 2, "What users wait for\n  No data.\n\n"
				   "Most that users waited in an interval\n  No data.\n\n"
				   "Response of devices\n"
				   "  The response of all devices is how long users waited for an I/O on "
				   "the average: samples that found them waiting (D0R12), by the I/Os of "
				   "all devices but paging volumes.  That of a single device is what its "
				   "channel subsystem measured: pending, connected and disconnected "
				   "time.\n  No data.\n\nPaging volumes\n  No data.\n\n"
				   "Users by paging\n  No data.\n\n"
				   "Records that were not used\n  None.\n");
	free(text);
}
