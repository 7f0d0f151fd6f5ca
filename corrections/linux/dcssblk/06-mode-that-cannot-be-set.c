/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dcssblk: Do not report a mode that could not be set
 *
 * segment_modify_shared() returns EAGAIN, and does nothing, if another
 * part of the kernel uses the segment, too. dcssblk_shared_store() takes
 * that for success.  For a segment of type SR that means that the disk is
 * no longer read-only, but its storage is, and a write to the disk is an
 * oops.
 *
 * Return EAGAIN, and give the segments before this one their old mode
 * back.
 *
 * Tried with a module that has loaded the same segment.
 */
//@ file: drivers/s390/block/dcssblk.c
//@ in: dcssblk_shared_store(struct device *dev, struct device_attribute *attr, const char *inbuf
//@ replace 6: 						SEGMENT_SHARED);
						SEGMENT_SHARED);
			if (rc == -EAGAIN) {
				mode = SEGMENT_EXCLUSIVE;
				goto restore;
			}
			if (rc < 0) {
				BUG_ON(rc == -EINVAL);
				goto removeseg;
			}
//@ replace 6: 						   SEGMENT_EXCLUSIVE);
						   SEGMENT_EXCLUSIVE);
			if (rc == -EAGAIN) {
				mode = SEGMENT_SHARED;
				goto restore;
			}
			if (rc < 0) {
				BUG_ON(rc == -EINVAL);
				goto removeseg;
			}
//@ replace: 	int rc;
	int rc, mode;
//@ replace: removeseg:
restore:
	list_for_each_entry_continue_reverse(entry, &dev_info->seg_list, lh) {
		rc = segment_modify_shared(entry->segment_name, mode);
		if (rc < 0 && rc != -EAGAIN)
			goto removeseg;
	}
	rc = -EAGAIN;
	goto out;

removeseg:
