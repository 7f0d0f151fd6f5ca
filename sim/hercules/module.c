/* SPDX-License-Identifier: MIT */
/*
 * The module as Hercules' dynamic loader sees it, and the life of its CP.
 *
 * Without a console of the type ZVMCP the module leaves Hercules as it is.  With
 * one, the CP comes into being when Hercules has guest storage, before it makes
 * the first CPU.
 */
#include "insn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint.h"
#include "got.h"
#include "hold.h"
#include "zvmlab/disk.h"
#include "zvmlab/spool.h"

#define LIBRARY "libherc.so"

struct port *port;
static struct port the_port;

static int (*hercules_system_reset)(int cpu, int clear);
static int (*hercules_system_reset_390)(int cpu, int clear);
static int (*hercules_cpu_reset)(REGS *regs);
static int (*hercules_cpu_reset_390)(REGS *regs);
static int (*hercules_initial_reset_390)(REGS *regs);
static int (*hercules_load_finish_390)(REGS *regs);
static int (*hercules_load_psw)(REGS *regs, BYTE *addr);

void port_lock(REGS *regs)
{
	OBTAIN_INTLOCK(regs);
}

void port_unlock(void)
{
	RELEASE_INTLOCK(NULL);
}

/* Not by logmsg(): what Hercules has not logged when it ends is lost. */
static void say(const char *reason)
{
	fprintf(stderr, "zvmlab-cp: %s\n", reason);
}

void module_refuse(const char *reason)
{
	say(reason);
	port->refused = true;
}

static void end_hercules(void)
{
	exit(1);
}

/* From whichever thread has found out: nothing of the machine can go on. */
static void __attribute__((noreturn)) end_of_system(const char *why)
{
	say(why);
	_exit(2);
}

static const struct cp_port_words words = {
	.cpus = "NUMCPU", .most_cpus = "MAXCPU", .no_more = "like NUMCPU", .storage = "MAINSIZE ",
	.megabytes = "", .end = end_of_system,
};

bool port_has_cp(void)
{
	return port && (port->own.cp || port->joined);
}

void module_configure(unsigned int devnum, int argc, char *argv[])
{
	char err[512], number[8];

	port = &the_port;
	cp_port_init(&port->own, &words, host_absolute);
	snprintf(number, sizeof(number), "%X", devnum);
	if (argc != 1)
		module_refuse("the console's statement names no file of options, or more than one: write,"
		       " for example, 0009 ZVMCP guest.options");
	else if (options_read(argv[0], err, sizeof(err)) != 0 ||
		 cp_config_set(&port->own.config, "console", number, err, sizeof(err)) != 0)
		module_refuse(err);
}

/* Refuse what only shows once the whole configuration has been read. */
static int check_machine(char *err, size_t errlen)
{
	if (sysblk.arch_mode != ARCH_900) {
		snprintf(err, errlen, "needs ARCHMODE z/Arch in the configuration");
		return -1;
	}
	if (cp_unit_at(&port->own.config, 0)) {
		snprintf(err, errlen, "SPOOL statements in the directory are for QEMU only: the card"
			 " devices and printers of Hercules are its own, and know nothing of a spool");
		return -1;
	}
	if (cp_disk_at(&port->own.config, 0)) {
		snprintf(err, errlen, "MDISK statements in the directory are for QEMU only: here a guest has"
			 " the disks of Hercules' configuration, and its own DIAGNOSE X'250'");
		return -1;
	}
	if (!insn_set_facilities()) {
		snprintf(err, errlen, "this Hercules cannot hold the facilities of CP");
		return -1;
	}
	return cp_port_set_cpus(&port->own, (unsigned int)sysblk.numcpu, err, errlen);
}

static int create_cp(char *err, size_t errlen)
{
	struct cp_host host;

	host_init(&host);
	if (cp_port_create(&port->own, &host, err, errlen) != 0)
		return -1;
	port->joined = port->own.system_path;
	return 0;
}

static int open_files(char *err, size_t errlen)
{
	if (cp_port_open(&port->own, err, errlen) != 0 || service_prepare(err, errlen) != 0 ||
	    daemon_prepare(err, errlen) != 0)
		return -1;
	return console_open(err, errlen);
}

/* Guest storage is there, CPUs are not. */
static void machine_complete(void)
{
	char err[512];

	if (!port->refused &&
	    (check_machine(err, sizeof(err)) != 0 || open_files(err, sizeof(err)) != 0 ||
	     storage_create(err, sizeof(err)) != 0 || create_cp(err, sizeof(err)) != 0 ||
	     service_start(err, sizeof(err)) != 0))
		module_refuse(err);
	if (port->refused)
		end_hercules();
	port_lock(NULL);
	storage_apply();
	port->own.calls->reset(&port->own);
	for (unsigned int i = 0; i < port->own.config.cpus; i++)
		port->own.calls->reset_cpu(&port->own, i);
	port->own.calls->attach(&port->own);
	port_unlock();
}

/* The lock is held by whoever resets or loads the machine. */
static int reset_system(int (*own)(int, int), int cpu, int clear)
{
	char err[512];
	int result;

	if (!port_has_cp())
		return own(cpu, clear);
	/* Known only now.  A guest could else configure CPUs that the CP does not have. */
	if (cp_port_check_most_cpus(&port->own, (unsigned int)sysblk.maxcpu, err, sizeof(err)) != 0) {
		logmsg("zvmlab-cp: %s\n", err);
		return -1;
	}
	if (port->used)
		port->own.calls->reset(&port->own);
	storage_open();
	result = own(cpu, clear);
	storage_close();
	port->used = false;
	return result;
}

static int system_reset_900(int cpu, int clear)
{
	return reset_system(hercules_system_reset, cpu, clear);
}

static int system_reset_390(int cpu, int clear)
{
	return reset_system(hercules_system_reset_390, cpu, clear);
}

static int reset_cpu(int (*own)(REGS *), REGS *regs)
{
	if (port_has_cp() && port->used && !regs->dummy && regs->host)
		port->own.calls->reset_cpu(&port->own, regs->cpuad);
	return own(regs);
}

static int cpu_reset_900(REGS *regs)
{
	return reset_cpu(hercules_cpu_reset, regs);
}

static int cpu_reset_390(REGS *regs)
{
	return reset_cpu(hercules_cpu_reset_390, regs);
}

/* The first call of all is for the registers that stand for a CPU that is not there. */
static int initial_reset_390(REGS *regs)
{
	if (port && !port_has_cp() && regs->dummy)
		machine_complete();
	return hercules_initial_reset_390(regs);
}

int module_load_finish(REGS *regs)
{
	int result = hercules_load_finish_390(regs);

	if (port_has_cp() && result == 0) {
		port->used = true;
		port->own.calls->running(&port->own, true);
		port->own.calls->ipl(&port->own);
	}
	return result;
}

/* A disabled wait ends the machine like stopping the CPU. */
static int load_psw_900(REGS *regs, BYTE *addr)
{
	int result = hercules_load_psw(regs, addr);

	if (result == 0 && WAITSTATE(&regs->psw) && IS_IC_DISABLED_WAIT_PSW(regs))
		service_cpu_stops();
	return result;
}

static void *type_or_command(void *command)
{
	void *(*next)(void *) = HDL_FINDNXT(type_or_command);

	if (console_command(command) || checkpoint_command(command) || daemon_command(command))
		return NULL;
	return next ? next(command) : NULL;
}

#define HOOK(name, replacement, original) \
	{ (name), (void *)(replacement), (void **)&(original) }

static bool hook(void)
{
	const struct got_hook hooks[] = {
		HOOK("z900_perform_external_interrupt", interrupt_external, hercules_external),
		HOOK("z900_process_interrupt", interrupt_process, hercules_process),
		HOOK("z900_system_reset", system_reset_900, hercules_system_reset),
		HOOK("s390_system_reset", system_reset_390, hercules_system_reset_390),
		HOOK("z900_cpu_reset", cpu_reset_900, hercules_cpu_reset),
		HOOK("s390_cpu_reset", cpu_reset_390, hercules_cpu_reset_390),
		HOOK("s390_initial_cpu_reset", initial_reset_390, hercules_initial_reset_390),
		HOOK("s390_common_load_finish", module_load_finish, hercules_load_finish_390),
		HOOK("s390_load_hmc", reload_load_hmc, hercules_load_hmc),
		HOOK("z900_load_psw", load_psw_900, hercules_load_psw),
	};
	char err[512];

	if (got_redirect(LIBRARY, hooks, sizeof(hooks) / sizeof(hooks[0]), err, sizeof(err)) == 0)
		return true;
	say(err);
	return false;
}

/* Sizes and versions have agreed; what Hercules has computed from its own must, too. */
static bool layout_agrees(void)
{
	return sysblk.regs_copy_len ==
	       (char *)&sysblk.dummyregs.regs_copy_end - (char *)&sysblk.dummyregs;
}

/*
 * Hercules' watchdog takes a CPU that executes nothing for 20 s, and does not wait, for broken, and
 * sends its thread a signal.  Not NULL: it does not, for this CPU is held.
 */
static void *spare_held_cpu(REGS *regs)
{
	return hold_has(regs) ? regs : NULL;
}

HDL_DEPENDENCY_SECTION;
{
	HDL_DEPENDENCY(HERCULES);
	HDL_DEPENDENCY(REGS);
	HDL_DEPENDENCY(DEVBLK);
	HDL_DEPENDENCY(SYSBLK);
	/* Hercules would go on without the CP, and the guest find itself somewhere else. */
	if (hdl_depc_rc != 0 || !layout_agrees() || !hook()) {
		say("this is not the Hercules that the module was built for");
		end_hercules();
	}
}
END_DEPENDENCY_SECTION

HDL_REGISTER_SECTION;
{
	HDL_REGISTER(daemon_task, daemon_run);
	HDL_REGISTER(panel_command, type_or_command);
	/* Hercules declares it to be one of these, and forgets to look for it. */
	debug_watchdog_signal = spare_held_cpu;
}
END_REGISTER_SECTION

HDL_DEVICE_SECTION;
{
	HDL_DEVICE(ZVMCP, console_handler);
}
END_DEVICE_SECTION

HDL_INSTRUCTION_SECTION;
{
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb2f0, zvmlab_iucv);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0x83, zvmlab_diagnose);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb27d, zvmlab_store_system_information);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb202, zvmlab_store_cpu_id);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb256, zvmlab_store_hypervisor_information);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0x07, zvmlab_branch_on_condition_register);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb7, zvmlab_load_control);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xeb2f, zvmlab_load_control_long);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb6, zvmlab_store_control);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xeb25, zvmlab_store_control_long);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xae, zvmlab_signal_processor);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb210, zvmlab_set_prefix);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb229, zvmlab_insert_storage_key_extended);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb22a, zvmlab_reset_reference_bit_extended);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xb22b, zvmlab_set_storage_key_extended);
	HDL_900_DEFINST(HDL_INSTARCH_900, 0xe501, zvmlab_test_protection);
}
END_INSTRUCTION_SECTION

HDL_FINAL_SECTION;
{
	service_stop();
	if (port && port->own.ctl)
		ctl_close(port->own.ctl);
	if (port && port->own.trace)
		trace_file_close(port->own.trace);
}
END_FINAL_SECTION
