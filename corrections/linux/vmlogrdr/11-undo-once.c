/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Do not undo the registration of the driver twice
 *
 * If vmlogrdr_register_driver() fails, it has undone its steps.
 * vmlogrdr_init() calls vmlogrdr_cleanup() then, which undoes all of them
 * once more:
 *
 *   Unexpected driver unregister!
 *
 * or an oops in klist_put().  Undo only what was done before.
 *
 * Tried with a module that lets driver_register() fail.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ in: static int __init vmlogrdr_init(
//@ replace 3: 	rc=vmlogrdr_register_driver();
	rc = vmlogrdr_register_driver();
	if (rc) {
		unregister_chrdev_region(dev, MAXMINOR);
		return rc;
	}
