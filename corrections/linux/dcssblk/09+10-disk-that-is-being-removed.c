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
 * A write to "shared" takes the segments away, too, for a while, or for
 * good if CP refuses the new mode.  The disk goes in the same order then,
 * and so does one that cannot be added.
 *
 * Leave the disk in the list until nothing of it is left, and let its use
 * count say that its segments are away.  Who opens it then gets ENXIO, and
 * who writes to its attributes EBUSY or ENODEV.
 *
 * Tried with a CPU that is held in front of del_gendisk() and of
 * device_unregister(), by a write to "remove" and by one to "shared".
 *
 * Fixes: 789dd8cb1eb1 ("s390/dcssblk: fix lockdep warning")
 */
//@ file: drivers/s390/block/dcssblk.c
//@ replace: static struct rw_semaphore dcssblk_devices_sem;
static struct rw_semaphore dcssblk_devices_sem;

/*
 * nothing is left of a disk but its name and its number, which others may
 * have from now on.
 */
static void
dcssblk_forget(struct dcssblk_dev_info *dev_info)
{
	down_write(&dcssblk_devices_sem);
	list_del(&dev_info->lh);
	up_write(&dcssblk_devices_sem);
	put_disk(dev_info->gd);
	put_device(&dev_info->dev);
}
//@ replace: 	atomic_inc(&dev_info->use_count);
	if (!atomic_inc_unless_negative(&dev_info->use_count)) {
		rc = -ENXIO;
		goto out;
	}
//@ in: dcssblk_shared_store(struct device *dev, struct device_attribute *attr, const char *inbuf
//@ replace 4: 	if (atomic_read(&dev_info->use_count)) {
	/* nobody opens it while its segments are away */
	if (atomic_cmpxchg(&dev_info->use_count, 0, -1) != 0) {
		up_write(&dcssblk_devices_sem);
		return -EBUSY;
	}
//@ replace: 	list_del(&dev_info->lh);
//@ replace: 	put_disk(dev_info->gd);
//@ replace 2: 		device_unregister(dev);
		device_unregister(dev);
		dcssblk_forget(dev_info);
//@ replace: out:
out:
	atomic_set_release(&dev_info->use_count, 0);
//@ in: dcssblk_save_store(struct device *dev, struct device_attribute *attr, const char *inbuf, size_t count)
//@ before: 	if (inbuf[0] == '1') {
	if (atomic_read(&dev_info->use_count) < 0) {
		up_write(&dcssblk_devices_sem);
		return -ENODEV;
	}
//@ in: dcssblk_add_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
//@ replace 3: put_dev:
put_dev:
	/* nobody writes to its attributes from now on */
	atomic_set(&dev_info->use_count, -1);
//@ replace 2: 		device_del(&dev_info->dev);
		device_del(&dev_info->dev);
	dcssblk_forget(dev_info);
//@ in: dcssblk_remove_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
//@ replace: 	if (atomic_read(&dev_info->use_count) != 0) {
	/* nobody opens it from now on */
	if (atomic_cmpxchg(&dev_info->use_count, 0, -1) != 0) {
//@ replace: 	list_del(&dev_info->lh);
//@ replace: 	put_disk(dev_info->gd);
//@ replace 2: 	device_unregister(&dev_info->dev);
	device_unregister(&dev_info->dev);
	dcssblk_forget(dev_info);
