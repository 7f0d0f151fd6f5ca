/* SPDX-License-Identifier: MIT */
#include "wanted.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

bool wanted_user(const char *word, uint32_t *user)
{
	const struct passwd *known = getpwnam(word);
	uint64_t number;

	if (known)
		number = known->pw_uid;
	else if (!number_parse(word, 0, UINT32_MAX, &number))
		return false;
	*user = (uint32_t)number;
	return true;
}

static void set_user(void *target, char *word, struct argp_state *state)
{
	struct wanted *wanted = target;

	if (!wanted_user(word, &wanted->filter.user))
		argp_error(state, "no such user: '%s' (a name or a number)", word);
	wanted->filter.has_user = true;
}

static void set_by(void *target, char *word, struct argp_state *state)
{
	static const struct {
		const char *word;
		enum snapshot_by by;
	} words[] = {
		{ "task", BY_TASK }, { "process", BY_PROCESS }, { "user", BY_USER },
		{ "cgroup", BY_CGROUP }, { "command", BY_COMMAND },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i].word) == 0) {
			((struct wanted *)target)->by = words[i].by;
			return;
		}
	}
	argp_error(state, "invalid --by: '%s' (task, process, user, cgroup or command)", word);
}

static const struct option_row option_rows[] = {
	{ .help = "Selection of tasks:", .group = 3 },
	{ "user", '\0', "USER", "only tasks of this user, a name or a number", TO_CALL(set_user),
	  .group = 3 },
	{ "name", '\0', "TEXT", "only tasks with this text in the name of their program",
	  TO_WORD(struct wanted, filter.name), .group = 3 },
	{ "tree", '\0', "PID", "only this process, and all processes below it",
	  TO_NUMBER(struct wanted, filter.tree, 1, UINT32_MAX), .group = 3,
	  .wrong = "invalid --tree: '%s' (the number of a process)" },
	{ "cgroup", '\0', "PATH", "only tasks in this cgroup and below it, such as /user.slice",
	  TO_WORD(struct wanted, filter.cgroup), .group = 3 },
	{ "active", '\0', NULL, "only tasks that used, waited for or did anything",
	  TO_FLAG(struct wanted, filter.active), .group = 3 },
	{ "by", '\0', "WHAT", "add up by process, user, cgroup or command, the name of the program; "
	  "task adds up nothing", TO_CALL(set_by), .group = 3 },
	{ 0 }
};

static void given(void *target)
{
	((struct wanted *)target)->given = true;
}

static void check(const void *target, const struct argp_state *state)
{
	const struct wanted *wanted = target;

	if (wanted->filter.cgroup && wanted->filter.cgroup[0] != '/')
		argp_error(state, "invalid --cgroup: '%s' (a path that begins with /)",
			   wanted->filter.cgroup);
}

const struct option_table wanted_options = {
	.rows = option_rows, .given = given, .check = check,
};

bool wanted_cgroups(const struct wanted *wanted)
{
	return wanted->filter.cgroup || wanted->by == BY_CGROUP;
}

const char *wanted_user_name(uint32_t user)
{
	static char name[WANTED_NAME_SIZE];
	static uint32_t last;
	const struct passwd *known;

	/* One user has most tasks; the table of users may be a file, or far away. */
	if (name[0] && user == last)
		return name;
	known = getpwuid((uid_t)user);
	if (known)
		snprintf(name, sizeof(name), "%s", known->pw_name);
	else
		snprintf(name, sizeof(name), "%" PRIu32, user);
	last = user;
	return name;
}
