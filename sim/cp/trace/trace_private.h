/* SPDX-License-Identifier: MIT */
/* Shared by the files of the trace. */
#ifndef TRACE_PRIVATE_H
#define TRACE_PRIVATE_H

#include "cp_private.h"

/** Text in one piece; grows up to a limit. */
struct trace_buffer {
	char *text;
	size_t len, size, limit;
};

/** @size bytes at first; @limit below that: it never grows.  False without memory. */
bool trace_buffer_init(struct trace_buffer *buffer, size_t size, size_t limit);
/** Is there room for @len bytes more?  Every trace_put needs to know. */
bool trace_buffer_room(struct trace_buffer *buffer, size_t len);
__attribute__((format(printf, 2, 3)))
void trace_put(struct trace_buffer *buffer, const char *format, ...);
void trace_put_text(struct trace_buffer *buffer, const char *text, size_t len);
/** Two digits a byte. */
void trace_put_hex(struct trace_buffer *buffer, const void *bytes, size_t len);
/** JSON string contents; bytes above 0x7e are taken as ISO 8859-1.  At most 6 × @len. */
void trace_put_escaped(struct trace_buffer *buffer, const char *text, size_t len);

/** Accesses to guest storage, as the elements of a JSON list. */
struct trace_accesses {
	struct trace_buffer list;
	uint32_t more;		/**< accesses that found no room … */
	uint64_t more_hash;	/**< … and the hash (hash.h) of their addresses and bytes */
};

/**
 * @full: the bytes as a whole, however many.  @machine: whose storage it is; NULL: that of the
 * record's own.
 */
void trace_accesses_add(struct trace_accesses *to, bool full, const char *machine, uint64_t addr,
			const void *bytes, size_t len);
void trace_accesses_unmapped(struct trace_accesses *to, const char *machine, uint64_t addr);
/** The member @key of a record, nothing if there were none. */
void trace_accesses_put(struct trace_buffer *line, const char *key, struct trace_accesses *from);

/** The record of how the CP was made. */
void trace_configuration(struct cp *cp);

#endif
