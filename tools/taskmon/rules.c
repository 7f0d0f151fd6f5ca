/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "wanted.h"

static bool take_about(struct rule *rule, const char *word, const char *end)
{
	static const char *const words[] = {
		[RULE_NAME] = "name", [RULE_CGROUP] = "cgroup", [RULE_USER] = "user",
		[RULE_CMDLINE] = "cmdline",
	};
	const size_t len = (size_t)(end - word);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == len && memcmp(word, words[i], len) == 0) {
			rule->about = (enum rule_about)i;
			return true;
		}
	}
	return false;
}

const char *rules_add(struct rules *rules, const char *word)
{
	const char *equal = strchr(word, '='), *colon = equal ? strchr(equal, ':') : NULL;
	struct rule *rule = &rules->rule[rules->count];

	if (rules->count == RULES_MAX)
		return "there may be 64";
	if (!equal || equal == word || !colon || !colon[1])
		return "GROUP=WHAT:PATTERN, for example web=name:nginx*";
	if ((size_t)(equal - word) > STATS_COMM_MAX)
		return "the name of a group may have 32 bytes";
	*rule = (struct rule){ .pattern = colon + 1, .word = word };
	memcpy(rule->group, word, (size_t)(equal - word));
	if (!take_about(rule, equal + 1, colon))
		return "WHAT is name, cgroup, user or cmdline";
	if (rule->about == RULE_USER && !wanted_user(rule->pattern, &rule->user))
		return "no such user: a name or a number";
	if (rule->about == RULE_CGROUP && rule->pattern[0] != '/' && rule->pattern[0] != '*')
		return "a cgroup is a path that begins with /";
	rules->count++;
	return NULL;
}

bool rules_ask(const struct rules *rules, enum rule_about about)
{
	for (unsigned int i = 0; i < rules->count; i++)
		if (rules->rule[i].about == about)
			return true;
	return false;
}

static bool is_like(const char *pattern, const char *text)
{
	return text && fnmatch(pattern, text, 0) == 0;
}

/* That cgroup, or one above it. */
static bool is_in(const char *pattern, const char *path)
{
	char *part = path ? strdup(path) : NULL, *slash;
	bool found = false;

	while (part && !found) {
		found = is_like(pattern, *part ? part : "/");
		slash = strrchr(part, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	free(part);
	return found;
}

static bool matches(const struct rule *rule, const struct rule_facts *facts)
{
	switch (rule->about) {
	case RULE_NAME:
		return is_like(rule->pattern, facts->name);
	case RULE_CGROUP:
		return is_in(rule->pattern, facts->cgroup);
	case RULE_USER:
		return facts->has_user && facts->user == rule->user;
	case RULE_CMDLINE:
		return is_like(rule->pattern, facts->arguments);
	}
	return false;
}

const struct rule *rules_match(struct rules *rules, const struct rule_facts *facts)
{
	for (unsigned int i = 0; i < rules->count; i++) {
		if (matches(&rules->rule[i], facts)) {
			rules->rule[i].matched++;
			return &rules->rule[i];
		}
	}
	return NULL;
}
