/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dcssblk: Unload a segment if there is no memory for its disk
 *
 * dcssblk_add_store() loads the first segment, and then allocates what
 * describes the disk.  If that fails, the segment is in no list yet, and
 * stays loaded.
 *
 * Unload it.
 *
 * Tried with a module that lets the allocation fail.
 */
//@ file: drivers/s390/block/dcssblk.c
//@ in: dcssblk_add_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
//@ replace 2: 			if (dev_info == NULL) {
			if (dev_info == NULL) {
				segment_unload(seg_info->segment_name);
				kfree(seg_info);
				rc = -ENOMEM;
