/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/monreader: Honor the message limit that CP grants
 *
 * A reader has to learn by EOVERFLOW that CP had to hold back data, that
 * is, when as many messages are queued as the connection may have.
 * monreader compares with what it asked for, but CP may grant less, and
 * does so if the user's directory entry has a lower MSGLIMIT.  EOVERFLOW
 * never comes then.
 *
 * The limit of what CP sends is in the connection complete interruption,
 * from which iucv_path_complete() takes the flags only.  Take the limit,
 * too, and use it.  path->msglim stays what CONNECT has returned, as it
 * limits what this side sends.
 *
 * Tried with limits of 1, 10, 100 and 255.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: include/net/iucv/iucv.h
//@ after:  * msglim: 16 bit message limit
 * msglim_partner: message limit of what the partner sends
//@ after: 	u16 msglim;
	u16 msglim_partner;
//@ file: net/iucv/iucv.c
//@ in: static void iucv_path_complete(
//@ replace 2: 	if (path)
	if (path) {
		path->flags = ipc->ipflags1;
		path->msglim_partner = ipc->ipmsglim;
	}
//@ file: drivers/s390/char/monreader.c
//@ in: static void mon_iucv_message_pending(
//@ replace: 	if (atomic_inc_return(&monpriv->msglim_count) == MON_MSGLIM) {
	if (atomic_inc_return(&monpriv->msglim_count) ==
	    min_t(int, path->msglim_partner, MON_MSGLIM)) {
