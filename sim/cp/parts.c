/* SPDX-License-Identifier: MIT */
/*
 * What one part asks of others, or tells them, without knowing which they are: so a part that
 * stands lower needs no symbol of one that stands higher.
 */
#include <string.h>

#include "cp_private.h"

/* Each part that has the function @member of struct cp_part. */
#define FOR_EACH(cp, part, member) \
	for (const struct cp_part *const *part = (cp)->parts; *part; part++) \
		if ((*part)->member)

bool parts_external_held(const struct cp *cp, unsigned int cpu)
{
	FOR_EACH(cp, part, external_held)
		if ((*part)->external_held(cp, cpu))
			return true;
	return false;
}

bool parts_logged_on(const struct cp *cp, const char *name)
{
	if (strlen(name) > CP_NAME_LEN)
		return false;
	if (strcmp(name, CP_OPERATOR_ID) == 0)
		return true;
	FOR_EACH(cp, part, logged_on)
		if ((*part)->logged_on(cp, name))
			return true;
	return false;
}

void parts_logon(struct cp *cp, const char *userid)
{
	assert(cp->system->recording || !cp->host.trace);
	FOR_EACH(cp, part, logon)
		(*part)->logon(cp, userid);
}

void parts_logoff(struct cp *cp, const char *userid)
{
	assert(cp->system->recording || !cp->host.trace);
	FOR_EACH(cp, part, logoff)
		(*part)->logoff(cp, userid);
}

void parts_purged(struct cp *cp, uint64_t first, uint64_t last)
{
	assert(first <= last);
	FOR_EACH(cp, part, purged)
		(*part)->purged(cp, first, last);
}

uint64_t parts_highest(const struct cp *cp)
{
	uint64_t highest = 0;

	FOR_EACH(cp, part, highest)
		highest = larger(highest, (*part)->highest(cp));
	return highest;
}

void parts_console_line(struct cp *cp, const char *text)
{
	FOR_EACH(cp, part, console_line)
		(*part)->console_line(cp, text);
}

void parts_trace_rule(struct cp *cp, const struct fault_rule *rule)
{
	FOR_EACH(cp, part, trace_rule)
		(*part)->trace_rule(cp, rule);
}

static void part_state(struct cp_system *system, const struct cp_part *part, struct state *state)
{
	if (part->state_system)
		part->state_system(system->machine[0], state);
	for (unsigned int i = 0; part->state && i < system->machines; i++)
		part->state(system->machine[i], state);
}

void parts_state(struct cp_system *system, struct state *state)
{
	assert(system->machines > 0);
	for (const struct cp_part *const *part = system->parts; *part; part++)
		part_state(system, *part, state);
}
