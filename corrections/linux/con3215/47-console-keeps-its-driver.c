/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/con3215: Do not let the console's device be unbound
 *
 * Unbinding the device of the console frees what the driver has of it, and
 * raw3215[0] becomes NULL.  The console stays registered, and init has its
 * terminal open.  The next message of the kernel, or the next open, takes
 * the lock of a device that is no longer there, and spins with interruptions
 * disabled.
 *
 * There is one such device, the console's.  Leave out the attributes with
 * which its driver could be taken from it.
 *
 * Tried with 7.2: the driver has no attribute "unbind" any more, and the
 * console keeps its device.
 */
//@ file: drivers/s390/char/con3215.c
//@ after: 		.name	= "3215",
		.suppress_bind_attrs = true,
