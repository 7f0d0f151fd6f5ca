/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tty: hvc_iucv: Reject messages that are shorter than their header
 *
 * hvc_iucv_write() receives a message into a buffer of its length, and
 * looks at its version and its length of data then.  With a message of one
 * to three bytes these lie behind the buffer:
 *
 *   KASAN: slab-out-of-bounds in hvc_iucv_get_chars
 *
 * Reject such a message, as one that is too long.
 *
 * Tried with messages of 0 to 3 bytes.
 *
 * Fixes: 44a01d5ba8a4 ("[S390] s390/hvc_console: z/VM IUCV hypervisor console support")
 */
//@ file: drivers/tty/hvc/hvc_iucv.c
//@ in: static void hvc_iucv_msg_pending(struct iucv_path *path,
//@ replace 2: 	/* reject messages that exceed max size of iucv_tty_msg->datalen */
	/* reject messages without a whole iucv_tty_msg, and those that exceed
	 * max size of iucv_tty_msg->datalen
	 */
	if (msg->length < MSG_SIZE(0) ||
	    msg->length > MSG_SIZE(MSG_MAX_DATALEN)) {
