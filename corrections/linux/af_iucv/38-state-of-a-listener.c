/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Let SO_ACCEPTCONN say that a socket listens
 *
 * getsockopt(SO_ACCEPTCONN) compares the socket's state with TCP_LISTEN.
 * AF_IUCV has another number for it, so that the option is always 0.
 *
 * Give the state of a listener TCP's number, as AF_UNIX does, and leave the
 * others theirs.  No number of a state leaves the kernel.  With this number
 * skb_recv_datagram() sleeps: let a recv() of a listener that may sleep go
 * on failing with ENOTCONN.
 *
 * Tried by reading the option before and after listen(), and with recv() of
 * a listener.
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: include/net/iucv/af_iucv.h
//@ after: #include <net/iucv/iucv.h>
#include <net/tcp_states.h>
//@ replace 4: 	IUCV_LISTEN,
	IUCV_DISCONN = 5,
	IUCV_CLOSING,
	IUCV_CLOSED,
	IUCV_LISTEN = TCP_LISTEN	/* for SO_ACCEPTCONN */
//@ file: net/iucv/af_iucv.c
//@ in: static int iucv_sock_recvmsg(
//@ replace 2: 	if (flags & (MSG_OOB))
	if (flags & (MSG_OOB))
		return -EOPNOTSUPP;

	/* skb_recv_datagram() would take it for connected, and sleep */
	if (sk->sk_state == IUCV_LISTEN && !(flags & MSG_DONTWAIT) &&
	    !(sk->sk_shutdown & RCV_SHUTDOWN))
		return -ENOTCONN;
