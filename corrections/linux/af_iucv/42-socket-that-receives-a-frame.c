/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Keep the socket that a frame was found for
 *
 * Over HiperSockets, the socket of a frame is used after the lock of the
 * list has been given back. close() on another CPU takes it off the list
 * and frees it meanwhile.
 *
 * Hold the socket as long as the frame is worked on. Later series do so.
 *
 * Tried on 6.1 with a CPU that is held in sk_filter_trim_cap() while another
 * one closes the socket.
 *
 * Fixes: 3881ac441f64 ("af_iucv: add HiperSockets transport")
 */
//@ file: net/iucv/af_iucv.c
//@ for: 6.1
//@ in: static int afiucv_hs_rcv(
//@ before: 	read_unlock(&iucv_sk_list.lock);
	if (sk)
		sock_hold(sk);
//@ before: 	return err;
	if (sk)
		sock_put(sk);
