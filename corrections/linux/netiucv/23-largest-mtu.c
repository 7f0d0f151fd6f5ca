/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Limit the MTU to what the framing can describe
 *
 * Each packet in a message follows a field of 16 bits with the place of
 * the next such field: the packet's length and 2.  A packet of 65534 or
 * 65535 bytes gets a field of 0 or 1, and the partner drops it.
 *
 * A message holds such a field before the packet and one behind it, so
 * leave room for two of them.  The largest MTU becomes 65533, which is
 * also what the largest buffer gives when it is set.
 *
 * Tried with MTUs of 65533 to 65536 bytes.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ replace: #define NETIUCV_MTU_MAX
#define NETIUCV_MTU_MAX          (NETIUCV_BUFSIZE_MAX - 2 * NETIUCV_HDRLEN)
