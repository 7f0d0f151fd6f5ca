// SPDX-License-Identifier: MIT
#include "device.h"

#include <errno.h>
#include <libdevmapper.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "command.h"
#include "dms_name.h"

#define SECTOR_0 0

/* Report errors of libdevmapper by exit code and sentence. */
static void silent(int level, const char *file, int line, int dm_errno_or_class,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));

static void silent(int level, const char *file, int line, int dm_errno_or_class,
		   const char *format, ...)
{
	(void)level;
	(void)file;
	(void)line;
	(void)dm_errno_or_class;
	(void)format;
}

/* A task of @type; NULL, and errno, without memory. */
static struct dm_task *make_task(int type)
{
	dm_log_with_errno_init(silent);
	return dm_task_create(type);
}

/* Like the above, for the device of this name. */
static struct dm_task *task_by_name(int type, const char *name)
{
	struct dm_task *task = make_task(type);

	if (!task || dm_task_set_name(task, name))
		return task;
	dm_task_destroy(task);
	errno = ENXIO;
	return NULL;
}

/* Like the above, for the device of this number. */
static struct dm_task *task_by_number(int type, uint32_t major, uint32_t minor)
{
	struct dm_task *task = make_task(type);

	if (!task || dm_task_set_major_minor(task, (int)major, (int)minor, 0))
		return task;
	dm_task_destroy(task);
	errno = ENXIO;
	return NULL;
}

/* Like the above, for the device of this UUID. */
static struct dm_task *task_by_uuid(int type, const char *uuid)
{
	struct dm_task *task = make_task(type);

	if (!task || dm_task_set_uuid(task, uuid))
		return task;
	dm_task_destroy(task);
	errno = ENXIO;
	return NULL;
}

/* Return: 0 or -errno. */
static int run(struct dm_task *task)
{
	errno = 0;
	if (dm_task_run(task))
		return 0;
	/* Without an ioctl's error the control node could not be opened. */
	if (dm_task_get_errno(task))
		return -dm_task_get_errno(task);
	return errno ? -errno : -ENODEV;
}

static int no_access(int error)
{
	if (error == -ENOMEM) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	if (error == -EACCES || error == -EPERM)
		complain("device-mapper needs the capability CAP_SYS_ADMIN: run it as root");
	else
		complain("there is no device-mapper (/dev/mapper/control: %s); load the module "
			 "dm_mod", strerror(-error));
	return EXIT_CANNOT_RUN;
}

static uint64_t read_number(const char *path)
{
	unsigned long long number = 0;
	FILE *file = fopen(path, "re");

	if (file) {
		if (fscanf(file, "%llu", &number) != 1)
			number = 0;
		fclose(file);
	}
	return number;
}

/* Read an attribute of the block device in sysfs. */
static void describe(struct device *device)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/size", device->major, device->minor);
	device->sectors = read_number(path);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/diskseq", device->major, device->minor);
	device->sequence = read_number(path);
	/* Only block drivers with request queues have this folder. */
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/mq", device->major, device->minor);
	device->request_based = access(path, F_OK) == 0;
}

/*
 * Makes @device the one that @task, a DM_DEVICE_INFO or NULL with errno, is about; the task is
 * destroyed.
 * Return: 0, and device_close() is due; -ENXIO if there is none, or another -errno.
 */
static int take(struct device *device, struct dm_task *task)
{
	int error = task ? run(task) : -errno;
	struct dm_info info;

	memset(device, 0, sizeof(*device));
	if (!error && (!dm_task_get_info(task, &info) || !info.exists))
		error = -ENXIO;
	if (!error) {
		device->major = info.major;
		device->minor = info.minor;
		describe(device);
		device->name = strdup(dm_task_get_name(task));
		device->uuid = strdup(dm_task_get_uuid(task));
		error = device->name && device->uuid ? 0 : -ENOMEM;
		if (error)
			device_close(device);
	}
	if (task)
		dm_task_destroy(task);
	return error;
}

static int take_number(struct device *device, uint32_t major, uint32_t minor)
{
	return take(device, task_by_number(DM_DEVICE_INFO, major, minor));
}

/* A word that names no device: a number, or a UUID. */
static int take_other(struct device *device, const char *word)
{
	const char *uuid = dms_name_uuid(word);
	uint32_t major, minor;

	if (uuid)
		return take(device, task_by_uuid(DM_DEVICE_INFO, uuid));
	if (dms_name_number(word, &major, &minor))
		return take_number(device, major, minor);
	return -ENXIO;
}

int device_open(struct device *device, const char *name)
{
	int error = take(device, task_by_name(DM_DEVICE_INFO, name));

	if (error == -ENXIO)
		error = take_other(device, name);
	if (!error)
		return EXIT_PASS;
	if (error != -ENXIO)
		return no_access(error);
	complain("no such device-mapper device: '%s'; 'dmsetup ls' lists them", name);
	return EXIT_USAGE;
}

int device_open_of_file(struct device *device, const char *path, uint32_t major, uint32_t minor)
{
	int error = take_number(device, major, minor);

	if (!error)
		return EXIT_PASS;
	if (error != -ENXIO)
		return no_access(error);
	complain("%s is on the device %u:%u, which is none of device-mapper", path, major, minor);
	return EXIT_USAGE;
}

int device_segments(const struct device *device, struct device_segment **segments, size_t *count)
{
	struct dm_task *task = task_by_number(DM_DEVICE_TABLE, device->major, device->minor);
	int error = task ? run(task) : -errno;
	struct device_segment *found = NULL, *more;
	uint64_t start, length;
	char *type, *parameters;
	void *next = NULL;
	size_t n = 0;

	while (!error) {
		next = dm_get_next_target(task, next, &start, &length, &type, &parameters);
		/* Without a table there is one target, of no type. */
		if (!type)
			break;
		more = reallocarray(found, n + 1, sizeof(*found));
		if (more) {
			found = more;
			found[n++] = (struct device_segment){ .start = start, .length = length };
		} else {
			error = -ENOMEM;
		}
		if (!next)
			break;
	}
	if (task)
		dm_task_destroy(task);
	if (error) {
		free(found);
		return device_failed(device, "read its table", error);
	}
	*segments = found;
	*count = n;
	return EXIT_PASS;
}

void device_close(struct device *device)
{
	free(device->name);
	free(device->uuid);
	memset(device, 0, sizeof(*device));
}

bool device_copy(struct device *copy, const struct device *device)
{
	*copy = *device;
	copy->name = strdup(device->name);
	copy->uuid = strdup(device->uuid);
	if (copy->name && copy->uuid)
		return true;
	device_close(copy);
	return false;
}

int device_check(struct device *device)
{
	struct device now;
	int error = take_number(&now, device->major, device->minor);
	int code = EXIT_PASS;

	if (error == -ENXIO) {
		complain("device %s and its regions no longer exist", device->name);
		return EXIT_FAILED;
	}
	if (error)
		return device_failed(device, "say what it is called", error);
	if (now.sequence != device->sequence) {
		complain("device %s and its regions no longer exist; another one has its number "
			 "now", device->name);
		code = EXIT_FAILED;
	} else if (strcmp(now.name, device->name) != 0) {
		char *before = device->name;

		complain("device %s is called %s now", before, now.name);
		device->name = now.name;
		now.name = before;
	}
	device_close(&now);
	return code;
}

/* @each with the device of this number, if it is still there. */
static int with_number(uint64_t number, int (*each)(const struct device *device, void *context),
		       void *context)
{
	struct device device;
	int code, error = take_number(&device, major(number), minor(number));

	if (error)
		return error == -ENXIO ? EXIT_PASS : no_access(error);
	code = each(&device, context);
	device_close(&device);
	return code;
}

int device_each(int (*each)(const struct device *device, void *context), void *context)
{
	struct dm_task *task = make_task(DM_DEVICE_LIST);
	const struct dm_names *names;
	int code = EXIT_PASS, error = task ? run(task) : -errno;

	if (error) {
		code = no_access(error);
	} else {
		names = dm_task_get_names(task);
		while (code == EXIT_PASS && names && names->dev) {
			code = with_number(names->dev, each, context);
			if (!names->next)
				break;
			names = (const void *)((const char *)names + names->next);
		}
	}
	if (task)
		dm_task_destroy(task);
	return code;
}

static int send(const struct device *device, const char *message, char **answer)
{
	struct dm_task *task = task_by_number(DM_DEVICE_TARGET_MSG, device->major, device->minor);
	const char *text;
	int error;

	if (!task)
		return -errno;
	if (!dm_task_set_message(task, message) || !dm_task_set_sector(task, SECTOR_0))
		error = -ENOMEM;
	else
		error = run(task);
	if (!error && answer) {
		text = dm_task_get_message_response(task);
		*answer = strdup(text ? text : "");
		if (!*answer)
			error = -ENOMEM;
	}
	dm_task_destroy(task);
	return error;
}

int device_send(const struct device *device, struct text *message, char **answer)
{
	int error = -ENOMEM;

	text_append(message, "", 1);
	if (!message->failed)
		error = send(device, message->bytes, answer);
	text_free(message);
	return error;
}

int device_failed(const struct device *device, const char *what, int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
	case -ENOMEM:
		return no_access(error);
	case -ENXIO:
		complain("device %s no longer exists: it cannot %s", device->name, what);
		return EXIT_FAILED;
	case -ENOENT:
		complain("%s cannot %s: the region no longer exists", device->name, what);
		return EXIT_FAILED;
	case -EINVAL:
		complain("%s cannot %s: the kernel refuses it as invalid; its log says why",
			 device->name, what);
		return EXIT_FAILED;
	default:
		complain("%s cannot %s: %s", device->name, what, strerror(-error));
		return EXIT_FAILED;
	}
}
