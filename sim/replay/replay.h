/* SPDX-License-Identifier: MIT */
/*
 * A recorded trace, done again: the core without an emulator gets what came
 * from outside and must write the same trace, byte for byte.  docs/trace.md
 * says what a trace must hold for that.  A system has a trace for each of its
 * machines, and they are replayed together.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum replay_result {
	REPLAY_SAME,		/**< every record came again */
	REPLAY_DIFFERS,		/**< one did not; the first is reported */
	REPLAY_UNUSABLE,	/**< damaged, no trace, or not all that is needed is in it */
};

/** A trace, read one line after the other. */
struct replay_trace {
	FILE *in;
	const char *name;	/**< for sentences about one of several */
};

/**
 * Replay the trace of a guest that is alone, or those of all machines that a system had.
 *
 * @count: at least 1.  @out: receives, unless all is the same, a sentence that begins with "line
 * N: ", with several traces "NAME, line N: ", and after a difference both records.
 * @records: how many came again.
 */
enum replay_result replay_run(const struct replay_trace *traces, size_t count, FILE *out,
			      uint64_t *records);

#endif
