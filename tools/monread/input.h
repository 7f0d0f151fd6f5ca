/* SPDX-License-Identifier: MIT */
/*
 * monread: where bytes come from.
 *
 * input_read() waits no longer than it may, and a signal ends the wait.  A set that
 * has begun is read on after a first signal as long as its bytes are there, so that
 * it is not lost; a second signal ends that, too.  Of a file with an index the end of
 * a set is a read of 0 bytes, as of the device.
 */
#ifndef INPUT_H
#define INPUT_H

#include "index.h"
#include "monread.h"

/* Of saved bytes: enough to tell what other programs and transfers have made of them. */
#define INPUT_AHEAD 512u

struct input {
	const char *name;
	int fd;
	int timeout_ms;			/* longest wait for data; -1: none */
	bool blocking;			/* wait in read(), not in poll() */
	unsigned int reopen;		/* tries in a row to open the device anew */
	unsigned int reopen_wait_ms;	/* before the first one; then twice as long */

	enum monrec_format format;
	uint8_t ahead[INPUT_AHEAD];	/* of saved bytes: read, and not given out yet */
	unsigned int has_ahead, given;
	ssize_t ahead_ended;		/* what reading on gave instead of bytes; 0: nothing */
	bool in_set;			/* told by who takes the items */
	bool timed_out;			/* no data for too long */
	bool ended;			/* of a file with an index: all of it was read */
	unsigned int tried;		/* to open it anew, since the last set */
	FILE *index;
	bool bad_index;			/* it is none, or not of this file */
	bool within;			/* a set has begun whose end has not been told */
	uint64_t left;			/* bytes of it */
	struct index_entry entry;	/* of it */
};

/*
 * Opens input->name ('-': standard input) and tells the format, with @monwrite that
 * of MONWRITE.  0 or -errno
 */
int input_open(struct input *input, bool monwrite);
void input_close(struct input *input);
/*
 * Looks at the beginning of saved bytes, which tells whether MONWRITE has written
 * them.  Signals have to be caught.  False, having told the user what they are: no monitor data.
 */
bool input_recognise(struct input *input);
/*
 * The device, after CP has severed: waits and opens it until that succeeds or all
 * tries are used up.  0, or -errno of the last one; EINTR: a signal came.
 */
int input_reopen(struct input *input);

/* SIGINT and SIGTERM come only while input_read() waits, and end that. */
void input_catch_signals(void);
/* The signal that came first; 0: none. */
int input_signal(void);
/* monrec_read_fn; @context: struct input. */
ssize_t input_read(void *context, void *buffer, size_t len);

#endif
