// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection to the *MONITOR service.
 *
 * The handlers run in IUCV's tasklet, one at a time, with IUCV's table locked.
 * iucv_path_sever() takes that lock, so it must not be called with the device's
 * lock held; when it has returned, no handler sees the path any more.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/container_of.h>
#include <linux/poll.h>
#include <linux/ratelimit.h>
#include <linux/string.h>

#include "mon_device.h"

struct mon_device mon_device = {
	.readers = __WAIT_QUEUE_HEAD_INITIALIZER(mon_device.readers),
	.lock = __SPIN_LOCK_UNLOCKED(mon_device.lock),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(mon_device.wait),
	.sever_code = -1,
	.reply_code = -1,
};

static u8 mon_service[] = "*MONITOR";
/* IPUSER of our own sever. */
static u8 mon_goodbye[MON_IPUSER_SIZE] = { [0 ... MON_IPUSER_SIZE - 1] = 0xff };

/* Interruption buffer of "connection complete", up to IPUSER (SC24-6272). */
struct mon_complete {
	__be16 ippathid;
	u8 ipflags1;
	u8 iptype;
	__be16 ipmsglim;
	u8 reserved[10];
	u8 ipuser[16];
} __packed;

static_assert(offsetof(struct mon_complete, ipuser) == 16);

#define MON_TYPE_COMPLETE 2

/*
 * How many messages may CP have outstanding?  What CP grants is in the
 * interruption buffer.  iucv.c keeps it to itself, but all versions so far hand
 * out the address of IPUSER in its copy of the buffer.  If what is around it is
 * not such a buffer, the limit that CONNECT returned has to do, which the
 * service may have lowered since.
 */
static u16 mon_granted(const struct iucv_path *path, const u8 *ipuser)
{
	const struct mon_complete *irq = container_of(ipuser, struct mon_complete, ipuser[0]);
	u16 limit = be16_to_cpu(irq->ipmsglim);

	if (be16_to_cpu(irq->ippathid) != path->pathid || irq->iptype != MON_TYPE_COMPLETE)
		return path->msglim;
	return limit && limit < path->msglim ? limit : path->msglim;
}

static void mon_path_complete(struct iucv_path *path, u8 *ipuser)
{
	struct mon_device *dev = path->private;

	spin_lock(&dev->lock);
	if (path == dev->path && dev->link == MON_LINK_CONNECTING) {
		dev->link = MON_LINK_UP;
		mon_stream_limit(&dev->stream, mon_granted(path, ipuser));
	}
	spin_unlock(&dev->lock);
	wake_up(&dev->wait);
}

static void mon_path_severed(struct iucv_path *path, u8 *ipuser)
{
	struct mon_device *dev = path->private;
	bool ours;

	spin_lock(&dev->lock);
	ours = path == dev->path;
	if (ours) {
		dev->path = NULL;
		dev->link = MON_LINK_DOWN;
		dev->sever_code = ipuser[0];
		mon_stream_sever(&dev->stream);
	}
	spin_unlock(&dev->lock);
	if (!ours)
		return;
	pr_err("z/VM *MONITOR system service disconnected with rc=%i\n", ipuser[0]);
	/* From here on the path's id may be given to another driver. */
	iucv_path_sever(path, NULL);
	iucv_path_free(path);
	wake_up_poll(&dev->wait, EPOLLERR | EPOLLHUP);
}

static void mon_message_pending(struct iucv_path *path, struct iucv_message *msg)
{
	struct mon_device *dev = path->private;
	struct mon_note note = {
		.id = msg->id,
		.class = msg->class,
		.addressed = msg->flags & IUCV_IPRMDATA,
	};
	struct mon_stream *s = &dev->stream;
	bool queued = true, full = false;
	__be32 area[2];
	u64 overflows;

	if (note.addressed) {
		memcpy(area, msg->rmmsg, sizeof(area));
		note.first = be32_to_cpu(area[0]);
		note.last = be32_to_cpu(area[1]);
	}

	spin_lock(&dev->lock);
	if (path == dev->path) {
		overflows = s->counts.overflows;
		queued = mon_stream_notify(s, &note);
		full = s->counts.overflows != overflows;
	}
	spin_unlock(&dev->lock);
	if (full)
		pr_warn_ratelimited("The read queue for monitor data is full\n");
	if (!queued)
		iucv_message_reject(path, msg);
	if (wq_has_sleeper(&dev->wait))
		wake_up_poll(&dev->wait, EPOLLIN | EPOLLRDNORM);
}

static struct iucv_handler mon_handler = {
	.path_complete = mon_path_complete,
	.path_severed = mon_path_severed,
	.message_pending = mon_message_pending,
};

/**
 * mon_iucv_register() - make the handlers known
 *
 * Return: 0 or what iucv_register() says.
 */
int mon_iucv_register(void)
{
	return iucv_register(&mon_handler, 1);
}

/**
 * mon_iucv_unregister() - the reverse; no handler runs afterwards
 */
void mon_iucv_unregister(void)
{
	iucv_unregister(&mon_handler, 1);
}

static enum mon_link mon_link(struct mon_device *dev)
{
	enum mon_link link;

	spin_lock_bh(&dev->lock);
	link = dev->link;
	spin_unlock_bh(&dev->lock);
	return link;
}

/* Takes the path away from the handlers; NULL if CP's sever was faster. */
static struct iucv_path *mon_take_path(struct mon_device *dev)
{
	struct iucv_path *path;

	spin_lock_bh(&dev->lock);
	path = dev->path;
	dev->path = NULL;
	dev->link = MON_LINK_DOWN;
	spin_unlock_bh(&dev->lock);
	return path;
}

static int mon_wait_connected(struct mon_device *dev, unsigned int seconds)
{
	long rc = wait_event_killable_timeout(dev->wait, mon_link(dev) != MON_LINK_CONNECTING,
					      (long)seconds * HZ);

	if (rc < 0)
		return -EINTR;
	if (!rc) {
		pr_err("The z/VM *MONITOR system service did not answer within %u s\n", seconds);
		return -EIO;
	}
	return mon_link(dev) == MON_LINK_UP ? 0 : -EIO;
}

/**
 * mon_connect() - connect to the service and wait for its answer
 * @dev:     the device, busy
 * @seconds: how long
 *
 * Return: 0; -ENOMEM; -EIO, with a message that says why; -EINTR if the process
 * was killed.
 */
int mon_connect(struct mon_device *dev, unsigned int seconds)
{
	struct iucv_path *path = iucv_path_alloc(MON_LIMIT, IUCV_IPRMDATA, GFP_KERNEL);
	int rc;

	if (!path)
		return -ENOMEM;
	spin_lock_bh(&dev->lock);
	mon_stream_open(&dev->stream);
	dev->path = path;
	dev->link = MON_LINK_CONNECTING;
	dev->sever_code = -1;
	dev->reply_code = -1;
	spin_unlock_bh(&dev->lock);

	rc = iucv_path_connect(path, &mon_handler, mon_service, NULL, dev->connect, dev);
	if (rc) {
		pr_err("Connecting to the z/VM *MONITOR system service failed with rc=%i\n", rc);
		mon_take_path(dev);
		iucv_path_free(path);
		return -EIO;
	}
	rc = mon_wait_connected(dev, seconds);
	if (rc)
		mon_disconnect(dev);
	return rc;
}

/**
 * mon_disconnect() - sever the path unless CP has done so
 * @dev: the device, busy
 *
 * A path that CP has severed is gone, and another driver may have its id.
 */
void mon_disconnect(struct mon_device *dev)
{
	struct iucv_path *path = mon_take_path(dev);
	int rc;

	if (!path)
		return;
	rc = iucv_path_sever(path, mon_goodbye);
	if (rc)
		pr_warn("Disconnecting the z/VM *MONITOR system service failed with rc=%i\n", rc);
	iucv_path_free(path);
}

static void mon_report_invalid(const struct mon_stream *s)
{
	const struct mon_note *note = mon_stream_note(s);

	if (s->defect < MON_DEFECT_TYPE)
		pr_warn_ratelimited("Malformed monitor data: %s (%08x to %08x)\n",
				    mon_defect_text(s->defect), note->first, note->last);
	else
		pr_warn_ratelimited("Malformed monitor data: %s (element %u of %08x to %08x: %*phN)\n",
				    mon_defect_text(s->defect), s->index, note->first, note->last,
				    MON_ELEMENT_SIZE, s->element);
}

/**
 * mon_reply() - let CP use the areas of the current set again, and end it
 * @dev: the device with reads locked and the end of a set reached
 *
 * The reply is sent with the handlers locked out: the path cannot go meanwhile,
 * and no message that follows the reply is counted before it.
 *
 * Return: 0; -EIO if the set is malformed, the reply failed or CP has severed.
 */
int mon_reply(struct mon_device *dev)
{
	struct mon_stream *s = &dev->stream;
	const struct mon_note *note = mon_stream_note(s);
	struct iucv_message msg = { .id = note->id, .class = note->class };
	enum mon_finish finish;
	bool replied = false;
	int rc = 0;

	if (s->defect)
		mon_report_invalid(s);
	spin_lock_bh(&dev->lock);
	if (dev->path) {
		rc = iucv_message_reply(dev->path, &msg, IUCV_IPRMDATA, NULL, 0);
		replied = !rc;
		if (rc)
			dev->reply_code = rc;
	}
	finish = mon_stream_finish(s, replied);
	spin_unlock_bh(&dev->lock);

	if (rc)
		pr_err("Reading monitor data failed with rc=%i\n", rc);
	return finish == MON_FINISH_COMPLETE ? 0 : -EIO;
}
