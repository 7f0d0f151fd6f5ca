/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * af_iucv: Tell lockdep the order of a listener's lock and its children's
 *
 * Closing a listener closes the connections that nobody has accepted, with
 * the listener locked.  Both locks have the same class:
 *
 *   WARNING: possible recursive locking detected
 *
 * and lockdep is off after that.  Lock the listener with the subclass that
 * iucv_sock_accept() uses.
 *
 * Only built with this change so far; without it, shown by closing a
 * listener that has a connection waiting, with lockdep.
 */
//@ file: net/iucv/af_iucv.c
//@ in: /* Close an IUCV socket */
//@ replace: 	lock_sock(sk);
	/* A listener is locked around its children */
	lock_sock_nested(sk, sk->sk_state == IUCV_LISTEN ?
			 SINGLE_DEPTH_NESTING : 0);
