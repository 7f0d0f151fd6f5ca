/* SPDX-License-Identifier: MIT */
/* Commands that act on the virtual machine as a whole: SYSTEM, LOGOFF, FORCE, SIGNAL SHUTDOWN. */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "command_private.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/guests.h"
#include "zvmlab/trace.h"

/* Bit 51 of the TOD clock is a microsecond. */
#define TOD_SECOND (UINT64_C(1000000) << 12)

/* The emulator does it, as soon as this call of the core's is over. */
static void request(struct cp *cp, enum cp_machine_request what)
{
	static const char *const names[CP_MACHINE_REQUESTS] = {
		[CP_MACHINE_RESTART] = "restart",
		[CP_MACHINE_SHUTDOWN] = "signal-shutdown",
		[CP_MACHINE_LOGOFF] = "logoff",
	};

	assert(what < CP_MACHINE_REQUESTS);
	if (fault_of_guest(cp, FAULT_MACHINE_REQUEST, "").kind == FAULT_DROP)
		return;
	trace_text(cp, "machine", names[what]);
	if (cp->system->recording && cp->system->recording != cp)
		trace_text(cp, "target", cp->config.userid);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_MACHINE, .name = cp->config.userid,
					  .text = names[what] });
	cp->command->logged_off = what == CP_MACHINE_LOGOFF;
	cp->command->ends |= what == CP_MACHINE_LOGOFF;
	if (cp->host.machine)
		cp->host.machine(cp->host.opaque, what);
}

/* The first time of all machines. */
static void arm(struct cp *cp)
{
	const struct cp_system *system = cp->system;
	uint64_t first = 0;

	for (unsigned int i = 0; i < system->machines; i++) {
		const uint64_t at = system->machine[i]->command->forced_at;

		if (at != 0 && (first == 0 || (int64_t)(at - first) < 0))
			first = at;
	}
	if (first != system->timer_due[CP_SYSTEM_TIMER_SHUTDOWN])
		cp_set_system_timer(cp, CP_SYSTEM_TIMER_SHUTDOWN, first);
}

/* @by: who forces @target off, at once or at a time of the system's. */
static void set_forced(struct cp *cp, struct cp *target, uint64_t at, const char *by)
{
	struct cpcmd *command = target->command;

	assert(strlen(by) <= CP_NAME_LEN);
	command->forced_at = at;
	snprintf(command->forced_by, sizeof(command->forced_by), "%s", by);
	arm(cp);
}

void cpcmd_arm_force(struct cp *cp)
{
	cp->system->timer_due[CP_SYSTEM_TIMER_SHUTDOWN] = 0;
	arm(cp);
}

static bool is_due(struct cp *cp, uint64_t at)
{
	return at != 0 && (int64_t)(cp_system_tod(cp) - at) >= 0;
}

bool cpcmd_force_timer(struct cp *cp)
{
	const struct cp_system *system = cp->system;

	if (!is_due(cp, system->timer_due[CP_SYSTEM_TIMER_SHUTDOWN]))
		return false;
	TRACE_INPUT(cp, shutdown_timer);
	for (unsigned int i = 0; i < system->machines; i++) {
		struct cp *target = system->machine[i];

		if (!is_due(cp, target->command->forced_at))
			continue;
		target->command->forced_at = 0;
		request(target, CP_MACHINE_LOGOFF);
	}
	arm(cp);
	trace_end(cp);
	return true;
}

static void count_user(void *opaque, const char *name)
{
	(void)name;
	++*(unsigned int *)opaque;
}

/* The operator is told of machines; @gone: of this many who are still counted. */
static void tell_operator(struct cp *cp, const char *userid, const char *what, unsigned int gone,
			  const char *forced_by)
{
	const struct clock_time t = clock_time(cp_system_tod(cp));
	unsigned int users = 0;
	char line[128];

	guests_all(cp, count_user, &users);
	assert(users > gone);
	snprintf(line, sizeof(line), "%02u:%02u:%02u %s %-8s USERS = %-5u%s%s", t.hour, t.minute,
		 t.second, what, userid, users - gone, forced_by[0] ? " FORCED BY " : "", forced_by);
	cp_notify_operator(cp, line);
}

void cpcmd_logon(struct cp *cp, const char *userid)
{
	if (cp_machine_of(cp->system, userid))
		tell_operator(cp, userid, "AUTO LOGON  ***      ", 0, "");
}

void cpcmd_logged_off(struct cp *cp, const char *userid)
{
	struct cp *machine = cp_machine_of(cp->system, userid);

	if (!machine)
		return;
	tell_operator(cp, userid, "USER DSC   LOGOFF AS ", 1,
		      machine->command->ends ? machine->command->forced_by : "");
	set_forced(cp, machine, 0, "");
}

static int system_restart(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, "SYS");

	if (rc == 0)
		request(args->cp, CP_MACHINE_RESTART);
	return rc;
}

int cpcmd_system(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
		{ "RESTART", 3, CPCMD_MACHINE "G", system_restart },
		{ NULL, 0, NULL, NULL },
	};

	return cpcmd_option(args, options, "SYS");
}

/*
 * FORCE userid: the machine logs off whatever it does; one that a test has described does so at
 * once.  Users that a test plays have no machine.
 */
int cpcmd_force(struct cpcmd_args *args)
{
	struct cp *cp = args->cp, *target;
	char userid[sizeof(args->word)];

	if (!cpcmd_next(args))
		return cpcmd_message(cp, "FOR", CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	strcpy(userid, strcmp(args->word, "*") == 0 ? args->userid : args->word);
	if (cpcmd_end(args, "FOR") != 0)
		return CPCMD_INVALID_OPTION;
	target = cp_machine_of(cp->system, userid);
	if (target) {
		set_forced(cp, target, 0, args->userid);
		request(target, CP_MACHINE_LOGOFF);
	} else if (guests_described(cp, userid)) {
		guests_log_off(cp, userid);
	} else {
		return cpcmd_message(cp, "FOR", CPCMD_NOT_LOGGED_ON, 'E', "%s not logged on",
				     userid);
	}
	return 0;
}

int cpcmd_logoff(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, "LOG");

	if (rc == 0) {
		set_forced(args->cp, args->cp, 0, "");
		request(args->cp, CP_MACHINE_LOGOFF);
	}
	return rc;
}

/* SHUTDOWN userid [WITHIN seconds]: whoever is still logged on then is forced off. */
static int signal_shutdown(struct cpcmd_args *args)
{
	struct cp *cp = args->cp, *target;
	char userid[sizeof(args->word)];
	uint64_t seconds = 0;

	if (!cpcmd_next(args))
		return cpcmd_message(cp, "SIG", CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	strcpy(userid, strcmp(args->word, "*") == 0 ? args->userid : args->word);
	if (cpcmd_next(args)) {
		if (!cpcmd_is(args->word, KEYWORD_WITHIN))
			return cpcmd_invalid(args, "SIG");
		if (!cpcmd_next(args))
			return cpcmd_missing(args, "SIG");
		if (!cpcmd_number(args->word, 10, 1, UINT16_MAX, &seconds))
			return cpcmd_invalid(args, "SIG");
		if (cpcmd_end(args, "SIG") != 0)
			return CPCMD_INVALID_OPTION;
	}
	if (!parts_logged_on(cp, userid))
		return cpcmd_message(cp, "SIG", CPCMD_NOT_LOGGED_ON, 'E', "%s not logged on",
				     userid);
	/* Peers have no machine that could take a signal. */
	target = cp_machine_of(cp->system, userid);
	if (!target)
		return cpcmd_message(cp, "SIG", CPCMD_NOT_RECEIVING, 'E', "%s not receiving; SIGNAL",
				     userid);
	/* 0 would be no time at all. */
	if (seconds > 0)
		set_forced(cp, target, (cp_system_tod(cp) + seconds * TOD_SECOND) | 1,
			   args->userid);
	request(target, CP_MACHINE_SHUTDOWN);
	return 0;
}

int cpcmd_signal(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
		{ "SHUTDOWN", 4, "C", signal_shutdown },
		{ NULL, 0, NULL, NULL },
	};

	return cpcmd_option(args, options, "SIG");
}
