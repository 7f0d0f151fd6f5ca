/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Do not repeat a RECEIVE that CP refuses
 *
 * The driver knows two codes of RECEIVE that are no error.  With any other
 * one, the message stays the first one, and vmlogrdr_read() receives it
 * again, without looking for signals, forever.
 *
 * Give up that message, and return EIO.  In any case no rest of it can
 * follow.
 *
 * Tried with a CP that refuses RECEIVE with code 8.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ in: static int vmlogrdr_receive_data(
//@ replace 2: 		if (rc == 9)
		if (rc) {
			priv->residual_length = 0;
			vmlogrdr_next_message(priv);
			if (rc != 9) {
				pr_err("receiving a record failed with rc %i\n", rc);
				return -EIO;
			}
		}
