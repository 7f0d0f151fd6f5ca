// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has a crash, when its parameter says so: what a test whose last call loads
 * it must not pass over.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

static char *kind = "";
module_param(kind, charp, 0);
MODULE_PARM_DESC(kind, "warning, bug, panic, disabled-wait, hang");

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

static int __init crash_init(void)
{
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
}
module_exit(crash_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A crash of the kernel at a chosen moment");
