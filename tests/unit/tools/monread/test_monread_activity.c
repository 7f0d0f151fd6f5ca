/* SPDX-License-Identifier: MIT */
/* monread: what records add to the activity, and how it is gathered over time. */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "activity.h"
#include "blank_record.h"
#include "bytes.h"
#include "ebcdic.h"

#define RELEASE 530u
#define BEGIN UINT64_C(0xd000000000000000)	/* TOD */
#define MTREND 11u

static struct activity f;
static uint8_t bytes[600];
static struct monrec_item item;

static void start(void)
{
	activity_init(&f);
}

CASE("monread activity", start, NULL);

/* The next record of @len bytes, all zeros behind its header, @seconds after the begin. */
static void record(unsigned int domain, unsigned int number, uint32_t len, unsigned int seconds)
{
	blank_record(&item, bytes, sizeof(bytes), domain, number, len, BEGIN + seconds * TOD_SECOND);
}

static const struct monrec_field *field(const char *name)
{
	const struct monrec_field *found =
		monrec_field(monrec_layout(item.record.domain, item.record.number), name, RELEASE);

	ck_assert_msg(found != NULL, "%s", name);
	return found;
}

/* A field that a record has; its length as zvmlab records has it. */
static void put(const char *name, uint64_t value)
{
	const struct monrec_field *at = field(name);

	ck_assert_uint_le(at->offset + at->len, item.record.len);
	for (unsigned int i = 0; i < at->len; i++)
		bytes[at->offset + i] = (uint8_t)(value >> 8 * (at->len - 1u - i));
}

static void give(void)
{
	activity_item(&f, &item);
}

static void given(enum monrec_item_kind kind)
{
	memset(&item, 0, sizeof(item));
	item.kind = kind;
	give();
}

static void interval_ends(unsigned int seconds)
{
	record(1, MTREND, 20, seconds);
	give();
}

/* D0R2; times in seconds. */
static void processor(unsigned int seconds, uint64_t address, uint64_t type, uint64_t user,
		      uint64_t system)
{
	record(0, 2, 108, seconds);
	put("PFXCPUAD", address);
	put("PFXCPUTY", type);
	put("PFXUTIME", user * TOD_SECOND);
	put("PFXTMSYS", system * TOD_SECOND);
	give();
}

static void ck_busy(unsigned int type, uint64_t busy, uint64_t elapsed)
{
	ck_assert_uint_eq(f.now.busy[type], busy * TOD_SECOND);
	ck_assert_uint_eq(f.now.elapsed[type], elapsed * TOD_SECOND);
}

/* The first record of a processor is what the next one is held against, and so on. */
TEST(processors)
{
	processor(100, 0, 3, 1000, 500);
	ck_busy(3, 0, 0);
	processor(160, 0, 3, 1030, 507);
	ck_busy(3, 37, 60);
	processor(160, 1, 3, 7, 7);
	processor(160, 2, 0, 7, 7);
	processor(220, 0, 3, 1040, 508);
	ck_busy(3, 48, 120);
	processor(230, 1, 3, 8, 9);
	ck_busy(3, 51, 190);
	processor(230, 2, 0, 7, 7);
	ck_busy(0, 0, 70);
	ck_busy(3, 51, 190);
	ck_assert_uint_eq(f.records, 7);
}

TEST(processors_by_type)
{
	static const struct { unsigned int type, as; } cases[] = {
		{ 0, 0 }, { 1, 1 }, { 6, 6 }, { 7, 7 }, { 8, 7 }, { 200, 7 },
	};

	for (unsigned int i = 0; i < 6; i++) {
		activity_init(&f);
		processor(0, 5, cases[i].type, 1, 1);
		processor(60, 5, cases[i].type, 2, 3);
		for (unsigned int type = 0; type < ACTIVITY_TYPES; type++)
			ck_busy(type, type == cases[i].as ? 3 : 0, type == cases[i].as ? 60 : 0);
	}
}

/* Counters or a clock that fall are no time; what comes then is counted from there. */
TEST(processors_that_begin_anew)
{
	static const struct { unsigned int seconds, user, system; bool counted; } cases[] = {
		{ 160, 100, 50, true }, { 160, 99, 80, false }, { 160, 130, 49, false },
		{ 100, 130, 80, false }, { 99, 130, 80, false }, { 101, 101, 51, true },
	};

	for (unsigned int i = 0; i < 6; i++) {
		const uint64_t busy = (cases[i].user - 100) + (cases[i].system - 50);

		activity_init(&f);
		processor(100, 0, 0, 100, 50);
		processor(cases[i].seconds, 0, 0, cases[i].user, cases[i].system);
		if (cases[i].counted)
			ck_busy(0, busy, cases[i].seconds - 100);
		else
			ck_busy(0, 0, 0);
		memset(&f.now, 0, sizeof(f.now));
		processor(cases[i].seconds + 10, 0, 0, cases[i].user + 1, cases[i].system + 2);
		ck_busy(0, 3, 10);
	}
}

/* A processor that has no record in an interval was offline then. */
TEST(processors_offline)
{
	processor(0, 0, 0, 10, 0);
	interval_ends(60);
	processor(60, 0, 0, 20, 0);
	ck_busy(0, 10, 60);
	interval_ends(120);
	interval_ends(180);
	processor(180, 0, 0, 50, 0);
	ck_busy(0, 0, 0);
	processor(190, 0, 0, 51, 0);
	ck_busy(0, 1, 10);
}

/* One that is too short for a field says nothing. */
TEST(processors_cut)
{
	const unsigned int lengths[] = { 22, 40, 48 };

	for (unsigned int i = 0; i < 3; i++) {
		activity_init(&f);
		processor(0, 0, 0, 10, 10);
		processor(60, 0, 0, 20, 20);
		memset(&f.now, 0, sizeof(f.now));
		record(0, 2, 108, 120);
		put("PFXUTIME", 30 * TOD_SECOND);
		put("PFXTMSYS", 30 * TOD_SECOND);
		item.record.len = lengths[i] - 1;
		give();
		ck_busy(0, 0, 0);
		processor(180, 0, 0, 21, 22);
		ck_busy(0, 3, 120);
	}
	/* Without PFXCPUTY its type is not known. */
	memset(&f.now, 0, sizeof(f.now));
	record(0, 2, 108, 190);
	put("PFXUTIME", 22 * TOD_SECOND);
	put("PFXTMSYS", 22 * TOD_SECOND);
	item.record.len = 48;
	give();
	ck_busy(TYPE_UNKNOWN, 1, 10);
}

TEST(processors_without_room)
{
	for (unsigned int turn = 0; turn < 2; turn++)
		for (unsigned int address = 0; address < ACTIVITY_CPUS + 2; address++)
			processor(10 * turn, 1000 + address, 0, turn, 0);
	ck_busy(0, ACTIVITY_CPUS, ACTIVITY_CPUS * 10);
	ck_assert_uint_eq(f.cpu[ACTIVITY_CPUS - 1].address, 1000 + ACTIVITY_CPUS - 1);
}

/* D3R2 */
static void paging(uint64_t address, uint64_t reads, uint64_t writes)
{
	record(3, 2, 364, 0);
	put("PFXCPUAD", address);
	put("PLSPGDRD", reads);
	put("PLSPGDWT", writes);
	give();
}

/* Counters of 4 bytes, from one record to the next. */
TEST(pages)
{
	paging(0, 0xfffffff0, 100);
	ck_assert_uint_eq(f.now.page_reads + f.now.page_writes, 0);
	paging(0, 0x10, 105);
	ck_assert_uint_eq(f.now.page_reads, 0x20);
	ck_assert_uint_eq(f.now.page_writes, 5);
	paging(9, 1000, 1000);
	paging(0, 0x11, 2);
	paging(9, 1200, 1300);
	ck_assert_uint_eq(f.now.page_reads, 0x20 + 1 + 200);
	ck_assert_uint_eq(f.now.page_writes, 5 + UINT64_C(0xffffff99) + 300);
	memset(&f.now, 0, sizeof(f.now));
	for (unsigned int len = 235; len <= 243; len += 4) {
		record(3, 2, 364, 0);
		put("PLSPGDRD", 0x99);
		put("PLSPGDWT", 0x99);
		item.record.len = len;
		give();
		ck_assert_uint_eq(f.now.page_reads + f.now.page_writes, 0);
	}
}

/* All processors have an entry already, of other addresses. */
TEST(pages_without_room)
{
	for (unsigned int address = 0; address < ACTIVITY_CPUS; address++)
		paging(address, 0, 0);
	paging(ACTIVITY_CPUS, 0, 0);
	paging(ACTIVITY_CPUS, 10, 10);
	ck_assert_uint_eq(f.now.page_reads + f.now.page_writes, 0);
	paging(ACTIVITY_CPUS - 1, 10, 20);
	ck_assert_uint_eq(f.now.page_reads, 10);
	ck_assert_uint_eq(f.now.page_writes, 20);
}

/* D6R24 counts transfers, D3R4 SSCH. */
static void device(unsigned int domain, unsigned int number, uint64_t starts)
{
	record(domain, domain == 6 ? 24 : 4, domain == 6 ? 316 : 172, 0);
	put("RDEVDEV", number);
	put(domain == 6 ? "DSKXFERS" : "SCGSSCH", starts);
	give();
}

/* D6R3: device 200, starts 192, and in 2 bytes 52. */
static void sampled_device(uint32_t len, unsigned int number, uint32_t starts, uint16_t short_starts)
{
	record(6, 3, 260, 0);
	put_be16(bytes + 200, (uint16_t)number);
	put_be32(bytes + 192, starts);
	put_be16(bytes + 52, short_starts);
	item.record.len = len;
	give();
}

static const struct device_activity *device_of(unsigned int number)
{
	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++)
		if (f.device[i].source && f.device[i].number == number)
			return &f.device[i];
	return NULL;
}

/* Records of several kinds count the same starts: the first kind that a device is seen in does. */
TEST(devices)
{
	device(6, 0x100, 1000);
	device(3, 0x100, 5000);
	device(3, 0x200, 7);
	sampled_device(260, 0x300, 0xffffffff, 0xffff);
	ck_assert_uint_eq(f.now.starts, 0);
	device(6, 0x100, 1010);
	device(3, 0x100, 5500);
	ck_assert_uint_eq(f.now.starts, 10);
	device(3, 0x200, 10);
	device(6, 0x200, 900);
	ck_assert_uint_eq(f.now.starts, 13);
	sampled_device(260, 0x300, 4, 4);
	ck_assert_uint_eq(f.now.starts, 18);
	ck_assert_uint_eq(f.now.devices_unknown, 0);
	sampled_device(201, 0x300, 100, 100);
	ck_assert_uint_eq(f.now.starts, 18);
	ck_assert_uint_eq(f.now.devices_unknown, 1);
	ck_assert_uint_eq(activity_unused(&f, 6, 3, RECORD_NOT_UNDERSTOOD), 1);
	ck_assert_uint_eq(device_of(0x100)->starts, 10);
	ck_assert_uint_eq(device_of(0x200)->starts, 3);
	ck_assert_uint_eq(device_of(0x300)->starts, 5);
	device(6, 0x100, 1011);
	ck_assert_uint_eq(device_of(0x100)->starts, 11);
	ck_assert_uint_eq(f.left_out, 0);
}

/* If CP does not fill in the 4-byte counter, the 2-byte one counts, and wraps. */
TEST(devices_with_short_counts)
{
	sampled_device(260, 0x300, 0, 65000);
	sampled_device(260, 0x300, 0, 65500);
	ck_assert_uint_eq(device_of(0x300)->starts, 500);
	sampled_device(260, 0x300, 0, 64);
	ck_assert_uint_eq(device_of(0x300)->starts, 600);
	/* A device that was varied off and on counts from 0 again: no wrap is that long. */
	sampled_device(260, 0x400, 1000000, 16960);
	sampled_device(260, 0x400, 40, 40);
	ck_assert_uint_eq(device_of(0x400)->starts, 40);
	sampled_device(260, 0x400, 0x80000020, 0x20);
	ck_assert_uint_eq(device_of(0x400)->starts, 0x80000020u);
}

/* A SCSI device has a record of its own behind that of all devices: it counts. */
TEST(scsi_devices)
{
	sampled_device(260, 0x300, 0, 0);
	device(6, 0x300, 1000);
	sampled_device(260, 0x300, 0, 0);
	device(6, 0x300, 1030);
	sampled_device(260, 0x300, 7, 7);
	ck_assert_uint_eq(device_of(0x300)->starts, 30);
	ck_assert_uint_eq(device_of(0x300)->source, 6 << 16 | 24);
	ck_assert_uint_eq(f.now.starts, 30);
}

TEST(devices_cut)
{
	record(6, 24, 316, 0);
	put("RDEVDEV", 0x100);
	item.record.len = field("DSKXFERS")->offset;
	give();
	ck_assert_ptr_null(device_of(0x100));
	record(6, 24, 316, 0);
	item.record.len = field("RDEVDEV")->offset;
	give();
	ck_assert_ptr_null(device_of(0));
}

static void ck_io_times(const struct device_activity *device, unsigned int connect,
			unsigned int pending, unsigned int disconnect)
{
	ck_assert_uint_eq(device->connect, connect);
	ck_assert_uint_eq(device->pending, pending);
	ck_assert_uint_eq(device->disconnect, disconnect);
}

/* D6R14: times of an I/O, for a device that is there already; what is cut changes nothing. */
TEST(measured_devices)
{
	device(6, 0x100, 1000);
	record(6, 14, 400, 0);
	put("RDEVDEV", 0x100);
	put("SCMCNTIM", 5);
	put("SCMFPTIM", 6);
	put("SCMDDTIM", 7);
	put("SCMCOUNT", 3);
	give();
	ck_assert_uint_eq(device_of(0x100)->measured, 3);
	ck_io_times(device_of(0x100), 5, 6, 7);
	put("RDEVDEV", 0x101);
	put("SCMCOUNT", 4);
	give();
	ck_assert_ptr_null(device_of(0x101));
	put("RDEVDEV", 0x100);
	item.record.len = field("SCMDDTIM")->offset;
	give();
	item.record.len = field("RDEVDEV")->offset;
	give();
	ck_assert_uint_eq(device_of(0x100)->measured, 3);
	ck_io_times(device_of(0x100), 5, 6, 7);
}

/* Numbers that share a place, up to as many devices as there is room for. */
TEST(many_devices)
{
	for (unsigned int turn = 1; turn <= 2; turn++)
		for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++)
			device(6, 1023 + 64 * i, turn * i);
	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		const struct device_activity *found = device_of((1023 + 64 * i) & 0xffff);

		ck_assert_ptr_nonnull(found);
		ck_assert_uint_eq(found->starts, i);
	}
	ck_assert_uint_eq(f.left_out, 0);
	device(6, 1022, 1);
	ck_assert_uint_eq(f.left_out, 1);
	device(6, 1022, 3);
	ck_assert_uint_eq(f.left_out, 2);
	ck_assert_ptr_null(device_of(1022));
}

static void user_in(uint8_t domain, uint16_t number, const char *name, uint64_t address,
		    uint64_t seconds)
{
	record(domain, number, 360, 0);
	if (name)
		ebcdic_name(bytes + field("VMDUSER")->offset, name);
	put("VMDCPUAD", address);
	put("VMDTTIME", seconds * TOD_SECOND);
	give();
}

/* D4R9 */
static void user(const char *name, uint64_t address, uint64_t seconds)
{
	user_in(4, 9, name, address, seconds);
}

static const struct user_activity *user_of(const char *name, unsigned int address)
{
	uint8_t wanted[8];

	ebcdic_name(wanted, name);
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++)
		if (memcmp(f.user[i].name, wanted, 8) == 0 && f.user[i].address == address)
			return &f.user[i];
	return NULL;
}

static uint64_t seconds_of(const char *name, unsigned int address)
{
	ck_assert_ptr_nonnull(user_of(name, address));
	return user_of(name, address)->time / TOD_SECOND;
}

/* Each virtual processor by itself; a counter that has fallen has begun at 0. */
TEST(users)
{
	user("LINUX", 0, 1000);
	ck_assert_uint_eq(seconds_of("LINUX", 0), 0);
	user("LINUX", 1, 500);
	user("OTHER", 0, 3);
	user(NULL, 0, 100);
	ck_assert_uint_eq(f.users, 3);
	user("LINUX", 0, 1010);
	user("LINUX", 0, 1010);
	user("LINUX", 1, 530);
	user("OTHER", 0, 2);
	ck_assert_uint_eq(seconds_of("LINUX", 0), 10);
	ck_assert_uint_eq(seconds_of("LINUX", 1), 30);
	ck_assert_uint_eq(seconds_of("OTHER", 0), 2);
	user("LINUX", 0, 1011);
	user("OTHER", 0, 7);
	ck_assert_uint_eq(seconds_of("LINUX", 0), 11);
	ck_assert_uint_eq(seconds_of("OTHER", 0), 7);
	ck_assert_uint_eq(f.users, 3);
	ck_assert_uint_eq(f.left_out, 0);
}

/* D2R4 has the same counter: each may tell more of it, and only its own kind that it is another. */
TEST(users_in_records_of_two_kinds)
{
	user_in(2, 4, "LINUX", 0, 100);
	user("LINUX", 0, 130);
	ck_assert_uint_eq(seconds_of("LINUX", 0), 30);
	user_in(2, 4, "LINUX", 0, 120);
	ck_assert_uint_eq(seconds_of("LINUX", 0), 30);
	user("LINUX", 0, 135);
	user_in(2, 4, "LINUX", 0, 135);
	user_in(2, 4, "LINUX", 0, 4);
	ck_assert_uint_eq(seconds_of("LINUX", 0), 39);
}

/* A logon has a user ID and no time. */
TEST(users_without_time)
{
	record(4, 1, 96, 0);
	ebcdic_name(bytes + field("VMDUSER")->offset, "LINUX");
	give();
	ck_assert(!user_of("LINUX", 0)->counted);
	record(4, 9, 360, 0);
	ebcdic_name(bytes + field("VMDUSER")->offset, "CUT");
	item.record.len = field("VMDUSER")->offset + 7;
	give();
	ck_assert_ptr_null(user_of("CUT", 0));
	item.record.len++;
	give();
	ck_assert(user_of("CUT", 0) && !user_of("CUT", 0)->counted);
}

/* D10R2 as docs/choices.md has it. */
static void application(uint32_t len, const uint8_t name[8], uint64_t seconds)
{
	record(10, 2, len, 0);
	memcpy(bytes + 52, name, 8);
	put_be64(bytes + 60, seconds * TOD_SECOND);
	give();
}

/* Application data have a time of their own: the first one seen counts. */
TEST(applications)
{
	uint8_t name[8], other[8];

	ebcdic_name(name, "LINUX");
	ebcdic_name(other, "A1@#$_-+");
	user("LINUX", 0, 10);
	application(92, name, 100);
	application(92, name, 200);
	ck_assert_uint_eq(seconds_of("LINUX", 0), 0);
	user("LINUX", 0, 11);
	ck_assert_uint_eq(seconds_of("LINUX", 0), 1);
	application(92, other, 5);
	application(91, other, 50);
	application(93, other, 50);
	application(92, other, 8);
	user("A1@#$_-+", 0, 100);
	ck_assert_uint_eq(seconds_of("A1@#$_-+", 0), 3);
	ck_assert_uint_eq(f.users, 2);
}

/* Anything may stand in application data: only what can be a user ID is one. */
TEST(applications_that_are_no_users)
{
	static const char *const names[] = { "", "lower", "A B", "A.B", " A", "A\\" };
	uint8_t name[8];

	for (unsigned int i = 0; i < 6; i++) {
		memset(name, 0x40, sizeof(name));
		for (unsigned int at = 0; names[i][at]; at++)
			name[at] = ebcdic_from_latin1((uint8_t)names[i][at]);
		application(92, name, 1);
	}
	ebcdic_name(name, "LINUX");
	name[5] = 0;
	application(92, name, 1);
	memset(name, 0, sizeof(name));
	application(92, name, 1);
	ck_assert_uint_eq(f.users, 0);
}

/* Nor is a name of zeros one, whatever processor it has. */
TEST(records_of_nobody)
{
	for (unsigned int at = 0; at < 2; at++) {
		user(NULL, at, 1);
		user(NULL, at, 2);
	}
	ck_assert_uint_eq(f.users, 0);
	ck_assert_uint_eq(f.left_out, 0);
}

TEST(many_users)
{
	char name[9];

	for (unsigned int turn = 0; turn < 2; turn++)
		for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
			snprintf(name, sizeof(name), "U%u", i / 2);
			user(name, i % 2, turn * i);
		}
	ck_assert_uint_eq(f.users, ACTIVITY_USERS);
	ck_assert_uint_eq(f.left_out, 0);
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		snprintf(name, sizeof(name), "U%u", i / 2);
		ck_assert_uint_eq(seconds_of(name, i % 2), i);
	}
	user("MORE", 0, 1);
	ck_assert_uint_eq(f.left_out, 1);
	ck_assert_uint_eq(f.users, ACTIVITY_USERS);
	ck_assert_ptr_null(user_of("MORE", 0));
}

TEST(names)
{
	char name[ACTIVITY_NAME_SIZE];

	user("LINUX001", 0, 1);
	user("LINUX001", 63, 1);
	ck_assert_str_eq(activity_user_name(user_of("LINUX001", 0), name), "LINUX001");
	ck_assert_str_eq(activity_user_name(user_of("LINUX001", 63), name),
			 "LINUX001, processor 63");
}

/* From the end of one to the end of the next; the first has no begin. */
TEST(intervals)
{
	interval_ends(60);
	ck_assert_uint_eq(f.buckets, 1);
	ck_assert_uint_eq(f.last.time, 0);
	ck_assert_uint_eq(f.last.first, BEGIN + 60 * TOD_SECOND);
	given(MONREC_OVERFLOW);
	given(MONREC_SET_LOST);
	given(MONREC_SET_LOST);
	given(MONREC_SET_END);
	given(MONREC_ELEMENT);
	ck_assert_uint_eq(f.now.overflows, 1);
	ck_assert_uint_eq(f.now.lost, 2);
	record(1, MTREND + 1, 20, 90);
	give();
	record(2, MTREND, 20, 90);
	give();
	ck_assert_uint_eq(f.buckets, 1);
	interval_ends(120);
	ck_assert_uint_eq(f.buckets, 2);
	ck_assert_uint_eq(f.intervals, 2);
	ck_assert_uint_eq(f.sets, 1);
	ck_assert_uint_eq(f.records, 4);
	ck_assert_uint_eq(f.last.first, BEGIN + 60 * TOD_SECOND);
	ck_assert_uint_eq(f.last.last, BEGIN + 120 * TOD_SECOND);
	ck_assert_uint_eq(f.last.time, 60 * TOD_SECOND);
	ck_assert_uint_eq(f.last.overflows, 1);
	ck_assert_uint_eq(f.last.lost, 2);
	ck_assert_mem_eq(&f.bucket[1], &f.last, sizeof(f.last));
	ck_assert_uint_eq(f.now.lost + f.now.overflows, 0);
	/* A clock that was set back. */
	interval_ends(119);
	ck_assert_uint_eq(f.last.time, 0);
	ck_assert_uint_eq(f.last.first, BEGIN + 119 * TOD_SECOND);
	interval_ends(129);
	ck_assert_uint_eq(f.last.time, 10 * TOD_SECOND);
}

/* Event data may end with D1R11, too, but say nothing about what samples have counted. */
TEST(interval_end_in_event_data)
{
	interval_ends(0);
	device(6, 24, 100);
	record(1, MTREND, 20, 30);
	item.element.type = MONREC_TYPE_EVENT;
	give();
	ck_assert_uint_eq(f.intervals, 1);
	device(6, 24, 160);
	interval_ends(60);
	ck_assert_uint_eq(f.intervals, 2);
	ck_assert_uint_eq(f.last.starts, 60);
	ck_assert_uint_eq(f.last.time, 60 * TOD_SECOND);
}

/* Adds one to every figure of the interval at hand. */
static void one_of_all(void)
{
	for (unsigned int i = 0; i < ACTIVITY_TYPES; i++) {
		f.now.busy[i] += i + 1;
		f.now.elapsed[i] += i + 11;
	}
	for (unsigned int i = 0; i < EVENT_KINDS; i++)
		f.now.events[i] += i + 31;
	f.now.page_reads += 41;
	f.now.page_writes += 42;
	f.now.starts += 43;
	f.now.lost += 44;
	f.now.overflows += 45;
	f.now.suspended += 46;
}

static void ck_times(const struct bucket *bucket, unsigned int times)
{
	for (unsigned int i = 0; i < ACTIVITY_TYPES; i++) {
		ck_assert_uint_eq(bucket->busy[i], times * (i + 1));
		ck_assert_uint_eq(bucket->elapsed[i], times * (i + 11));
	}
	for (unsigned int i = 0; i < EVENT_KINDS; i++)
		ck_assert_uint_eq(bucket->events[i], times * (i + 31));
	ck_assert_uint_eq(bucket->page_reads, times * 41);
	ck_assert_uint_eq(bucket->page_writes, times * 42);
	ck_assert_uint_eq(bucket->starts, times * 43);
	ck_assert_uint_eq(bucket->lost, times * 44);
	ck_assert_uint_eq(bucket->overflows, times * 45);
	ck_assert_uint_eq(bucket->suspended, times * 46);
}

/* Bucket @at after @count intervals of a minute, each with one of everything. */
static void ck_bucket(unsigned int at, unsigned int merged, unsigned int count)
{
	const unsigned int end = (at + 1) * merged < count ? (at + 1) * merged : count;
	const unsigned int begin = at ? at * merged : 1;

	ck_assert_uint_eq(f.bucket[at].first, BEGIN + 60 * begin * TOD_SECOND);
	ck_assert_uint_eq(f.bucket[at].last, BEGIN + 60 * end * TOD_SECOND);
	ck_assert_uint_eq(f.bucket[at].time, 60 * (end - begin) * TOD_SECOND);
	ck_times(&f.bucket[at], end - at * merged);
}

/* When all are full each two become one, and a new one takes two intervals; then four. */
TEST(buckets)
{
	for (unsigned int i = 1; i <= 1000; i++) {
		const unsigned int merged = i <= 240 ? 1 : i <= 480 ? 2 : i <= 960 ? 4 : 8;

		one_of_all();
		interval_ends(60 * i);
		ck_assert_uint_eq(f.merged, merged);
		ck_assert_uint_eq(f.buckets, (i + merged - 1) / merged);
		ck_assert_uint_eq(f.intervals, i);
		ck_bucket(f.buckets - 1, merged, i);
		for (unsigned int at = 0; i % 240 < 3 && at < f.buckets; at++)
			ck_bucket(at, merged, i);
	}
	ck_times(&f.last, 1);
	ck_times(&f.now, 0);
}

/* A bucket without times takes those of the other, and keeps them beside one without. */
TEST(adding)
{
	struct bucket sum = { 0 }, none = { 0 };
	const struct bucket one = { .first = 5, .last = 7, .time = 2 };

	bucket_add(&sum, &one);
	ck_assert_uint_eq(sum.first, 5);
	bucket_add(&sum, &none);
	ck_assert_uint_eq(sum.first, 5);
	ck_assert_uint_eq(sum.last, 7);
	ck_assert_uint_eq(sum.time, 2);
}

/* Data after the last interval reach up to their last event, if they have one. */
TEST(end)
{
	activity_end(&f);
	ck_assert_uint_eq(f.buckets, 0);
	/* Without any time it is at the clock's begin. */
	given(MONREC_SET_LOST);
	activity_end(&f);
	ck_assert_uint_eq(f.buckets, 1);
	ck_assert_uint_eq(f.bucket[0].lost, 1);
	ck_assert_uint_eq(f.bucket[0].first + f.bucket[0].last + f.bucket[0].time, 0);
	start();
	interval_ends(60);
	activity_end(&f);
	ck_assert_uint_eq(f.buckets, 1);
	given(MONREC_SET_LOST);
	activity_end(&f);
	ck_assert_uint_eq(f.buckets, 2);
	ck_assert_uint_eq(f.bucket[1].lost, 1);
	ck_assert_uint_eq(f.bucket[1].last, BEGIN + 60 * TOD_SECOND);
	for (unsigned int seconds = 70; seconds <= 90; seconds += 10) {
		record(4, 1, 96, seconds == 90 ? 75 : seconds);
		give();
	}
	activity_end(&f);
	ck_assert_uint_eq(f.buckets, 3);
	ck_assert_uint_eq(f.bucket[2].last, BEGIN + 80 * TOD_SECOND);
	ck_assert_uint_eq(f.bucket[2].time, 20 * TOD_SECOND);
}

/* All are counted, the first 200 are listed. */
TEST(events)
{
	for (unsigned int i = 0; i < 201; i++) {
		record(4, i % 2 ? 2 : 1, 96, i);
		ebcdic_name(bytes + field("VMDUSER")->offset, "LINUX");
		give();
	}
	ck_assert_uint_eq(f.events, 201);
	ck_assert_uint_eq(f.now.events[EVENT_LOGON], 101);
	ck_assert_uint_eq(f.now.events[EVENT_LOGOFF], 100);
	ck_assert_uint_eq(f.listed, 200);
	ck_assert_uint_eq(f.event[199].tod, BEGIN + 199 * TOD_SECOND);
	ck_assert_int_eq(f.event[199].kind, EVENT_LOGOFF);
	ck_assert_str_eq(f.event[199].text, "logoff LINUX");
	activity_end(&f);
	ck_assert_uint_eq(f.last.last, BEGIN + 199 * TOD_SECOND);
}

/* By zvmlab records; the fields that are named have their number, and the user a name. */
TEST(events_of_each_kind)
{
	static const struct {
		unsigned int domain, number;
		enum event_kind kind;
		const char *field, *text;
	} cases[] = {
		{ 4, 1, EVENT_LOGON, "VMDUSER", "logon LINUX" },
		{ 4, 2, EVENT_LOGOFF, "VMDUSER", "logoff LINUX" },
		{ 5, 1, EVENT_PROCESSOR, "PFXCPUAD", "processor varied on 26" },
		{ 5, 2, EVENT_PROCESSOR, "PFXCPUAD", "processor varied off 26" },
		{ 6, 1, EVENT_DEVICE, "RDEVDEV", "device varied on 001A" },
		{ 6, 2, EVENT_DEVICE, "RDEVDEV", "device varied off 001A" },
		{ 1, 2, EVENT_COMMAND, NULL, "event monitoring changed" },
		{ 1, 10, EVENT_COMMAND, NULL, "sample monitoring changed" },
		{ 1, 12, EVENT_SUSPENDED, NULL, "event recording suspended" },
		{ 1, 3, EVENT_SUSPENDED, "LOSTRCCT", "event recording resumed, records lost 26" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start();
		record(cases[i].domain, cases[i].number, 96, i);
		if (i < 2)
			ebcdic_name(bytes + field("VMDUSER")->offset, "LINUX");
		else if (cases[i].field)
			put(cases[i].field, 26);
		give();
		ck_assert_uint_eq(f.events, 1);
		ck_assert_uint_eq(f.now.events[cases[i].kind], 1);
		ck_assert_int_eq(f.event[0].kind, cases[i].kind);
		ck_assert_str_eq(f.event[0].text, cases[i].text);
	}
}

/* Records lost of event data are added up; other records have no such number. */
TEST(events_lost)
{
	record(1, 3, 24, 0);
	put("LOSTRCCT", 70);
	give();
	put("LOSTRCCT", 7);
	give();
	item.record.len = 20;
	give();
	ck_assert_uint_eq(f.now.suspended, 77);
	ck_assert_uint_eq(f.now.events[EVENT_SUSPENDED], 3);
	ck_assert_str_eq(f.event[1].text, "event recording resumed, records lost 7");
	ck_assert_str_eq(f.event[2].text, "event recording resumed, records lost");
	record(1, 12, 40, 0);
	put_be32(bytes + 20, 99);
	give();
	ck_assert_uint_eq(f.now.suspended, 77);
}

/* Nothing remains of a lost set but the fact that it is missing. */
TEST(tracks)
{
	static struct activity_track track;

	track_init(&track);
	record(4, 1, 96, 5);
	track_item(&track, &item);
	ck_assert_uint_eq(track.now.events, 1);
	ck_assert_uint_eq(track.kept.events, 0);
	track_keep(&track);
	ck_assert_uint_eq(track.kept.events, 1);
	track_item(&track, &item);
	item.kind = MONREC_SET_LOST;
	track_item(&track, &item);
	ck_assert_uint_eq(track.now.events, 1);
	ck_assert_uint_eq(track.now.now.lost, 1);
	ck_assert_uint_eq(track.kept.now.lost, 1);
	item.kind = MONREC_RECORD;
	track_item(&track, &item);
	track_drop(&track);
	ck_assert_uint_eq(track.now.events, 1);
}
