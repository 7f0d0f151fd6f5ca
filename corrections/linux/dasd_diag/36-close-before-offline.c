/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dasd: Close the disk before it goes offline
 *
 * dasd_destroy_partitions() drops the file with which the driver has its
 * own disk open.  The file is closed later, by a task work or a work
 * queue.  By then the disk has gone, and dasd_release() does not give the
 * reference to the module of the discipline back: dasd_diag_mod can never
 * be unloaded.
 *
 * Close the file at once, as it was when this was a block device without a
 * file.
 *
 * Tried by setting a disk offline and unloading both modules.
 *
 * Fixes: c8e108d80cd8 ("s390: port block device access to file")
 */
//@ file: drivers/s390/block/dasd_genhd.c
//@ for: 6.12 7.2
//@ before: #include <linux/fs.h>
#include <linux/file.h>
//@ in: void dasd_destroy_partitions(
//@ replace: 	fput(bdev_file);
	__fput_sync(bdev_file);
