/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dasd: Give DIAGNOSE X'250' real addresses
 *
 * CP takes the address of the parameter list, that of the list of blocks in
 * it, and those of the buffers in that list for real ones.  The driver gives
 * it virtual ones, which are other addresses if the kernel's identity mapping
 * has been moved (CONFIG_RANDOMIZE_IDENTITY_BASE).  CP then answers with a
 * program interruption: no disk can be set online, and the driver says that
 * a 64-bit DIAG call failed.
 *
 * Convert them.
 *
 * Tried with and without that option: setting disks online, writes and
 * reads of blocks and of a file system, errors of blocks.
 */
//@ file: drivers/s390/block/dasd_diag.h
//@ replace: 	void *buffer;
	u64 buffer;		/* a real address */
//@ replace: 	struct dasd_diag_bio *bio_list;
	u64 bio_list;		/* a real address */
//@ file: drivers/s390/block/dasd_diag.c
//@ replace: 	union register_pair rx = { .even = (unsigned long)iob, };
	union register_pair rx = { .even = virt_to_phys(iob), };
//@ replace: 	private->iob.bio_list = dreq->bio;
	private->iob.bio_list = virt_to_phys(dreq->bio);
//@ replace: 		bio->buffer = label;
		bio->buffer = virt_to_phys(label);
//@ replace: 		private->iob.bio_list = bio;
		private->iob.bio_list = virt_to_phys(bio);
//@ replace: 			dbio->buffer = dst;
			dbio->buffer = virt_to_phys(dst);
