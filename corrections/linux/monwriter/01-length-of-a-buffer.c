/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monwriter: Refuse a header that changes the length of its buffer
 *
 * A header whose product ID has a buffer already may name another length
 * of its data.  The driver then reads as many bytes as the buffer has, but
 * takes the place for them from the new length: they are stored behind the
 * buffer or in front of it.
 *
 * Refuse such a header with EINVAL, as mainline does since commit
 * 2995ccec260c ("s390/monwriter: Reject buffer reuse with different data
 * length").
 *
 * Tried with two neighboring buffers: a header with twice the length for
 * the first one changed what CP collects of the second.
 */
//@ file: drivers/s390/char/monwriter.c
//@ for: 6.1
//@ in: static int monwrite_new_hdr(
//@ replace 2: 			monbuf = NULL;
			monbuf = NULL;
		} else if (monhdr->datalen != monbuf->hdr.datalen) {
			return -EINVAL;
		}
