/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Tell the sender that a message was rejected
 *
 * When the partner rejects a message, its completion says so in the audit
 * field, which nobody looks at.  The message counts as received, although
 * the partner has thrown it away.
 *
 * Let the next call fail with EPIPE.  close() goes on waiting for the other
 * messages.
 *
 * Tried with a partner that rejects a message.
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: net/iucv/af_iucv.c
//@ replace: #define TRGCLS_SIZE	sizeof_field(struct iucv_message, class)
#define TRGCLS_SIZE	sizeof_field(struct iucv_message, class)

/* IPADRJCT in the first byte of IPAUDIT: the partner has rejected the message */
#define IUCV_AUDIT_REJECTED	0x04000000
//@ in: /* Close an IUCV socket */
//@ before: 			if (sock_flag(sk, SOCK_LINGER) && sk->sk_lingertime)
			/* no error ends the wait for the other messages */
			sk->sk_err = 0;
//@ in: static void iucv_callback_txdone(
//@ before: 		consume_skb(this);
		if ((msg->audit & IUCV_AUDIT_REJECTED) &&
		    sk->sk_state == IUCV_CONNECTED) {
			sk->sk_err = EPIPE;
			sk_error_report(sk);
		}
