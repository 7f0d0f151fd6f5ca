/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Forget the rest of a record when the device is opened
 *
 * A record longer than the buffer is received in parts, and the length of
 * the rest is kept.  If the reader closes the device in between, the next
 * reader's first record is taken for that rest: it gets the record without
 * the length in front, as many bytes as were missing, and behind the
 * record what the buffer had before.
 *
 * Begin with no rest.
 *
 * Tried with a record of 5000 bytes that is read in half, and one of 6
 * bytes.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ in: static int vmlogrdr_open (
//@ after: 	logptr->buffer_free = 1;
	logptr->residual_length = 0;
