// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver of docs/testing-your-module.md: what is written to its node goes to a user of IUCV.
 */
#define pr_fmt(fmt) "mydriver: " fmt
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <net/iucv/iucv.h>

#define CONNECT_SECONDS 10
#define TEXT_SIZE 256

static char *server = "SERVER";
module_param(server, charp, 0444);
MODULE_PARM_DESC(server, "user to connect to");

static struct iucv_path *path;
static DECLARE_COMPLETION(connected);
/* The message under way: CP reads it when the server receives, by its real address of 31 bits. */
static struct iucv_message message;
static char *text;
static atomic_t busy = ATOMIC_INIT(0);

static void path_complete(struct iucv_path *done, u8 *ipuser)
{
	complete_all(&connected);
}

static void path_severed(struct iucv_path *severed, u8 *ipuser)
{
	pr_info("severed\n");
	atomic_set(&busy, 0);
}

static void message_complete(struct iucv_path *done, struct iucv_message *sent)
{
	atomic_set(&busy, 0);
}

static struct iucv_handler handler = {
	.path_complete = path_complete,
	.path_severed = path_severed,
	.message_complete = message_complete,
};

static ssize_t mydriver_write(struct file *file, const char __user *from, size_t count,
			      loff_t *position)
{
	int rc;

	if (count == 0 || count > TEXT_SIZE)
		return -EMSGSIZE;
	if (!path)
		return -ENOTCONN;
	if (!wait_for_completion_timeout(&connected, CONNECT_SECONDS * HZ))
		return -ETIMEDOUT;
	if (atomic_cmpxchg(&busy, 0, 1))
		return -EBUSY;
	rc = -EFAULT;
	if (!copy_from_user(text, from, count))
		rc = iucv_message_send(path, &message, 0, 0, text, count);
	if (rc) {
		atomic_set(&busy, 0);
		return rc < 0 ? rc : -EIO;
	}
	return count;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.write = mydriver_write,
};

static struct miscdevice node = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mydriver",
	.fops = &operations,
};

/* Eight characters, with blanks at the end; Linux makes EBCDIC of them. */
static int open_path(void)
{
	size_t length = strlen(server);
	u8 user[8];
	int rc;

	if (length == 0 || length > sizeof(user))
		return -EINVAL;
	memset(user, ' ', sizeof(user));
	memcpy(user, server, length);
	path = iucv_path_alloc(16, 0, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	rc = iucv_path_connect(path, &handler, user, NULL, NULL, NULL);
	if (rc) {
		pr_info("%s refuses the connection: %d\n", server, rc);
		iucv_path_free(path);
		path = NULL;
	}
	return 0;
}

static int __init mydriver_init(void)
{
	int rc;

	text = kmalloc(TEXT_SIZE, GFP_KERNEL | GFP_DMA);
	if (!text)
		return -ENOMEM;
	rc = iucv_register(&handler, 0);
	if (rc)
		goto free;
	rc = open_path();
	if (rc)
		goto unregister;
	rc = misc_register(&node);
	if (rc)
		goto close;
	return 0;
close:
	if (path) {
		iucv_path_sever(path, NULL);
		iucv_path_free(path);
	}
unregister:
	iucv_unregister(&handler, 0);
free:
	kfree(text);
	return rc;
}

static void __exit mydriver_exit(void)
{
	misc_deregister(&node);
	/* Severs the path, too. */
	iucv_unregister(&handler, 0);
	kfree(text);
}

module_init(mydriver_init);
module_exit(mydriver_exit);
MODULE_DESCRIPTION("Example of zvmlab's documents: a writer to a user of IUCV");
MODULE_LICENSE("GPL");
