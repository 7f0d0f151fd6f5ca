/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Reject a message that is too large for a socket buffer
 *
 * A partner that does not use af_iucv can send messages of any size.  For
 * one that no socket buffer has room for, the allocation fails each time,
 *
 *   alloc of recv iucv skb len=200000 failed with errcode=-90
 *   WARNING: ... at net/iucv/af_iucv.c
 *
 * and it stays at the head of message_q, so that no later message is
 * received.
 *
 * Reject such a message, as that is how its sender learns of it.
 *
 * Tried with a message of 200000 bytes, followed by a small one.
 */
//@ file: net/iucv/af_iucv.c
//@ in: static void iucv_callback_rx(
//@ replace: 	if (sk->sk_shutdown & RCV_SHUTDOWN) {
	if ((sk->sk_shutdown & RCV_SHUTDOWN) ||
	    iucv_msg_length(msg) > IUCV_MSG_MAX) {
