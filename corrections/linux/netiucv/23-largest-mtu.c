/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Do not offer an MTU that cannot be sent
 *
 * The header of a packet has 16 bits for its length and its own.  Packets
 * of 65534 and 65535 bytes have 0 or 1 there, and are lost.
 *
 * Limit the MTU to what the header can say.
 *
 * Tried with the largest packet of the largest MTU.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ replace: #define NETIUCV_MTU_MAX          (NETIUCV_BUFSIZE_MAX - NETIUCV_HDRLEN)
#define NETIUCV_MTU_MAX          (U16_MAX - NETIUCV_HDRLEN)
