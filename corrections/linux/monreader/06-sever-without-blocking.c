/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Report a sever to non-blocking readers, and after the data
 *
 * A non-blocking read gets EAGAIN when nothing is queued, even if CP has
 * severed the connection and nothing will ever come. poll() reports the
 * sever at once, and hides the data sets that were queued before and can
 * still be read.  So does a read that slept when both came.
 *
 * Deliver what is queued first, then EIO and EPOLLERR | EPOLLHUP.
 *
 * Tried with a CP that severs with an empty queue and with three data sets
 * in it, with and without O_NONBLOCK.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/monreader.c
//@ in: static void mon_iucv_path_severed(
//@ replace: 	atomic_set(&monpriv->iucv_severed, 1);
	/* Whoever sees this sees all messages that came before it as well */
	atomic_set_release(&monpriv->iucv_severed, 1);
//@ in: static ssize_t mon_read_msg(
//@ before: 	monmsg = mon_next_message(monpriv);
	/* This order: what is queued comes before the sever */
	severed = atomic_read_acquire(&monpriv->iucv_severed);
//@ replace: 	int ret;
	int ret, severed;
//@ before: 		if (filp->f_flags & O_NONBLOCK)
		if (severed)
			return -EIO;
//@ replace: 					atomic_read(&monpriv->iucv_severed));
					atomic_read_acquire(&monpriv->iucv_severed));
//@ replace 2: 		if (unlikely(atomic_read(&monpriv->iucv_severed)))
		if (!atomic_read(&monpriv->read_ready))
			return -EIO;
//@ in: static __poll_t mon_poll(
//@ after: 	struct mon_private *monpriv = filp->private_data;
	int severed;
//@ replace 4: 	if (unlikely(atomic_read(&monpriv->iucv_severed)))
	/* As in mon_read_msg() */
	severed = atomic_read_acquire(&monpriv->iucv_severed);
	if (atomic_read(&monpriv->read_ready))
		return EPOLLIN | EPOLLRDNORM;
	if (unlikely(severed))
		return EPOLLERR | EPOLLHUP;
