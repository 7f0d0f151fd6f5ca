/* SPDX-License-Identifier: MIT */
/* The system's users, and the lines that ask for the machine of one. */
#include "system_private.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes @lines apart. */
static int check_lines(struct cp_config *config, char *lines, char *err, size_t errlen)
{
	char *line, *value;

	while ((line = strsep(&lines, "\n"))) {
		value = strchr(line, '=');
		if (!value) {
			snprintf(err, errlen, "%.64s is not KEY=VALUE", line);
			return -1;
		}
		*value = '\0';
		if (cp_config_set(config, line, value + 1, err, errlen) != 0)
			return -1;
	}
	return 0;
}

static int check_machine(const char *userid, const char *lines, char *err, size_t errlen)
{
	struct cp_config config;
	char why[256] = "there is no memory left";
	char *copy = strdup(lines);
	int rc = -1;

	cp_config_init(&config);
	if (copy)
		rc = check_lines(&config, copy, why, sizeof(why));
	cp_config_fini(&config);
	free(copy);
	if (rc != 0)
		snprintf(err, errlen, "%s: %s", userid, why);
	return rc;
}

int sys_add_user(struct sys *sys, const char *userid, const char *machine, char *err, size_t errlen)
{
	struct cp_config config;
	int rc;

	cp_config_init(&config);
	rc = cp_config_set(&config, "userid", userid, err, errlen);
	/* What is there already is so in capital letters. */
	if (rc == 0 && (sys_in_directory(sys, config.userid) || sys->users == CP_MAX_MACHINES)) {
		snprintf(err, errlen, "user=%.32s: there %s", userid,
			 sys->users == CP_MAX_MACHINES ? "are too many users" : "is that user already");
		rc = -1;
	}
	if (rc == 0 && machine)
		rc = check_machine(config.userid, machine, err, errlen);
	if (rc == 0)
		strcpy(sys->user[sys->users++], config.userid);
	cp_config_fini(&config);
	return rc;
}

bool sys_in_directory(void *opaque, const char *userid)
{
	const struct sys *sys = opaque;

	for (unsigned int i = 0; i < sys->users; i++)
		if (strcmp(sys->user[i], userid) == 0)
			return true;
	return false;
}

/* A pipe that is ready takes so few bytes at once; whoever does not read them starts nobody. */
bool sys_tell(const struct sys *sys, const char *line)
{
	struct pollfd fd = { .fd = sys->starts, .events = POLLOUT };
	const size_t len = strlen(line);

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) &&
	       write(fd.fd, line, len) == (ssize_t)len;
}

bool sys_start(void *opaque, const char *userid)
{
	char line[sizeof("start ") + CP_NAME_LEN + 1];

	snprintf(line, sizeof(line), "start %s\n", userid);
	return sys_tell(opaque, line);
}
