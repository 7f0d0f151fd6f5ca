/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Serialize reads
 *
 * Nothing prevents two threads from reading at the same time.  While one
 * of them sleeps in copy_to_user(), the other one gets the same bytes, and
 * both advance the position afterwards, so that what follows is skipped.
 *
 * Hold a mutex during a read.  A read that waits for it can be
 * interrupted, and a non-blocking one does not wait.
 *
 * Tried with two threads, of which one is stopped by userfaultfd in its
 * copy.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/monreader.c
//@ after: #include <linux/interrupt.h>
#include <linux/mutex.h>
//@ after: 	atomic_t sever_done;
	struct mutex read_mutex;	/* one read at a time */
//@ in: static struct mon_private *mon_alloc_mem(
//@ before: 	for (i = 0; i < MON_MSGLIM; i++) {
	mutex_init(&monpriv->read_mutex);
//@ file: drivers/s390/char/monreader.c
//@ replace 2: static ssize_t mon_read(struct file *filp, char __user *data,
static ssize_t mon_read_msg(struct file *filp, char __user *data,
			    size_t count, loff_t *ppos)
//@ before: static __poll_t mon_poll(
static ssize_t mon_read(struct file *filp, char __user *data,
			size_t count, loff_t *ppos)
{
	struct mon_private *monpriv = filp->private_data;
	ssize_t ret;

	if (filp->f_flags & O_NONBLOCK) {
		if (!mutex_trylock(&monpriv->read_mutex))
			return -EAGAIN;
	} else if (mutex_lock_interruptible(&monpriv->read_mutex)) {
		return -ERESTARTSYS;
	}
	ret = mon_read_msg(filp, data, count, ppos);
	mutex_unlock(&monpriv->read_mutex);
	return ret;
}
