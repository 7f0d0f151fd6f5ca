// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the mistake that its parameter names, and then stays loaded: what a
 * debug kernel is for, one of each kind.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include <asm/ebcdic.h>

/* DIAGNOSE X'08': CP Programming Services. */
#define ANSWER_IN_STORAGE 0x40000000UL

static char *make = "";
module_param(make, charp, 0);
MODULE_PARM_DESC(make, "the mistake: use-after-free, out-of-bounds, stack, ...");

/* The compiler must not see how these end. */
static volatile unsigned int size = 32;
static volatile unsigned int bits = 40;
static struct list_head *gone;
static volatile char seen;

static void use_after_free(void)
{
	char *data = kmalloc(size, GFP_KERNEL);

	if (!data)
		return;
	kfree(data);
	seen = READ_ONCE(data[4]);
}

static void out_of_bounds(void)
{
	char *data = kmalloc(size, GFP_KERNEL);

	if (!data)
		return;
	WRITE_ONCE(data[size], 1);
	kfree(data);
}

static void beyond_stack_variable(void)
{
	char data[32] = { 0 };

	barrier_data(data);
	seen = READ_ONCE(*(data + size));
}

static void leak(void)
{
	barrier_data(kmalloc(size * 8, GFP_KERNEL));
}

static void shift(void)
{
	/* cppcheck-suppress [shiftTooManyBits,integerOverflow] ; the mistake */
	seen = (char)(1 << bits);
}

static void sleep_in_spinlock(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

static void lock_order(void)
{
	static DEFINE_MUTEX(first);
	static DEFINE_MUTEX(second);

	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void rcu_use(void)
{
	static int __rcu *pointer;

	seen = (char)(rcu_dereference(pointer) != NULL);
}

static void list_twice(void)
{
	static LIST_HEAD(head);
	static LIST_HEAD(entry);

	list_add(&entry, &head);
	gone = &entry;
	list_add(gone, &head);
}

/* What a driver makes a mistake with that gives CP the first one. */
static void addresses(void)
{
	char *data = kmalloc(size, GFP_KERNEL);

	if (!data)
		return;
	pr_info("mistakes: virtual %lx real %lx\n", (unsigned long)data,
		(unsigned long)virt_to_phys(data));
	kfree(data);
}

static int wait_for_ever(void *unused)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
	return 0;
}

static void hang(void)
{
	kthread_run(wait_for_ever, NULL, "mistakes");
}

/*
 * CP stores its answer, of some 20 bytes, where it is told to: no access of the kernel's,
 * whose cpcmd() converts the answer, and clears its place first in Linux 6.1.
 */
static void let_cp_answer(char *data)
{
	static const char text[] = "QUERY USERID";
	union register_pair places, sizes;
	char *command = kmemdup(text, sizeof(text) - 1, GFP_KERNEL | GFP_DMA);

	if (!command)
		return;
	ASCEBC(command, sizeof(text) - 1);
	places.even = virt_to_phys(command);
	places.odd = virt_to_phys(data);
	sizes.even = ANSWER_IN_STORAGE | (sizeof(text) - 1);
	sizes.odd = size;
	asm volatile("diag %[places],%[sizes],8"
		     : [places] "+d" (places.pair), [sizes] "+d" (sizes.pair)
		     :
		     : "cc", "memory");
	kfree(command);
}

static void cp_use_after_free(void)
{
	char *data = kmalloc(size, GFP_KERNEL);

	if (!data)
		return;
	kfree(data);
	let_cp_answer(data);
}

static void cp_out_of_bounds(void)
{
	char *data = kmalloc(size / 4, GFP_KERNEL);

	if (!data)
		return;
	let_cp_answer(data);
	kfree(data);
}

static void cp_in_bounds(void)
{
	char *data = kmalloc(size, GFP_KERNEL);

	if (!data)
		return;
	let_cp_answer(data);
	kfree(data);
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "use-after-free", use_after_free },
	{ "out-of-bounds", out_of_bounds },
	{ "stack", beyond_stack_variable },
	{ "leak", leak },
	{ "shift", shift },
	{ "sleep", sleep_in_spinlock },
	{ "lock-order", lock_order },
	{ "rcu", rcu_use },
	{ "list", list_twice },
	{ "addresses", addresses },
	{ "hang", hang },
	{ "cp-use-after-free", cp_use_after_free },
	{ "cp-out-of-bounds", cp_out_of_bounds },
	{ "cp-in-bounds", cp_in_bounds },
};

static int __init mistakes_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (!strcmp(make, mistakes[i].name)) {
			mistakes[i].make();
			return 0;
		}
	}
	return -EINVAL;
}
module_init(mistakes_init);

static void __exit mistakes_exit(void)
{
}
module_exit(mistakes_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("One mistake of each kind that a debug kernel notices");
