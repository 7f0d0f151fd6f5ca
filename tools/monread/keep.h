/* SPDX-License-Identifier: MIT */
/*
 * monread: a file that always ends where a set does.
 *
 * What is written stays only when keep_mark() has said so; keep_back() takes the
 * rest away again, be it that the set is lost or that the disk is full.  A tail (end
 * of data in a file of MONWRITE) stands behind what is kept at any time, and the
 * next set is written over it: there is room for it even on a disk that is full.
 */
#ifndef KEEP_H
#define KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct keep {
	FILE *file;
	const void *tail;	/* the caller's; NULL: none */
	size_t tail_len;
	uint64_t kept;		/* bytes, without the tail */
};

/*
 * Makes the file, or empties it.  Only a regular file will do: from any other nothing
 * can be taken back.  Return: 0 or -errno; ESPIPE: not a regular file.
 */
int keep_open(struct keep *keep, const char *name, const void *tail, size_t tail_len);

/* The same for a stream that is open, from where it stands; false if that is no regular file. */
bool keep_stream(struct keep *keep, FILE *file);

/* 0 or -errno */
int keep_write(struct keep *keep, const void *bytes, size_t len);
/* Writes over bytes that were written since the last mark; @at counts from the file's begin. */
int keep_patch(struct keep *keep, uint64_t at, const void *bytes, size_t len);
/* Where the next byte will be written. */
uint64_t keep_at(const struct keep *keep);

/* What was written is on its way to the disk, and can still be taken back.  0 or -errno */
int keep_flush(struct keep *keep);
/*
 * All that was written stays.  0 or -errno: then only keep_back() or keep_close() may follow;
 * without a tail it cannot fail behind keep_flush().
 */
int keep_mark(struct keep *keep);
/* All that was written since the last mark goes.  0 or -errno */
int keep_back(struct keep *keep);
/* keep_back(), and the file is closed; no file is none.  0 or -errno */
int keep_close(struct keep *keep);

#endif
