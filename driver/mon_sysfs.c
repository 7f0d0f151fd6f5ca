// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of /sys/class/misc/monreader: what has happened since the module
 * was loaded, and the codes of the last connection.
 */
#include <linux/device.h>

#include "mon_device.h"

static ssize_t mon_count(const u64 *count, char *buf)
{
	u64 value;

	spin_lock_bh(&mon_device.lock);
	value = *count;
	spin_unlock_bh(&mon_device.lock);
	return sysfs_emit(buf, "%llu\n", value);
}

static ssize_t sets_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return mon_count(&mon_device.stream.counts.sets, buf);
}
static DEVICE_ATTR_RO(sets);

static ssize_t bytes_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return mon_count(&mon_device.stream.counts.bytes, buf);
}
static DEVICE_ATTR_RO(bytes);

static ssize_t overflows_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return mon_count(&mon_device.stream.counts.overflows, buf);
}
static DEVICE_ATTR_RO(overflows);

static ssize_t severs_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return mon_count(&mon_device.stream.counts.severs, buf);
}
static DEVICE_ATTR_RO(severs);

static ssize_t invalid_sets_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return mon_count(&mon_device.stream.counts.invalid_sets, buf);
}
static DEVICE_ATTR_RO(invalid_sets);

static ssize_t mon_code(const int *code, char *buf)
{
	int value;

	spin_lock_bh(&mon_device.lock);
	value = *code;
	spin_unlock_bh(&mon_device.lock);
	return sysfs_emit(buf, "%d\n", value);
}

static ssize_t sever_code_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return mon_code(&mon_device.sever_code, buf);
}
static DEVICE_ATTR_RO(sever_code);

static ssize_t reply_code_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return mon_code(&mon_device.reply_code, buf);
}
static DEVICE_ATTR_RO(reply_code);

static struct attribute *mon_attributes[] = {
	&dev_attr_sets.attr,
	&dev_attr_bytes.attr,
	&dev_attr_overflows.attr,
	&dev_attr_severs.attr,
	&dev_attr_invalid_sets.attr,
	&dev_attr_sever_code.attr,
	&dev_attr_reply_code.attr,
	NULL,
};

static const struct attribute_group mon_group = {
	.attrs = mon_attributes,
};

const struct attribute_group *mon_groups[] = { &mon_group, NULL };
