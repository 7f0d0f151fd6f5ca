/* SPDX-License-Identifier: MIT */
/* Commands that act on the virtual machine as a whole: SYSTEM, LOGOFF, FORCE, SIGNAL SHUTDOWN. */
#include <string.h>

#include "command_private.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/guests.h"

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
	if (cp->host.machine)
		cp->host.machine(cp->host.opaque, what);
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
	if (target)
		request(target, CP_MACHINE_LOGOFF);
	else if (guests_described(cp, userid))
		guests_log_off(cp, userid);
	else
		return cpcmd_message(cp, "FOR", CPCMD_NOT_LOGGED_ON, 'E', "%s not logged on",
				     userid);
	return 0;
}

int cpcmd_logoff(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, "LOG");

	if (rc == 0)
		request(args->cp, CP_MACHINE_LOGOFF);
	return rc;
}

/* SHUTDOWN userid [WITHIN seconds]: nobody enforces the time here. */
static int signal_shutdown(struct cpcmd_args *args)
{
	struct cp *cp = args->cp, *target;
	char userid[sizeof(args->word)];
	uint64_t seconds;

	if (!cpcmd_next(args))
		return cpcmd_message(cp, "SIG", CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	strcpy(userid, strcmp(args->word, "*") == 0 ? args->userid : args->word);
	if (cpcmd_next(args)) {
		if (strcmp(args->word, "WITHIN") != 0)
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
