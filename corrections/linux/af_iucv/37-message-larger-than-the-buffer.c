/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Receive a message that is larger than the receive buffer
 *
 * A message for which the receive buffer has no room waits until the
 * program has read something. If the buffer is empty there is nothing to
 * read: recv() sleeps forever, and so do all messages behind that one.
 *
 * With the smallest SO_RCVBUF, 2304 bytes, that is so for a message of
 * 5000 bytes.
 *
 * Receive a message into an empty buffer, whatever its length.
 *
 * Tried with a message of 5000 bytes and the smallest buffer, on 6.1.
 *
 * Fixes: f0703c80e515 ("[AF_IUCV]: postpone receival of iucv-packets")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static void iucv_callback_rx(
//@ replace: 	if (len > sk->sk_rcvbuf)
	if (len > sk->sk_rcvbuf && atomic_read(&sk->sk_rmem_alloc))
