/* SPDX-License-Identifier: MIT */
/* SET and QUERY SET. */
#include <string.h>

#include "command_private.h"

static const char *const smsg_modes[] = { "OFF", "ON", "IUCV" };
#define SMSG_MODES (sizeof(smsg_modes) / sizeof(smsg_modes[0]))
/* RUN knows only OFF and ON. */
#define RUN_MODES 2u

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

static int set_smsg(struct cpcmd_args *args)
{
	unsigned int mode;
	const int rc = parse_mode(args, SMSG_MODES, &mode);

	if (rc == 0)
		msg_set_smsg(args->cp, mode);
	return rc;
}

static int set_run(struct cpcmd_args *args)
{
	unsigned int mode;
	const int rc = parse_mode(args, RUN_MODES, &mode);

	if (rc == 0)
		args->cp->command->run = mode != 0;
	return rc;
}

int cpcmd_set(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
		{ "SMSG", 4, CPCMD_MACHINE "G", set_smsg },
		{ "RUN", 3, CPCMD_MACHINE "G", set_run },
		{ NULL, 0, NULL, NULL },
	};

	return cpcmd_option(args, options, "CFS");
}

int cpcmd_query_set(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, "CQS");

	assert(msg_smsg(args->cp) < SMSG_MODES);
	if (rc == 0)
		cpcmd_line(args->cp, "RUN %s, SMSG %s", smsg_modes[args->cp->command->run],
			   smsg_modes[msg_smsg(args->cp)]);
	return rc;
}
