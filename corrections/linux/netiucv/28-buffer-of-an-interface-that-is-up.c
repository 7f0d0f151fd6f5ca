/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/netiucv: Do not shrink the buffer of an interface that is up
 *
 * buffer_write() looks at IFF_RUNNING in the flags of the interface to
 * know if it is up, but that flag is never set there.  So the buffer can
 * become smaller than the MTU, and the MTU of a running interface follows
 * it.
 *
 * Use netif_running().
 *
 * Tried with an interface that is up.
 */
//@ file: drivers/s390/net/netiucv.c
//@ for: 6.1 6.12
//@ in: static ssize_t buffer_write (
//@ replace: 	if ((ndev->flags & IFF_RUNNING) &&
	if (netif_running(ndev) &&
//@ replace: 	if (!(ndev->flags & IFF_RUNNING))
	if (!netif_running(ndev))
