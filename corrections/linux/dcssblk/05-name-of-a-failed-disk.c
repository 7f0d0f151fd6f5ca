/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dcssblk: Take a disk that could not be added out of sysfs
 *
 * If a step behind device_register() fails, only the reference is dropped.
 * The device stays in sysfs, and each further attempt fails with EEXIST
 * and
 *
 *   sysfs: cannot create duplicate filename
 *
 * Delete the device as well.  That waits for writes to its attributes,
 * which take dcssblk_devices_sem, so do it behind the semaphore, as
 * dcssblk_remove_store() does.
 *
 * Tried with a module that lets device_add_disk() fail.
 */
//@ file: drivers/s390/block/dcssblk.c
//@ in: dcssblk_add_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
//@ replace 5: 	list_for_each_entry(seg_info, &dev_info->seg_list, lh) {
	list_for_each_entry(seg_info, &dev_info->seg_list, lh) {
		segment_unload(seg_info->segment_name);
	}
	up_write(&dcssblk_devices_sem);
	if (device_is_registered(&dev_info->dev))
		device_del(&dev_info->dev);
	put_device(&dev_info->dev);
