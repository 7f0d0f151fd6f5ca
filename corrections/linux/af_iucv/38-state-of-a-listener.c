/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * af_iucv: Let SO_ACCEPTCONN say that a socket listens
 *
 * getsockopt(SO_ACCEPTCONN) compares the socket's state with TCP_LISTEN.
 * AF_IUCV has another number for it, so that the option is always 0.
 *
 * Give the state of a listener TCP's number, as AF_UNIX does. No number of a
 * state leaves the kernel.
 *
 * Tried by reading the option before and after listen().
 */
//@ file: include/net/iucv/af_iucv.h
//@ after: #include <net/iucv/iucv.h>
#include <net/tcp_states.h>
//@ replace: 	IUCV_LISTEN,
	IUCV_LISTEN = TCP_LISTEN,
