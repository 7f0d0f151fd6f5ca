/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Return how much of a stream's message a device has taken
 *
 * Over HiperSockets, what is longer than the device's MTU is cut off, and
 * send() says that everything was sent. The receiver's stream goes on behind
 * the gap: with an MTU of 8192, 992 of 9066 bytes are lost.
 *
 * Send what fits, and return its length.
 *
 * Tried with a device whose MTU is 8192, on 6.1.
 */
//@ file: net/iucv/af_iucv.c
//@ before: static int iucv_sock_sendmsg(
/* How many bytes of a message fit into a frame of the socket's device */
static size_t afiucv_hs_room(const struct iucv_sock *iucv)
{
	size_t headers = sizeof(struct af_iucv_trans_hdr) +
			 iucv->hs_dev->hard_header_len;
	size_t mtu = READ_ONCE(iucv->hs_dev->mtu);

	return mtu > headers ? mtu - headers : 0;
}
//@ in: static int iucv_sock_sendmsg(
//@ replace: 	/* allocate one skb for each iucv message:
	if (iucv->transport == AF_IUCV_TRANS_HIPER &&
	    sk->sk_type == SOCK_STREAM && len) {
		len = min(len, afiucv_hs_room(iucv));
		if (!len) {
			err = -EMSGSIZE;
			goto out;
		}
	}

	/* allocate one skb for each iucv message:
