/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Let connect() go on without being waited for
 *
 * With O_NONBLOCK, connect() asks CP for a path, does not wait for the
 * partner's answer, severs the path at once and returns EAGAIN: such a
 * socket can never connect to another user.  connect() of io_uring, which
 * tries that first, never ends.
 *
 * Return EINPROGRESS, and keep the path.  A socket without a connection
 * that has a path is one whose connection is being made: poll() does not
 * show it as writable until the answer is there, and SO_ERROR tells of a
 * refusal.  Over HiperSockets, which have no path, all stays as it is.
 *
 * Tried with a partner that accepts, and with one that severs.
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int iucv_sock_in_state(
//@ replace: 	return (sk->sk_state == state || sk->sk_state == state2);
	return (sk->sk_state == state || sk->sk_state == state2);
}

/* Has a path been asked for that the partner has not accepted yet? */
static bool iucv_sock_connecting(struct sock *sk)
{
	return iucv_sk(sk)->path &&
	       iucv_sock_in_state(sk, IUCV_OPEN, IUCV_BOUND);
//@ in: static int iucv_sock_connect(
//@ replace: 	if (sk->sk_state != IUCV_CONNECTED)
	/* poll() tells when the answer is there, and SO_ERROR what it is */
	if ((flags & O_NONBLOCK) && iucv->transport == AF_IUCV_TRANS_IUCV &&
	    iucv_sock_in_state(sk, IUCV_OPEN, IUCV_BOUND)) {
		err = -EINPROGRESS;
		goto done;
	}

	if (sk->sk_state != IUCV_CONNECTED)
//@ replace 2: 	if (sk->sk_state == IUCV_DISCONN || sk->sk_state == IUCV_CLOSED)
	if (sk->sk_state == IUCV_DISCONN || sk->sk_state == IUCV_CLOSED) {
		sock_error(sk); /* this call tells of it */
		err = -ECONNREFUSED;
	}
//@ in: static __poll_t iucv_sock_poll(
//@ replace: 	if (sock_writeable(sk) && iucv_below_msglim(sk))
	if (!iucv_sock_connecting(sk) &&
	    sock_writeable(sk) && iucv_below_msglim(sk))
//@ in: static void iucv_callback_connrej(
//@ before: 	iucv_sever_path(sk, 1);
	if (iucv_sock_connecting(sk))
		sk->sk_err = ECONNREFUSED;
