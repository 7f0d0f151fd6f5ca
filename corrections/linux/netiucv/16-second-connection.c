/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Do not replace a path by one that is refused
 *
 * netiucv_callback_connreq() makes a new path that of the connection
 * before its state is looked at.  If the connection has a path already,
 * the new one is severed, and all packets go to that one.
 *
 * Let only conn_action_connaccept() set the path.  And free the path that
 * is refused.
 *
 * Tried with a partner that connects twice.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static int netiucv_callback_connreq(
//@ replace: 		conn->path = path;
//@ in: static void conn_action_connreject(
//@ after: 	iucv_path_sever(path, NULL);
	iucv_path_free(path);
