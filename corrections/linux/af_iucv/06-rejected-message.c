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

/* In iucv_message.audit: the partner has rejected the message */
#define IUCV_AUDIT_REJECTED	0x040000
//@ in: static void iucv_callback_txdone(
//@ before: 		consume_skb(this);
		if (msg->audit & IUCV_AUDIT_REJECTED) {
			sk->sk_err = EPIPE;
			sk_error_report(sk);
		}
