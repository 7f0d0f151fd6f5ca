/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saving the machine to a file, and restoring it: the properties "save" and "restore", which
 * are set by qom-set to a path while the machine stands still.
 *
 * The file's head is QEMU's own stream of all devices (state.c adds the CP's).  Guest storage is not
 * read but mapped, privately: machines restored from one file share what none of them has changed.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "cp_machine_file.h"
#include "hw/core/cpu.h"
#include "io/channel-buffer.h"
#include "migration/global_state.h"
#include "migration/migration.h"
#include "migration/qemu-file.h"
#include "migration/savevm.h"
#include "qapi/error.h"
#include "sysemu/reset.h"

#define FIRST_CAPACITY (1u << 20)

/* What two machines must have in common for one to go on where the other stood. */
static char *describe_machine(const ZvmlabCp *s)
{
	return g_strdup_printf("QEMU %s, %s, CPUs %u", QEMU_VERSION,
			       object_get_typename(OBJECT(first_cpu)), s->port.config.cpus);
}

static bool check_stopped(const ZvmlabCp *s, const char *what, Error **errp)
{
	if (zvmlab_cp == s && !runstate_is_running())
		return true;
	error_setg(errp, "zvmlab-cp: the machine cannot be %s while it runs; stop it first", what);
	return false;
}

/* The stream of all devices into @f. */
static bool save_devices(QEMUFile *f)
{
	int result;

	global_state_store();
	result = qemu_save_device_state(f);
	qemu_fflush(f);
	return result == 0 && qemu_file_get_error(f) == 0;
}

static void write_file(const ZvmlabCp *s, const char *path, Error **errp)
{
	g_autofree char *machine = describe_machine(s);
	struct cp_machine_file file = {
		.machine = machine, .ram = s->port.ram, .ram_size = s->port.ram_size,
	};
	QIOChannelBuffer *buffer = qio_channel_buffer_new(FIRST_CAPACITY);
	QEMUFile *f = qemu_file_new_output(QIO_CHANNEL(buffer));
	char err[1024];

	if (save_devices(f)) {
		file.head = buffer->data;
		file.head_len = buffer->usage;
		if (cp_machine_write(path, &file, err, sizeof(err)) != 0)
			error_setg(errp, "zvmlab-cp: %s", err);
	} else {
		error_setg(errp, "zvmlab-cp: the machine cannot be saved now: QEMU's log says why");
	}
	qemu_fclose(f);
	object_unref(OBJECT(buffer));
}

static void save(Object *obj, const char *path, Error **errp)
{
	const ZvmlabCp *s = ZVMLAB_CP(obj);
	const char *refused;

	if (!check_stopped(s, "saved", errp) || migration_is_blocked(errp))
		return;
	zvmlab_state_settle();
	refused = zvmlab_state_refused(s);
	if (refused)
		error_setg(errp, "zvmlab-cp: the machine cannot be saved now: %s", refused);
	else
		write_file(s, path, errp);
}

/* All pages are at the addresses at which QEMU knows them. */
static bool map_storage(ZvmlabCp *s, int flags, int fd, uint64_t offset)
{
	return mmap(s->port.ram, s->port.ram_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | flags, fd, offset) != MAP_FAILED;
}

static bool load_devices(const struct cp_machine_file *file)
{
	QIOChannelBuffer *buffer = qio_channel_buffer_new(file->head_len + 1);
	bool loaded = false;
	QEMUFile *f;

	memcpy(buffer->data, file->head, file->head_len);
	buffer->usage = file->head_len;
	f = qemu_file_new_input(QIO_CHANNEL(buffer));
	object_unref(OBJECT(buffer));
	if (qemu_get_be32(f) == QEMU_VM_FILE_MAGIC && qemu_get_be32(f) == QEMU_VM_FILE_VERSION)
		loaded = qemu_load_device_state(f) == 0;
	qemu_fclose(f);
	return loaded;
}

/* As new: the machine begins with a load, as if nothing had been tried. */
static void begin_anew(ZvmlabCp *s)
{
	if (!map_storage(s, MAP_ANONYMOUS, -1, 0))
		abort();
	/* Otherwise nothing is loaded (-incoming). */
	if (!runstate_check(RUN_STATE_PRELAUNCH))
		runstate_set(RUN_STATE_PRELAUNCH);
	qemu_system_reset(SHUTDOWN_CAUSE_NONE);
	s->ipled = false;
}

static void restore(Object *obj, const char *path, Error **errp)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);
	struct cp_machine_file file = { .ram_size = s->port.ram_size };
	g_autofree char *machine = NULL;
	char err[1024];

	if (!check_stopped(s, "restored", errp))
		return;
	if (s->lockstep) {
		error_setg(errp, "zvmlab-cp: a machine in lockstep cannot be restored");
		return;
	}
	file.machine = machine = describe_machine(s);
	if (cp_machine_open(path, &file, err, sizeof(err)) != 0) {
		error_setg(errp, "zvmlab-cp: %s", err);
		return;
	}
	/* What the stream leaves out is as after a reset. */
	if (s->ipled)
		qemu_system_reset(SHUTDOWN_CAUSE_SNAPSHOT_LOAD);
	if (!map_storage(s, 0, file.fd, file.ram_offset)) {
		error_setg_errno(errp, errno, "zvmlab-cp: the checkpoint %s cannot be mapped", path);
	} else if (!load_devices(&file)) {
		begin_anew(s);
		error_setg(errp, "zvmlab-cp: the checkpoint %s cannot be used: its contents do not"
			   " fit in with this machine, which has been reset; QEMU's log says why",
			   path);
	} else if (runstate_check(RUN_STATE_INMIGRATE)) {
		/* As after any stop: "cont" goes on. */
		runstate_set(RUN_STATE_PAUSED);
	}
	close(file.fd);
	free(file.head);
}

void zvmlab_add_checkpoint(ObjectClass *oc)
{
	object_class_property_add_str(oc, "save", NULL, save);
	object_class_property_add_str(oc, "restore", NULL, restore);
}
