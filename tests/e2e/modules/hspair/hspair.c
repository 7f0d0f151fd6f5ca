// SPDX-License-Identifier: GPL-2.0-only
/*
 * Network devices that AF_IUCV takes for HiperSockets: all that it asks for is a permanent address
 * of eight bytes, which is a user ID in EBCDIC.  They come in pairs: what one of a pair sends, the
 * other one receives.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <asm/ebcdic.h>
#include <net/sock.h>
#include <net/iucv/af_iucv.h>

#define MTU 8192
#define USER_LEN 8

static const char * const users[] = { "HSALPHA ", "HSBETA  ", "HSGAMMA ", "HSDELTA " };
static struct net_device *devices[ARRAY_SIZE(users)];

static ushort window;
module_param(window, ushort, 0600);
MODULE_PARM_DESC(window, "Messages that new connections allow, whatever was set; 0: what was set");

struct end {
	struct net_device *other;
};

/* Linux does not look at it, but another system may. */
static bool is_right(const struct af_iucv_trans_hdr *header)
{
	return header->magic == ETH_P_AF_IUCV && header->version == 1;
}

static void widen(struct af_iucv_trans_hdr *header)
{
	if (window && header->flags & AF_IUCV_FLAG_SYN)
		header->window = window;
}

static netdev_tx_t pass_on(struct sk_buff *skb, struct net_device *dev)
{
	struct net_device *other = ((struct end *)netdev_priv(dev))->other;

	/* IPv6 greets its neighbours. */
	if (skb->protocol != htons(ETH_P_AF_IUCV) || !netif_running(other)) {
		dev_kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	if (skb->sk && skb->sk->sk_family == PF_IUCV)
		iucv_sk(skb->sk)->sk_txnotify(skb->sk, TX_NOTIFY_OK);
	skb_orphan(skb);
	skb_dst_drop(skb);
	eth_type_trans(skb, other);
	/* The head of an answer is empty. */
	skb->protocol = htons(ETH_P_AF_IUCV);
	skb->pkt_type = PACKET_HOST;
	WARN_ON(!is_right((struct af_iucv_trans_hdr *)skb->data));
	widen((struct af_iucv_trans_hdr *)skb->data);
	netif_rx(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops pair_ops = {
	.ndo_start_xmit = pass_on,
};

static int add(unsigned int number)
{
	struct net_device *dev = alloc_netdev(sizeof(struct end), "hs%d", NET_NAME_ENUM, ether_setup);
	int rc;

	if (!dev)
		return -ENOMEM;
	dev->netdev_ops = &pair_ops;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->flags |= IFF_NOARP;
	dev->mtu = MTU;
	dev->max_mtu = MTU;
	eth_hw_addr_random(dev);
	memcpy(dev->perm_addr, users[number], USER_LEN);
	ASCEBC(dev->perm_addr, USER_LEN);
	rc = register_netdev(dev);
	if (rc) {
		free_netdev(dev);
		return rc;
	}
	devices[number] = dev;
	return 0;
}

static void remove_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		if (!devices[i])
			continue;
		unregister_netdev(devices[i]);
		free_netdev(devices[i]);
	}
}

static int __init hspair_init(void)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < ARRAY_SIZE(devices) && !rc; i++)
		rc = add(i);
	rtnl_lock();
	for (i = 0; i < ARRAY_SIZE(devices) && !rc; i++) {
		((struct end *)netdev_priv(devices[i]))->other = devices[i ^ 1];
		rc = dev_open(devices[i], NULL);
	}
	rtnl_unlock();
	if (rc)
		remove_all();
	return rc;
}
module_init(hspair_init);

static void __exit hspair_exit(void)
{
	remove_all();
}
module_exit(hspair_exit);

MODULE_DESCRIPTION("Pairs of network devices that AF_IUCV takes for HiperSockets");
MODULE_LICENSE("GPL");
