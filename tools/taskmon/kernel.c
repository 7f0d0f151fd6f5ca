/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <errno.h>
#include <linux/cgroupstats.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel answers before sendmsg() returns; who waits longer waits forever. */
#define ANSWER_MS 5000
/* A message of two records of the longest version is 1.5 KiB. */
#define MESSAGE_SIZE 8192

/* libnl's errors as -errno. */
static int from_libnl(int error)
{
	switch (-error) {
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_AF_NOSUPPORT:
		return -EAFNOSUPPORT;
	case NLE_NOADDR:
		return -EADDRNOTAVAIL;
	default:
		return error < 0 ? -EIO : 0;
	}
}

int kernel_open(struct kernel *kernel)
{
	int ret;

	*kernel = (struct kernel){ .fd = -1 };
	kernel->socket = nl_socket_alloc();
	if (!kernel->socket)
		return -ENOMEM;
	ret = genl_connect(kernel->socket);
	if (ret >= 0)
		ret = genl_ctrl_resolve(kernel->socket, TASKSTATS_GENL_NAME);
	if (ret < 0) {
		kernel_close(kernel);
		return from_libnl(ret);
	}
	kernel->family = ret;
	kernel->fd = nl_socket_get_fd(kernel->socket);
	return 0;
}

void kernel_close(struct kernel *kernel)
{
	nl_socket_free(kernel->socket);
	*kernel = (struct kernel){ .fd = -1 };
}

/* Where messages go that arrive between a request and its end. */
struct exchange {
	struct kernel *kernel;
	uint32_t number;		/* of the request */
	kernel_message *answer, *other;
	void *context;
	bool ended;
	int error;
};

/* The message that ends an exchange: an errno, 0 for an acknowledgement. */
static void take_end(struct exchange *exchange, struct nlmsghdr *header)
{
	const struct nlmsgerr *end = nlmsg_data(header);

	exchange->ended = true;
	exchange->error = header->nlmsg_len < (unsigned int)nlmsg_size(sizeof(*end)) ? -EBADMSG :
			  end->error;
}

static void take(struct exchange *exchange, uint8_t *buffer, int size)
{
	struct nlmsghdr *header = (void *)buffer;

	for (; nlmsg_ok(header, size); header = nlmsg_next(header, &size)) {
		bool mine = header->nlmsg_seq == exchange->number && header->nlmsg_pid != 0;

		if (header->nlmsg_type == NLMSG_ERROR && mine)
			take_end(exchange, header);
		else if (header->nlmsg_type == exchange->kernel->family)
			(mine ? exchange->answer : exchange->other)(exchange->context, header);
	}
}

/* Takes what has come, but for what others than the kernel sent.  Return: 0 or -errno. */
static int receive(struct exchange *exchange)
{
	uint8_t buffer[MESSAGE_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct sockaddr_nl sender = { 0 };
	socklen_t len = sizeof(sender);
	ssize_t size = recvfrom(exchange->kernel->fd, buffer, sizeof(buffer), MSG_DONTWAIT,
				(struct sockaddr *)&sender, &len);

	if (size < 0)
		return errno == EINTR ? 0 : -errno;
	/* Privileged processes may send here, too; only the kernel is port 0. */
	if (sender.nl_pid == 0)
		take(exchange, buffer, (int)size);
	return 0;
}

/* Sends the request, which is freed, and reads until the kernel has acknowledged it. */
static int run(struct exchange *exchange, struct nl_msg *request)
{
	struct pollfd readable = { .fd = exchange->kernel->fd, .events = POLLIN };
	int ret = nl_send_auto(exchange->kernel->socket, request);

	exchange->number = nlmsg_hdr(request)->nlmsg_seq;
	nlmsg_free(request);
	if (ret < 0)
		return from_libnl(ret);
	while (!exchange->ended) {
		ret = poll(&readable, 1, ANSWER_MS);
		if (ret == 0)
			return -ETIMEDOUT;
		ret = ret < 0 ? -errno : receive(exchange);
		if (ret == -ENOBUFS)
			return -ETIMEDOUT; /* the answer may be among what was lost */
		if (ret && ret != -EINTR && ret != -EAGAIN)
			return ret;
	}
	return exchange->error;
}

static struct nl_msg *new_request(const struct kernel *kernel, uint8_t command)
{
	struct nl_msg *request = nlmsg_alloc();

	if (request && !genlmsg_put(request, NL_AUTO_PORT, NL_AUTO_SEQ, kernel->family, 0, 0,
				    command, TASKSTATS_GENL_VERSION)) {
		nlmsg_free(request);
		return NULL;
	}
	return request;
}

const uint8_t *kernel_attributes(const struct nlmsghdr *header, size_t *size)
{
	const size_t before = NLMSG_HDRLEN + GENL_HDRLEN;

	if (header->nlmsg_len < before)
		return NULL;
	*size = header->nlmsg_len - before;
	return (const uint8_t *)header + before;
}

static void ignore(void *context, struct nlmsghdr *header)
{
	(void)context;
	(void)header;
}

struct answer {
	stats_each *each;
	void *context;
	bool came;
	bool malformed;
	struct kernel_cgroup cgroup;
};

static void take_stats(void *context, struct nlmsghdr *header)
{
	struct answer *answer = context;
	struct stats_message found;
	size_t size;
	const uint8_t *attributes = kernel_attributes(header, &size);

	if (!attributes) {
		answer->malformed = true;
		return;
	}
	found = stats_parse(attributes, size, STATS_OWN_ORDER, answer->each, answer->context);
	answer->malformed |= found.malformed;
	answer->came |= found.records > 0;
}

int kernel_get(struct kernel *kernel, enum stats_kind kind, uint32_t id, stats_each *each,
	       void *context)
{
	struct answer answer = { .each = each, .context = context };
	struct exchange exchange = { .kernel = kernel, .answer = take_stats, .other = ignore,
				     .context = &answer };
	struct nl_msg *request = new_request(kernel, TASKSTATS_CMD_GET);
	int ret;

	if (!request)
		return -ENOMEM;
	if (nla_put_u32(request, kind == STATS_TASK ? TASKSTATS_CMD_ATTR_PID :
			TASKSTATS_CMD_ATTR_TGID, id) < 0) {
		nlmsg_free(request);
		return -ENOMEM;
	}
	ret = run(&exchange, request);
	if (!ret && (answer.malformed || !answer.came))
		ret = -EBADMSG;
	return ret;
}

static void take_cgroup(void *context, struct nlmsghdr *header)
{
	struct answer *answer = context;
	struct nlattr *attribute;
	struct cgroupstats stats;
	size_t size;

	if (!kernel_attributes(header, &size))
		return;
	attribute = nlmsg_find_attr(header, GENL_HDRLEN,
				    CGROUPSTATS_TYPE_CGROUP_STATS);
	if (!attribute || nla_len(attribute) < (int)sizeof(stats))
		return;
	memcpy(&stats, nla_data(attribute), sizeof(stats));
	answer->cgroup = (struct kernel_cgroup){
		.sleeping = stats.nr_sleeping, .running = stats.nr_running,
		.stopped = stats.nr_stopped, .uninterruptible = stats.nr_uninterruptible,
		.io_wait = stats.nr_io_wait,
	};
	answer->came = true;
}

int kernel_cgroup(struct kernel *kernel, int folder, struct kernel_cgroup *cgroup)
{
	struct answer answer = { 0 };
	struct exchange exchange = { .kernel = kernel, .answer = take_cgroup, .other = ignore,
				     .context = &answer };
	struct nl_msg *request = new_request(kernel, CGROUPSTATS_CMD_GET);
	int ret;

	if (!request)
		return -ENOMEM;
	if (nla_put_u32(request, CGROUPSTATS_CMD_ATTR_FD, (uint32_t)folder) < 0) {
		nlmsg_free(request);
		return -ENOMEM;
	}
	ret = run(&exchange, request);
	if (!ret && !answer.came)
		ret = -ENODATA;
	*cgroup = answer.cgroup;
	return ret;
}

static struct nl_msg *new_mask(struct kernel *kernel, int attribute, const char *list)
{
	struct nl_msg *request = new_request(kernel, TASKSTATS_CMD_GET);

	/* With its NUL: without one, kernels up to 6.12 lose the last character. */
	if (request && nla_put_string(request, attribute, list) < 0) {
		nlmsg_free(request);
		return NULL;
	}
	return request;
}

int kernel_listen(struct kernel *kernel, const char *list, kernel_message *message, void *context)
{
	struct exchange exchange = { .kernel = kernel, .answer = ignore, .other = message,
				     .context = context };
	struct nl_msg *request = new_mask(kernel, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, list);

	return request ? run(&exchange, request) : -ENOMEM;
}

int kernel_end_listening(struct kernel *kernel, const char *list)
{
	struct nl_msg *request = new_mask(kernel, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK, list);
	int ret;

	if (!request)
		return -ENOMEM;
	nl_socket_disable_auto_ack(kernel->socket);
	ret = nl_send_auto(kernel->socket, request);
	nlmsg_free(request);
	return from_libnl(ret);
}

size_t kernel_set_buffer(const struct kernel *kernel, size_t wanted)
{
	/* The kernel doubles what is set, for its own overhead. */
	int half = (int)(wanted / 2), got = 0;
	socklen_t len = sizeof(got);

	if (setsockopt(kernel->fd, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof(half)))
		setsockopt(kernel->fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof(half));
	getsockopt(kernel->fd, SOL_SOCKET, SO_RCVBUF, &got, &len);
	return (size_t)got;
}

bool kernel_dropped(const struct kernel *kernel, uint32_t *count)
{
	uint32_t values[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(values);

	if (getsockopt(kernel->fd, SOL_SOCKET, SO_MEMINFO, values, &len) ||
	    len < (SK_MEMINFO_DROPS + 1) * sizeof(values[0]))
		return false;
	*count = values[SK_MEMINFO_DROPS];
	return true;
}

int kernel_read(struct kernel *kernel, kernel_message *message, void *context)
{
	struct exchange exchange = { .kernel = kernel, .answer = ignore, .other = message,
				     .context = context };
	bool lost = false;
	int ret;

	do {
		ret = receive(&exchange);
		lost |= ret == -ENOBUFS;
	} while (!ret || ret == -ENOBUFS);
	if (ret != -EAGAIN)
		return ret;
	return lost ? -ENOBUFS : 0;
}

const char *kernel_reason(int error)
{
	switch (-error) {
	case EPERM:
		return "the kernel answers only processes with CAP_NET_ADMIN in the initial user "
		       "namespace; run this as root, outside of user namespaces";
	case ENOENT:
		return "this kernel has no netlink family TASKSTATS; it needs CONFIG_TASKSTATS=y";
	case ETIMEDOUT:
		return "the kernel has not answered within 5 s";
	case EBADMSG:
		return "the kernel's answer cannot be read";
	default:
		return strerror(-error);
	}
}
