/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Free the socket of a connection that could not be accepted
 *
 * If CP refuses ACCEPT, because the partner has severed meanwhile, the new
 * socket is not freed: iucv_sock_kill() does nothing with a socket that is
 * not zapped.  It keeps the name, and bind() of that name fails with
 * EADDRINUSE until the next boot.
 *
 * Mark it as zapped before.
 *
 * Tried with a CP that refuses ACCEPT with code X'14'.
 *
 * Fixes: eac3731bd04c ("[S390]: Add AF_IUCV socket support")
 */
//@ file: net/iucv/af_iucv.c
//@ in: static int iucv_callback_connreq(
//@ after: 		iucv_sever_path(nsk, 1);
		sock_set_flag(nsk, SOCK_ZAPPED);
