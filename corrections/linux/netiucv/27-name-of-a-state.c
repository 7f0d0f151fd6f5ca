/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Give the states of a connection their own names
 *
 * The table of names has one, "Terminating", for which there is no state.
 * So a refused connection is shown as "Registration error".
 *
 * Remove that name.
 *
 * Tried with a CP that refuses CONNECT.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ replace: 	"Terminating",
