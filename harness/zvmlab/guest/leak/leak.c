// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaks objects with the text that its parameter names, and cannot be loaded: nothing of it stays
 * but the objects.  kmemleak has to report one (harness/zvmlab/guest/kernelcheck.py).  It also
 * has kmemleak leave out what takes most of its time: 32 MiB of tables that lead to no object.
 */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *text = "";
module_param(text, charp, 0);
MODULE_PARM_DESC(text, "what an object begins with");

/* Distances from kmemleak_ignore_phys(), whose address the kernel exports; 0: there is none. */
static long buckets;
module_param(buckets, long, 0);
MODULE_PARM_DESC(buckets, "a pointer to the heads of the lists in which stacks are found (KASAN)");

static long stacks;
module_param(stacks, long, 0);
MODULE_PARM_DESC(stacks, "the stacks that locks were taken with (lockdep)");

static ulong stacks_size;
module_param(stacks_size, ulong, 0);
MODULE_PARM_DESC(stacks_size, "in bytes");

static void leave_out(void)
{
	char *here = (char *)kmemleak_ignore_phys;

	if (buckets)
		kmemleak_ignore_phys(__pa(*(void **)(here + buckets)));
	if (stacks)
		kmemleak_free_part(here + stacks, stacks_size);
}

/*
 * The allocator gives the address that was freed last, which may still be on a stack: kmemleak
 * then finds it there.  So more objects than one.
 */
#define OBJECTS 32

static noinline void leak(void)
{
	char *object = kzalloc(256, GFP_KERNEL);

	if (object)
		strscpy(object, text, 256);
	barrier_data(object);
}

/* Where leak() and what it called had an object's address, kmemleak would still find it. */
static noinline void clear_stack(unsigned int more)
{
	char stack[1024];

	memset(stack, 0, sizeof(stack));
	barrier_data(stack);
	if (more)
		clear_stack(more - 1);
	barrier_data(stack);
}

static int __init leak_init(void)
{
	leave_out();
	for (int i = 0; i < OBJECTS; i++)
		leak();
	clear_stack(5);
	return -ECANCELED;
}
module_init(leak_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Leaks objects on purpose");
/* What looks at a guest does not change it: a module from elsewhere would taint its kernel. */
MODULE_INFO(intree, "Y");
