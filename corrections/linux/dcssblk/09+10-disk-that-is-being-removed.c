/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dcssblk: Do not let go of a disk before it has been removed
 *
 * A write to "remove" takes the disk out of the list of all disks, unloads
 * its segments, and gives dcssblk_devices_sem up.  The disk itself and its
 * attributes go after that, and meanwhile
 *
 * - a disk that is added gets the same number and fails, with
 *   "sysfs: cannot create duplicate filename '/class/block/dcssblk0'",
 * - a program that opens the disk and reads is an oops in memcpy(), and
 * - a write to "shared" is a BUG, because the segment is not known any
 *   more.
 *
 * Leave the disk in the list until nothing of it is left, and let its use
 * count say that it is being removed.  Who opens it then gets ENXIO, and
 * who writes to its attributes EBUSY or ENODEV.
 *
 * Tried with a CPU that is held in front of del_gendisk() and of
 * device_unregister().
 */
//@ file: drivers/s390/block/dcssblk.c
//@ replace: 	atomic_inc(&dev_info->use_count);
	if (!atomic_inc_unless_negative(&dev_info->use_count)) {
		rc = -ENXIO;
		goto out;
	}
//@ in: dcssblk_save_store(struct device *dev, struct device_attribute *attr, const char *inbuf
//@ before: 	if (inbuf[0] == '1') {
	if (atomic_read(&dev_info->use_count) < 0) {
		up_write(&dcssblk_devices_sem);
		return -ENODEV;
	}
//@ in: dcssblk_remove_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
//@ replace: 	if (atomic_read(&dev_info->use_count) != 0) {
	/* nobody opens it from now on */
	if (atomic_cmpxchg(&dev_info->use_count, 0, -1) != 0) {
//@ replace: 	list_del(&dev_info->lh);
//@ replace: 	device_unregister(&dev_info->dev);
	device_unregister(&dev_info->dev);
	down_write(&dcssblk_devices_sem);
	list_del(&dev_info->lh);
	up_write(&dcssblk_devices_sem);
