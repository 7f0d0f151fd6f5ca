// SPDX-License-Identifier: GPL-2.0-only
/*
 * File operations: open, read, poll, release.
 */
#include <linux/bitops.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "mon_device.h"

#define MON_TIMEOUT_MAX 3600

static unsigned int open_timeout = 60;

static int mon_set_timeout(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, MON_TIMEOUT_MAX);
}

static const struct kernel_param_ops mon_timeout_ops = {
	.set = mon_set_timeout,
	.get = param_get_uint,
};
module_param_cb(open_timeout, &mon_timeout_ops, &open_timeout, 0644);
__MODULE_PARM_TYPE(open_timeout, "uint");
MODULE_PARM_DESC(open_timeout, "Seconds that open waits for the *MONITOR service, 1 to 3600 (default: 60)");

/* Not a mutex: its two calls are a twentieth of what a small read takes. */
static bool mon_trylock_reads(struct mon_device *dev)
{
	return !test_and_set_bit_lock(0, &dev->reading);
}

static __always_inline int mon_lock_reads(struct mon_device *dev)
{
	int rc = 0;

	if (!mon_trylock_reads(dev))
		rc = wait_event_interruptible(dev->readers, mon_trylock_reads(dev));
	if (!rc)
		lock_map_acquire(&dev->reads);
	return rc;
}

static __always_inline void mon_unlock_reads(struct mon_device *dev)
{
	lock_map_release(&dev->reads);
	clear_bit_unlock(0, &dev->reading);
	/* Whoever has not seen the bit clear is in the queue. */
	if (wq_has_sleeper(&dev->readers))
		wake_up(&dev->readers);
}

/**
 * mon_fops_init() - before the device can be opened
 * @dev: the device
 */
void mon_fops_init(struct mon_device *dev)
{
	static struct lock_class_key key;

	lockdep_init_map(&dev->reads, "mon_device.reads", &key, 0);
}

static int mon_open(struct inode *inode, struct file *file)
{
	struct mon_device *dev = &mon_device;
	int rc;

	if (test_and_set_bit_lock(0, &dev->busy))
		return -EBUSY;
	rc = mon_connect(dev, READ_ONCE(open_timeout));
	if (rc) {
		clear_bit_unlock(0, &dev->busy);
		return rc;
	}
	file->private_data = dev;
	/* mon_read_iter() looks at IOCB_NOWAIT; without this the kernel refuses RWF_NOWAIT. */
	file->f_mode |= FMODE_NOWAIT;
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
	switch (mon_stream_begin(&dev->stream)) {
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

/**
 * struct mon_target - where a read puts the bytes
 * @iter: there, or NULL:
 * @user: to this buffer
 */
struct mon_target {
	struct iov_iter *iter;
	char __user *user;
};

/* All of a span or nothing: what was copied of the rest does not count. */
static __always_inline bool mon_copy(const struct mon_target *to, size_t done,
				     const struct mon_span *span)
{
	size_t copied;

	if (!to->iter) {
		/*
		 * A whole element, as mostly: its length is a constant, which spares
		 * the search for the object that it lies in.
		 */
		if (span->len == MON_ELEMENT_SIZE)
			return !copy_to_user(to->user + done, span->addr, MON_ELEMENT_SIZE);
		return !copy_to_user(to->user + done, span->addr, span->len);
	}
	copied = copy_to_iter(span->addr, span->len, to->iter);
	if (copied == span->len)
		return true;
	iov_iter_revert(to->iter, copied);
	return false;
}

/* -EAGAIN: nothing was there. */
static __always_inline ssize_t mon_read_locked(struct mon_device *dev,
					       const struct mon_target *to, size_t size)
{
	struct mon_span span;
	size_t done = 0;
	int rc;

	for (;;) {
		switch (mon_stream_next(&dev->stream, size, done, &span)) {
		case MON_NEXT_SPAN:
			if (!mon_copy(to, done, &span))
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

static __always_inline ssize_t mon_read_to(struct mon_device *dev, const struct mon_target *to,
					   size_t size, bool nowait)
{
	ssize_t rc;

	for (;;) {
		rc = mon_lock_reads(dev);
		if (rc)
			return rc;
		rc = mon_read_locked(dev, to, size);
		mon_unlock_reads(dev);
		if (rc != -EAGAIN || nowait)
			return rc;
		/* Not with reads locked: who does not want to wait must get it. */
		rc = wait_event_interruptible(dev->wait, mon_readable(dev) != MON_POLL_EMPTY);
		if (rc)
			return rc;
	}
}

/* read(2) comes here: the way through mon_read_iter() costs small reads a tenth. */
static ssize_t mon_read(struct file *file, char __user *user, size_t size, loff_t *pos)
{
	const struct mon_target to = { .user = user };

	return mon_read_to(file->private_data, &to, size, file->f_flags & O_NONBLOCK);
}

/* readv(2) and others: one read into all buffers, so that no end of a set is lost. */
static ssize_t mon_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	const struct mon_target to = { .iter = iter };
	struct file *file = iocb->ki_filp;

	return mon_read_to(file->private_data, &to, iov_iter_count(iter),
			   file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT);
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
	.read = mon_read,
	.read_iter = mon_read_iter,
	.poll = mon_poll,
	.llseek = noop_llseek,
};
