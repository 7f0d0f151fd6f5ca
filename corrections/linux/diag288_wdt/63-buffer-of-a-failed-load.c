/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watchdog: diag288_wdt: Free the command buffer if the load fails
 *
 * diag288_init() allocates the buffer for CP's command once.  If the
 * watchdog cannot be registered, the module is not loaded, and nobody
 * frees the buffer: each try leaves one.  In 6.12 it stays, too, if CP
 * does not cancel the watchdog that has been set to see whether there is
 * one.
 *
 * Free the buffer on each way that ends with an error.
 *
 * Tried with a module that lets watchdog_register_device() fail, a hundred
 * times, and on 6.12 with a CP that refuses to cancel.
 *
 * Fixes: 221f748ac863 ("watchdog: diag288_wdt: unify command buffer handling for diag288 zvm")
 */
//@ file: drivers/watchdog/diag288_wdt.c
//@ for: 6.12
//@ in: static int __init diag288_init(
//@ after: 		pr_err("The watchdog cannot be deactivated\n");
		kfree(cmd_buf);
//@ replace: 	return watchdog_register_device(&wdt_dev);
	ret = watchdog_register_device(&wdt_dev);
	if (ret)
		kfree(cmd_buf);
	return ret;
//@ file: drivers/watchdog/diag288_wdt.c
//@ for: 7.2
//@ in: static int __init diag288_init(
//@ replace: 	watchdog_set_nowayout(&wdt_dev, nowayout_info);
	int ret;

	watchdog_set_nowayout(&wdt_dev, nowayout_info);
//@ replace: 	return watchdog_register_device(&wdt_dev);
	ret = watchdog_register_device(&wdt_dev);
	if (ret)
		kfree(cmd_buf);
	return ret;
