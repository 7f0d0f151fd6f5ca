/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Free the structure of a connection
 *
 * netiucv_remove_connection() frees all that a connection has, but not the
 * connection itself.  Free it, too: it is in no list any more, and its
 * path has been severed.
 *
 * Tried with two hundred interfaces, added and removed.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static void netiucv_remove_connection(
//@ after: 	kfree_skb(conn->tx_buff);
	kfree(conn);
