/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zvmlab-cp object, shared by the files of the port.
 *
 * The core's headers come before QEMU's cpu.h: the latter defines macros with
 * the names (and the values) of the core's program-interruption codes.
 */
#ifndef ZVMLAB_PORT_H
#define ZVMLAB_PORT_H

#include "cp_port.h"

#include "cpu.h"
#include "qemu/notify.h"
#include "qemu/timer.h"
#include "qom/object.h"
#include "versions.h"

#define TYPE_ZVMLAB_CP "zvmlab-cp"
OBJECT_DECLARE_SIMPLE_TYPE(ZvmlabCp, ZVMLAB_CP)

/* A CPU that takes ticks only (idle.c). */
struct zvmlab_idle {
	unsigned int ticks;	/* that it has taken, and nothing else, before it waited again */
	bool ticked;		/* a tick is what it was woken for, … */
	int64_t woken;		/* … when its thread had run for so long */
	int64_t until;		/* its thread waits for a tick until then; 0: it does not */
	int64_t due;		/* … which was to be then */
};

struct ZvmlabCp {
	Object parent_obj;

	struct cp_port port;
	QEMUTimer *timer;
	int watched;		/* cp_calls.fd(), once the machine is complete; else -1 */
	bool serving;		/* clients: a CPU that wakes would wait for the BQL, … */
	uint64_t kicked;	/* … so these CPUs wake afterwards */
	bool looks;		/* a CPU that waits looks for what its system has to tell */
	bool ipled;		/* cp_ipl() called since the last reset */
	uint64_t no_cpus;	/* of the machine: bit n is CPU n, which the guest has not */
	bool wait_told;		/* a disabled wait has been reported */
	bool lockstep;		/* the machine stops at each event that a client is told */
	bool holding;		/* … and is about to */
	QEMUBH *hold;
	QEMUTimer *turn;	/* ends the machine's turn; NULL: it takes none */
	int64_t turn_end;
	int64_t pass_until;	/* so long time that all CPUs wait is jumped over */
	bool passing;		/* … from now on: a CPU that waits says so */
	QEMUBH *pass_look;	/* looks whether all do; NULL: nothing was ever to be */
	QEMUTimer *pass_timer;	/* likewise */

	bool mapped;		/* storage is mapped from the file below */
	int mapped_fd;		/* the checkpoint that storage began as; open if mapped, or original … */
	uint64_t mapped_offset;	/* … from this byte on */
	const uint8_t *original;	/* what is in that file, or NULL */
	unsigned int replaced;	/* pages of it that are not, at the guest's wish */

	uint8_t *access;	/* per page: 0 not known yet, or enum cp_access + 1, or ZVMLAB_OUT */
	bool *shared;		/* per page: other members of the system may store into it */
	bool held[CP_MAX_CPUS];	/* cp_page_held(); for has_work, without the BQL */
	bool stopped[CP_MAX_CPUS];	/* by a hold (hold.c); likewise */
	struct zvmlab_idle idle[CP_MAX_CPUS];	/* each its own thread's */

	Notifier machine_done, exit;
	VMChangeStateEntry *state_change;
};

/* Of ZvmlabCp.access: the page is out (cp_page_is_out()). */
#define ZVMLAB_OUT 0x80

/*
 * The machine's CP from the moment the machine is complete, or NULL.  QEMU's
 * hooks have no other way to find it; a machine has one.
 */
extern ZvmlabCp *zvmlab_cp;

/* Devices of the SPOOL statements, before the machine has any. */
bool zvmlab_add_units(const ZvmlabCp *s, Error **errp);
/* Its host's: present device end at the readers. */
void zvmlab_reader_ready(void *opaque);
/* Likewise of the MDISK statements. */
bool zvmlab_add_disks(const ZvmlabCp *s, Error **errp);

/* The host's: devices of the channel subsystem follow those that CP has (channel_device.c). */
void zvmlab_devices_changed(void *opaque);
/* Its host's: what the guest's 3215 shows (console.c). */
void zvmlab_console_show(void *opaque, const char *text, size_t len);

/* The property by which the machine stops at each event. */
void zvmlab_add_lockstep(ObjectClass *oc);
/* In the main loop, before a client is served: wait until CPUs that are to stop have stopped. */
void zvmlab_machine_is_held(void *opaque);

/* A member whose system gives turns waits for its own from now on, or does not run any more. */
void zvmlab_take_turns(ZvmlabCp *s, bool running);

/* The property by which the guest's clocks jump over time that its CPUs wait. */
void zvmlab_add_pass_time(ObjectClass *oc);
/* Let them jump, by @ns in all; and by how much they still may. */
void zvmlab_pass_time(ZvmlabCp *s, int64_t ns, Error **errp);
int64_t zvmlab_time_to_pass(const ZvmlabCp *s);

/*
 * A CPU has nothing to do.  Return: true if its thread has waited for a tick meanwhile, if not for all
 * of the time, and has to look again whether there is something.
 */
bool zvmlab_rests(CPUState *cs);
/* Ticks that were put off are due when they were. */
void zvmlab_end_rests(ZvmlabCp *s);

/* The properties by which a CPU is held at a function of the kernel. */
void zvmlab_add_holds(ObjectClass *oc);
/* End them all: the kernel is another one, or stands elsewhere. */
void zvmlab_end_holds(ZvmlabCp *s);
/* A CPU is as new: what it was held at is over. */
void zvmlab_cpu_is_reset(ZvmlabCp *s, unsigned int cpu);

/* The property by which a seed decides how long a CPU's turn is. */
void zvmlab_add_turns(ObjectClass *oc);

/* The properties by which it is told which blocks of the kernel are executed. */
void zvmlab_add_cover(ObjectClass *oc);
/* Is it told? */
bool zvmlab_covers(void);
/* The machine is where it was before: nothing has been executed. */
void zvmlab_cover_put_back(void);

/* The property that names a file for what is in storage when the guest has ended. */
void zvmlab_add_last_storage(ObjectClass *oc);
/* The machine has stopped, by @state: fill the file if that was its end. */
void zvmlab_keep_last_storage(const ZvmlabCp *s, RunState state);

/* The property by which the machine's translations are saved to a file. */
void zvmlab_add_translations(ObjectClass *oc);
/* A machine that has translated nothing takes those beside @checkpoint; return: has it? */
bool zvmlab_begin_translated(const ZvmlabCp *s, const char *checkpoint);

/* What QEMU's stream has of this CP, and of what QEMU itself forgets. */
void zvmlab_state_register(ZvmlabCp *s);
/* The machine has stopped: its CPUs complete what they have begun. */
void zvmlab_state_settle(void);
/* Return: why the machine cannot be saved as it is now, NULL if it can. */
const char *zvmlab_state_refused(const ZvmlabCp *s);

/* The properties by which the machine is saved to a file, and restored from it. */
void zvmlab_add_checkpoint(ObjectClass *oc);
/* A byte for each page of storage: has it been stored to?  To be freed; NULL if the host does not tell. */
uint8_t *zvmlab_stored_pages(const ZvmlabCp *s);
/* The machine, which stands still, goes on from the file @path. */
void zvmlab_restore(ZvmlabCp *s, const char *path, Error **errp);

/* Clients of the control socket ask for these things, too, if it is the machine's own. */
void zvmlab_take_requests(ZvmlabCp *s);

struct cp_machine_file;
/*
 * Storage that other processes see is what is in the file, whose storage is mapped at @pages; or zero.
 * No segment is in it.
 * Return: false with errno.
 */
bool zvmlab_share_file(const ZvmlabCp *s, const struct cp_machine_file *file, const uint8_t *pages);
bool zvmlab_share_nothing(const ZvmlabCp *s);
/* A byte for each page of it: is the page there?  To be freed. */
uint8_t *zvmlab_shared_pages(const ZvmlabCp *s);
/* All of it without the segments that the machine has there, to be read; MAP_FAILED with errno. */
void *zvmlab_shared_map(const ZvmlabCp *s);

/* Forget what was translated from these pages of storage: they hold something else. */
void zvmlab_forget_code(const ZvmlabCp *s, uint64_t addr, uint64_t len);
/* Clients, or the system, have something. */
void zvmlab_serve(ZvmlabCp *s);
/* Wake CPUs that have got an interruption while clients were served. */
void zvmlab_wake_kicked(ZvmlabCp *s);
/* The callbacks of the core. */
void zvmlab_host_init(struct cp_host *host, ZvmlabCp *s);
/* Its external: CPU @cpu may have an interruption, or need no longer wait. */
void zvmlab_external(void *opaque, unsigned int cpu);
/* A state has been loaded: which CPUs wait? */
void zvmlab_paging_loaded(ZvmlabCp *s);
/* Guest absolute address; @cpu: whose prefix counts, or CP_ABSOLUTE. */
uint64_t zvmlab_absolute(const struct cp_port *port, int cpu, uint64_t addr);

#endif
