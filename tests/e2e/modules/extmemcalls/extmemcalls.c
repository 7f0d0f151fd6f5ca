// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another user of saved segments beside the kernel's drivers: loading it loads one, in the mode that
 * is asked for, and unloading it gives it back.  Before that it names a segment that nobody has to
 * the calls that none of the drivers would issue for it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <asm/extmem.h>

static char *name = "MINE";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "the segment");

static int exclusive;
module_param(exclusive, int, 0444);
MODULE_PARM_DESC(exclusive, "1: exclusive-writable, 0: shared");

static char nobodys[] = "NOBODYS";

static void about_nobodys(void)
{
	pr_info("another mode: %d\n", segment_modify_shared(nobodys, SEGMENT_SHARED));
	segment_unload(nobodys);
	segment_save(nobodys);
}

static int __init extmemcalls_init(void)
{
	unsigned long first, last;
	int rc;

	about_nobodys();
	rc = segment_load(name, exclusive ? SEGMENT_EXCLUSIVE : SEGMENT_SHARED, &first, &last);
	if (rc < 0)
		segment_warning(rc, name);
	return rc < 0 ? rc : 0;
}

static void __exit extmemcalls_exit(void)
{
	segment_unload(name);
}

module_init(extmemcalls_init);
module_exit(extmemcalls_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A user of saved segments");
