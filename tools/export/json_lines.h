/* SPDX-License-Identifier: MIT */
/*
 * JSON lines by TCP: whoever connects gets each line from then on.
 *
 * Nobody is waited for.  A client that does not take its lines has room for JSON_LINES_BYTES of
 * them; what does not fit is lost to that client, is counted, and the client is told, when it has
 * room again, by a line {"lost": N}.  Lines come from one thread, and another one runs this.
 */
#ifndef TOOLS_JSON_LINES_H
#define TOOLS_JSON_LINES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_LINES_CLIENTS 8u
#define JSON_LINES_BYTES (1u << 20)
/* Entries for poll(). */
#define JSON_LINES_FDS (JSON_LINES_CLIENTS + 2u)

struct json_lines;

struct json_lines_counts {
	uint64_t lines;		/* that came */
	uint64_t lost;		/* for which a client had no room, each client by itself */
	uint64_t refused;	/* connections above JSON_LINES_CLIENTS */
	unsigned int clients;
};

/* @listen: as address.h has it.  Return: an exit code; but for EXIT_PASS it has complained. */
int json_lines_open(struct json_lines **lines, const char *listen);
/* What clients have room for is still sent.  NULL is none. */
void json_lines_close(struct json_lines *lines);

/* A line, its end included.  NULL: one that there was no memory for, which all clients lose. */
void json_lines_give(struct json_lines *lines, const char *line, size_t len);

/*
 * A stream that gives each line written to it; its last one, if it has no end, is left out.  To be
 * closed before the rest.  NULL without memory.
 */
FILE *json_lines_file(struct json_lines *lines);

/* Fills in JSON_LINES_FDS entries, some with descriptors of -1, for poll(). */
void json_lines_poll(struct json_lines *lines, struct pollfd *fds);
/* Does what these entries say: takes connections, sends. */
void json_lines_run(struct json_lines *lines, const struct pollfd *fds);

void json_lines_count(struct json_lines *lines, struct json_lines_counts *counts);

#endif
