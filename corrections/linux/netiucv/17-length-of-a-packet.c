/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Compare the length of a packet with that of its message
 *
 * The length of a packet within a message is only compared with the
 * buffer.  A packet that claims to be longer than the rest of the message
 * goes to IP with whatever the buffer has there.
 *
 * Stop at a packet that does not end with its message, or before.
 *
 * Tried with ten bytes of a datagram that promises a thousand.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ replace 2: static void netiucv_unpack_skb(struct iucv_connection *conn,
static void netiucv_unpack_skb(struct iucv_connection *conn,
			       struct sk_buff *pskb, u32 left)
//@ in: static void netiucv_unpack_skb(
//@ replace: 		if (!header->next)
		if (left < NETIUCV_HDRLEN || !header->next)
//@ replace: 		header->next -= NETIUCV_HDRLEN;
		header->next -= NETIUCV_HDRLEN;
		left -= NETIUCV_HDRLEN;
		if (header->next > left) {
			IUCV_DBF_TEXT_(data, 2, "Illegal next field: %d > %d\n",
				       header->next, left);
			privptr->stats.rx_errors++;
			return;
		}
		left -= header->next;
//@ in: static void conn_action_rx(
//@ replace: 	netiucv_unpack_skb(conn, conn->rx_buff);
	netiucv_unpack_skb(conn, conn->rx_buff, msg->length);
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ after:  * @pskb: The received skb.
 * @left: The length of the message in it.
