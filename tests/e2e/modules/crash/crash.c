// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has a crash, when its parameter says so: what a test whose last call loads
 * it must not pass over.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/platform_device.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

static char *kind = "";
module_param(kind, charp, 0);
MODULE_PARM_DESC(kind, "warning, bug, panic, disabled-wait, hang, null, locked,\n"
		 "\t\tsysfs, debugfs, no-page, stack");

static char *at = "load";
module_param(at, charp, 0);
MODULE_PARM_DESC(at, "load; the machine's end: notifier, shutdown");

static unsigned int lines;
module_param(lines, uint, 0);
MODULE_PARM_DESC(lines, "how many lines are logged after that");

static unsigned int after_ms;
module_param(after_ms, uint, 0);
MODULE_PARM_DESC(after_ms, "how long loading takes before that");

static unsigned int spin_ms;
module_param(spin_ms, uint, 0);
MODULE_PARM_DESC(spin_ms, "how long a CPU is kept busy before that");

static bool later;
module_param(later, bool, 0);
MODULE_PARM_DESC(later, "the crash happens in a thread of its own, after loading");

static void disabled_wait_here(void)
{
	/* Wait, no interruptions, 64-bit addresses; the address is what a reader looks for. */
	static const struct {
		u64 mask, addr;
	} psw __aligned(8) = { 0x0002000180000000, 0xACC1DE };

	asm volatile("lpswe %0" : : "Q" (psw) : "memory");
}

/* Refused by the kernel, with words of its own and no WARN(). */
static void name_twice_in_sysfs(void)
{
	struct kobject *first = kobject_create_and_add("crash", kernel_kobj);
	struct kobject *second = kobject_create_and_add("crash", kernel_kobj);

	kobject_put(second);
	kobject_put(first);
}

static void name_twice_in_debugfs(void)
{
	struct dentry *first = debugfs_create_dir("crash", NULL);

	debugfs_create_dir("crash", NULL);
	debugfs_remove(first);
}

/* More than any block of free pages has, without being an order that a caller must not ask for. */
static void ask_for_pages(void)
{
	struct page *taken[512];
	unsigned int count = 0, order = 8;

	while (count < ARRAY_SIZE(taken)) {
		taken[count] = alloc_pages(GFP_KERNEL | __GFP_NORETRY, order);
		if (!taken[count])
			break;
		count++;
	}
	while (count)
		__free_pages(taken[--count], order);
}

static void sleep_while_locked(void)
{
	preempt_disable();
	schedule();
	preempt_enable();
}

static void happen(void)
{
	if (after_ms)
		msleep(after_ms);
	if (spin_ms)
		mdelay(spin_ms);
	if (!strcmp(kind, "warning"))
		WARN(1, "last act");
	else if (!strcmp(kind, "bug"))
		BUG();
	else if (!strcmp(kind, "panic"))
		panic("last act");
	else if (!strcmp(kind, "disabled-wait"))
		disabled_wait_here();
	else if (!strcmp(kind, "null"))
		*(volatile int *)(~0UL - 4095) = 1;
	else if (!strcmp(kind, "locked"))
		sleep_while_locked();
	else if (!strcmp(kind, "sysfs"))
		name_twice_in_sysfs();
	else if (!strcmp(kind, "debugfs"))
		name_twice_in_debugfs();
	else if (!strcmp(kind, "no-page"))
		ask_for_pages();
	else if (!strcmp(kind, "stack"))
		dump_stack();
	for (unsigned int line = 0; line < lines; line++)
		pr_info("line %u of %u%*s\n", line + 1, lines, 200, "end");
}

static void happen_later(struct work_struct *unused)
{
	happen();
}

static DECLARE_WORK(work, happen_later);

/* Uninterruptible until the guest ends: what a time-out has to show. */
static int hang(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
	return 0;
}

static void end_of_device(struct platform_device *unused)
{
	happen();
}

static struct platform_driver driver = {
	.shutdown = end_of_device,
	.driver.name = "crash",
};

static struct platform_device *device;

static int end_of_machine(struct notifier_block *unused, unsigned long event, void *also_unused)
{
	happen();
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = end_of_machine };

static int wait_for_shutdown(void)
{
	int rc = platform_driver_register(&driver);

	if (rc)
		return rc;
	device = platform_device_register_simple("crash", -1, NULL, 0);
	if (!IS_ERR(device))
		return 0;
	platform_driver_unregister(&driver);
	return PTR_ERR(device);
}

static int __init crash_init(void)
{
	if (!strcmp(at, "shutdown"))
		return wait_for_shutdown();
	if (!strcmp(at, "notifier"))
		return register_reboot_notifier(&notifier);
	if (!strcmp(kind, "hang"))
		return hang();
	if (later)
		schedule_work(&work);
	else
		happen();
	return 0;
}
module_init(crash_init);

static void __exit crash_exit(void)
{
	flush_work(&work);
	if (!strcmp(at, "notifier"))
		unregister_reboot_notifier(&notifier);
	if (device) {
		platform_device_unregister(device);
		platform_driver_unregister(&driver);
	}
}
module_exit(crash_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A crash of the kernel at a chosen moment");
