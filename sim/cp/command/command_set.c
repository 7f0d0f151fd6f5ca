/* SPDX-License-Identifier: MIT */
/* SET and QUERY SET. */
#include <string.h>

#include "command_private.h"

static const char *const smsg_modes[] = { "OFF", "ON", "IUCV" };
#define SMSG_MODES (sizeof(smsg_modes) / sizeof(smsg_modes[0]))
/* RUN, MSG and WNG know only OFF and ON. */
#define SWITCH_MODES 2u

/* The last operand: index of one of the first @count modes; 0, or the message's number. */
static int parse_mode(struct cpcmd_args *args, size_t count, unsigned int *mode)
{
	char word[sizeof(args->word)];
	int rc;

	assert(count > 0 && count <= SMSG_MODES);
	if (!cpcmd_next(args))
		return cpcmd_missing(args, "CFS");
	memcpy(word, args->word, sizeof(word));
	rc = cpcmd_end(args, "CFS");
	if (rc != 0)
		return rc;
	for (*mode = 0; *mode < count; (*mode)++) {
		if (strcmp(word, smsg_modes[*mode]) == 0)
			return 0;
	}
	memcpy(args->word, word, sizeof(word));
	return cpcmd_invalid(args, "CFS");
}

int cpcmd_set_smsg(struct cpcmd_args *args)
{
	unsigned int mode;
	const int rc = parse_mode(args, SMSG_MODES, &mode);

	if (rc == 0)
		msg_set_smsg(args->cp, mode);
	return rc;
}

int cpcmd_set_run(struct cpcmd_args *args)
{
	unsigned int mode;
	const int rc = parse_mode(args, SWITCH_MODES, &mode);

	if (rc == 0)
		args->cp->command->run = mode != 0;
	return rc;
}

static int set_kind(struct cpcmd_args *args, enum msg_kind kind)
{
	unsigned int mode;
	const int rc = parse_mode(args, SWITCH_MODES, &mode);

	if (rc == 0)
		msg_set(args->cp, kind, mode != 0);
	return rc;
}

int cpcmd_set_msg(struct cpcmd_args *args)
{
	return set_kind(args, MSG_PLAIN);
}

int cpcmd_set_wng(struct cpcmd_args *args)
{
	return set_kind(args, MSG_WARNING);
}

int cpcmd_set(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
#define CP_SET(name, min, classes, function) { name, min, classes, function },
#include "words.def"
		{ NULL, 0, NULL, NULL },
	};

	return cpcmd_option(args, options, "CFS");
}

int cpcmd_query_set(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	const int rc = cpcmd_end(args, "CQS");

	assert(msg_smsg(cp) < SMSG_MODES);
	if (rc != 0)
		return rc;
	/* What no SET of this CP changes is as it is for a user after LOGON. */
	cpcmd_line(cp, "MSG %-3s, WNG %-3s, EMSG ON , ACNT OFF, RUN %s",
		   smsg_modes[msg_is_set(cp, MSG_PLAIN)], smsg_modes[msg_is_set(cp, MSG_WARNING)],
		   smsg_modes[cp->command->run]);
	cpcmd_line(cp, "LINEDIT ON , TIMER OFF , ISAM OFF, ECMODE ON");
	cpcmd_line(cp, "ASSIST OFF           , PAGEX OFF, AUTOPOLL OFF");
	cpcmd_line(cp, "IMSG ON , SMSG %s, AFFINITY NONE   , NOTRANS OFF",
		   smsg_modes[msg_smsg(cp)]);
	cpcmd_line(cp, "VMSAVE OFF, 370E OFF");
	cpcmd_line(cp, "STBYPASS OFF , STMULTI OFF");
	cpcmd_line(cp, "MIH OFF , VMCONIO OFF , CPCONIO OFF , SVCACCL OFF , CONCEAL OFF");
	cpcmd_line(cp, "MACHINE Z, SVC76 CP, NOPDATA OFF, IOASSIST OFF");
	cpcmd_line(cp, "CCWTRAN ON , 370ACCOM OFF");
	return 0;
}
