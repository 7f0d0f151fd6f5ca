/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Do not send on path 0 while the partner severs
 *
 * shutdown() looks at the state of a socket that it has locked, and sends
 * the partner a message on the socket's path.  The lock does not keep out
 * the interruption of a sever on another CPU: that takes the path away
 * first, and changes the state later.  In between shutdown() passes on a
 * path that is NULL.  On s390 there is storage at address 0, so the message
 * goes out on the path of the number that stands there, 0, which is another
 * connection of the guest.  Its partner gets eight bytes that nobody sent,
 * and a socket at the other end takes them for the end of the stream.
 *
 * send() does the same with its data if the path goes after the look at the
 * state, and getsockopt() reads the message limit of a path that goes.
 *
 * Use the path with the spin lock that the interruption takes, and only if
 * there is one.  iucv_path_sever() needs the lock of IUCV's table, which an
 * interruption takes first: call it without the spin lock.
 *
 * Tried with an interruption that stands still where it has severed the
 * path, while shutdown() is called on another CPU, and with a send() that
 * stands still where it has looked at the state.
 *
 * Fixes: 7d316b945352 ("af_iucv: remove IUCV-pathes completely")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static inline int iucv_below_msglim(
//@ replace 2: 	if (iucv->transport == AF_IUCV_TRANS_IUCV)
	if (iucv->transport == AF_IUCV_TRANS_IUCV) {
		int below = 1;

		/* An interruption may take the path away */
		spin_lock_bh(&sk->sk_lock.slock);
		if (iucv->path)
			below = atomic_read(&iucv->skbs_in_xmit) <
				iucv->path->msglim;
		spin_unlock_bh(&sk->sk_lock.slock);
		return below;
	}
//@ replace 3: 	else
	return ((atomic_read(&iucv->msg_sent) < iucv->msglimit_peer) &&
		(atomic_read(&iucv->pendings) <= 0));
//@ in: static int iucv_sock_sendmsg(
//@ after: 	} else { /* Classic VM IUCV transport */
		/* An interruption may take the path away */
		spin_lock_bh(&sk->sk_lock.slock);
		if (!iucv->path) {
			spin_unlock_bh(&sk->sk_lock.slock);
			err = -ECONNRESET;
			goto fail;
		}
//@ replace: 				pr_iucv->path_sever(iucv->path, NULL);
				spin_unlock_bh(&sk->sk_lock.slock);
				iucv_sever_path(sk, 0);
//@ replace 2: 					0, 0, (void *)skb->data, skb->len);
					0, 0, (void *)skb->data, skb->len);
		}
		spin_unlock_bh(&sk->sk_lock.slock);
//@ in: static int iucv_sock_shutdown(
//@ replace 2: 			err = pr_iucv->message_send(iucv->path, &txmsg,
			/* An interruption may take the path away */
			spin_lock_bh(&sk->sk_lock.slock);
			err = 1;
			if (iucv->path)
				err = pr_iucv->message_send(iucv->path, &txmsg,
					IUCV_IPRMDATA, 0, (void *)iprm_shutdown, 8);
			spin_unlock_bh(&sk->sk_lock.slock);
//@ replace 7: 		if ((iucv->transport == AF_IUCV_TRANS_IUCV) &&
		if (iucv->transport == AF_IUCV_TRANS_IUCV) {
			spin_lock_bh(&sk->sk_lock.slock);
			if (iucv->path) {
				err = pr_iucv->path_quiesce(iucv->path, NULL);
				if (err)
					err = -ENOTCONN;
			}
			spin_unlock_bh(&sk->sk_lock.slock);
		}
//@ in: static int iucv_sock_getsockopt(
//@ replace 2: 		val = (iucv->path != NULL) ? iucv->path->msglim	/* connected */
		/* An interruption may take the path away */
		spin_lock_bh(&sk->sk_lock.slock);
		val = (iucv->path != NULL) ? iucv->path->msglim	/* connected */
					   : iucv->msglimit;	/* default */
		spin_unlock_bh(&sk->sk_lock.slock);
