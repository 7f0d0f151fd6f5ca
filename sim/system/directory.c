/* SPDX-License-Identifier: MIT */
/* The system's users, and the lines that ask for the machine of one. */
#include "system_private.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int sys_add_user(struct sys *sys, const char *userid, char *err, size_t errlen)
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
