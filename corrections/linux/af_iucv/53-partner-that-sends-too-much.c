/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Do not warn of a partner that sends too much
 *
 * Over HiperSockets, a partner may send as many messages as the socket has
 * allowed until it confirms some.  For one that sends more, recv() closes
 * the socket and returns EFAULT, which is all that is needed.  But it also
 * says
 *
 *   WARNING: ... at net/iucv/af_iucv.c
 *
 * so that any system on the network can fill the log, and end this one if
 * panic_on_warn is set.
 *
 * Remove the WARN_ON().
 *
 * Tried with a device that tells the partner of a larger limit.
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int iucv_sock_recvmsg(
//@ replace: 				WARN_ON(1);
