/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Sever a path once
 *
 * When the partner severs the path, or a connection is given up, the path
 * is severed and stays that of the connection.  It is severed again when
 * the interface goes down.  By then CP may have given its number to
 * another connection.
 *
 * Remember that it has been severed, and only free it then.
 *
 * Tried with a partner that severs, and another connection that gets the
 * number.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ after: 	struct iucv_path	  *path;
	bool			  severed;
//@ before: static void conn_action_connaccept(
static void netiucv_sever(struct iucv_connection *conn)
{
	if (!conn->severed)
		iucv_path_sever(conn->path, conn->userdata);
	conn->severed = true;
}
//@ in: static void conn_action_connaccept(
//@ replace: 	conn->path = path;
	if (conn->path && conn->severed)
		iucv_path_free(conn->path);
	conn->path = path;
	conn->severed = false;
//@ in: static void conn_action_conntimsev(
//@ replace: 	iucv_path_sever(conn->path, conn->userdata);
	netiucv_sever(conn);
//@ in: static void conn_action_connsever(
//@ replace: 	iucv_path_sever(conn->path, conn->userdata);
	netiucv_sever(conn);
//@ in: static void conn_action_start(
//@ before: 	conn->path = iucv_path_alloc(NETIUCV_QUEUELEN_DEFAULT, 0, GFP_KERNEL);
	conn->severed = false;
//@ in: static void conn_action_stop(
//@ replace: 		iucv_path_sever(conn->path, conn->userdata);
		netiucv_sever(conn);
//@ in: static void netiucv_remove_connection(
//@ replace: 		iucv_path_sever(conn->path, conn->userdata);
		netiucv_sever(conn);
