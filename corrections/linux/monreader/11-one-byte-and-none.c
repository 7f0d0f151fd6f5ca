/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Accept records of one byte and reads of none
 *
 * The end address of records is that of their last byte, so records of one
 * byte end where they begin. mon_check_mca() takes them for malformed.
 *
 * A read of size 0 at the end of a set sends the reply, and the reader
 * never sees the read of 0 bytes that completes the set.  Return 0 without
 * any effect, as for other devices.
 *
 * Tried with an element of one byte of records, and with reads of size 0
 * before, within and at the end of a set.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/monreader.c
//@ in: static int mon_check_mca(
//@ replace: 	if ((mon_rec_end(monmsg) <= mon_rec_start(monmsg)) ||
	if ((mon_rec_end(monmsg) < mon_rec_start(monmsg)) ||
//@ file: drivers/s390/char/monreader.c
//@ in: static ssize_t mon_read(struct
//@ before: 	if (filp->f_flags & O_NONBLOCK) {
	if (!count)
		return 0;
