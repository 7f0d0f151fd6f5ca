/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Let readv() leave the end of a set to the next read
 *
 * The driver has a read function only, so readv() calls it for one buffer
 * after the other, as long as each is filled.  If the last bytes of a set
 * fill one, the call for the next gets the 0 bytes that complete the set,
 * or an error, and the caller sees neither: the sum of the bytes is what
 * readv() returns.
 *
 * Provide read_iter instead: it goes on to the next buffer within an
 * element and its records only.
 *
 * Tried with a readv() that has room for more than the set.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/monreader.c
//@ after: #include <linux/slab.h>
#include <linux/uio.h>
//@ replace 2: static ssize_t mon_read_msg(struct file *filp, char __user *data,
static ssize_t mon_read_msg(struct file *filp, struct iov_iter *to,
			    size_t count, loff_t *ppos)
//@ for: 6.1
//@ in: static ssize_t mon_read_msg(
//@ replace 3: 		ret = copy_to_user(data, &monmsg->mce[monmsg->pos - mce_start],
		if (!mon_copy(to, &monmsg->mce[monmsg->pos - mce_start], count))
//@ replace 3: 		ret = copy_to_user(data, (void *) (unsigned long) monmsg->pos,
		if (!mon_copy(to, __va(monmsg->pos), count))
//@ file: drivers/s390/char/monreader.c
//@ for: 6.12 7.2
//@ in: static ssize_t mon_read_msg(
//@ replace 3: 		ret = copy_to_user(data, &monmsg->mce[monmsg->pos - mce_start],
		if (!mon_copy(to, &monmsg->mce[monmsg->pos - mce_start], count))
//@ replace 2: 		ret = copy_to_user(data, __va(monmsg->pos), count);
		if (!mon_copy(to, __va(monmsg->pos), count))
//@ file: drivers/s390/char/monreader.c
//@ before: static ssize_t mon_read_msg(
/* Copy all of it, or nothing */
static bool mon_copy(struct iov_iter *to, const void *from, size_t count)
{
	size_t copied = copy_to_iter(from, count, to);

	if (copied == count)
		return true;
	iov_iter_revert(to, copied);
	return false;
}
//@ before: static ssize_t mon_read(struct
/* Is there more of the element that is being read, or of its records? */
static bool mon_has_more(struct mon_private *monpriv)
{
	struct mon_msg *monmsg = monpriv->msg_array[monpriv->read_index];

	return monmsg->pos &&
	       (!monmsg->in_records || monmsg->pos <= mon_rec_end(monmsg));
}
//@ replace 4: static ssize_t mon_read(struct file *filp, char __user *data,
static ssize_t mon_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *filp = iocb->ki_filp;
	struct mon_private *monpriv = filp->private_data;
	size_t count, done = 0;
//@ in: static ssize_t mon_read_iter(
//@ replace: 	if (!count)
	if (!iov_iter_count(to))
//@ replace: 	ret = mon_read_msg(filp, data, count, ppos);
	do {
		count = iov_iter_single_seg_count(to) ?: iov_iter_count(to);
		ret = mon_read_msg(filp, to, count, &iocb->ki_pos);
		if (ret > 0)
			done += ret;
	} while (ret > 0 && ret == count && iov_iter_count(to) &&
		 mon_has_more(monpriv));
//@ replace: 	return ret;
	return done ?: ret;
//@ file: drivers/s390/char/monreader.c
//@ replace: 	.read    = &mon_read,
	.read_iter = &mon_read_iter,
