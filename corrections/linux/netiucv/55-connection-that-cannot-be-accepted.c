/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Forget a path that could not be accepted
 *
 * A partner may sever its connection before the interface accepts it.
 * IUCV ACCEPT fails then, and the path stays, without a connection that
 * belongs to it.  The sever comes next, and netiucv_callback_connrej()
 * takes NULL for the connection: what it uses then is what lowcore has
 * there, which is an oops or "fsm(): Invalid state".
 *
 * Sever the path when it cannot be accepted, and free it.
 *
 * Tried with a partner that severs while the interface is about to
 * accept.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static void conn_action_connaccept(
//@ after: 		IUCV_DBF_TEXT_(setup, 2, "rc %d from iucv_accept", rc);
		iucv_path_sever(path, NULL);
		iucv_path_free(path);
		conn->path = NULL;
