/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dcssblk: Let a save that fails be an error
 *
 * segment_save() returns nothing, and dcssblk says that all segments are
 * saved before it has called it.  If CP refuses DEFSEG or SAVESEG, the
 * write to the attribute succeeds, and the contents are lost with the
 * disk.
 *
 * Return what became of it, and say that they are saved when they are.
 *
 * Tried with a CP that refuses DEFSEG or SAVESEG with code 435.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: arch/s390/include/asm/extmem.h
//@ replace: void segment_save(char *name);
int segment_save(char *name);
//@ file: arch/s390/mm/extmem.c
//@ replace 4:  * save segment content permanently
 * save segment content permanently
 * return values:
 * -ENODEV  : we are not running on VM
 * -EINVAL  : no segment with the given name is currently loaded
 * -EIO     : CP has refused to save it
 * 0	    : operation succeeded
 */
int
segment_save(char *name)
//@ in: segment_save(char *name)
//@ replace: 		return;
		return -ENODEV;
//@ replace: 	int i, response;
	int i, response, rc;
//@ after: 	seg = segment_by_name (name);
	rc = -EINVAL;
//@ before: 	response = 0;
	rc = -EIO;
//@ before: out:
	rc = 0;
//@ after: 	mutex_unlock(&dcss_lock);
	return rc;
//@ file: drivers/s390/block/dcssblk.c
//@ in: dcssblk_save_store(
//@ before: 	struct segment_info *entry;
	int err, rc = 0;
//@ replace 2: 			pr_info("All DCSSs that map to device %s are "
//@ replace 3: 				else
				} else {
					err = segment_save(entry->segment_name);
					rc = rc ?: err;
				}
			}
			if (!rc)
				pr_info("All DCSSs that map to device %s are saved\n",
					dev_info->segment_name);
//@ replace: 				    entry->segment_type == SEG_TYPE_SN)
				    entry->segment_type == SEG_TYPE_SN) {
//@ replace: 	return count;
	return rc ?: count;
