/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Free messages at close when the path has been severed
 *
 * close() frees the messages that the partner has not taken in time, and
 * severs the path then.  In between CP still has their addresses: a partner
 * that receives one on another CPU gets what is there then.
 *
 * Sever first.
 *
 * Tried with a partner that receives while close() is about to sever, and
 * init_on_free: it gets zeros instead of the message.
 */
//@ file: net/iucv/af_iucv.c
//@ in: /* Close an IUCV socket */
//@ replace 6: 		sk->sk_err = ECONNRESET;
		sk->sk_err = ECONNRESET;
		sk->sk_state_change(sk);
		fallthrough;
//@ after: 		iucv_sever_path(sk, 1);
		/* CP had these addresses until now */
		skb_queue_purge(&iucv->send_skb_q);
		skb_queue_purge(&iucv->backlog_skb_q);
