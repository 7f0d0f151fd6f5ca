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

#include "checkpoint.h"
#include "got.h"

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

void module_configure(unsigned int devnum, int argc, char *argv[])
{
	char err[512], number[8];

	port = &the_port;
	cp_config_init(&port->config);
	port->trace_limit = TRACE_LIMIT_DEFAULT;
	snprintf(number, sizeof(number), "%X", devnum);
	if (argc != 1)
		module_refuse("the console's statement names no file of options, or more than one: write,"
		       " for example, 0009 ZVMCP guest.options");
	else if (options_read(argv[0], err, sizeof(err)) != 0 ||
		 cp_config_set(&port->config, "console", number, err, sizeof(err)) != 0)
		module_refuse(err);
}

/* Refuse what only shows once the whole configuration has been read. */
static int check_machine(char *err, size_t errlen)
{
	char cpus[8];

	if (sysblk.arch_mode != ARCH_900) {
		snprintf(err, errlen, "needs ARCHMODE z/Arch in the configuration");
		return -1;
	}
	if (port->cpus_given && port->config.cpus != (unsigned int)sysblk.numcpu) {
		snprintf(err, errlen, "cpus %u differs from NUMCPU %d; leave out cpus",
			 port->config.cpus, sysblk.numcpu);
		return -1;
	}
	if (!insn_add_facilities()) {
		snprintf(err, errlen, "this Hercules has no place for the facilities of CP");
		return -1;
	}
	snprintf(cpus, sizeof(cpus), "%d", sysblk.numcpu);
	return cp_config_set(&port->config, "cpus", cpus, err, errlen);
}

static int create_cp(char *err, size_t errlen)
{
	struct cp_host host;
	uint64_t highest;

	host_init(&host);
	port->cp = cp_create(&port->config, &host, err, errlen);
	if (!port->cp)
		return -1;
	highest = cp_highest_address(port->cp);
	if (highest < port->ram_size)
		return 0;
	snprintf(err, errlen,
		 "storage and segments end at 0x%" PRIx64 ", but the machine has %" PRIu64
		 "M; give at least MAINSIZE %" PRIu64, highest, port->ram_size >> 20,
		 (highest >> 20) + 1);
	return -1;
}

static int open_files(char *err, size_t errlen)
{
	if (port->control_path) {
		port->ctl = ctl_open(port->control_path, err, errlen);
		if (!port->ctl)
			return -1;
	}
	if (port->trace_path) {
		port->trace = trace_file_open(port->trace_path, port->trace_limit, err,
					      errlen);
		if (!port->trace)
			return -1;
	}
	if (service_prepare(err, errlen) != 0)
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
	cp_reset(port->cp);
	for (unsigned int i = 0; i < port->config.cpus; i++)
		cp_reset_cpu(port->cp, i);
	if (port->ctl)
		ctl_attach(port->ctl, port->cp);
	port_unlock();
}

/* The lock is held by whoever resets or loads the machine. */
static int reset_system(int (*own)(int, int), int cpu, int clear)
{
	int result;

	if (!port || !port->cp)
		return own(cpu, clear);
	/* Known only now.  A guest could else configure CPUs that the CP does not have. */
	if ((unsigned int)sysblk.maxcpu != port->config.cpus) {
		logmsg("zvmlab-cp: CPUs cannot be added later; give MAXCPU %u like NUMCPU\n",
		       port->config.cpus);
		return -1;
	}
	if (port->used)
		cp_reset(port->cp);
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
	if (port && port->cp && port->used && !regs->dummy && regs->host)
		cp_reset_cpu(port->cp, regs->cpuad);
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
	if (port && !port->cp && regs->dummy)
		machine_complete();
	return hercules_initial_reset_390(regs);
}

int module_load_finish(REGS *regs)
{
	int result = hercules_load_finish_390(regs);

	if (port && port->cp && result == 0) {
		port->used = true;
		cp_ipl(port->cp);
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

	if (console_type(command) || checkpoint_command(command))
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
	HDL_REGISTER(daemon_task, service_daemon);
	HDL_REGISTER(panel_command, type_or_command);
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
	if (port && port->ctl)
		ctl_close(port->ctl);
	if (port && port->trace)
		trace_file_close(port->trace);
}
END_FINAL_SECTION
