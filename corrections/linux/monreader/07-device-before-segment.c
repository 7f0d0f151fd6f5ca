/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Remove the device before its segment
 *
 * mon_exit() unloads the segment while the device still exists.  Nobody
 * can open it at that time, but only because misc_open() gets no reference
 * to a module that is being unloaded.  Do it in the reverse order of
 * mon_init().
 *
 * Tried with a CP that ends the unloading when it is asked to take the
 * segment back: the device has gone by then.
 */
//@ file: drivers/s390/char/monreader.c
//@ in: static void __exit mon_exit(
//@ replace 2: 	segment_unload(mon_dcss_name);
	misc_deregister(&mon_dev);
	segment_unload(mon_dcss_name);
