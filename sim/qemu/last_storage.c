/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest leaves in its storage when it ends by itself: a kernel that counts which of its lines
 * run has its counts there, and nobody to ask any more.
 *
 * The property "last-storage" is the file's name; set to "", as at first, nothing is written.
 * When the machine has stopped for good, and not because this process was told to end, the file gets
 * struct head, a page long, and then all of storage; pages of zeros are holes.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "qemu/cutils.h"
#include "qemu/error-report.h"

#define MAGIC UINT64_C(0x5a564d53544f5245)	/* "ZVMSTORE" */

/* All of it big-endian. */
struct head {
	uint64_t magic;
	uint64_t count;
	uint64_t spaces[2 * CP_MAX_CPUS];	/* primary and home address space of each CPU */
};

QEMU_BUILD_BUG_ON(sizeof(struct head) > CP_PAGE_SIZE);

static char *path;
static bool by_guest;

static void shuts_down(Notifier *notifier, void *data)
{
	const ShutdownCause cause = *(const ShutdownCause *)data;

	by_guest = cause != SHUTDOWN_CAUSE_HOST_SIGNAL && cause != SHUTDOWN_CAUSE_HOST_QMP_QUIT;
}

static void set_path(Object *obj, const char *value, Error **errp)
{
	static Notifier ending = { .notify = shuts_down };

	if (!path)
		qemu_register_shutdown_notifier(&ending);
	g_free(path);
	path = g_strdup(value);
}

static char *get_path(Object *obj, Error **errp)
{
	return g_strdup(path ? path : "");
}

static bool write_all(const ZvmlabCp *s, int fd)
{
	struct head head = { .magic = cpu_to_be64(MAGIC) };
	const uint8_t *ram = s->port.ram;
	uint64_t count = 0;
	CPUState *cs;

	CPU_FOREACH(cs) {
		head.spaces[count++] = cpu_to_be64(S390_CPU(cs)->env.cregs[1]);
		head.spaces[count++] = cpu_to_be64(S390_CPU(cs)->env.cregs[13]);
	}
	head.count = cpu_to_be64(count);
	if (ftruncate(fd, CP_PAGE_SIZE + s->port.ram_size) != 0 ||
	    pwrite(fd, &head, sizeof(head), 0) != sizeof(head))
		return false;
	for (uint64_t at = 0; at < s->port.ram_size; at += CP_PAGE_SIZE)
		if (!buffer_is_zero(ram + at, CP_PAGE_SIZE) &&
		    pwrite(fd, ram + at, CP_PAGE_SIZE, CP_PAGE_SIZE + at) != CP_PAGE_SIZE)
			return false;
	return true;
}

void zvmlab_keep_last_storage(const ZvmlabCp *s, RunState state)
{
	int fd;

	if (!path || !*path ||
	    !(state == RUN_STATE_GUEST_PANICKED || (state == RUN_STATE_SHUTDOWN && by_guest)))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || !write_all(s, fd)) {
		warn_report("zvmlab-cp: the guest's last storage is not in %s: %s", path,
			    strerror(errno));
		/* What was there before is another's. */
		if (fd >= 0)
			unlink(path);
	}
	if (fd >= 0)
		close(fd);
}

void zvmlab_add_last_storage(ObjectClass *oc)
{
	object_class_property_add_str(oc, "last-storage", get_path, set_path);
}
