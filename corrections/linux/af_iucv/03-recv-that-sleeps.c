/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Return the end of the stream to a recv() that sleeps
 *
 * When the partner has severed the connection, recv() returns 0.  A recv()
 * that sleeps at that moment returns ENOTCONN, because skb_recv_datagram()
 * finds a socket that is not connected.
 *
 * Return 0 in both cases, unless a message came just before the sever.
 *
 * Tried with a partner that severs while recv() sleeps.
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int iucv_sock_recvmsg(
//@ after: 		if (sk->sk_shutdown & RCV_SHUTDOWN)
			return 0;
		/* severed while waiting, and nothing came before that */
		if (err == -ENOTCONN && sk->sk_state == IUCV_DISCONN &&
		    skb_queue_empty(&sk->sk_receive_queue))
