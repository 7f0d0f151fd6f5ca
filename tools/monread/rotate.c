/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* asprintf(), renameat2() */
#include "rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "monread.h"

bool rotation_wanted(const struct rotation *rotation)
{
	return rotation->size || rotation->ns;
}

/* "NAME.3"; of 0 the name itself.  NULL: no storage. */
static char *numbered(const char *name, unsigned int number)
{
	char *made;

	if (!number)
		return strdup(name);
	return asprintf(&made, "%s.%u", name, number) < 0 ? NULL : made;
}

static bool refuse(const char *name, const char *because)
{
	fflush(stdout);
	fprintf(stderr, "monread: %s: no new file is begun: %s\n", name, because);
	return false;
}

/* Whatever has the name is a regular file, or nothing has it. */
static bool may_go(const char *name, unsigned int number)
{
	char *from = numbered(name, number);
	struct stat status;
	bool good = true;

	if (!from)
		return refuse(name, strerror(ENOMEM));
	if (lstat(from, &status))
		good = errno == ENOENT || refuse(from, strerror(errno));
	else if (!S_ISREG(status.st_mode))
		good = refuse(from, "it is not a regular file; move it away");
	free(from);
	return good;
}

static bool move(const char *name, unsigned int number)
{
	char *from = numbered(name, number), *to = numbered(name, number + 1);
	bool good = from && to;

	if (!good)
		refuse(name, strerror(ENOMEM));
	else if (rename(from, to) && errno != ENOENT)
		good = refuse(from, strerror(errno));
	free(from);
	free(to);
	return good;
}

bool rotate_files(const char *name, unsigned int keep)
{
	for (unsigned int i = 0; i <= keep; i++)
		if (!may_go(name, i))
			return false;
	for (unsigned int i = keep; i > 0; i--)
		if (!move(name, i - 1))
			return false;
	return true;
}

void rotate_back(const char *name)
{
	char *from = numbered(name, 1);

	if (from)
		renameat2(AT_FDCWD, from, AT_FDCWD, name, RENAME_NOREPLACE);
	free(from);
}
