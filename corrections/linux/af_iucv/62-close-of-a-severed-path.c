/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Let a sever end the wait of close()
 *
 * close() waits for the partner to take what was sent: until the state is
 * IUCV_CLOSED, or for the time of SO_LINGER.  A partner that severs
 * meanwhile takes nothing any more, but the state becomes IUCV_DISCONN, and
 * close() sleeps on for all of that time.
 *
 * Make it IUCV_CLOSED then.
 *
 * Tried with a partner that severs while close() waits for 40 seconds.
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static void iucv_callback_connrej(
//@ replace: 	sk->sk_state = IUCV_DISCONN;
	/* close() waits for what will not be taken any more */
	sk->sk_state = sk->sk_state == IUCV_CLOSING ? IUCV_CLOSED :
						      IUCV_DISCONN;
