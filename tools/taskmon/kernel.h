/* SPDX-License-Identifier: MIT */
/* Requests to the generic netlink family TASKSTATS, by libnl.  Every wait has a limit. */
#ifndef TASKMON_KERNEL_H
#define TASKMON_KERNEL_H

/* Room for 6,000 exits with the longest struct; used only while it is needed. */
#define KERNEL_BUFFER (UINT64_C(8) << 20)

#include <linux/netlink.h>
#include <stdbool.h>

#include "stats.h"

struct nl_sock;

/* A socket that is connected to the family; all zero: none. */
struct kernel {
	struct nl_sock *socket;
	int fd;
	int family;
};

/*
 * Return: 0; -ENOENT if the kernel has no such family; another -errno.
 */
int kernel_open(struct kernel *kernel);

/* Closes what is open; the kernel forgets registrations of a closed socket by and by. */
void kernel_close(struct kernel *kernel);

/*
 * Asks for the statistics of a task (@kind: by pid) or of a thread group (of which @id is any
 * task) and calls @each for every record of the answer.
 * Return: 0; -ESRCH: there is none; -EPERM: privilege is missing; -ETIMEDOUT; another -errno.
 */
int kernel_get(struct kernel *kernel, enum stats_kind kind, uint32_t id, stats_each *each,
	       void *context);

/* The kernel's counts of the tasks in a cgroup. */
struct kernel_cgroup {
	uint64_t sleeping, running, stopped, uninterruptible, io_wait;
};

/*
 * @folder: descriptor of a folder in a hierarchy of cgroups.  Needs no privilege.
 * Return: 0; -EINVAL: no cgroup of version 1; -ENODATA: no answer came; another -errno.
 */
int kernel_cgroup(struct kernel *kernel, int folder, struct kernel_cgroup *cgroup);

/*
 * A message about tasks that came where another answer was awaited: @header is followed by the
 * rest of it.
 */
typedef void kernel_message(void *context, struct nlmsghdr *header);

/*
 * Begins to listen to tasks that exit on the CPUs of @list ("0-3,5").  Messages that come before
 * the answer go to @message.
 * Return: 0; -EPERM; -EINVAL: in a PID namespace; -ERANGE: no such CPU; -ETIMEDOUT: no answer;
 * another -errno.
 */
int kernel_listen(struct kernel *kernel, const char *list, kernel_message *message, void *context);

/*
 * Ends that.  The kernel has done it when this returns, and sends no answer, which would be one
 * more message that may get lost.  Return: 0 or -errno.
 */
int kernel_end_listening(struct kernel *kernel, const char *list);

/* The attributes of a message of the family, *@size bytes; NULL if it is too short for any. */
const uint8_t *kernel_attributes(const struct nlmsghdr *header, size_t *size);

/*
 * Wants a receive buffer of this size, beyond net.core.rmem_max where privilege allows.
 * Return: what it has.
 */
size_t kernel_set_buffer(const struct kernel *kernel, size_t wanted);

/* The kernel's count of messages that the socket had no room for; false if it does not tell. */
bool kernel_dropped(const struct kernel *kernel, uint32_t *count);

/* Gives @message all that has come by now.  Return: 0; -ENOBUFS: some was lost; another -errno. */
int kernel_read(struct kernel *kernel, kernel_message *message, void *context);

/* Why these functions fail, as a sentence without its end: with what to do where we know. */
const char *kernel_reason(int error);

#endif
