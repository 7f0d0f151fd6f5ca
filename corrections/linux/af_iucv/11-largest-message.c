/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Let SO_MSGSIZE say how large a message can be
 *
 * SO_MSGSIZE is 2147483647 for classic IUCV, but a message has to fit into
 * the pages that a socket buffer can have. send() refuses larger ones with
 * EMSGSIZE.
 *
 * Report the size that can be sent and received.
 *
 * Tried with a message of that size.
 *
 * Fixes: 51363b8751a6 ("af_iucv: allow retrieval of maximum message size")
 */
//@ file: net/iucv/af_iucv.c
//@ replace: #define TRGCLS_SIZE	sizeof_field(struct iucv_message, class)
#define TRGCLS_SIZE	sizeof_field(struct iucv_message, class)

/* The list of buffers and data share the first page */
#define IUCV_MSG_HEADROOM	(sizeof(struct iucv_array) * (MAX_SKB_FRAGS + 1))
#define IUCV_MSG_MAX		((MAX_SKB_FRAGS + 1) * PAGE_SIZE - IUCV_MSG_HEADROOM)
//@ in: static int iucv_sock_getsockopt(
//@ replace: 				0x7fffffff;
				IUCV_MSG_MAX;
