/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/cmm: Do not cut off the last character of cmm_timeout
 *
 * The handler overwrites the last character of what is written with the
 * end of the string, be it a newline or not. "40 12" without one, as
 * echo -n writes it, is taken for "40 1".
 *
 * Put the end behind it.
 *
 * Tried with and without a newline.
 *
 * Fixes: b8e51a6a9db9 ("s390/cmm: fix information leak in cmm_timeout_handler()")
 */
//@ file: arch/s390/mm/cmm.c
//@ in: static int cmm_timeout_handler(
//@ replace 3: 		len = min(*lenp, sizeof(buf));
		len = min(*lenp, sizeof(buf) - 1);
		memcpy(buf, buffer, len);
		buf[len] = '\0';
