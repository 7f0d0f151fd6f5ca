// SPDX-License-Identifier: GPL-2.0-only
/* Two network devices that never carry anything; each of their counters has another number. */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>

static struct net_device *devices[2];

static void counts(struct net_device *dev, struct rtnl_link_stats64 *to)
{
	const u64 step = dev == devices[0] ? 1000003 : 20000000089;

	to->rx_packets = step;
	to->tx_packets = 2 * step;
	to->rx_bytes = 3 * step;
	to->tx_bytes = 4 * step;
	to->rx_errors = 5 * step;
	to->tx_errors = 6 * step;
	to->rx_dropped = 7 * step;
	to->tx_dropped = 8 * step;
	to->collisions = 9 * step;
}

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops operations = {
	.ndo_get_stats64 = counts,
	.ndo_start_xmit = drop,
};

static void remove(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(devices); i++) {
		if (!devices[i])
			continue;
		unregister_netdev(devices[i]);
		free_netdev(devices[i]);
	}
}

static int add(unsigned int number)
{
	struct net_device *dev = alloc_netdev(0, "counts%d", NET_NAME_ENUM, ether_setup);
	int rc;

	if (!dev)
		return -ENOMEM;
	dev->netdev_ops = &operations;
	rc = register_netdev(dev);
	if (rc)
		free_netdev(dev);
	else
		devices[number] = dev;
	return rc;
}

static int __init netcounts_init(void)
{
	int rc = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(devices) && !rc; i++)
		rc = add(i);
	if (rc)
		remove();
	return rc;
}

static void __exit netcounts_exit(void)
{
	remove();
}

module_init(netcounts_init);
module_exit(netcounts_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Network devices whose counters are known");
