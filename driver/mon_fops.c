// SPDX-License-Identifier: GPL-2.0-only
/*
 * File operations: open, read, poll, release.
 */
#include <linux/bitops.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uio.h>

#include "mon_device.h"

static int mon_open(struct inode *inode, struct file *file)
{
	struct mon_device *dev = &mon_device;
	int rc;

	if (test_and_set_bit_lock(0, &dev->busy))
		return -EBUSY;
	rc = mon_connect(dev, mon_open_timeout());
	if (rc) {
		clear_bit_unlock(0, &dev->busy);
		return rc;
	}
	file->private_data = dev;
	return stream_open(inode, file);
}

static int mon_release(struct inode *inode, struct file *file)
{
	struct mon_device *dev = file->private_data;

	mon_disconnect(dev);
	clear_bit_unlock(0, &dev->busy);
	return 0;
}

static enum mon_poll mon_readable(struct mon_device *dev)
{
	enum mon_poll found;

	spin_lock_bh(&dev->lock);
	found = mon_stream_poll(&dev->stream);
	spin_unlock_bh(&dev->lock);
	return found;
}

/* Begins with the next set, or says what is there instead. */
static int mon_begin(struct mon_device *dev)
{
	enum mon_begin begin;

	spin_lock_bh(&dev->lock);
	begin = mon_stream_begin(&dev->stream);
	spin_unlock_bh(&dev->lock);

	switch (begin) {
	case MON_BEGIN_OVERFLOW:
		return -EOVERFLOW;
	case MON_BEGIN_EMPTY:
		return -EAGAIN;
	case MON_BEGIN_SEVERED:
		return -EIO;
	case MON_BEGIN_SET:
		break;
	}
	return 0;
}

/* All of a span or nothing: what was copied of the rest does not count. */
static bool mon_copy(const struct mon_span *span, struct iov_iter *to)
{
	size_t copied = copy_to_iter(span->addr, span->len, to);

	if (copied == span->len)
		return true;
	iov_iter_revert(to, copied);
	return false;
}

/* -EAGAIN: nothing was there. */
static ssize_t mon_read_locked(struct mon_device *dev, struct iov_iter *to)
{
	size_t size = iov_iter_count(to), done = 0;
	struct mon_span span;
	int rc;

	for (;;) {
		switch (mon_stream_next(&dev->stream, size, done, &span)) {
		case MON_NEXT_SPAN:
			if (!mon_copy(&span, to))
				return done ? (ssize_t)done : -EFAULT;
			mon_stream_copied(&dev->stream, &span);
			done += span.len;
			break;
		case MON_NEXT_SET:
			rc = mon_begin(dev);
			if (rc)
				return rc;
			break;
		case MON_NEXT_REPLY:
			return mon_reply(dev);
		case MON_NEXT_DONE:
			return done;
		}
	}
}

static ssize_t mon_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct mon_device *dev = iocb->ki_filp->private_data;
	bool nowait = iocb->ki_filp->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	ssize_t rc;

	for (;;) {
		if (mutex_lock_interruptible(&dev->read_lock))
			return -ERESTARTSYS;
		rc = mon_read_locked(dev, to);
		mutex_unlock(&dev->read_lock);
		if (rc != -EAGAIN || nowait)
			return rc;
		/* Not under the lock: who does not want to wait must get it. */
		rc = wait_event_interruptible(dev->wait, mon_readable(dev) != MON_POLL_EMPTY);
		if (rc)
			return rc;
	}
}

static __poll_t mon_poll(struct file *file, poll_table *table)
{
	struct mon_device *dev = file->private_data;

	poll_wait(file, &dev->wait, table);
	switch (mon_readable(dev)) {
	case MON_POLL_READABLE:
		return EPOLLIN | EPOLLRDNORM;
	case MON_POLL_SEVERED:
		return EPOLLERR | EPOLLHUP;
	case MON_POLL_EMPTY:
		break;
	}
	return 0;
}

const struct file_operations mon_fops = {
	.owner = THIS_MODULE,
	.open = mon_open,
	.release = mon_release,
	.read_iter = mon_read_iter,
	.poll = mon_poll,
	.llseek = noop_llseek,
};
