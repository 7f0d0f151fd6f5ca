/* SPDX-License-Identifier: MIT */
/* Sockets at a path; see listen.h. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "listen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct place {
	struct sockaddr_un address;
	int type;
	const char *what;
	char *err;
	size_t errlen;
};

static int fail(const struct place *place, const char *how)
{
	snprintf(place->err, place->errlen, "%s %s %s: %s", place->what, place->address.sun_path,
		 how, strerror(errno));
	return -1;
}

/* Remove a socket that nobody listens on.  Return: 0 if the path is free now. */
static int make_room(const struct place *place)
{
	const char *path = place->address.sun_path;
	struct stat st;
	int fd, result;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : fail(place, "cannot be created");
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(place->err, place->errlen, "%s exists and is not a socket; remove it or"
			 " name another path", path);
		return -1;
	}
	fd = socket(AF_UNIX, place->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(place, "cannot be created");
	result = connect(fd, (const struct sockaddr *)&place->address, sizeof(place->address));
	if (result != 0 && errno == ECONNREFUSED) {
		result = unlink(path) == 0 ? 0 : fail(place, "cannot be replaced");
	} else {
		snprintf(place->err, place->errlen, "%s %s is in use already; name another path",
			 place->what, path);
		result = -1;
	}
	close(fd);
	return result;
}

/* Nobody can connect before listen(), so the mode is right in time. */
static int listen_at(const struct place *place, int fd, uint64_t *inode)
{
	const char *path = place->address.sun_path;
	struct stat st;

	if (bind(fd, (const struct sockaddr *)&place->address, sizeof(place->address)) != 0)
		return fail(place, "cannot be created");
	if (lstat(path, &st) != 0)
		return fail(place, "has gone");
	*inode = st.st_ino;
	if (chmod(path, 0600) != 0 || listen(fd, SOMAXCONN) != 0)
		return fail(place, "cannot be used");
	return 0;
}

int ctl_listen(const char *path, int type, const char *what, uint64_t *inode, char *err,
	       size_t errlen)
{
	struct place place = {
		.address.sun_family = AF_UNIX, .type = type, .what = what, .err = err,
		.errlen = errlen,
	};
	int fd;

	*inode = 0;
	if (strlen(path) >= sizeof(place.address.sun_path)) {
		snprintf(err, errlen, "the %s's path %s is longer than %zu bytes; use a shorter "
			 "directory", what, path, sizeof(place.address.sun_path) - 1);
		return -1;
	}
	strcpy(place.address.sun_path, path);
	if (make_room(&place) != 0)
		return -1;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(&place, "cannot be created");
	if (listen_at(&place, fd, inode) == 0)
		return fd;
	ctl_unlisten(path, *inode);
	*inode = 0;
	close(fd);
	return -1;
}

void ctl_unlisten(const char *path, uint64_t inode)
{
	struct stat st;

	if (inode != 0 && lstat(path, &st) == 0 && st.st_ino == inode)
		unlink(path);
}
