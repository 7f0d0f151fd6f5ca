// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user of the kernel's IUCV calls, among them those that no driver of Linux issues: two-way
 * messages, PURGE and RESUME, CONNECT with a system, and a handler that goes before its paths.
 * Loading it connects to user PARTNER and goes through the calls one after the other; a line of the
 * log says what each one gave.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/iucv/iucv.h>

#define SIZE 16
#define PARTS 2
#define WAIT (60 * HZ)
#define ONE_CLASS 5

/* What a message is sent from, answered into, or received into: CP wants it below 2 GiB. */
static u8 *data, *answer;
static struct iucv_array *list;
static struct iucv_path *path, *left;
static struct iucv_message ended, came;
static DECLARE_COMPLETION(connected);
static DECLARE_COMPLETION(completed);
static DECLARE_COMPLETION(arrived);
static DECLARE_COMPLETION(quiesced);
static DECLARE_COMPLETION(resumed);

static void path_complete(struct iucv_path *unused, u8 *user)
{
	complete(&connected);
}

static void path_severed(struct iucv_path *severed, u8 *user)
{
	iucv_path_sever(severed, NULL);
}

static void path_quiesced(struct iucv_path *unused, u8 *user)
{
	complete(&quiesced);
}

static void path_resumed(struct iucv_path *unused, u8 *user)
{
	complete(&resumed);
}

static void message_pending(struct iucv_path *unused, struct iucv_message *msg)
{
	came = *msg;
	complete(&arrived);
}

static void message_complete(struct iucv_path *unused, struct iucv_message *msg)
{
	ended = *msg;
	complete(&completed);
}

static struct iucv_handler handler = {
	.path_complete = path_complete,
	.path_severed = path_severed,
	.path_quiesced = path_quiesced,
	.path_resumed = path_resumed,
	.message_pending = message_pending,
	.message_complete = message_complete,
};

static int await(struct completion *what)
{
	return wait_for_completion_timeout(what, WAIT) ? 0 : -ETIMEDOUT;
}

/* A two-way message; its answer is part of the line. */
static int two_way(const char *name, u8 flags, size_t size)
{
	struct iucv_message msg = { .class = 1 };
	int rc;

	memcpy(data, "0123456789abcdef", SIZE);
	memset(answer, 0, SIZE);
	/* Up to 7.2 the call sends the path's flags in place of those that it is given. */
	path->flags = flags;
	rc = iucv_message_send2way(path, &msg, flags, ONE_CLASS, data, size, answer, SIZE, NULL);
	if (!rc)
		rc = await(&completed);
	pr_info("%s: rc %d, same %d, audit %x, answer '%.*s'\n", name, rc, ended.id == msg.id,
		ended.audit, ended.flags & IUCV_IPRMDATA ? 8 : SIZE,
		ended.flags & IUCV_IPRMDATA ? ended.rmmsg : answer);
	return rc;
}

/* A message that is taken back before anybody has received it. */
static int purge(void)
{
	struct iucv_message msg = { .class = 2 };
	int sent = iucv_message_send(path, &msg, 0, ONE_CLASS, data, SIZE);
	int rc = iucv_message_purge(path, &msg, ONE_CLASS);

	pr_info("purge: send %d, rc %d, audit %x\n", sent, rc, msg.audit);
	return rc;
}

/* Where the second part of a message goes. */
static void set_list(u32 first)
{
	list[0].address = (u32)virt_to_phys(answer + 4);
	list[0].length = first;
	list[1].address = (u32)virt_to_phys(answer + 4 + first);
	list[1].length = SIZE - 4 - first;
}

/* A message that comes: in two parts, the second into a list of buffers, and a reply. */
static int receive(const char *name, u8 reply_flags, size_t reply)
{
	size_t more = 0;
	int rc = await(&arrived), first, rest;

	if (rc)
		return rc;
	memset(answer, 0, SIZE);
	first = iucv_message_receive(path, &came, 0, answer, 4, &more);
	set_list(2);
	rest = came.flags & IUCV_IPRMDATA ? 0 :
	       iucv_message_receive(path, &came, IUCV_IPBUFLST, list, SIZE - 4, NULL);
	memcpy(data, "reply of 16 byte", SIZE);
	rc = iucv_message_reply(path, &came, reply_flags, data, reply);
	pr_info("%s: receive %d, left %zu, rest %d, reply %d, '%.*s'\n", name, first, more, rest, rc,
		SIZE, answer);
	return rc;
}

/* One that is in the parameter list, into a list of buffers. */
static int receive_into_list(void)
{
	int rc = await(&arrived), received;

	if (rc)
		return rc;
	memset(answer, 0, SIZE);
	set_list(3);
	received = iucv_message_receive(path, &came, IUCV_IPBUFLST, list, 8, NULL);
	rc = iucv_message_reply(path, &came, IUCV_IPRMDATA, data, 8);
	pr_info("message, in a list: receive %d, reply %d, '%.8s'\n", received, rc, answer + 4);
	return rc;
}

static int stop_and_go(void)
{
	u8 user[16] = "stop and go";
	int stopped = iucv_path_quiesce(path, user), rc;

	rc = iucv_if.path_resume(path, user);
	pr_info("quiesce %d, resume %d\n", stopped, rc);
	if (!rc)
		rc = await(&quiesced);
	return rc ? rc : await(&resumed);
}

static int calls(void)
{
	int rc = stop_and_go();

	if (!rc)
		rc = two_way("two-way", 0, SIZE);
	if (!rc)
		rc = two_way("two-way, short", IUCV_IPRMDATA, 8);
	if (!rc)
		rc = purge();
	if (!rc)
		rc = receive("message", 0, SIZE);
	if (!rc)
		rc = receive("message, short", IUCV_IPRMDATA, 8);
	return rc ? rc : receive_into_list();
}

/* A path that is to be on this system is so whatever system is named; it goes with its handler. */
static int connect_and_leave(u8 partner[8])
{
	static u8 other[8] = "OTHERSYS";
	int far = iucv_path_connect(left, &handler, partner, other, NULL, NULL), rc;

	left->flags = IUCV_IPLOCAL;
	/* A path that is connected is the handler's, and not to be connected again. */
	rc = far ? iucv_path_connect(left, &handler, partner, other, NULL, NULL) : 0;
	pr_info("connect to another system %d, local %d\n", far, rc);
	if (rc)
		return rc;
	left = NULL;
	return await(&connected);
}

static void give_back(void)
{
	kfree(data);
	kfree(answer);
	kfree(list);
	if (left)
		iucv_path_free(left);
}

static int prepare(void)
{
	data = kmalloc(SIZE, GFP_KERNEL | GFP_DMA);
	answer = kmalloc(SIZE, GFP_KERNEL | GFP_DMA);
	list = kmalloc_array(PARTS, sizeof(*list), GFP_KERNEL | GFP_DMA);
	path = iucv_path_alloc(8, IUCV_IPRMDATA, GFP_KERNEL);
	left = iucv_path_alloc(8, 0, GFP_KERNEL);
	return data && answer && list && path && left ? 0 : -ENOMEM;
}

static int __init iucvcalls_init(void)
{
	static u8 partner[8] = "PARTNER ";
	int rc = prepare();

	if (rc)
		goto out;
	rc = iucv_register(&handler, 0);
	if (rc)
		goto out;
	rc = iucv_path_connect(path, &handler, partner, NULL, NULL, NULL);
	if (rc) {
		iucv_path_free(path);
	} else {
		rc = await(&connected);
		if (!rc)
			rc = calls();
		if (!rc)
			rc = connect_and_leave(partner);
		pr_info("sever %d\n", iucv_path_sever(path, NULL));
		iucv_path_free(path);
	}
	path = NULL;
	iucv_unregister(&handler, 0);
out:
	if (path)
		iucv_path_free(path);
	give_back();
	/* There is nothing to unload. */
	return rc ? rc : -EAGAIN;
}
module_init(iucvcalls_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The kernel's IUCV calls, one after the other");
