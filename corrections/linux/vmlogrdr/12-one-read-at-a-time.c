/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Serialize reads
 *
 * Nothing prevents two threads from reading at the same time.  While one
 * of them sleeps in copy_to_user(), the other one gets the same bytes, and
 * both count them as delivered.  What remains may be less than nothing
 * then, which vmlogrdr_read() takes for more than any program asks for: it
 * copies what lies behind the buffer.
 *
 * Hold a mutex during a read.  A read that waits for it can be
 * interrupted.
 *
 * Tried with two threads, of which one is stopped by userfaultfd in its
 * copy.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ after: #include <linux/device.h>
#include <linux/mutex.h>
//@ after: 	int dev_in_use; /* 1: already opened, 0: not opened*/
	struct mutex read_mutex;	/* one read at a time */
//@ in: static int __init vmlogrdr_init(
//@ before: 		sys_ser[i].buffer = (char *) get_zeroed_page(
		mutex_init(&sys_ser[i].read_mutex);
//@ file: drivers/s390/char/vmlogrdr.c
//@ replace 2: static ssize_t vmlogrdr_read(struct file *filp, char __user *data,
static ssize_t vmlogrdr_read_record(struct file *filp, char __user *data,
				    size_t count, loff_t *ppos)
//@ before: static ssize_t vmlogrdr_autopurge_store(struct device * dev,
static ssize_t vmlogrdr_read(struct file *filp, char __user *data,
			     size_t count, loff_t *ppos)
{
	struct vmlogrdr_priv_t *priv = filp->private_data;
	ssize_t ret;

	if (mutex_lock_interruptible(&priv->read_mutex))
		return -ERESTARTSYS;
	ret = vmlogrdr_read_record(filp, data, count, ppos);
	mutex_unlock(&priv->read_mutex);
	return ret;
}

