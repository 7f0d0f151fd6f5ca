/* SPDX-License-Identifier: MIT */
/*
 * Rules by which processes belong to groups: "GROUP=WHAT:PATTERN".
 *
 * WHAT is name (of the program), cgroup, user or cmdline; PATTERN is one of the shell's, of a user a
 * name or number.  The first rule that a process matches says its group.  Several rules may name
 * the same group.  Pure but for the table of users.
 */
#ifndef TASKMON_RULES_H
#define TASKMON_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"

#define RULES_MAX 64u

enum rule_about { RULE_NAME, RULE_CGROUP, RULE_USER, RULE_CMDLINE };

struct rule {
	char group[STATS_COMM_MAX + 1];
	enum rule_about about;
	const char *pattern;
	uint32_t user;
	const char *word;	/* as it was given; of the command line */
	uint64_t matched;	/* processes or tasks so far */
};

struct rules {
	struct rule rule[RULES_MAX];
	unsigned int count;
};

/* Facts on a process; NULL or false: it is not known. */
struct rule_facts {
	const char *name, *cgroup, *arguments;
	bool has_user;
	uint32_t user;
};

/* Adds a rule.  Return: NULL; or what is wrong with @word, static. */
const char *rules_add(struct rules *rules, const char *word);

/* Is there a rule of this kind? */
bool rules_ask(const struct rules *rules, enum rule_about about);

/* The first rule that @facts match, counted; NULL: there is none. */
const struct rule *rules_match(struct rules *rules, const struct rule_facts *facts);

#endif
