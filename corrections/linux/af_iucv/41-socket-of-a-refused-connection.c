/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Free the socket of a HiperSockets connection that is refused
 *
 * The socket for a connection is allocated before anybody looks whether the
 * other one listens and has room. If not, or if the answer cannot be sent,
 * iucv_sock_kill() does nothing with it, because it is not zapped: it stays
 * until the next boot, for each frame that asks for a connection.
 *
 * Allocate it when the other socket listens and has room. If the answer
 * cannot be sent, mark it as zapped, and put its device.
 *
 * Tried with five connections to a socket that does not listen, on 6.1.
 *
 * Fixes: 3881ac441f64 ("af_iucv: add HiperSockets transport")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int afiucv_hs_callback_syn(
//@ replace 5: 	nsk = iucv_sock_alloc(NULL, sk->sk_protocol, GFP_ATOMIC, 0);
	nsk = NULL;
	bh_lock_sock(sk);
	if (sk->sk_state == IUCV_LISTEN && !sk_acceptq_is_full(sk))
		nsk = iucv_sock_alloc(NULL, sk->sk_protocol, GFP_ATOMIC, 0);
	if (!nsk) {
//@ replace 2: 	} else
	} else {
		dev_put(niucv->hs_dev);
		niucv->hs_dev = NULL;
		sock_set_flag(nsk, SOCK_ZAPPED);
		iucv_sock_kill(nsk);
	}
//@ file: net/iucv/af_iucv.c
//@ for: 6.1
//@ in: static int afiucv_hs_callback_syn(
//@ replace 5: 		/* error on server socket - connection refused */
		/* error on server socket - connection refused */
		afiucv_swap_src_dest(skb);
		trans_hdr->flags = AF_IUCV_FLAG_SYN | AF_IUCV_FLAG_FIN;
		err = dev_queue_xmit(skb);
//@ file: net/iucv/af_iucv.c
//@ for: 6.12 7.2
//@ in: static int afiucv_hs_callback_syn(
//@ replace 2: 		if (nsk)
