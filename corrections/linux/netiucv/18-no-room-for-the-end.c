/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Do not write behind the buffer of a message
 *
 * Behind each packet of a message, netiucv_unpack_skb() takes the next
 * header into the buffer.  If the packet has all that is left of the
 * buffer, there is no room:
 *
 *   kernel BUG at net/core/skbuff.c (skb_over_panic)
 *
 * A partner could cause that as long as nobody compared the length of a
 * packet with that of its message.  Now only the allocator, which rounds up,
 * keeps room behind a message that is as long as the buffer.  The message
 * ends there, so stop.
 *
 * Tried with a second packet that is as long as the memory behind the
 * message, without that comparison.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static void netiucv_unpack_skb(
//@ after: 		skb_pull(pskb, header->next);
		if (skb_tailroom(pskb) < NETIUCV_HDRLEN)
			return;
