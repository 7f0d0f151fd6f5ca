/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dasd: Do not delete a disk that could not be added
 *
 * If device_add_disk() fails, for want of memory, dasd_gendisk_alloc()
 * calls dasd_gendisk_free(). That calls del_gendisk(), which is for disks
 * that have been added, and warns that this one has not.  A disk that
 * cannot be named goes in the same way, and leaves its tags.
 *
 * Give back only what there is: the disk that was allocated, and its tags.
 *
 * Tried by setting a disk online while each allocation of that fails, one
 * after the other.
 *
 * Fixes: 11dfe199eb31 ("s390/block/dasd_genhd: add error handling support for add_disk()")
 */
//@ file: drivers/s390/block/dasd_genhd.c
//@ for: 6.1 6.12
//@ in: int dasd_gendisk_alloc(
//@ replace: 		dasd_gendisk_free(block);
		block->gdp = NULL;
		put_disk(gdp);
		blk_mq_free_tag_set(&block->tag_set);
//@ file: drivers/s390/block/dasd_genhd.c
//@ for: 7.2
//@ replace: static void dasd_gd_free(struct gendisk *gdp);
//@ in: int dasd_gendisk_alloc(
//@ replace 2: 		dasd_gd_free(gdp);
		goto out_disk;
//@ replace 2: 		dasd_gendisk_free(block);
		block->gdp = NULL;
		goto out_disk;
//@ replace: 	return 0;
	return 0;

out_disk:
	put_disk(gdp);
	blk_mq_free_tag_set(&block->tag_set);
	return rc;
