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
 * docs/control.md.
 */
#ifndef ZVMLAB_TRACE_H
#define ZVMLAB_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;
struct cp_result;
struct state;

#define TRACE_DATA_MAX 256
#define TRACE_NO_CPU (-1)

/** Is anybody listening?  Callers with expensive fields ask first. */
bool trace_enabled(const struct cp *cp);
void trace_begin(struct cp *cp, int cpu, const char *call);
void trace_number(struct cp *cp, const char *key, uint64_t value);
void trace_hex(struct cp *cp, const char *key, uint64_t value);
void trace_text(struct cp *cp, const char *key, const char *text);
/** General registers 0 to @count - 1 as "gr". */
void trace_gr(struct cp *cp, const uint64_t *gr, unsigned int count);
void trace_bytes(struct cp *cp, const char *key, const void *bytes, size_t len);
/** Guest storage read (@store false) or written; called by storage.c only. */
void trace_access(struct cp *cp, bool store, uint64_t addr, const void *bytes, size_t len);
void trace_end(struct cp *cp);
/** trace_end() with disposition, condition code and interruption code. */
void trace_end_result(struct cp *cp, const struct cp_result *result);

void trace_state(struct cp *cp, struct state *state);

#endif
