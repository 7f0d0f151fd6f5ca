/* SPDX-License-Identifier: MIT */
/*
 * The file of options that the configuration's statement for the console names:
 *
 *     KEY VALUE
 *
 * one a line; empty lines and lines that begin with # are comments.  The keys are
 * those of cp_config_set(), trace-limit (MiB), and paths: control (socket that is
 * created), trace and log (files that receive the CP's trace and the console's
 * output), socket (of the console, for whoever wants to type).
 */
#include "port.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_path(char **path, const char *value, char *err, size_t errlen)
{
	free(*path);
	*path = strdup(value);
	if (*path)
		return 0;
	snprintf(err, errlen, "not enough memory for the options");
	return -1;
}

static int set_option(const char *key, const char *value, char *err, size_t errlen)
{
	const struct {
		const char *key;
		char **path;
	} paths[] = {
		{ "log", &port->log_path },
		{ "socket", &port->socket_path },
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (strcmp(paths[i].key, key) == 0)
			return set_path(paths[i].path, value, err, errlen);
	return cp_port_set(&port->own, key, value, err, errlen);
}

/* Cut @line into key and value.  Return: the value, or NULL if there is no key. */
static char *split(char *line)
{
	size_t len = strlen(line);
	char *value;

	while (len > 0 && isspace((unsigned char)line[len - 1]))
		line[--len] = '\0';
	value = line + strcspn(line, " \t");
	while (*value == ' ' || *value == '\t')
		*value++ = '\0';
	return *line == '\0' || *line == '#' ? NULL : value;
}

static int read_lines(FILE *file, const char *path, char *err, size_t errlen)
{
	unsigned int number = 0;
	size_t room = 0;
	char *line = NULL;
	char reason[400];
	int result = 0;

	while (result == 0 && getline(&line, &room, file) >= 0) {
		char *value = split(line);

		number++;
		if (value && set_option(line, value, reason, sizeof(reason)) != 0) {
			snprintf(err, errlen, "%s, line %u: %s", path, number, reason);
			result = -1;
		}
	}
	free(line);
	return result;
}

int options_read(const char *path, char *err, size_t errlen)
{
	FILE *file = fopen(path, "re");
	int result;

	if (!file) {
		snprintf(err, errlen, "the options %s cannot be read: %s", path, strerror(errno));
		return -1;
	}
	result = read_lines(file, path, err, errlen);
	fclose(file);
	return result;
}
