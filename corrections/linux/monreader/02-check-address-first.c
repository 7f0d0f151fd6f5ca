/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Check the address of a control area before reading it
 *
 * mon_check_mca() looks at a control element first, and only then at the
 * address of the control area that it is part of.  A message with an
 * address outside of the segment, or without any because it has no data in
 * its parameter list, is an oops in mon_read():
 *
 *   Unable to handle kernel pointer dereference
 *
 * Check the message first.
 *
 * Tried with messages whose control area lies outside of all storage,
 * before the segment, and behind it.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/monreader.c
//@ in: static int mon_check_mca(
//@ before: 	if ((mon_rec_end(monmsg) <= mon_rec_start(monmsg)) ||
	/* These are about the message, the others about what it points to */
	if (!(monmsg->msg.flags & IUCV_IPRMDATA) ||
	    mon_mca_end(monmsg) <= mon_mca_start(monmsg) ||
	    mon_mca_start(monmsg) < mon_dcss_start ||
	    mon_mca_end(monmsg) > mon_dcss_end ||
	    mon_mca_size(monmsg) % 12 != 0)
		return -EINVAL;
//@ replace 4: 	    (mon_mca_size(monmsg) % 12 != 0) ||
