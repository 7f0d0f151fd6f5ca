// SPDX-License-Identifier: GPL-2.0-only
/*
 * Character device for z/VM monitor records: parameters, loading, unloading.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <asm/ebcdic.h>
#include <asm/extmem.h>

#include "mon_compat.h"
#include "mon_device.h"

#define MON_NAME_SIZE 8

static char mondcss[MON_NAME_SIZE + 1] = "MONDCSS";
module_param_string(mondcss, mondcss, sizeof(mondcss), 0444);
MODULE_PARM_DESC(mondcss, "Name of the monitor DCSS (default: MONDCSS)");

static struct miscdevice mon_misc = {
	.name = "monreader",
	.fops = &mon_fops,
	.minor = MISC_DYNAMIC_MINOR,
	.groups = mon_groups,
};

/* IPUSER of CONNECT: version 1, sample and event data, shared mode, the segment. */
static void __init mon_connect_data(u8 data[MON_IPUSER_SIZE])
{
	u8 *name = data + MON_IPUSER_SIZE - MON_NAME_SIZE;

	data[0] = 0x01;
	data[1] = 0xc0;
	memset(data + 2, 0xff, 6);
	memset(name, ' ', MON_NAME_SIZE);
	for (int i = 0; mondcss[i]; i++)
		name[i] = toupper(mondcss[i]);
	ASCEBC(name, MON_NAME_SIZE);
}

static int __init mon_load_segment(void)
{
	unsigned long start, end;
	int rc;

	rc = segment_type(mondcss);
	if (rc < 0) {
		segment_warning(rc, mondcss);
		return rc;
	}
	if (rc != SEG_TYPE_SC) {
		pr_err("The specified *MONITOR DCSS %s does not have the required type SC\n",
		       mondcss);
		return -EINVAL;
	}
	rc = segment_load(mondcss, SEGMENT_SHARED, &start, &end);
	if (rc < 0) {
		segment_warning(rc, mondcss);
		return -EINVAL;
	}
	if (!mon_stream_init(&mon_device.stream, phys_to_virt(start), start, end)) {
		pr_err("The specified *MONITOR DCSS %s of range %016lx to %016lx is not below 4 GiB, and the service's addresses have 32 bits\n",
		       mondcss, start, end);
		segment_unload(mondcss);
		return -EINVAL;
	}
	return 0;
}

static int __init mon_init(void)
{
	int rc;

	if (!machine_is_vm()) {
		pr_err("The z/VM *MONITOR record device driver cannot be loaded without z/VM\n");
		return -ENODEV;
	}
	rc = mon_iucv_register();
	if (rc) {
		pr_err("The z/VM *MONITOR record device driver failed to register with IUCV\n");
		return rc;
	}
	rc = mon_load_segment();
	if (rc)
		goto unregister;
	mon_connect_data(mon_device.connect);
	mon_fops_init(&mon_device);
	rc = misc_register(&mon_misc);
	if (rc)
		goto unload;
	return 0;

unload:
	segment_unload(mondcss);
unregister:
	mon_iucv_unregister();
	return rc;
}

static void __exit mon_exit(void)
{
	misc_deregister(&mon_misc);
	segment_unload(mondcss);
	mon_iucv_unregister();
}

module_init(mon_init);
module_exit(mon_exit);

MODULE_AUTHOR("The zvmlab authors");
MODULE_DESCRIPTION("Character device driver for reading z/VM monitor service records");
MODULE_VERSION("0.2.0");
MODULE_LICENSE("GPL");
