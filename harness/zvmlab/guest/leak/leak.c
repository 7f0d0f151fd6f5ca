// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaks objects with the text that its parameter names, and cannot be loaded: nothing of it stays
 * but the objects.  kmemleak has to report one (harness/zvmlab/guest/kernelcheck.py).
 */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *text = "";
module_param(text, charp, 0);
MODULE_PARM_DESC(text, "what an object begins with");

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
