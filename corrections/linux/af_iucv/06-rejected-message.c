/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * af_iucv: Tell the sender that a message was rejected
 *
 * When the partner rejects a message, its completion says so in the audit
 * field, which nobody looks at.  The message counts as received, although
 * the partner has thrown it away.
 *
 * Let the next call fail with EPIPE.
 *
 * Tried with a partner that rejects a message.
 */
//@ file: net/iucv/af_iucv.c
//@ replace: #define TRGCLS_SIZE	sizeof_field(struct iucv_message, class)
#define TRGCLS_SIZE	sizeof_field(struct iucv_message, class)

/* The audit field has three bytes, at the left of this: the message was rejected */
#define IUCV_AUDIT_REJECTED	0x04000000
//@ in: static void iucv_callback_txdone(
//@ before: 		consume_skb(this);
		if (msg->audit & IUCV_AUDIT_REJECTED) {
			sk->sk_err = EPIPE;
			sk_error_report(sk);
		}
