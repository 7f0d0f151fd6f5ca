/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * af_iucv: Report that messages were lost when the path was severed
 *
 * Messages for which the receive buffer has no room are left with CP, and
 * their descriptions wait in message_q.  When the partner severs the path,
 * they are gone.  The program reads what was received before, and then 0,
 * as if that were all.
 *
 * Return ECONNRESET once in this case, after the data that did arrive.
 *
 * Before Linux 7.2, the descriptions stay in the queue as well. recv()
 * asks for these messages on the path that has been freed,
 *
 *   KASAN: use-after-free in __iucv_message_receive
 *
 * and close() never frees them.  Free them with the path there.
 *
 * Tried with 100 messages of 2000 bytes, a receive buffer of 4096 bytes,
 * and a partner that severs before they are read; and with 200 that nobody
 * reads.
 */
//@ file: include/net/iucv/af_iucv.h
//@ after: 					       enum iucv_tx_notify n);
	int			msg_lost;
//@ file: net/iucv/af_iucv.c
//@ for: 6.1
//@ in: static void iucv_sever_path(
//@ after: 	struct iucv_path *path = iucv->path;
	struct sock_msg_q *p, *n;
//@ replace: 		iucv_path_free(path);
		iucv_path_free(path);

		/* CP has purged these messages, and the path is no more */
		spin_lock_bh(&iucv->message_q.lock);
		if (!list_empty(&iucv->message_q.list))
			iucv->msg_lost = 1;
		list_for_each_entry_safe(p, n, &iucv->message_q.list, list) {
			list_del(&p->list);
			kfree(p);
		}
		spin_unlock_bh(&iucv->message_q.lock);
//@ file: net/iucv/af_iucv.c
//@ for: 6.12 7.2
//@ in: static void iucv_sever_path(
//@ after: 		spin_lock_bh(&iucv->message_q.lock);
		if (!list_empty(&iucv->message_q.list))
			iucv->msg_lost = 1;
//@ file: net/iucv/af_iucv.c
//@ in: static struct sock *iucv_sock_alloc(
//@ after: 	atomic_set(&iucv->msg_recv, 0);
	iucv->msg_lost = 0;
//@ file: net/iucv/af_iucv.c
//@ before: static int iucv_sock_recvmsg(
/* The path has been severed, and what was received has been read */
static int iucv_end_of_stream(struct iucv_sock *iucv)
{
	return xchg(&iucv->msg_lost, 0) ? -ECONNRESET : 0;
}
//@ in: static int iucv_sock_recvmsg(
//@ replace 2: 	    list_empty(&iucv->message_q.list))
	    list_empty(&iucv->message_q.list))
		return iucv_end_of_stream(iucv);
//@ replace 2: 		if (err == -ENOTCONN && sk->sk_state == IUCV_DISCONN)
		if (err == -ENOTCONN && sk->sk_state == IUCV_DISCONN)
			return iucv_end_of_stream(iucv);
