// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ramchar: reads give some MiB of real storage, again and again.
 *
 * The least that a character device with its data in storage can do for a read:
 * what a driver of monitor data is measured by.
 */
#include <linux/gfp.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>
#include <linux/uio.h>

#define MAX_BLOCKS 64u
/* The largest that the page allocator of an s390 kernel gives in one piece. */
#define BLOCK_SIZE SZ_1M

static unsigned int mib = 4;
module_param(mib, uint, 0444);
MODULE_PARM_DESC(mib, "size in MiB, 1 to 64 (default 4)");

static u8 *block[MAX_BLOCKS];

static ssize_t ramchar_read(struct kiocb *iocb, struct iov_iter *to)
{
	size_t done = 0;

	while (iov_iter_count(to)) {
		const size_t at = iocb->ki_pos % (mib * BLOCK_SIZE);
		const size_t offset = at % BLOCK_SIZE;
		const size_t want = min_t(size_t, iov_iter_count(to), BLOCK_SIZE - offset);
		const size_t got = copy_to_iter(block[at / BLOCK_SIZE] + offset, want, to);

		done += got;
		iocb->ki_pos += got;
		if (got < want)
			return done ?: -EFAULT;
	}
	return done;
}

static const struct file_operations ramchar_fops = {
	.owner = THIS_MODULE,
	.read_iter = ramchar_read,
};

static struct miscdevice ramchar = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ramchar",
	.fops = &ramchar_fops,
};

static void ramchar_free(void)
{
	for (unsigned int i = 0; i < mib; i++)
		free_pages((unsigned long)block[i], get_order(BLOCK_SIZE));
}

static int __init ramchar_init(void)
{
	int rc;

	if (!mib || mib > MAX_BLOCKS)
		return -EINVAL;
	for (unsigned int i = 0; i < mib; i++) {
		block[i] = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(BLOCK_SIZE));
		if (!block[i]) {
			ramchar_free();
			return -ENOMEM;
		}
	}
	rc = misc_register(&ramchar);
	if (rc)
		ramchar_free();
	return rc;
}

static void __exit ramchar_exit(void)
{
	misc_deregister(&ramchar);
	ramchar_free();
}

module_init(ramchar_init);
module_exit(ramchar_exit);

MODULE_DESCRIPTION("Storage as a character device, to measure others by");
MODULE_LICENSE("GPL");
