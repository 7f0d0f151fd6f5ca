/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Let a read that waits learn of a sever
 *
 * The handler of a sever wakes a read that waits for a record, but the
 * read only looks whether there is one, and waits on.  It sleeps until a
 * signal comes.
 *
 * Look for the sever, too, and return EIO.
 *
 * Tried with a CP that severs while a read waits.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ in: 	u8 reason = (u8) ipuser[8];
//@ replace: 	logptr->iucv_path_severed = 1;
	WRITE_ONCE(logptr->iucv_path_severed, 1);
//@ in: 	struct vmlogrdr_priv_t * priv = filp->private_data;
//@ replace 3: 					atomic_read(&priv->receive_ready));
					atomic_read(&priv->receive_ready) ||
					READ_ONCE(priv->iucv_path_severed));
			if (rc)
				return rc;
			if (!atomic_read(&priv->receive_ready))
				return -EIO;
