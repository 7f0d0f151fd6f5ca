/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Do not take an empty message for the end of the stream
 *
 * send() of no bytes is a message of no bytes.  The receiver takes it for
 * the message that shutdown() sends: it sets RCV_SHUTDOWN, returns 0 from
 * then on, and rejects what follows.  The sender learns nothing of that.
 *
 * The message of shutdown() has no data pointer, unlike an empty one.
 * Look at that: recv() returns 0 for an empty message, and goes on with the
 * next one.  HiperSockets stay as they are: there an empty frame may also be
 * one that only opens the window.
 *
 * Tried with an empty message, followed by another one.
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int iucv_sock_recvmsg(
//@ replace: 	if (!rlen)
	if (!rlen &&
	    (iucv->transport == AF_IUCV_TRANS_HIPER || !skb->data))
