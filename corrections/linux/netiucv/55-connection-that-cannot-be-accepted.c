/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Forget a path that could not be accepted
 *
 * A partner may sever its connection before the interface accepts it.
 * IUCV ACCEPT fails then, and the path stays, without a connection that
 * belongs to it.  So does one that the partner asks for in the state
 * "Connect error", in which nobody looks at it.  The sever comes next, and
 * netiucv_callback_connrej() takes NULL for the connection: what it uses
 * then is what lowcore has there, which is an oops or "fsm(): Invalid
 * state".
 *
 * Sever the path when it cannot be accepted, and free it.  Until it is
 * accepted, leave the connection the path that it may have asked for
 * itself.  Refuse the path in the state "Connect error".
 *
 * Tried with a partner that severs while the interface is about to accept,
 * with a CP that refuses ACCEPT while the interface is connecting, and with
 * a partner that connects after CP has refused CONNECT.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static void conn_action_connaccept(
//@ replace 4: 	if (conn->path && conn->severed)
//@ after: 		IUCV_DBF_TEXT_(setup, 2, "rc %d from iucv_accept", rc);
		iucv_path_sever(path, NULL);
		iucv_path_free(path);
//@ before: 	fsm_newstate(fi, CONN_STATE_IDLE);
	if (conn->path && conn->severed)
		iucv_path_free(conn->path);
	conn->path = path;
	conn->severed = false;
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ after: 	{ CONN_STATE_TX,        CONN_EVENT_CONN_REQ, conn_action_connreject },
	{ CONN_STATE_CONNERR,   CONN_EVENT_CONN_REQ, conn_action_connreject },
