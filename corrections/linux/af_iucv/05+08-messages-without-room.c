/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Report that messages were lost when the path was severed
 *
 * Messages for which the receive buffer has no room are left with CP, and
 * their descriptions wait in message_q.  When the partner severs the path,
 * iucv_sever_path() severs this end as well, and they are gone.  The program
 * reads what was received before, and then 0, as if that were all.
 *
 * Return ECONNRESET once in this case, after the data that did arrive.
 *
 * A recv() on another CPU may be receiving such a message, with the lock of
 * the queue.  Free the path when the queue has been emptied, not before.
 *
 * Linux 6.1 leaves the descriptions in the queue.  recv() asks for these
 * messages on the path that has been freed,
 *
 *   KASAN: use-after-free in __iucv_message_receive
 *
 * and close() never frees them.  There, empty the queue as well.
 *
 * Tried with 100 messages of 2000 bytes, a receive buffer of 4096 bytes,
 * and a partner that severs before they are read; and with 200 that nobody
 * reads.
 *
 * Fixes: f0703c80e515 ("[AF_IUCV]: postpone receival of iucv-packets")
 */
//@ file: include/net/iucv/af_iucv.h
//@ after: 					       enum iucv_tx_notify n);
	int			msg_lost;
//@ file: net/iucv/af_iucv.c
//@ for: 6.1
//@ in: static void iucv_sever_path(
//@ after: 	struct iucv_path *path = iucv->path;
	struct sock_msg_q *p, *n;
//@ replace 2: 			pr_iucv->path_sever(path, NULL);
			pr_iucv->path_sever(path, NULL);

		/* these messages are gone with the path */
		spin_lock_bh(&iucv->message_q.lock);
		if (!list_empty(&iucv->message_q.list))
			iucv->msg_lost = 1;
		list_for_each_entry_safe(p, n, &iucv->message_q.list, list) {
			list_del(&p->list);
			kfree(p);
		}
		spin_unlock_bh(&iucv->message_q.lock);

		/* only now: a recv() with the lock may have used it */
		iucv_path_free(path);
//@ file: net/iucv/af_iucv.c
//@ for: 6.12 7.2
//@ in: static void iucv_sever_path(
//@ replace 9: 			pr_iucv->path_sever(path, NULL);
			pr_iucv->path_sever(path, NULL);

		/*
		 * Message notifications queued on message_q still reference
		 * the path; drop them before it is freed, otherwise recvmsg()
		 * would pass the freed iucv_path to message_receive() via
		 * iucv_process_message_q().
		 */
//@ after: 		spin_unlock_bh(&iucv->message_q.lock);
		iucv_path_free(path);
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
//@ replace 2: 		    skb_queue_empty(&sk->sk_receive_queue))
		    skb_queue_empty(&sk->sk_receive_queue))
			return iucv_end_of_stream(iucv);
