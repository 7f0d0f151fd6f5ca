/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * net/af_iucv: Tell lockdep the order of a listener's lock and its children's
 *
 * Closing a listener closes the connections that nobody has accepted, with
 * the listener locked.  Both locks have the same class:
 *
 *   WARNING: possible recursive locking detected
 *
 * and lockdep is off after that.  Lock the listener with the subclass that
 * iucv_sock_accept() uses.
 *
 * Tried by closing a listener that has connections waiting, on 7.2 with
 * lockdep: no warning, and all other tests of sockets pass there.
 */
//@ file: net/iucv/af_iucv.c
//@ in: /* Close an IUCV socket */
//@ replace: 	lock_sock(sk);
	/* A listener is locked around its children */
	lock_sock_nested(sk, sk->sk_state == IUCV_LISTEN ?
			 SINGLE_DEPTH_NESTING : 0);
