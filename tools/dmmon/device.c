// SPDX-License-Identifier: MIT
#include "device.h"

#include <errno.h>
#include <libdevmapper.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

#define SECTOR_0 0

/* What libdevmapper has to say is said by exit code and sentence. */
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

/* A task of @type for the device of this name (NULL: none); NULL, and errno, without memory. */
static struct dm_task *make_task(int type, const char *name)
{
	struct dm_task *task;

	dm_log_with_errno_init(silent);
	task = dm_task_create(type);
	if (!task || !name || dm_task_set_name(task, name))
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

/* What sysfs says of the block device. */
static void describe(struct device *device, uint32_t major, uint32_t minor)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/size", major, minor);
	device->sectors = read_number(path);
	/* Only block drivers with request queues have this folder. */
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/mq", major, minor);
	device->request_based = access(path, F_OK) == 0;
}

int device_open(struct device *device, const char *name)
{
	struct dm_task *task = make_task(DM_DEVICE_INFO, name);
	int code = EXIT_PASS, error = task ? run(task) : -errno;
	struct dm_info info;

	memset(device, 0, sizeof(*device));
	if (error == -ENXIO || (!error && (!dm_task_get_info(task, &info) || !info.exists))) {
		complain("there is no device-mapper device '%s'; 'dmsetup ls' lists them", name);
		code = EXIT_USAGE;
	} else if (error) {
		code = no_access(error);
	} else {
		describe(device, info.major, info.minor);
		device->name = strdup(dm_task_get_name(task));
		if (!device->name) {
			complain("there is not enough memory");
			code = EXIT_FAILED;
		}
	}
	if (task)
		dm_task_destroy(task);
	return code;
}

void device_close(struct device *device)
{
	free(device->name);
	memset(device, 0, sizeof(*device));
}

int device_each(int (*each)(const char *name, void *context), void *context)
{
	struct dm_task *task = make_task(DM_DEVICE_LIST, NULL);
	const struct dm_names *names;
	int code = EXIT_PASS, error = task ? run(task) : -errno;

	if (error) {
		code = no_access(error);
	} else {
		names = dm_task_get_names(task);
		while (code == EXIT_PASS && names && names->dev) {
			code = each(names->name, context);
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
	struct dm_task *task = make_task(DM_DEVICE_TARGET_MSG, device->name);
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
		return no_access(error);
	case -ENXIO:
		complain("device %s has gone: it cannot %s", device->name, what);
		return EXIT_FAILED;
	case -ENOENT:
		complain("%s cannot %s: there is no such region any more", device->name, what);
		return EXIT_FAILED;
	case -EINVAL:
		complain("%s cannot %s: the kernel calls that invalid, its log says why",
			 device->name, what);
		return EXIT_FAILED;
	default:
		complain("%s cannot %s: %s", device->name, what, strerror(-error));
		return EXIT_FAILED;
	}
}
