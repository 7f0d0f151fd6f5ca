/* SPDX-License-Identifier: MIT */
/* Bytes of a terminal as keys.  Pure; the bytes may be anything. */
#ifndef TASKMON_KEYS_H
#define TASKMON_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Other keys are the bytes that they send, UTF-8 among them. */
enum key {
	KEY_ENTER = '\r',
	KEY_ESCAPE = 0x1b,
	KEY_BACKSPACE = 0x7f,
	KEY_UP = 0x100,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_F1,
	KEY_F4,
	KEY_F5,
	KEY_F10,
	KEY_UNKNOWN,
};

/* All zero: nothing has begun. */
struct keys {
	enum { KEYS_PLAIN, KEYS_ESCAPE, KEYS_SEQUENCE, KEYS_SINGLE } state;
	unsigned int number;	/* of a sequence; with further numbers of no use */
	bool more;		/* there are further numbers */
};

/*
 * Calls @each for each key in what was read at once.  A sequence may come in parts; but an escape
 * at the end is the key, and no beginning.
 */
void keys_take(struct keys *keys, const unsigned char *bytes, size_t count,
	       void (*each)(void *context, int key), void *context);

#endif
