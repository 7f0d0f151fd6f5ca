/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Drop a message with an impossible length in its parameter list
 *
 * The last byte of a parameter list says how many of the seven bytes in
 * front of it are data.  If it says more, and it is not the message of
 * shutdown(), nothing is stored, but a socket buffer of eight bytes is
 * queued: the program gets eight bytes of kernel memory.
 *
 * Drop such a message.
 *
 * Tried with a parameter list that says 15 bytes.
 *
 * Fixes: b8942e3b6c4b ("af_iucv: Support data in IUCV msg parameter lists (IPRMDATA)")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static void iucv_process_message(
//@ replace 4: 		if (memcmp(msg->rmmsg, iprm_shutdown, 8) == 0) {
		if (memcmp(msg->rmmsg, iprm_shutdown, 8)) {
			kfree_skb(skb);
			return;
		}
		skb->data = NULL;
		skb->len = 0;
