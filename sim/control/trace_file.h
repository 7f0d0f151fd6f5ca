/* SPDX-License-Identifier: MIT */
/* A file that receives the CP's trace, complete up to the last call even if the emulator is killed. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stddef.h>

struct trace_file;

/** Return: NULL with one sentence in @err. */
struct trace_file *trace_file_open(const char *path, char *err, size_t errlen);
/** Append one line; matches cp_host.trace. A full disk ends the trace with a message on stderr, once. */
void trace_file_line(void *file, const char *line, size_t len);
void trace_file_close(struct trace_file *file);

#endif
