/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saving the machine to a file, and restoring it: the properties "save" and "restore", which
 * are set by qom-set to a path while the machine stands still.
 *
 * The file's head is QEMU's own stream of all devices (state.c adds the CP's).  Guest storage is not
 * read but mapped, privately: machines restored from one file share what none of them has changed.
 *
 * A machine that has been restored from a file can be put back to it: the pages that it has changed
 * are copied from there, or discarded if they are many, and the code that was translated from the
 * others stays.
 *
 * Storage of a member of a system is not its own, so a file is copied into it (shared.c).  A member
 * goes on as a machine that was alone when it was saved; or where it stood itself, if the system's
 * process saves and loads its CP with that of all others.
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

#define FIRST_CAPACITY (1u << 20)
/* More pages that were stored to are not kept when a machine is put back: 16 MiB. */
#define KEPT_MAX 4096u

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

/* To QEMU's log, if QEMU has not written it there itself; frees @err. */
static void say_why(Error *err)
{
	if (err)
		error_report_err(err);
}

/* The stream of all devices into @f. */
static bool save_devices(QEMUFile *f)
{
	Error *err = NULL;
	int result;

	global_state_store();
	if (!DEVICES_BEGIN_STREAM) {
		qemu_put_be32(f, QEMU_VM_FILE_MAGIC);
		qemu_put_be32(f, QEMU_VM_FILE_VERSION);
	}
	result = qemu_save_device_state(f, &err);
	say_why(err);
	qemu_fflush(f);
	return result == 0 && qemu_file_get_error(f) == 0;
}

/* These pages are again what is in the file; what was translated from them is not. */
static bool discard_pages(ZvmlabCp *s, uint64_t first, uint64_t end)
{
	const uint64_t at = first * CP_PAGE_SIZE, len = (end - first) * CP_PAGE_SIZE;

	if (madvise(s->port.ram + at, len, MADV_DONTNEED) != 0)
		return false;
	zvmlab_forget_code(s, at, len);
	return true;
}

static unsigned int count_stored(const ZvmlabCp *s, const uint8_t *stored)
{
	unsigned int count = 0;

	for (uint64_t page = 0; page < s->port.ram_size / CP_PAGE_SIZE; page++)
		count += stored[page];
	return count;
}

/*
 * A page that was discarded is the file's until the next store, which is a fault; and for each of
 * both, all CPUs of the host that run this process are interrupted.  A copy needs neither.
 */
static void copy_changes(ZvmlabCp *s, const uint8_t *stored)
{
	for (uint64_t at = 0; at < s->port.ram_size; at += CP_PAGE_SIZE)
		if (stored[at / CP_PAGE_SIZE] &&
		    memcmp(s->port.ram + at, s->original + at, CP_PAGE_SIZE) != 0) {
			memcpy(s->port.ram + at, s->original + at, CP_PAGE_SIZE);
			zvmlab_forget_code(s, at, CP_PAGE_SIZE);
		}
}

static bool discard_changes(ZvmlabCp *s, const uint8_t *stored)
{
	const uint64_t pages = s->port.ram_size / CP_PAGE_SIZE;

	for (uint64_t from = 0, end; from < pages; from = end + 1) {
		for (end = from; end < pages && stored[end];)
			end++;
		if (end > from && !discard_pages(s, from, end))
			return false;
	}
	return true;
}

static bool undo_changes(ZvmlabCp *s, const uint8_t *stored)
{
	if (!s->original || count_stored(s, stored) > KEPT_MAX)
		return discard_changes(s, stored);
	copy_changes(s, stored);
	return true;
}

/* Another moment may be better: programs know that by the error's class. */
static void not_now(const char *reason, Error **errp)
{
	error_set(errp, ERROR_CLASS_DEVICE_NOT_ACTIVE,
		  "zvmlab-cp: the machine cannot be saved now: %s", reason);
}

static void write_file(const ZvmlabCp *s, const char *path, Error **errp)
{
	g_autofree char *machine = describe_machine(s);
	const bool shared = s->port.system_path;
	g_autofree uint8_t *stored = s->mapped ? NULL : shared ? zvmlab_shared_pages(s) :
						       zvmlab_stored_pages(s);
	struct cp_machine_file file = {
		.machine = machine, .ram = shared ? zvmlab_shared_map(s) : s->port.ram,
		.ram_size = s->port.ram_size, .used = stored,
	};
	QIOChannelBuffer *buffer = qio_channel_buffer_new(FIRST_CAPACITY);
	QEMUFile *f = qemu_file_new_output(QIO_CHANNEL(buffer));
	char err[1024];

	if (file.ram == MAP_FAILED) {
		error_setg_errno(errp, errno, "zvmlab-cp: guest storage cannot be mapped");
	} else if (save_devices(f)) {
		file.head = buffer->data;
		file.head_len = buffer->usage;
		if (cp_machine_write(path, &file, err, sizeof(err)) != 0)
			error_setg(errp, "zvmlab-cp: %s", err);
	} else {
		not_now("QEMU's log says why", errp);
	}
	if (shared && file.ram != MAP_FAILED)
		munmap((void *)file.ram, file.ram_size);
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
		not_now(refused, errp);
	else
		write_file(s, path, errp);
}

/* All pages are at the addresses at which QEMU knows them. */
static bool map_storage(ZvmlabCp *s, int flags, int fd, uint64_t offset)
{
	s->replaced = 0;
	return mmap(s->port.ram, s->port.ram_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE | flags, fd, offset) != MAP_FAILED;
}

static bool began_as(const ZvmlabCp *s, int fd)
{
	struct stat now, st;

	return (s->mapped || s->original) && fstat(s->mapped_fd, &now) == 0 && fstat(fd, &st) == 0 &&
	       st.st_dev == now.st_dev && st.st_ino == now.st_ino;
}

static bool is_mapped_from(const ZvmlabCp *s, int fd)
{
	/* A page that has been replaced would not be the file's again. */
	return s->mapped && s->replaced == 0 && began_as(s, fd);
}

/* Storage is another than that of the file, or of any. */
static void forget_file(ZvmlabCp *s)
{
	if (s->original)
		munmap((void *)s->original, s->port.ram_size);
	if (s->mapped || s->original)
		close(s->mapped_fd);
	s->original = NULL;
	s->mapped = false;
}

/* Storage begins as what @fd has, which is kept open. */
static void begin_as(ZvmlabCp *s, int fd, uint64_t offset)
{
	void *original = mmap(NULL, s->port.ram_size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd,
			      offset);

	s->mapped_fd = fd;
	s->mapped_offset = offset;
	s->original = original == MAP_FAILED ? NULL : original;
}

static bool map_file(ZvmlabCp *s, const struct cp_machine_file *file)
{
	const int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return false;
	if (!map_storage(s, 0, fd, file->ram_offset)) {
		close(fd);
		return false;
	}
	forget_file(s);
	s->mapped = true;
	/* Without, changes are discarded. */
	begin_as(s, fd, file->ram_offset);
	return true;
}

/* The file stays mapped for the ways back to it, for which all pages are looked at. */
static bool copy_file(ZvmlabCp *s, const struct cp_machine_file *file)
{
	if (!began_as(s, file->fd)) {
		const int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return false;
		forget_file(s);
		begin_as(s, fd, file->ram_offset);
		if (!s->original) {
			close(fd);
			return false;
		}
	}
	return zvmlab_share_file(s, file, s->original);
}

static void reset_cpu(CPUState *cs, run_on_cpu_data unused)
{
	cpu_reset(cs);
}

/* A reset without what a load needs: kernel and image stay where they are, out of storage. */
static void reset_devices(ZvmlabCp *s)
{
	CPUState *cs;

	zvmlab_end_holds(s);
	cpu_synchronize_all_states();
	CPU_FOREACH(cs) {
		run_on_cpu(cs, reset_cpu, RUN_ON_CPU_NULL);
	}
	resettable_reset(OBJECT(sysbus_get_default()), RESET_TYPE_COLD);
	s->port.calls->reset(&s->port);
	cpu_synchronize_all_post_reset();
}

/*
 * The devices are as new, and storage is the file's.  *@back: of what was translated, all that is not
 * the file's has been forgotten.
 */
static bool begin_at(ZvmlabCp *s, const struct cp_machine_file *file, bool *back)
{
	g_autofree uint8_t *stored = is_mapped_from(s, file->fd) ? zvmlab_stored_pages(s) : NULL;

	*back = false;
	if (s->port.system_path) {
		if (s->ipled)
			reset_devices(s);
		*back = true;
		return copy_file(s, file);
	}
	if (stored) {
		reset_devices(s);
		*back = undo_changes(s, stored);
	} else if (s->ipled) {
		/* What the stream leaves out is as after a reset. */
		qemu_system_reset(SHUTDOWN_CAUSE_SNAPSHOT_LOAD);
	}
	return *back || map_file(s, file);
}

static bool load_devices(const struct cp_machine_file *file)
{
	QIOChannelBuffer *buffer = qio_channel_buffer_new(file->head_len + 1);
	bool loaded = false;
	Error *err = NULL;
	QEMUFile *f;

	memcpy(buffer->data, file->head, file->head_len);
	buffer->usage = file->head_len;
	f = qemu_file_new_input(QIO_CHANNEL(buffer));
	object_unref(OBJECT(buffer));
	if (qemu_get_be32(f) == QEMU_VM_FILE_MAGIC && qemu_get_be32(f) == QEMU_VM_FILE_VERSION)
		loaded = qemu_load_device_state(f, &err) == 0;
	say_why(err);
	qemu_fclose(f);
	return loaded;
}

/* As new: the machine begins with a load, as if nothing had been tried. */
static void begin_anew(ZvmlabCp *s)
{
	forget_file(s);
	if (!(s->port.system_path ? zvmlab_share_nothing(s) :
				    map_storage(s, MAP_ANONYMOUS, -1, 0)))
		abort();
	/* Otherwise nothing is loaded (-incoming). */
	if (!runstate_check(RUN_STATE_PRELAUNCH))
		runstate_set(RUN_STATE_PRELAUNCH);
	qemu_system_reset(SHUTDOWN_CAUSE_NONE);
	s->ipled = false;
}

void zvmlab_restore(ZvmlabCp *s, const char *path, Error **errp)
{
	struct cp_machine_file file = { .ram_size = s->port.ram_size };
	g_autofree char *machine = NULL;
	char err[1024];
	bool back;

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
	if (!begin_at(s, &file, &back)) {
		error_setg_errno(errp, errno, "zvmlab-cp: the checkpoint %s cannot be %s", path,
				 s->port.system_path ? "copied" : "mapped");
	} else if (!load_devices(&file)) {
		begin_anew(s);
		error_setg(errp, "zvmlab-cp: the checkpoint %s cannot be used: its contents do not"
			   " fit in with this machine, which has been reset; QEMU's log says why",
			   path);
	} else {
		zvmlab_cover_put_back();
		/* Storage is another, and so is what was translated from it. */
		if (!zvmlab_begin_translated(s, path) && !back)
			queue_tb_flush(first_cpu);
		/* As after any stop: "cont" goes on. */
		if (runstate_check(RUN_STATE_INMIGRATE))
			runstate_set(RUN_STATE_PAUSED);
	}
	close(file.fd);
	free(file.head);
}

static void restore(Object *obj, const char *path, Error **errp)
{
	zvmlab_restore(ZVMLAB_CP(obj), path, errp);
}

void zvmlab_add_checkpoint(ObjectClass *oc)
{
	object_class_property_add_str(oc, "save", NULL, save);
	object_class_property_add_str(oc, "restore", NULL, restore);
}
