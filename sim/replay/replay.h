/* SPDX-License-Identifier: MIT */
/*
 * A recorded trace, done again: the core without an emulator gets what came
 * from outside and must write the same trace, byte for byte.  docs/trace.md
 * says what a trace must hold for that.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdint.h>
#include <stdio.h>

enum replay_result {
	REPLAY_SAME,		/**< every record came again */
	REPLAY_DIFFERS,		/**< one did not; the first is reported */
	REPLAY_UNUSABLE,	/**< damaged, no trace, or not all that is needed is in it */
};

/**
 * Replay the trace that is read from @in, one line after the other.
 *
 * @out: receives, unless all is the same, a sentence that begins with "line
 * N: " and after a difference both records.
 * @records: how many came again.
 */
enum replay_result replay_run(FILE *in, FILE *out, uint64_t *records);

#endif
