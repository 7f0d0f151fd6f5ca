/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/vmlogrdr: Keep all messages that the connection may have
 *
 * The driver connects with a message limit of 10, but has room for one
 * message.  If a second one comes before the first was received, it takes
 * its place, and counts as another record: the first is never received,
 * and after the second the driver asks for it again, forever.
 *
 * Keep as many messages as the limit allows, and receive them in their
 * order.
 *
 * Tried with a CP that announces a record twice.
 *
 * Fixes: 1da177e4c3f4 ("Linux-2.6.12-rc2")
 */
//@ file: drivers/s390/char/vmlogrdr.c
//@ replace: #define NET_BUFFER_SIZE	(PAGE_SIZE
#define NET_BUFFER_SIZE	(PAGE_SIZE - sizeof(int) - sizeof(FENCE))

/* Messages that CP may have outstanding on a path */
#define VMLOGRDR_MSGLIM	10
//@ replace 4:  * connection_established, iucv_path_severed, local_interrupt_buffer
 * connection_established, iucv_path_severed, messages, first_message
 * and receive_ready.  They are protected by priv_lock; receive_ready is
 * atomic, so that it can be read without holding the lock.
//@ replace: 	struct iucv_message local_interrupt_buffer;
	struct iucv_message messages[VMLOGRDR_MSGLIM];
	unsigned int first_message;
//@ in: static void vmlogrdr_iucv_message_pending(struct iucv_path *path,
//@ after: 	struct vmlogrdr_priv_t * logptr = path->private;
	unsigned int ready;
//@ replace 2: 	memcpy(&logptr->local_interrupt_buffer, msg, sizeof(*msg));
	ready = atomic_read(&logptr->receive_ready);
	if (ready < VMLOGRDR_MSGLIM) {
		ready += logptr->first_message;
		logptr->messages[ready % VMLOGRDR_MSGLIM] = *msg;
		atomic_inc(&logptr->receive_ready);
	} else {
		iucv_message_reject(path, msg);
	}
//@ in: static int vmlogrdr_open (
//@ replace: 	logptr->path = iucv_path_alloc(10, 0, GFP_KERNEL);
	logptr->path = iucv_path_alloc(VMLOGRDR_MSGLIM, 0, GFP_KERNEL);
//@ file: drivers/s390/char/vmlogrdr.c
//@ before: static int vmlogrdr_receive_data(
/* The first message has been received, or cannot be */
static void vmlogrdr_next_message(struct vmlogrdr_priv_t *priv)
{
	spin_lock_bh(&priv->priv_lock);
	priv->first_message = (priv->first_message + 1) % VMLOGRDR_MSGLIM;
	atomic_dec(&priv->receive_ready);
	spin_unlock_bh(&priv->priv_lock);
}
//@ in: static int vmlogrdr_receive_data(
//@ before: 	int user_data_count, iucv_data_count;
	struct iucv_message *msg;
//@ replace: 			iucv_data_count = priv->local_interrupt_buffer.length;
			iucv_data_count = msg->length;
//@ after: 		spin_lock_bh(&priv->priv_lock);
		msg = &priv->messages[priv->first_message];
//@ replace 3: 		rc = iucv_message_receive(priv->path,
		rc = iucv_message_receive(priv->path, msg,
					  0, buffer, iucv_data_count,
//@ replace: 			atomic_set(&priv->receive_ready, 0);
			vmlogrdr_next_message(priv);
//@ replace: 			atomic_dec(&priv->receive_ready);
			vmlogrdr_next_message(priv);
