/* SPDX-License-Identifier: MIT */
/* Words that stand for devices, and auxiliary data that say who made a region. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dms_name.h"
#include "dms_owner.h"
#include "machine.h"
#include "unit_test.h"

TEST(numbers_of_devices)
{
	static const char *const none[] = {
		"", ":", "1", "1:", ":1", "4096:0", "0:1048576", "1:2:3", "1:2 ", " 1:2", "-1:2", "1:+2",
		"0x1:2", "1:2\n", "99999999999999999999:1", "lin",
	};
	uint32_t major = 7, minor = 7;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(!dms_name_number(none[i], &major, &minor), "'%s'", none[i]);
	ck_assert(major == 7 && minor == 7);
	ck_assert(dms_name_number("253:0", &major, &minor));
	ck_assert(major == 253 && minor == 0);
	ck_assert(dms_name_number("4095:1048575", &major, &minor));
	ck_assert(major == 4095 && minor == 1048575);
	ck_assert(dms_name_number("0253:0001", &major, &minor));
	ck_assert(major == 253 && minor == 1);
}

TEST(uuids_of_devices)
{
	char word[200] = "uuid:";

	ck_assert_ptr_null(dms_name_uuid("uuid:"));
	ck_assert_ptr_null(dms_name_uuid("UUID:x"));
	ck_assert_ptr_null(dms_name_uuid("x"));
	ck_assert_str_eq(dms_name_uuid("uuid:LVM-x:1"), "LVM-x:1");
	memset(word + 5, 'x', 128);
	ck_assert_ptr_eq(dms_name_uuid(word), word + 5);
	word[5 + 128] = 'x';
	ck_assert_ptr_null(dms_name_uuid(word));
}

TEST(owners_of_regions)
{
	static const char *const none[] = {
		"", "-", "watch", "watch-", "watch-5", "watch-5-", "watch-0-9-1", "watch-5-6-", "watch-5-6-7-",
		"watch-5-6-7 ", "watch--5-6", "watch-5-6x", "watch-18446744073709551616-1-1", "xwatch-5-6-7",
	};
	struct dms_owner owner = { 1, 2, 3 };
	char aux[DMS_OWNER_SIZE];

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(!dms_owner_read(none[i], &owner), "'%s'", none[i]);
	ck_assert(owner.pid == 1 && owner.made_ns == 2 && owner.pid_namespace == 3);
	dms_owner_write(&(struct dms_owner){ 12, 345, 4026531836 }, aux, sizeof(aux));
	ck_assert_str_eq(aux, "watch-12-345-4026531836");
	ck_assert(dms_owner_read(aux, &owner));
	ck_assert(owner.pid == 12 && owner.made_ns == 345 && owner.pid_namespace == 4026531836);
	dms_owner_write(&(struct dms_owner){ UINT64_MAX, UINT64_MAX, UINT64_MAX }, aux, sizeof(aux));
	ck_assert(dms_owner_read(aux, &owner) && owner.pid_namespace == UINT64_MAX);
	/* As 0.1 wrote it. */
	ck_assert(dms_owner_read("watch-12-345", &owner) && owner.pid_namespace == 0);
}

TEST(who_is_gone)
{
	const struct dms_owner owner = { .pid = 5, .made_ns = 1000, .pid_namespace = 9 };
	struct dms_process process = { .pid_namespace = 9 };

	ck_assert_int_eq(dms_owner_judge(&owner, &process), DMS_OWNER_GONE);
	process.there = true;
	process.begin_ns = 1000;
	ck_assert_int_eq(dms_owner_judge(&owner, &process), DMS_OWNER_LIVES);
	/* It began after the region was made: another one. */
	process.begin_ns = 1001;
	ck_assert_int_eq(dms_owner_judge(&owner, &process), DMS_OWNER_GONE);
	process.is_dmmon = true;
	ck_assert_int_eq(dms_owner_judge(&owner, &process), DMS_OWNER_LIVES);
	process.ended = true;
	ck_assert_int_eq(dms_owner_judge(&owner, &process), DMS_OWNER_GONE);
	process.pid_namespace = 8;
	ck_assert_int_eq(dms_owner_judge(&owner, &process), DMS_OWNER_UNKNOWN);
	process.pid_namespace = 0;
	ck_assert_int_eq(dms_owner_judge(&(struct dms_owner){ 5, 1000, 0 }, &process),
			 DMS_OWNER_UNKNOWN);
}

/* This process, and one that cannot be. */
TEST(processes_of_this_machine)
{
	struct dms_process process;
	struct stat found;

	ck_assert_int_eq(stat("/proc/self/ns/pid", &found), 0);
	ck_assert(machine_process((uint64_t)getpid(), &process));
	ck_assert_uint_eq(process.pid_namespace, found.st_ino);
	ck_assert(process.there && !process.ended && !process.is_dmmon);
	ck_assert_uint_le(process.begin_ns, machine_now());
	ck_assert_uint_gt(process.begin_ns, 0);
	ck_assert(machine_process(UINT32_MAX, &process));
	ck_assert(!process.there);
}
