/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monwriter: Refuse a record without data
 *
 * A header with a length of 0 makes a buffer, which counts for max_bufs.
 * CP never hears of it, because that is done when the data are complete,
 * and there are none.  An event of that kind is never generated.
 *
 * Refuse such a header with EINVAL; only a STOP needs no data.
 *
 * Tried with START INTERVAL of 0 bytes and a limit of one buffer.
 */
//@ file: drivers/s390/char/monwriter.c
//@ in: static int monwrite_new_hdr(
//@ after: 	    monhdr->hdrlen != sizeof(struct monwrite_hdr))
		return -EINVAL;
	if (!monhdr->datalen && monhdr->mon_function != MONWRITE_STOP_INTERVAL)
