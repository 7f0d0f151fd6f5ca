// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaks one object with the text that its parameter names, and cannot be loaded: nothing of it
 * stays but the object.  kmemleak has to report it (harness/zvmlab/guest/kernelcheck.py).
 */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static char *text = "";
module_param(text, charp, 0);
MODULE_PARM_DESC(text, "what the object begins with");

static noinline void leak(void)
{
	char *object = kzalloc(256, GFP_KERNEL);

	if (object)
		strscpy(object, text, 256);
	barrier_data(object);
}

/* Where leak() and what it called had the object's address, kmemleak would still find it. */
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
	leak();
	clear_stack(5);
	return -ECANCELED;
}
module_init(leak_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Leaks one object on purpose");
/* What looks at a guest does not change it: a module from elsewhere would taint its kernel. */
MODULE_INFO(intree, "Y");
