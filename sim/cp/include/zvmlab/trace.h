/* SPDX-License-Identifier: MIT */
/*
 * Trace: one JSON line per CP call, interruption and outside input.
 *
 *   {"seq":17,"tod":"db…","cpu":0,"call":"iucv.reply","in":[["1f00","0001…"]],
 *    "gr":["6","1f00"],"out":[["1f03","00"]],"cc":0}
 *
 * A record is opened, filled with whatever the call reads from and writes to
 * guest storage, and closed with its result; calls do not nest (a record that
 * is open when a second begins receives the second's fields).  Without a sink
 * every function returns at once.  Numbers are decimal, addresses and bytes
 * hexadecimal strings; accesses longer than TRACE_DATA_MAX bytes carry their
 * length and a 64-bit FNV-1a hash instead of the bytes.  A key that a record
 * has already gets a number ("path#2").  Nothing is cut in silence: see
 * docs/trace.md.
 *
 * With cp_config.trace_full a record holds all that came from outside as a
 * whole, so that sim/replay can do the same again; only then the trace's
 * buffers grow, up to TRACE_FULL_MAX.
 */
#ifndef ZVMLAB_TRACE_H
#define ZVMLAB_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;
struct cp_result;

/** Version of the format, in the first record. */
#define TRACE_VERSION 1u
#define TRACE_DATA_MAX 256
#define TRACE_NO_CPU (-1)
/** With trace_full: bytes that the fields of a record may have, or its accesses. */
#define TRACE_FULL_MAX ((size_t)64 << 20)

/** Is anybody listening?  Callers with expensive fields ask first. */
bool trace_enabled(const struct cp *cp);
/** Is everything from outside recorded as a whole? */
bool trace_full(const struct cp *cp);
void trace_begin(struct cp *cp, int cpu, const char *call);
void trace_number(struct cp *cp, const char *key, uint64_t value);
void trace_hex(struct cp *cp, const char *key, uint64_t value);
void trace_text(struct cp *cp, const char *key, const char *text);
/** General registers 0 to @count - 1 as "gr". */
void trace_gr(struct cp *cp, const uint64_t *gr, unsigned int count);
void trace_bytes(struct cp *cp, const char *key, const void *bytes, size_t len);
/** The same for bytes that came from outside: as a whole with trace_full. */
void trace_given(struct cp *cp, const char *key, const void *bytes, size_t len);
struct trace_part { const void *bytes; size_t len; };
/** Bytes from outside in several parts, one value; nothing without trace_full. */
void trace_parts(struct cp *cp, const char *key, const struct trace_part *part, unsigned int count);
/** Guest storage read (@store false) or written by the CP. */
void trace_access(struct cp *cp, bool store, uint64_t addr, const void *bytes, size_t len);
/** The emulator has no storage at @addr. */
void trace_unmapped(struct cp *cp, uint64_t addr);
/** The requests to the host: shown at the record's end with trace_full. */
void trace_kick(struct cp *cp, unsigned int cpu);
void trace_timer(struct cp *cp, uint64_t tod);
void trace_system_timer(struct cp *cp, uint64_t tod);
void trace_end(struct cp *cp);
/** trace_end() with disposition, condition code and interruption code. */
void trace_end_result(struct cp *cp, const struct cp_result *result);

#endif
