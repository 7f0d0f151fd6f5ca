// SPDX-License-Identifier: MIT
/* What dmmon list asks the machine and the kernel: no more for many regions than for one. */
#include <libdevmapper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "exit_code.h"
#include "unit_test.h"

#define MANY 4000

/* The kernel: one device, with so many regions. */
static unsigned int regions;
static char *answer;
/* What was asked. */
static unsigned int opened, tasks, machine;

static void start(void)
{
	opened = tasks = machine = 0;
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
}

static void stop(void)
{
	free(answer);
	answer = NULL;
}

CASE("dms_list", start, stop);

/* A task is its message, if it has one. */
struct dm_task {
	bool message;
};

struct dm_task *__wrap_dm_task_create(int type);
void __wrap_dm_task_destroy(struct dm_task *task);
int __wrap_dm_task_set_name(struct dm_task *task, const char *name);
int __wrap_dm_task_set_major_minor(struct dm_task *task, int major, int minor, int fallback);
int __wrap_dm_task_set_message(struct dm_task *task, const char *message);
int __wrap_dm_task_set_sector(struct dm_task *task, uint64_t sector);
int __wrap_dm_task_run(struct dm_task *task);
int __wrap_dm_task_get_info(struct dm_task *task, struct dm_info *info);
const char *__wrap_dm_task_get_name(const struct dm_task *task);
const char *__wrap_dm_task_get_uuid(const struct dm_task *task);
const char *__wrap_dm_task_get_message_response(struct dm_task *task);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
int __wrap_access(const char *path, int mode);

struct dm_task *__wrap_dm_task_create(int type)
{
	(void)type;
	return calloc(1, sizeof(struct dm_task));
}

void __wrap_dm_task_destroy(struct dm_task *task)
{
	free(task);
}

int __wrap_dm_task_set_name(struct dm_task *task, const char *name)
{
	(void)task;
	ck_assert_str_eq(name, "vol");
	return 1;
}

int __wrap_dm_task_set_major_minor(struct dm_task *task, int major, int minor, int fallback)
{
	(void)task;
	(void)fallback;
	ck_assert_int_eq(major, 253);
	ck_assert_int_eq(minor, 7);
	return 1;
}

int __wrap_dm_task_set_message(struct dm_task *task, const char *message)
{
	ck_assert_str_eq(message, "@stats_list");
	task->message = true;
	return 1;
}

int __wrap_dm_task_set_sector(struct dm_task *task, uint64_t sector)
{
	(void)task;
	ck_assert_uint_eq(sector, 0);
	return 1;
}

int __wrap_dm_task_run(struct dm_task *task)
{
	(void)task;
	tasks++;
	return 1;
}

int __wrap_dm_task_get_info(struct dm_task *task, struct dm_info *info)
{
	(void)task;
	*info = (struct dm_info){ .exists = 1, .major = 253, .minor = 7 };
	return 1;
}

const char *__wrap_dm_task_get_name(const struct dm_task *task)
{
	(void)task;
	return "vol";
}

const char *__wrap_dm_task_get_uuid(const struct dm_task *task)
{
	(void)task;
	return "";
}

const char *__wrap_dm_task_get_message_response(struct dm_task *task)
{
	size_t len;
	FILE *out;

	ck_assert(task->message);
	free(answer);
	out = open_memstream(&answer, &len);
	for (unsigned int i = 0; i < regions; i++)
		fprintf(out, "%u: %u+8 8 p a histogram:1,2\n", i, 8 * i);
	fclose(out);
	return answer;
}

/* Is it of the device, and not of the machine? */
static bool of_device(const char *path)
{
	return strncmp(path, "/sys/dev/block/253:7/", strlen("/sys/dev/block/253:7/")) == 0;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	opened++;
	machine += !of_device(path);
	return __real_fopen(path, mode);
}

int __wrap_access(const char *path, int mode)
{
	(void)mode;
	opened++;
	ck_assert(of_device(path));
	return -1;
}

static unsigned int files_of(unsigned int count, const char *fields)
{
	char list[] = "list", option[] = "--fields", names[128], vol[] = "vol";
	char *words[] = { list, option, names, vol, NULL };

	snprintf(names, sizeof(names), "%s", fields);
	regions = count;
	opened = tasks = machine = 0;
	ck_assert_int_eq(cmd_list(4, words), EXIT_PASS);
	/* The device, and its regions. */
	ck_assert_uint_eq(tasks, 2);
	return opened;
}

TEST(files_are_of_the_device_alone)
{
	static const char usual[] = "device,region,start_sector,sectors,area_sectors,areas,program,"
				    "aux";
	static const char other[] = "number,uuid,precise,bounds_ns,group";

	ck_assert_uint_eq(files_of(1, "region"), 3);
	ck_assert_uint_eq(files_of(MANY, "region"), 3);
	ck_assert_uint_eq(files_of(MANY, usual), 3);
	ck_assert_uint_eq(files_of(MANY, other), 3);
	ck_assert_uint_eq(machine, 0);
}

TEST(machine_is_asked_once)
{
	unsigned int few = files_of(1, "memory_bytes");

	ck_assert_uint_gt(machine, 0);
	ck_assert_uint_eq(files_of(MANY, "memory_bytes"), few);
}
