/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Refuse a second connect() while the first one waits
 *
 * connect() waits for the partner's answer without the socket's lock, in
 * the state of a socket that has no connection.  Another thread's connect()
 * puts a path of its own in the place of the first one, which nobody severs
 * any more.  The first path still points to the socket.  If the socket is
 * closed and the partner answers, iucv_callback_connack() calls through
 * memory that has been freed: an oops in tasklet_action_common.  A user
 * without privileges can do that with any partner who takes his time.
 *
 * A path in such a state is a connection that is being made.  Look for it
 * with the socket locked, and return EALREADY.  listen() would give the
 * socket a state in which close() does not sever: let it fail with EINVAL,
 * as it does for a socket that is connected.
 *
 * Tried with two threads of which the second one connects, or listens, while
 * the first one waits for a partner.
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int iucv_sock_connect(
//@ replace 17: 	if (sk->sk_state != IUCV_OPEN && sk->sk_state != IUCV_BOUND)
	lock_sock(sk);

	err = -EBADFD;
	if (sk->sk_state != IUCV_OPEN && sk->sk_state != IUCV_BOUND)
		goto done;

	if (sk->sk_state == IUCV_OPEN &&
	    iucv->transport == AF_IUCV_TRANS_HIPER)
		goto done; /* explicit bind required */

	err = -EINVAL;
	if (sk->sk_type != SOCK_STREAM && sk->sk_type != SOCK_SEQPACKET)
		goto done;

	/* Another connect() waits for its answer, without the lock */
	err = -EALREADY;
	if (iucv->path)
		goto done;

	if (sk->sk_state == IUCV_OPEN) {
		err = iucv_sock_autobind(sk);
		if (unlikely(err))
			goto done;
	}
//@ in: static int iucv_sock_listen(
//@ replace: 	if (sk->sk_state != IUCV_BOUND)
	if (sk->sk_state != IUCV_BOUND || iucv_sk(sk)->path)
