/* SPDX-License-Identifier: MIT */
/* struct taskstats of all versions, against structures that the compiler lays out. */
#include <linux/taskstats.h>
#include <stdlib.h>
#include <string.h>

#include "taskmon_bytes.h"
#include "unit_test.h"

#define WAIT(name) uint64_t name##_count, name##_delay_total
#define WAIT15(name) WAIT(name), name##_delay_max, name##_delay_min
#define ALIGNED __attribute__((aligned(8)))

/* Version 1. */
struct first {
	uint16_t version, padding[3];
	WAIT(cpu);
	WAIT(blkio);
	WAIT(swapin);
	uint64_t cpu_run_real_total, cpu_run_virtual_total;
};

/* Version 3: nothing is aligned but by the compiler. */
struct unaligned {
	uint16_t version;
	uint32_t ac_exitcode;
	uint8_t ac_flag, ac_nice;
	WAIT(cpu);
	WAIT(blkio);
	WAIT(swapin);
	uint64_t cpu_run_real_total, cpu_run_virtual_total;
	char ac_comm[32];
	uint8_t ac_sched, ac_pad[3];
	uint32_t ac_uid, ac_gid, ac_pid, ac_ppid, ac_btime;
	uint64_t ac_etime, ac_utime, ac_stime, ac_minflt, ac_majflt, coremem, virtmem, hiwater_rss,
		 hiwater_vm, read_char, write_char, read_syscalls, write_syscalls, read_bytes,
		 write_bytes, cancelled_write_bytes;
};

/* Version 15, with the longest and shortest waits in the middle. */
struct inside {
	uint16_t version;
	uint32_t ac_exitcode;
	uint8_t ac_flag, ac_nice;
	ALIGNED uint64_t cpu_count;
	uint64_t cpu_delay_total, cpu_delay_max, cpu_delay_min;
	WAIT15(blkio);
	WAIT15(swapin);
	uint64_t cpu_run_real_total, cpu_run_virtual_total;
	char ac_comm[32];
	ALIGNED uint8_t ac_sched;
	uint8_t ac_pad[3];
	ALIGNED uint32_t ac_uid;
	uint32_t ac_gid, ac_pid, ac_ppid, ac_btime;
	ALIGNED uint64_t ac_etime;
	uint64_t ac_utime, ac_stime, ac_minflt, ac_majflt, coremem, virtmem, hiwater_rss,
		 hiwater_vm, read_char, write_char, read_syscalls, write_syscalls, read_bytes,
		 write_bytes, cancelled_write_bytes, nvcsw, nivcsw, ac_utimescaled, ac_stimescaled,
		 cpu_scaled_run_real_total;
	WAIT15(freepages);
	WAIT15(thrashing);
	uint64_t ac_btime64;
	WAIT15(compact);
	uint32_t ac_tgid;
	ALIGNED uint64_t ac_tgetime;
	uint64_t ac_exe_dev, ac_exe_inode;
	WAIT15(wpcopy);
	WAIT15(irq);
};

#define AT(layout, field, type, member)                                                   \
	do {                                                                              \
		ck_assert_uint_eq(stats_offset(layout, STATS_##field), offsetof(type, member)); \
	} while (0)

TEST(offsets_of_version_1)
{
	AT(STATS_FIRST, VERSION, struct first, version);
	AT(STATS_FIRST, CPU_COUNT, struct first, cpu_count);
	AT(STATS_FIRST, BLKIO_DELAY, struct first, blkio_delay_total);
	AT(STATS_FIRST, SWAPIN_COUNT, struct first, swapin_count);
	AT(STATS_FIRST, CPU_RUN_VIRTUAL, struct first, cpu_run_virtual_total);
	ck_assert_uint_eq(stats_offset(STATS_FIRST, STATS_EXITCODE), SIZE_MAX);
	ck_assert_uint_eq(stats_offset(STATS_FIRST, STATS_NICE), SIZE_MAX);
}

TEST(offsets_of_version_3)
{
	AT(STATS_UNALIGNED, EXITCODE, struct unaligned, ac_exitcode);
	AT(STATS_UNALIGNED, CPU_COUNT, struct unaligned, cpu_count);
	AT(STATS_UNALIGNED, SCHED, struct unaligned, ac_sched);
	AT(STATS_UNALIGNED, UID, struct unaligned, ac_uid);
	AT(STATS_UNALIGNED, BTIME, struct unaligned, ac_btime);
	AT(STATS_UNALIGNED, ETIME, struct unaligned, ac_etime);
	AT(STATS_UNALIGNED, CANCELLED_WRITE_BYTES, struct unaligned, cancelled_write_bytes);
	ck_assert_uint_eq(sizeof(struct unaligned), 264);
}

/* Against the header of the build machine, as far as that goes: version 13 at least. */
TEST(offsets_of_version_13)
{
#define NORMAL(field, member) AT(STATS_NORMAL, field, struct taskstats, member)
	NORMAL(VERSION, version);
	NORMAL(EXITCODE, ac_exitcode);
	NORMAL(FLAG, ac_flag);
	NORMAL(NICE, ac_nice);
	NORMAL(CPU_COUNT, cpu_count);
	NORMAL(CPU_DELAY, cpu_delay_total);
	NORMAL(BLKIO_COUNT, blkio_count);
	NORMAL(SWAPIN_DELAY, swapin_delay_total);
	NORMAL(CPU_RUN_REAL, cpu_run_real_total);
	NORMAL(SCHED, ac_sched);
	NORMAL(UID, ac_uid);
	NORMAL(GID, ac_gid);
	NORMAL(PID, ac_pid);
	NORMAL(PPID, ac_ppid);
	NORMAL(BTIME, ac_btime);
	NORMAL(ETIME, ac_etime);
	NORMAL(UTIME, ac_utime);
	NORMAL(STIME, ac_stime);
	NORMAL(MINFLT, ac_minflt);
	NORMAL(MAJFLT, ac_majflt);
	NORMAL(COREMEM, coremem);
	NORMAL(VIRTMEM, virtmem);
	NORMAL(HIWATER_RSS, hiwater_rss);
	NORMAL(HIWATER_VM, hiwater_vm);
	NORMAL(READ_CHAR, read_char);
	NORMAL(WRITE_CHAR, write_char);
	NORMAL(READ_SYSCALLS, read_syscalls);
	NORMAL(WRITE_SYSCALLS, write_syscalls);
	NORMAL(READ_BYTES, read_bytes);
	NORMAL(WRITE_BYTES, write_bytes);
	NORMAL(CANCELLED_WRITE_BYTES, cancelled_write_bytes);
	NORMAL(NVCSW, nvcsw);
	NORMAL(NIVCSW, nivcsw);
	NORMAL(UTIMESCALED, ac_utimescaled);
	NORMAL(STIMESCALED, ac_stimescaled);
	NORMAL(CPU_SCALED_RUN_REAL, cpu_scaled_run_real_total);
	NORMAL(FREEPAGES_COUNT, freepages_count);
	NORMAL(THRASHING_DELAY, thrashing_delay_total);
	NORMAL(BTIME64, ac_btime64);
	NORMAL(COMPACT_COUNT, compact_count);
	NORMAL(TGID, ac_tgid);
	NORMAL(TGETIME, ac_tgetime);
	NORMAL(EXE_DEV, ac_exe_dev);
	NORMAL(EXE_INODE, ac_exe_inode);
	NORMAL(WPCOPY_COUNT, wpcopy_count);
	NORMAL(WPCOPY_DELAY, wpcopy_delay_total);
}

TEST(offsets_of_version_15)
{
#define INSIDE(field, member) AT(STATS_WAITS_INSIDE, field, struct inside, member)
#define INSIDE_WAIT(field, name)                       \
	do {                                           \
		INSIDE(field##_COUNT, name##_count);   \
		INSIDE(field##_DELAY, name##_delay_total); \
		INSIDE(field##_DELAY_MAX, name##_delay_max); \
		INSIDE(field##_DELAY_MIN, name##_delay_min); \
	} while (0)
	INSIDE_WAIT(CPU, cpu);
	INSIDE_WAIT(BLKIO, blkio);
	INSIDE_WAIT(SWAPIN, swapin);
	INSIDE_WAIT(FREEPAGES, freepages);
	INSIDE_WAIT(THRASHING, thrashing);
	INSIDE_WAIT(COMPACT, compact);
	INSIDE_WAIT(WPCOPY, wpcopy);
	INSIDE_WAIT(IRQ, irq);
	INSIDE(EXITCODE, ac_exitcode);
	INSIDE(CPU_RUN_REAL, cpu_run_real_total);
	INSIDE(SCHED, ac_sched);
	INSIDE(BTIME, ac_btime);
	INSIDE(ETIME, ac_etime);
	INSIDE(READ_BYTES, read_bytes);
	INSIDE(CPU_SCALED_RUN_REAL, cpu_scaled_run_real_total);
	INSIDE(BTIME64, ac_btime64);
	INSIDE(TGID, ac_tgid);
	INSIDE(EXE_INODE, ac_exe_inode);
	ck_assert_uint_eq(sizeof(struct inside), 560);
	ck_assert_uint_eq(stats_offset(STATS_WAITS_INSIDE, STATS_CPU_DELAY_MAX_AT), SIZE_MAX);
}

/* Size of each version's struct, and how many fields it has. */
static const struct {
	unsigned int version;
	size_t size;
	enum stats_layout layout;
	enum stats_field last;		/* a field that it has… */
	enum stats_field lacks;		/* …and one that came later */
} versions[] = {
	{ 1, 72, STATS_FIRST, STATS_CPU_RUN_VIRTUAL, STATS_EXITCODE },
	{ 2, 240, STATS_UNALIGNED, STATS_WRITE_SYSCALLS, STATS_READ_BYTES },
	{ 3, 264, STATS_UNALIGNED, STATS_CANCELLED_WRITE_BYTES, STATS_NVCSW },
	{ 4, 272, STATS_NORMAL, STATS_CANCELLED_WRITE_BYTES, STATS_NVCSW },
	{ 5, 288, STATS_NORMAL, STATS_NIVCSW, STATS_UTIMESCALED },
	{ 6, 312, STATS_NORMAL, STATS_CPU_SCALED_RUN_REAL, STATS_FREEPAGES_COUNT },
	{ 7, 328, STATS_NORMAL, STATS_FREEPAGES_DELAY, STATS_THRASHING_COUNT },
	{ 8, 328, STATS_NORMAL, STATS_FREEPAGES_DELAY, STATS_THRASHING_COUNT },
	{ 9, 344, STATS_NORMAL, STATS_THRASHING_DELAY, STATS_BTIME64 },
	{ 10, 352, STATS_NORMAL, STATS_BTIME64, STATS_COMPACT_COUNT },
	{ 11, 368, STATS_NORMAL, STATS_COMPACT_DELAY, STATS_TGID },
	{ 12, 400, STATS_NORMAL, STATS_EXE_INODE, STATS_WPCOPY_COUNT },
	{ 13, 416, STATS_NORMAL, STATS_WPCOPY_DELAY, STATS_IRQ_COUNT },
	{ 14, 432, STATS_NORMAL, STATS_IRQ_DELAY, STATS_CPU_DELAY_MAX },
	/* Linux 6.14 had the layout of 15 and the number 14. */
	{ 14, 560, STATS_WAITS_INSIDE, STATS_IRQ_DELAY_MIN, STATS_CPU_DELAY_MAX_AT },
	{ 15, 560, STATS_WAITS_INSIDE, STATS_IRQ_DELAY_MIN, STATS_CPU_DELAY_MAX_AT },
	{ 16, 560, STATS_NORMAL, STATS_IRQ_DELAY_MIN, STATS_CPU_DELAY_MAX_AT },
	{ 17, 688, STATS_NORMAL, STATS_IRQ_DELAY_MAX_AT, STATS_FIELDS },
	/* A later one appends what we do not know. */
	{ 18, 1024, STATS_NORMAL, STATS_IRQ_DELAY_MAX_AT, STATS_FIELDS },
};
#define VERSIONS ((int)(sizeof(versions) / sizeof(versions[0])))

static uint64_t expected(const uint8_t *at, unsigned int bytes, enum stats_order order)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * (order == STATS_BIG ? bytes - 1 - i : i);
	return value;
}

TEST_LOOP(each_version, 0, VERSIONS)
{
	for (enum stats_order order = STATS_LITTLE; order <= STATS_BIG; order++) {
		uint8_t *bytes = synthetic(versions[_i].size, versions[_i].version, order);
		enum stats_field last = versions[_i].last;
		struct stats stats;
		size_t at;

		stats_decode(&stats, bytes, versions[_i].size, order);
		ck_assert_uint_eq(stats.version, versions[_i].version);
		ck_assert_uint_eq(stats.size, versions[_i].size);
		ck_assert_int_eq(stats.layout, versions[_i].layout);
		ck_assert(stats.present[last]);
		at = stats_offset(stats.layout, last);
		if (last < STATS_CPU_DELAY_MAX_AT)
			ck_assert_uint_eq(stats.value[last], expected(bytes + at, 8, order));
		else
			ck_assert_uint_eq(stats.value[last],
					  expected(bytes + at, 8, order) * 1000000000u +
					  expected(bytes + at + 8, 8, order));
		if (versions[_i].lacks < STATS_FIELDS)
			ck_assert(!stats.present[versions[_i].lacks]);
		ck_assert(stats.has_comm == (versions[_i].version > 1));
		ck_assert_uint_eq(stats.comm_len, versions[_i].version > 1 ? 32 : 0);
		if (stats.layout == STATS_WAITS_INSIDE)
			ck_assert_mem_eq(stats.comm, bytes + offsetof(struct inside, ac_comm), 32);
		free(bytes);
	}
}

static size_t comm_end(enum stats_layout layout)
{
	return layout == STATS_WAITS_INSIDE ? offsetof(struct inside, ac_comm) + 32 :
	       layout == STATS_UNALIGNED ? offsetof(struct unaligned, ac_comm) + 32 :
					   offsetof(struct taskstats, ac_comm) + 32;
}

/* Versions 4 and 14 each have two layouts, told apart by the size. */
TEST(layouts_of_versions)
{
	static const struct { unsigned int version; size_t size; enum stats_layout layout; } c[] = {
		{ 0, 100, STATS_FIRST }, { 1, 72, STATS_FIRST }, { 1, 999, STATS_FIRST },
		{ 2, 240, STATS_UNALIGNED }, { 2, 271, STATS_UNALIGNED },
		{ 4, 271, STATS_UNALIGNED }, { 4, 272, STATS_NORMAL }, { 5, 271, STATS_NORMAL },
		{ 13, 560, STATS_NORMAL }, { 14, 559, STATS_NORMAL },
		{ 14, 560, STATS_WAITS_INSIDE }, { 15, 2, STATS_WAITS_INSIDE },
		{ 15, 560, STATS_WAITS_INSIDE }, { 16, 560, STATS_NORMAL },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		ck_assert_msg(stats_layout_of(c[i].version, c[i].size) == c[i].layout, "%zu", i);
}

/* Members that are cut off are absent, and nothing else changes. */
TEST_LOOP(each_length, 0, VERSIONS)
{
	uint8_t *whole = synthetic(versions[_i].size, versions[_i].version, STATS_OWN_ORDER);
	unsigned int present_before = 0;
	struct stats all;

	stats_decode(&all, whole, versions[_i].size, STATS_OWN_ORDER);
	for (size_t size = 0; size <= versions[_i].size; size++) {
		uint8_t *bytes = malloc(size ? size : 1);
		unsigned int present = 0;
		struct stats stats;

		memcpy(bytes, whole, size);
		stats_decode(&stats, bytes, size, STATS_OWN_ORDER);
		for (unsigned int field = 0; field < STATS_FIELDS; field++) {
			present += stats.present[field];
			if (stats.present[field] && stats.layout == all.layout)
				ck_assert_uint_eq(stats.value[field], all.value[field]);
		}
		if (size < 2)
			ck_assert_uint_eq(present, 0);
		ck_assert_int_eq(stats.has_comm,
				 stats.version > 1 && size >= comm_end(stats.layout));
		if (stats.layout == all.layout) {
			ck_assert_uint_ge(present, present_before);
			present_before = present;
		}
		free(bytes);
	}
	free(whole);
}

TEST(odd_values)
{
	uint8_t bytes[440] = { 0 };
	struct stats stats;

	put_version(bytes, 13, STATS_BIG);
	bytes[9] = 0xec; /* nice -20 */
	memcpy(bytes + 80, "init", 4);
	stats_decode(&stats, bytes, 416, STATS_BIG);
	ck_assert_int_eq((int64_t)stats.value[STATS_NICE], -20);
	ck_assert_uint_eq(stats.comm_len, 4);
	ck_assert_mem_eq(stats.comm, "init", 5);
	/* Longer than its version says: that part is nobody's. */
	memset(bytes + 416, 0xff, 16);
	stats_decode(&stats, bytes, 432, STATS_BIG);
	ck_assert(!stats.present[STATS_IRQ_COUNT]);
	/* Two bytes are the version, one is nothing. */
	stats_decode(&stats, bytes, 2, STATS_BIG);
	ck_assert(stats.version == 13 && stats.present[STATS_VERSION]);
	ck_assert_uint_eq(stats.value[STATS_VERSION], 13);
	stats_decode(&stats, bytes, 1, STATS_BIG);
	ck_assert(stats.version == 0 && stats.size == 1 && !stats.present[STATS_VERSION]);
	/* No alignment is needed. */
	memmove(bytes + 3, bytes, 416);
	stats_decode(&stats, bytes + 3, 416, STATS_BIG);
	ck_assert_uint_eq(stats.version, 13);
	ck_assert_int_eq((int64_t)stats.value[STATS_NICE], -20);
}

/* For a task that has exited, the kernel sends nothing but the version. */
TEST(sums_of_processes)
{
	struct stats stats = { .value = { [STATS_VERSION] = 13 } };

	ck_assert(!stats_has_sums(&stats));
	for (unsigned int field = 0; field < STATS_FIELDS; field++) {
		if (field == STATS_VERSION)
			continue;
		stats.value[field] = 1;
		ck_assert(stats_has_sums(&stats));
		stats.value[field] = 0;
	}
	ck_assert(!stats_has_sums(&stats));
}
