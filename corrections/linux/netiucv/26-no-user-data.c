/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Do not take user data from the stack
 *
 * With a dot and nothing behind it, the user data are not set at all, and
 * the partner gets 16 bytes of the kernel's stack.
 *
 * They are blanks then.
 *
 * Tried with such a name.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static int netiucv_check_user(
//@ replace: 		while (i > 0 && i < 16)
		while (i < 16)
