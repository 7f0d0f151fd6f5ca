/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watchdog: diag288_wdt: Keep the module while the watchdog runs
 *
 * If the device is closed without the magic character, CP's watchdog goes
 * on.  The core keeps the module of a watchdog with WDOG_HW_RUNNING, but
 * the driver does not set that.  The module can be unloaded, and nobody
 * can prevent CP's command then.
 *
 * Set it when the watchdog has been started.  The core resets it at stop.
 * Mainline's core sets it for every watchdog since commit 12cee6efb7b9
 * ("watchdog: core: Always set WDOG_HW_RUNNING when starting watchdog").
 *
 * Tried with close() without the magic character, and rmmod.
 */
//@ file: drivers/watchdog/diag288_wdt.c
//@ for: 6.1
//@ in: static int wdt_start(
//@ before: 	return 0;
	set_bit(WDOG_HW_RUNNING, &dev->status);
