/* SPDX-License-Identifier: MIT */
/* The output of a program on its own descriptor 1 or 2 between two calls. */
#ifndef SAID_H
#define SAID_H

#include <stdio.h>
#include <unistd.h>

struct said {
	FILE *file;
	int fd, kept;
};

static inline struct said said_begin(int fd)
{
	struct said said = { tmpfile(), fd, dup(fd) };

	fflush(NULL);
	dup2(fileno(said.file), fd);
	return said;
}

/* Ends that.  Return: the text, up to 4 KiB of it, until the next call. */
static inline const char *said_end(struct said *said)
{
	static char text[4096];

	fflush(NULL);
	dup2(said->kept, said->fd);
	close(said->kept);
	rewind(said->file);
	text[fread(text, 1, sizeof(text) - 1, said->file)] = '\0';
	fclose(said->file);
	return text;
}

#endif
