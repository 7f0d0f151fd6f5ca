/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tty: hvc_iucv: Let a terminal be connected that is closed while it is severed
 *
 * When the path of an open terminal is severed, hvc_iucv_hangup() leaves
 * the rest to the HVC thread, which hangs the terminal up.  If the
 * terminal is closed before that, the thread does not look at it any more,
 * and its state stays IUCV_SEVERED: every connection is refused.
 *
 * Clean up in hvc_iucv_notifier_del() then, as in
 * hvc_iucv_notifier_hangup().
 *
 * Tried with a CP that severs the path at the last SEND of a close without
 * HUPCL.
 */
//@ file: drivers/tty/hvc/hvc_iucv.c
//@ in: static void hvc_iucv_notifier_del(
//@ after: 	priv->sndbuf_len = 0;
	if (priv->iucv_state == IUCV_SEVERED)
		hvc_iucv_cleanup(priv);
