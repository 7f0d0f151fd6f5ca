/* SPDX-License-Identifier: MIT */
/* Options that say which of the tasks that live are wanted, and what is added up; for get and top. */
#ifndef TASKMON_WANTED_H
#define TASKMON_WANTED_H

#include "command_line.h"
#include "snapshot.h"

struct wanted {
	struct filter filter;
	enum snapshot_by by;
	bool given;	/* any of the options was */
};

/* About a struct wanted, all zero but for the default of @by. */
extern const struct option_table wanted_options;

/* Whether it has to be known in which cgroup each task is. */
bool wanted_cgroups(const struct wanted *wanted);

/* The user of this name, or of this number.  Return: false if there is none. */
bool wanted_user(const char *word, uint32_t *user);

/* The longest user name shown, with its NUL. */
#define WANTED_NAME_SIZE 64u

/* Name of a user, or its number; until the next call. */
const char *wanted_user_name(uint32_t user);

#endif
