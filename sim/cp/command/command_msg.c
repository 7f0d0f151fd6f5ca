/* SPDX-License-Identifier: MIT */
/* MESSAGE, MSGNOH, SMSG, WARNING and the users that they can reach: QUERY NAMES, QUERY USERS. */
#include <stdio.h>
#include <string.h>

#include "command_private.h"
#include "zvmlab/guests.h"
#include "zvmlab/iucv.h"

#define NAMES_PER_LINE 4u

static int not_logged_on(struct cp *cp, const char *module, const char *name)
{
	return cpcmd_message(cp, module, CPCMD_NOT_LOGGED_ON, 'E', "%s not logged on", name);
}

static int send(struct cpcmd_args *args, const char *module, enum msg_kind kind)
{
	struct cp *cp = args->cp;
	const char *text;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_message(cp, module, CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	if (strcmp(args->word, "*") == 0)
		snprintf(args->word, sizeof(args->word), "%s", args->userid);
	if (cpcmd_is(args->word, KEYWORD_OP))
		snprintf(args->word, sizeof(args->word), "%s", CP_OPERATOR_ID);
	text = cpcmd_rest(args);
	if (*text == '\0')
		return cpcmd_missing(args, module);
	assert(strlen(args->userid) <= CP_NAME_LEN);
	rc = msg_send(cp, args->userid, args->word, text, kind);
	if (rc == CPCMD_NOT_LOGGED_ON)
		return not_logged_on(cp, module, args->word);
	if (rc == CPCMD_NOT_RECEIVING)
		return cpcmd_message(cp, "MFS", CPCMD_NOT_RECEIVING, 'I',
				     "%s not receiving; %s", args->word,
				     kind == MSG_WARNING ? "WNG off" :
				     kind == MSG_SPECIAL ? "disconnected" : "MSG off");
	assert(rc == 0);
	return 0;
}

int cpcmd_msg(struct cpcmd_args *args)
{
	return send(args, "MSG", MSG_PLAIN);
}

int cpcmd_warning(struct cpcmd_args *args)
{
	return send(args, "WNG", MSG_WARNING);
}

int cpcmd_msgnoh(struct cpcmd_args *args)
{
	return send(args, "MSG", MSG_NO_HEADER);
}

int cpcmd_smsg(struct cpcmd_args *args)
{
	return send(args, "SMS", MSG_SPECIAL);
}

struct names {
	struct cp *cp;
	unsigned int on_line;
	char line[NAMES_PER_LINE * 20];
};

static void flush_names(struct names *names)
{
	if (names->on_line > 0)
		cpcmd_line(names->cp, "%s", names->line);
	names->on_line = 0;
}

/* Nobody has a terminal here: all are disconnected. */
static void add_name(void *opaque, const char *name)
{
	struct names *names = opaque;
	size_t at = 0;

	assert(names->on_line < NAMES_PER_LINE && strlen(name) <= CP_NAME_LEN);
	if (names->on_line > 0) {
		at = strlen(names->line);
		at += (size_t)snprintf(names->line + at, sizeof(names->line) - at, " , ");
	}
	snprintf(names->line + at, sizeof(names->line) - at, "%-8s - DSC", name);
	assert(strlen(names->line) >= at + sizeof(" - DSC") - 1);
	if (++names->on_line == NAMES_PER_LINE)
		flush_names(names);
}

int cpcmd_query_names(struct cpcmd_args *args)
{
	struct names names = { .cp = args->cp };
	const int rc = cpcmd_end(args, "CQU");

	if (rc != 0)
		return rc;
	guests_all(args->cp, add_name, &names);
	flush_names(&names);
	return 0;
}

static void count_name(void *opaque, const char *name)
{
	unsigned int *count = opaque;

	assert(strlen(name) <= CP_NAME_LEN);
	(*count)++;
}

/* QUERY USERS [name], or QUERY name of a user in the directory. */
int cpcmd_query_user(struct cpcmd_args *args)
{
	char name[sizeof(args->word)];
	unsigned int users = 0;
	int rc;

	if (!cpcmd_next(args)) {
		guests_all(args->cp, count_name, &users);
		cpcmd_line(args->cp, "%6u USERS, %6u DIALED, %6u NET", users, 0u, 0u);
		return 0;
	}
	memcpy(name, args->word, sizeof(name));
	rc = cpcmd_end(args, "CQU");
	if (rc != 0)
		return rc;
	if (!guests_in_directory(args->cp, name))
		return cpcmd_message(args->cp, "CQU", CPCMD_NOT_IN_DIRECTORY, 'E',
				     "%s not in CP directory", name);
	if (!parts_logged_on(args->cp, name))
		return not_logged_on(args->cp, "CQU", name);
	cpcmd_line(args->cp, "%-8s - DSC", name);
	return 0;
}
