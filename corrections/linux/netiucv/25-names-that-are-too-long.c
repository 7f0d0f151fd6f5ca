/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Refuse names that are one character too long
 *
 * netiucv_check_user() leaves room for a newline.  Without one, a ninth
 * character of the user ID, or a seventeenth of the user data, is cut off.
 *
 * Refuse what follows but a newline.
 *
 * Tried with names of nine and seventeen characters.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static int netiucv_check_user(
//@ before: 	while (i < 8)
	if (*p && *p != '.' && *p != '\n')
		return -EINVAL;
//@ before: 		while (i > 0 && i < 16)
		if (*p && *p != '\n')
			return -EINVAL;
