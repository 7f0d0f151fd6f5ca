/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tty: hvc_iucv: Keep output that the partner has not received at close
 *
 * hvc_iucv_notifier_del() frees all messages that have been sent, also
 * those that the partner has not received.  Without HUPCL the path stays,
 * and CP still has the addresses of these messages: the partner receives
 * whatever is there then.
 *
 * Leave them alone as long as the path is there.  They are freed when the
 * partner has received them, or with the path.
 *
 * Tried with a partner that receives after close().
 */
//@ file: drivers/tty/hvc/hvc_iucv.c
//@ in: static void hvc_iucv_notifier_del(
//@ replace: 	destroy_tty_buffer_list(&priv->tty_outqueue);
	if (priv->iucv_state != IUCV_CONNECTED)
		destroy_tty_buffer_list(&priv->tty_outqueue);
