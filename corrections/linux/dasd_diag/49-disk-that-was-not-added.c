/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dasd: Do not delete a disk that could not be added
 *
 * If device_add_disk() fails, for want of memory, dasd_gendisk_alloc()
 * calls dasd_gendisk_free(). That calls del_gendisk(), which is for disks
 * that have been added, and warns that this one has not.
 *
 * Give back only what there is: the disk that was allocated, and its tags.
 *
 * Tried by setting a disk online while each allocation of that fails, one
 * after the other.
 */
//@ file: drivers/s390/block/dasd_genhd.c
//@ in: int dasd_gendisk_alloc(
//@ replace: 		dasd_gendisk_free(block);
		block->gdp = NULL;
		put_disk(gdp);
		blk_mq_free_tag_set(&block->tag_set);
