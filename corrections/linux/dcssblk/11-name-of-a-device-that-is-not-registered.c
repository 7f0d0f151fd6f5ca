/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dcssblk: Name the device when it is registered
 *
 * dcssblk_add_store() names the device, and then does what may fail before
 * the device is registered: it makes the disk, finds it a number, and takes
 * a reference of the module.  If one of these fails, it frees what
 * describes the device, and the name stays.
 *
 * Give it the name just before the registration: from there on
 * put_device() frees it.
 *
 * Tried with a module that lets __blk_alloc_disk() fail, a hundred times.
 */
//@ file: drivers/s390/block/dcssblk.c
//@ in: dcssblk_add_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
//@ replace: 	dev_set_name(&dev_info->dev, "%s", dev_info->segment_name);
//@ replace: 	rc = device_register(&dev_info->dev);
	dev_set_name(&dev_info->dev, "%s", dev_info->segment_name);
	rc = device_register(&dev_info->dev);
