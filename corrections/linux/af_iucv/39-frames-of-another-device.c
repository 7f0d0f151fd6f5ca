/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Take a frame only for sockets of the device that received it
 *
 * Over HiperSockets a socket is found by names alone. Whoever sends a frame
 * with these names from any other network is connected to it, and can end
 * its connections.
 *
 * Compare the device, too. Later series do so.
 *
 * Tried with frames of two devices, on 6.1.
 *
 * Fixes: 3881ac441f64 ("af_iucv: add HiperSockets transport")
 */
//@ file: net/iucv/af_iucv.c
//@ for: 6.1
//@ in: static int afiucv_hs_rcv(
//@ after: 	sk_for_each(sk, &iucv_sk_list.head) {
		if (iucv_sk(sk)->hs_dev != dev)
			continue;
