/* SPDX-License-Identifier: MIT */
/*
 * A file that receives the CP's trace, complete up to the last call even if the
 * emulator is killed.  Records that repeat the one before, all but number and
 * time, are counted: after TRACE_SAME_LINES of them one record "repeat" a second
 * stands for the others (docs/trace.md).
 */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Same records that are written out before others are counted. */
#define TRACE_SAME_LINES 4u
/** The most that one record "repeat" stands for. */
#define TRACE_SAME_TIMES 65536u
/** Longest record that is compared with the next. */
#define TRACE_SAME_MAX 1024u
/** The default limit of a trace. */
#define TRACE_LIMIT_DEFAULT (UINT64_C(1024) << 20)

struct trace_file;

/** @limit: bytes, at least 1024.  Return: NULL with one sentence in @err. */
struct trace_file *trace_file_open(const char *path, uint64_t limit, char *err, size_t errlen);
/** MiB, 1 to 1048576, as the options give them, into bytes.  Return: 0 or -1 with @err. */
int trace_file_limit(const char *text, uint64_t *limit, char *err, size_t errlen);
/**
 * Append one line; matches cp_host.trace.  A full disk ends the trace with a
 * message on stderr; the limit likewise, and with a record that says so.
 */
void trace_file_line(void *file, const char *line, size_t len);
/** Why the trace has ended before the machine has, NULL if it has not. */
const char *trace_file_ended(const struct trace_file *file);
/** Write what has been counted. */
void trace_file_flush(struct trace_file *file);
void trace_file_close(struct trace_file *file);

#endif
