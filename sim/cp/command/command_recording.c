/* SPDX-License-Identifier: MIT */
/* RECORDING, QUERY RECORDING and ACNT. */
#include <string.h>

#include "command_private.h"
#include "zvmlab/fault.h"
#include "zvmlab/iucv.h"
#include "zvmlab/recording.h"

#define MODULE "CRC"
/* The classes that may change and name other users' queues. */
#define ANY_QUEUE "AB"

static bool may_name(const struct cpcmd_args *args)
{
	return strpbrk(args->classes, ANY_QUEUE) != NULL;
}

static bool find_service(const char *word, enum rec_service *service)
{
	for (unsigned int i = 0; i < REC_SERVICES; i++) {
		if (strcmp(word, rec_service_info[i].recording) == 0) {
			*service = (enum rec_service)i;
			return true;
		}
	}
	return false;
}

static int read_limit(struct cpcmd_args *args, struct rec_change *change)
{
	uint64_t limit;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (!cpcmd_number(args->word, 10, 0, REC_MAX_LIMIT, &limit))
		return cpcmd_invalid(args, MODULE);
	change->has_limit = true;
	change->limit = (uint16_t)limit;
	return 0;
}

/* It becomes the name of a queue, which nothing else checks. */
static bool can_be_user(const char *word)
{
	const size_t len = strlen(word);

	for (size_t i = 0; i < len; i++)
		if (word[i] <= ' ' || word[i] >= 0x7f)
			return false;
	return len > 0 && len <= CP_NAME_LEN;
}

static int read_userid(struct cpcmd_args *args, struct rec_change *change,
		       char userid[CP_NAME_LEN + 1])
{
	if (!may_name(args))
		return cpcmd_invalid(args, MODULE);
	if (!cpcmd_next(args) || !can_be_user(args->word))
		return cpcmd_message(args->cp, MODULE, CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	strcpy(userid, strcmp(args->word, "*") == 0 ? args->userid : args->word);
	change->userid = userid;
	return 0;
}

/* One operand, which stands in @args->word. */
static int read_operand(struct cpcmd_args *args, struct rec_change *change,
			char userid[CP_NAME_LEN + 1])
{
	if (cpcmd_is(args->word, KEYWORD_ON))
		change->on = true;
	else if (cpcmd_is(args->word, KEYWORD_OFF))
		change->off = true;
	else if (cpcmd_is(args->word, KEYWORD_PURGE))
		change->purge = true;
	else if (cpcmd_is(args->word, KEYWORD_LIMIT))
		return read_limit(args, change);
	else if (cpcmd_is(args->word, KEYWORD_QID))
		return read_userid(args, change, userid);
	else
		return cpcmd_invalid(args, MODULE);
	if (change->on && change->off)
		return cpcmd_message(args->cp, MODULE, CPCMD_CONFLICT, 'E',
				     "Conflicting option - %s", args->word);
	return 0;
}

int cpcmd_recording(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	char userid[CP_NAME_LEN + 1];
	struct rec_change change = { .userid = may_name(args) ? NULL : args->userid };
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (!find_service(args->word, &change.service))
		return cpcmd_invalid(args, MODULE);
	while (cpcmd_next(args)) {
		rc = read_operand(args, &change, userid);
		if (rc != 0)
			return rc;
	}
	if (!change.on && !change.off && !change.purge && !change.has_limit)
		return cpcmd_missing(args, MODULE);
	/* Who has never been connected has no queue yet. */
	if (change.userid && !recording_known(cp, change.service, change.userid)) {
		const bool full = change.on &&
				  !recording_make(cp, change.service, change.userid);

		rc = cpcmd_message(cp, MODULE, CPCMD_NO_RECORDING, full ? 'E' : 'I',
				   "Recording entry not found");
		if (full)
			return rc;
	}
	if (recording_switch(cp, &change) > 0)
		return cpcmd_message(cp, MODULE, CPCMD_CONFLICT, 'E', "Conflicting option - ON");
	cpcmd_line(cp, "Command complete");
	return 0;
}

int cpcmd_query_recording(struct cpcmd_args *args)
{
	static const char *const states[REC_STATES] = {
		[REC_INACTIVE] = "INACTIVE", [REC_ACTIVE] = "ACTIVE", [REC_PENDING] = "PENDING",
	};
	struct rec_queue_info queue;
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	cpcmd_line(args->cp, "RECORDING    COUNT    LMT USERID   COMMUNICATION");
	for (unsigned int i = 0; recording_queue(args->cp, i, &queue); i++)
		cpcmd_line(args->cp, "%-8s %-3s %08u %03u %-8s %s",
			   rec_service_info[queue.service].recording, queue.on ? "ON" : "OFF",
			   queue.count, queue.limit, queue.userid, states[queue.state]);
	return 0;
}

/* Unless the directory says otherwise the account number is the user ID. */
static void account(struct cp *cp, const char *userid)
{
	const bool guest = strcmp(userid, cp->config.userid) == 0;

	recording_account(cp, userid,
			  guest && cp->config.account[0] ? cp->config.account : userid);
}

/* ACNT userid …, ACNT ALL: a record of what they have used so far. */
int cpcmd_acnt(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	const struct iucv_user *user;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, "ACC");
	do {
		const bool all = cpcmd_is(args->word, KEYWORD_ALL);

		if (!all && !parts_logged_on(cp, args->word))
			return cpcmd_message(cp, "ACC", CPCMD_NOT_LOGGED_ON, 'E',
					     "%s not logged on", args->word);
		if (!all)
			account(cp, args->word);
		for (unsigned int i = 0; all && (user = iucv_user_at(cp, i)); i++)
			if (!iucv_user_is_service(user) && !cp_is_agent(iucv_user_name(user)))
				account(cp, iucv_user_name(user));
	} while (cpcmd_next(args));
	cpcmd_line(cp, "Command complete");
	return 0;
}
