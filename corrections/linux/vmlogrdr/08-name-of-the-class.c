/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Give the class its documented name back
 *
 * The class of the devices was called "vmlogrdr" until it became a
 * constant structure, with the name "vmlogrdr_class".  Programs look for
 * the device numbers in /sys/class/vmlogrdr, as IBM's documentation says.
 *
 * Tried by reading the numbers of the devices there.
 *
 * Fixes: b5b44ac82930 ("s390/vmlogrdr: make vmlogrdr_class constant")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ for: 6.12 7.2
//@ replace: 	.name = "vmlogrdr_class",
	.name = "vmlogrdr",
