// SPDX-License-Identifier: GPL-2.0-only
/* Says where a page of storage is: by its virtual address, and by its real one. */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static unsigned long virtual_address;
module_param(virtual_address, ulong, 0444);
MODULE_PARM_DESC(virtual_address, "what a pointer to it has");

static unsigned long real_address;
module_param(real_address, ulong, 0444);
MODULE_PARM_DESC(real_address, "where the machine has it");

static int __init places_init(void)
{
	virtual_address = __get_free_page(GFP_KERNEL);
	if (!virtual_address)
		return -ENOMEM;
	real_address = virt_to_phys((void *)virtual_address);
	return 0;
}
module_init(places_init);

static void __exit places_exit(void)
{
	free_page(virtual_address);
}
module_exit(places_exit);

MODULE_DESCRIPTION("Says where a page of storage is");
MODULE_LICENSE("GPL");
