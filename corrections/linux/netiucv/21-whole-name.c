/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Remove the interface that was named
 *
 * remove_store() compares as many characters as were written.  Without a
 * newline, "iu" removes iucv0, and "iucv1" may remove iucv10.
 *
 * Compare whole names.
 *
 * Tried with the beginning of a name.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static ssize_t remove_store(
//@ replace: 		if (strncmp(name, ndev->name, count))
		if (strcmp(name, ndev->name))
