/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Let poll show a connection that was severed before accept()
 *
 * accept() gives a connection that the partner has severed already, but
 * poll does not show it.  A server that polls never takes such
 * connections.  They count for the backlog, so after some of them it
 * refuses everybody.
 *
 * Let poll show what accept() gives.
 *
 * Tried with a partner that connects and severs before accept().
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static inline __poll_t iucv_accept_poll(
//@ replace: 		if (sk->sk_state == IUCV_CONNECTED)
		if (sk->sk_state == IUCV_CONNECTED ||
		    sk->sk_state == IUCV_DISCONN)
