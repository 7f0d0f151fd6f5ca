/* SPDX-License-Identifier: MIT */
/* XAUTOLOG and QUERY SHARE: what concerns the virtual machine of a named user. */
#include <string.h>

#include "command_private.h"
#include "zvmlab/guests.h"

/* Relative share of a user about whom nothing else is known. */
#define SHARE 100u

/* The user ID that comes next, * for the issuer's own; 0, or the message's number. */
static int next_user(struct cpcmd_args *args, const char *module, char name[CPCMD_MAX_COMMAND + 1])
{
	if (!cpcmd_next(args) || (strlen(args->word) > CP_NAME_LEN))
		return cpcmd_message(args->cp, module, CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	strcpy(name, strcmp(args->word, "*") == 0 ? args->userid : args->word);
	return 0;
}

int cpcmd_query_share(struct cpcmd_args *args)
{
	static const char *const limits[] = { NULL, "LIMITSOFT", "LIMITHARD" };
	char name[sizeof(args->word)];
	struct guest_data data;
	int rc = next_user(args, "QSH", name);

	if (rc == 0)
		rc = cpcmd_end(args, "QSH");
	if (rc != 0)
		return rc;
	if (!parts_logged_on(args->cp, name))
		return cpcmd_message(args->cp, "QSH", CPCMD_NOT_LOGGED_ON, 'E', "%s not logged on",
				     name);
	guests_data(args->cp, name, &data);
	assert(data.capped < sizeof(limits) / sizeof(limits[0]));
	cpcmd_line(args->cp, "USER %-8s:  CP   RELATIVE SHARE = %u", name,
		   data.share > 0 ? data.share : SHARE);
	if (data.capped)
		cpcmd_line(args->cp, "                MAXIMUM SHARE = %s RELATIVE %u",
			   limits[data.capped], data.share_max);
	else
		cpcmd_line(args->cp, "                MAXIMUM SHARE = NOLIMIT");
	return 0;
}

/* Options of XAUTOLOG, and whether an operand follows. */
static const struct {
	const char *name;
	uint8_t min;
	bool operand;
} options[] = {
	{ "IPL", 1, true },	{ "NOIPL", 3, false },	{ "ACCOUNT", 2, true },
	{ "MACHINE", 4, true }, { "STORAGE", 1, true }, { "SYNCH", 3, false },
};

static int check_options(struct cpcmd_args *args)
{
	while (cpcmd_next(args)) {
		unsigned int i = 0;

		while (i < sizeof(options) / sizeof(options[0]) &&
		       !cpcmd_abbreviates(args->word, options[i].name, options[i].min))
			i++;
		if (i == sizeof(options) / sizeof(options[0]))
			return cpcmd_invalid(args, "AUT");
		if (options[i].operand && !cpcmd_next(args))
			return cpcmd_missing(args, "AUT");
	}
	return 0;
}

static int logoff_pending(struct cpcmd_args *args, const char *name)
{
	return cpcmd_message(args->cp, "AUT", CPCMD_LOGOFF_PENDING, 'E',
			     "LOGOFF/FORCE pending for user %s", name);
}

/*
 * Of the users who are not logged on, the directory has those that a test described, and those of
 * whom the system's host can start a machine.
 */
int cpcmd_xautolog(struct cpcmd_args *args)
{
	char name[sizeof(args->word)];
	const struct cp *machine;
	int rc = next_user(args, "AUT", name);

	if (rc == 0)
		rc = check_options(args);
	if (rc != 0)
		return rc;
	machine = cp_machine_of(args->cp->system, name);
	if (machine && machine->command->ends)
		return logoff_pending(args, name);
	if (parts_logged_on(args->cp, name))
		return cpcmd_message(args->cp, "AUT", CPCMD_LOGGED_ON, 'E', "%s already logged on",
				     name);
	if (guests_logged_off(args->cp, name))
		guests_log_on(args->cp, name);
	else if (!cp_in_directory(args->cp, name))
		return cpcmd_message(args->cp, "AUT", CPCMD_NOT_IN_DIRECTORY, 'E',
				     "%s not in CP directory", name);
	else if (!cp_start(args->cp, name))
		return logoff_pending(args, name);
	cpcmd_line(args->cp, "Command accepted");
	return 0;
}
