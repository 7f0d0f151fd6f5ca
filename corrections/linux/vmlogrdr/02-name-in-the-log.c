/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Do not print a name without an end
 *
 * The name of a system service takes all eight characters of its field, so
 * the next field is printed as well:
 *
 *   iucv connection to *ACCOUNTaccount failed with rc 15
 *
 * Print the name of the device instead, which ends, as mainline does since
 * commit 76bda8a16d77 ("s390/vmlogrdr: Use internal_name for error
 * messages").
 *
 * Tried with a CP that refuses CONNECT with code 15.
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ for: 6.1 6.12
//@ in: static int vmlogrdr_open (
//@ replace: 		       logptr->system_service, connect_rc);
		       logptr->internal_name, connect_rc);
