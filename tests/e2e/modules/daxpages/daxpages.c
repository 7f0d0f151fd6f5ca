// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a disk's driver says of direct access to each of its pages: /proc/daxpages has a line for each
 * page, and one for the page after the last, with the page's number, the number of pages that can be
 * accessed from there on (or the error), and the first eight bytes that are found there.
 */
#include <linux/blkdev.h>
#include <linux/dax.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/version.h>

#define NAME "daxpages"

static char *disk = "/dev/dcssblk0";
module_param(disk, charp, 0444);
MODULE_PARM_DESC(disk, "the block device");

struct opened {
	struct block_device *bdev;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	struct file *file;
#endif
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
static int open_disk(struct opened *opened)
{
	opened->file = bdev_file_open_by_path(disk, BLK_OPEN_READ, NULL, NULL);
	if (IS_ERR(opened->file))
		return PTR_ERR(opened->file);
	opened->bdev = file_bdev(opened->file);
	return 0;
}

static void close_disk(struct opened *opened)
{
	bdev_fput(opened->file);
}
#else
static int open_disk(struct opened *opened)
{
	opened->bdev = blkdev_get_by_path(disk, FMODE_READ, NULL);
	return PTR_ERR_OR_ZERO(opened->bdev);
}

static void close_disk(struct opened *opened)
{
	blkdev_put(opened->bdev, FMODE_READ);
}
#endif

static void show_page(struct seq_file *text, struct dax_device *dax, pgoff_t page, pgoff_t pages)
{
	long wanted = page < pages ? pages - page : 1, found;
	void *kaddr = NULL;
	int id = dax_read_lock();

	found = dax_direct_access(dax, page, wanted, DAX_ACCESS, &kaddr, NULL);
	/* Behind the last page nothing can be read, whatever the driver says. */
	seq_printf(text, "%lu %ld %llu\n", page, found,
		   found > 0 && page < pages ? *(u64 *)kaddr : 0);
	dax_read_unlock(id);
}

static int show(struct seq_file *text, void *unused)
{
	struct dax_device *dax;
	struct opened opened;
	pgoff_t page, pages;
	u64 offset;
	int rc;

	rc = open_disk(&opened);
	if (rc)
		return rc;
	dax = fs_dax_get_by_bdev(opened.bdev, &offset, NULL, NULL);
	if (dax) {
		pages = bdev_nr_sectors(opened.bdev) >> (PAGE_SHIFT - SECTOR_SHIFT);
		for (page = 0; page <= pages; page++)
			show_page(text, dax, page, pages);
		fs_put_dax(dax, NULL);
	} else {
		rc = -EOPNOTSUPP;
	}
	close_disk(&opened);
	return rc;
}

static int __init daxpages_init(void)
{
	return proc_create_single(NAME, 0400, NULL, show) ? 0 : -ENOMEM;
}
module_init(daxpages_init);

static void __exit daxpages_exit(void)
{
	remove_proc_entry(NAME, NULL);
}
module_exit(daxpages_exit);

MODULE_DESCRIPTION("Direct access to each page of a disk");
MODULE_LICENSE("GPL");
