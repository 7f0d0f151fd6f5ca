/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Do not receive on a severed path
 *
 * A record that was pending when CP severed the connection cannot be
 * received any more.  The driver tries nevertheless, and as the count of
 * pending records stays, it tries again and again.  No signal ends that
 * read.
 *
 * Return EIO when the path has been severed.
 *
 * Tried with a CP that severs after it has announced a record.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ in: static int vmlogrdr_receive_data(
//@ before: 	if (atomic_read(&priv->receive_ready)) {
	if (READ_ONCE(priv->iucv_path_severed))
		return -EIO;
//@ in: 	struct vmlogrdr_priv_t * priv = filp->private_data;
//@ after: 		rc = vmlogrdr_receive_data(priv);
		if (rc < 0)
			return rc;
