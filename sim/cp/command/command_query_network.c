/* SPDX-License-Identifier: MIT */
/* QUERY of virtual networks, of which there is none: lists are empty. */
#include "command_private.h"

#define MODULE "CQV"

int cpcmd_query_vmlan(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, MODULE);
	static const char *const lines[] = {
		"VMLAN maintenance level:",
		"  Latest Service: Base",
		"VMLAN MAC address assignment:",
		"  System MAC Protection: OFF",
		"  MACADDR Prefix: 020000 USER Prefix: 020000",
		"  MACIDRANGE SYSTEM: 000001-FFFFFF",
		"             USER:   000000-000000",
		"VMLAN default accounting status:",
		"  SYSTEM Accounting: OFF       USER Accounting: OFF",
		"VMLAN general activity:",
		"  PERSISTENT Limit: INFINITE   Current: 0",
		"  TRANSIENT  Limit: INFINITE   Current: 0",
		"Trace Pages: 8",
		"VMLAN Directory Network Authorization: ENABLED",
		"IVL Domain: None",
	};

	for (size_t i = 0; rc == 0 && i < sizeof(lines) / sizeof(lines[0]); i++)
		cpcmd_line(args->cp, "%s", lines[i]);
	return rc;
}

/* Operands that choose among nothing, and the words for what is to be shown of it. */
static int only(struct cpcmd_args *args, const enum cpcmd_keyword *words, unsigned int count)
{
	while (cpcmd_next(args)) {
		unsigned int i = 0;

		while (i < count && !cpcmd_is(args->word, words[i]))
			i++;
		if (i == count)
			return cpcmd_invalid(args, MODULE);
	}
	return 0;
}

static const enum cpcmd_keyword views[] = {
	KEYWORD_ALL, KEYWORD_DETAILS, KEYWORD_ACCESS, KEYWORD_ACTIVE, KEYWORD_ACCESSLIST,
	KEYWORD_PROMISCUOUS, KEYWORD_CONTROLLER,
};
#define VIEWS (sizeof(views) / sizeof(views[0]))

int cpcmd_query_vswitch(struct cpcmd_args *args)
{
	return only(args, views, VIEWS);
}

int cpcmd_query_lan(struct cpcmd_args *args)
{
	return only(args, views, VIEWS);
}

int cpcmd_query_controller(struct cpcmd_args *args)
{
	return only(args, views, 1);
}

int cpcmd_query_port(struct cpcmd_args *args)
{
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (!cpcmd_is(args->word, KEYWORD_GROUP))
		return cpcmd_invalid(args, MODULE);
	return only(args, views, VIEWS);
}
