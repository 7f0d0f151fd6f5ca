/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module's parts share: the one device, and its connection.
 */
#ifndef MON_DEVICE_H
#define MON_DEVICE_H

#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/wait.h>
#include <net/iucv/iucv.h>

#include "mon_stream.h"

#define MON_IPUSER_SIZE 16

/**
 * enum mon_link - the connection to the *MONITOR service
 * @MON_LINK_DOWN:       none, or CP has severed it
 * @MON_LINK_CONNECTING: CP has not answered yet
 * @MON_LINK_UP:         CP has accepted
 */
enum mon_link { MON_LINK_DOWN, MON_LINK_CONNECTING, MON_LINK_UP };

/**
 * struct mon_device - everything there is
 */
struct mon_device {
	/** @busy: bit 0: somebody has the device open, or is opening or closing it */
	unsigned long busy;
	/** @reading: bit 0: a read is under way, to which the set of @stream belongs */
	unsigned long reading;
	/** @readers: reads that wait for that bit */
	wait_queue_head_t readers;
	/** @reads: the same lock for lockdep */
	struct lockdep_map reads;
	/**
	 * @lock: for the queue of @stream, @path, @link and both codes; taken by
	 * the handlers of IUCV, which run as a tasklet
	 */
	spinlock_t lock;
	/** @wait: for notifications, a sever, an answer to CONNECT */
	wait_queue_head_t wait;
	/** @stream: the read machine */
	struct mon_stream stream;
	/**
	 * @path: the path while it is ours to sever, else NULL: who clears it
	 * severs and frees it
	 */
	struct iucv_path *path;
	/** @link: see there */
	enum mon_link link;
	/** @sever_code: IPUSER byte 0 of the sever that ended this connection, or -1 */
	int sever_code;
	/** @reply_code: of the last reply of this connection that failed, or -1 */
	int reply_code;
	/** @connect: IPUSER for CONNECT */
	u8 connect[MON_IPUSER_SIZE];
};

extern struct mon_device mon_device;
extern const struct file_operations mon_fops;
extern const struct attribute_group *mon_groups[];

void mon_fops_init(struct mon_device *dev);
int mon_iucv_register(void);
void mon_iucv_unregister(void);
int mon_connect(struct mon_device *dev, unsigned int seconds);
void mon_disconnect(struct mon_device *dev);
int mon_reply(struct mon_device *dev);

#endif /* MON_DEVICE_H */
