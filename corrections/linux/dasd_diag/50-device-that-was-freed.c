/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/dasd: Do not wait for a device that has been freed
 *
 * If a device cannot be set online, dasd_generic_set_online() calls
 * dasd_delete_device(), which drops the last references and frees the
 * device. It then waits until the device has the state that it should have,
 * and drops one reference more. What is there now decides how long that
 * takes: on some kernels the write to "online" never returns.
 *
 * Return the error as soon as the device has gone.
 *
 * Tried by setting a disk online while the disk of the block layer cannot
 * be allocated, or added.
 */
//@ file: drivers/s390/block/dasd.c
//@ in: int dasd_generic_set_online(
//@ replace 5: 			dasd_free_block(device->block);
			dasd_free_block(device->block);
		dasd_delete_device(device);
		return rc;
	}

	dev_dbg(dev, "dasd_generic device found\n");
