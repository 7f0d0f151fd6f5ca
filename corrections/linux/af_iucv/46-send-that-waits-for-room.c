/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Let send() wait for room without the socket's lock
 *
 * When the send buffer is full, send() sleeps in sock_alloc_send_pskb()
 * until the partner has taken something, and keeps the socket locked.
 * Every other thread that sets an option, asks for one, or calls shutdown()
 * or send() sleeps uninterruptibly meanwhile, and nothing but the partner
 * can end that: even SIGKILL has no effect.
 *
 * If there is no room, release the lock while waiting for it, as
 * iucv_sock_wait() does, and look again afterwards whether data may still
 * be sent.
 *
 * Tried with a partner that takes nothing, and a thread that sets an option
 * while another one sends.
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int iucv_sock_sendmsg(
//@ replace 2: 	skb = sock_alloc_send_pskb(sk, headroom + linear, len - linear,
	skb = sock_alloc_send_pskb(sk, headroom + linear, len - linear,
				   1, &err, 0);
	if (!skb && err == -EAGAIN && !noblock) {
		/* This may sleep for as long as the partner likes */
		release_sock(sk);
		skb = sock_alloc_send_pskb(sk, headroom + linear, len - linear,
					   0, &err, 0);
		lock_sock(sk);
	}
//@ replace: 	/* return -ECONNRESET if the socket is no longer connected */
	/* whoever had the lock meanwhile may have shut the socket down */
	if (sk->sk_shutdown & SEND_SHUTDOWN) {
		err = -EPIPE;
		goto fail;
	}

	/* return -ECONNRESET if the socket is no longer connected */
