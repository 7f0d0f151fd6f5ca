// SPDX-License-Identifier: MIT
/*
 * SETTLE: wait a moment, then tell what still runs, what the kernel has had and logged, and whether
 * its devices and modules are the same as before.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

#define SECOND_NS 1000000000u
#define TEXT_MAX 128

/*
 * Files of /proc.  They stay open: a guest is asked after each test, and opening them is most of
 * the work that the question would take.
 */
static struct {
	pthread_mutex_t lock;
	int loadavg, tainted, uevents;
} files = { .lock = PTHREAD_MUTEX_INITIALIZER, .loadavg = -1, .tainted = -1, .uevents = -1 };

/* Return: 0 or errno. */
static int read_again(int *fd, const char *path, char text[TEXT_MAX + 1])
{
	ssize_t got = -1;
	int error;

	pthread_mutex_lock(&files.lock);
	if (*fd < 0)
		*fd = own_open(path, O_RDONLY, 0);
	if (*fd >= 0)
		got = pread(*fd, text, TEXT_MAX, 0);
	error = got < 0 ? errno : 0;
	pthread_mutex_unlock(&files.lock);
	text[got < 0 ? 0 : got] = '\0';
	return error;
}

/*
 * proc(5): "0.00 0.01 0.05 RUNNABLE/TASKS PID".  @count: of tasks that run or could, this one
 * among them.  Return: 0 or errno.
 */
static int runnable(uint32_t *count)
{
	char text[TEXT_MAX + 1];
	const char *at = text;
	int error = read_again(&files.loadavg, "/proc/loadavg", text);

	if (error)
		return error;
	for (int blanks = 0; blanks < 3 && at; blanks++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return EIO;
	*count = (uint32_t)strtoul(at, NULL, 10);
	return 0;
}

/* Read the kernel's taints so far, as proc(5) lists them.  Return: 0 or errno. */
static int tainted(uint64_t *taints)
{
	char text[TEXT_MAX + 1];
	int error = read_again(&files.tainted, "/proc/sys/kernel/tainted", text);

	if (!error)
		*taints = strtoull(text, NULL, 10);
	return error;
}

/* So many uevents were there since the start; 0 if nobody can tell. */
static uint64_t uevents(void)
{
	char text[TEXT_MAX + 1];

	if (read_again(&files.uevents, "/sys/kernel/uevent_seqnum", text))
		return 0;
	return strtoull(text, NULL, 10);
}

enum status handle_settle(struct agent *agent, struct worker *worker, struct rd *in,
			  struct wr *out)
{
	uint64_t ns = rd_u64(in), from = rd_u64(in);
	struct timespec rest = { (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };
	uint64_t taints = 0;
	uint32_t count = 0;
	int error;

	if (!rd_done(in) || ns > LIMIT_MAX_MS * (uint64_t)(SECOND_NS / 1000))
		return refuse(out, ST_MALFORMED,
			      "SETTLE needs a time of an hour at most and the number of a record");
	/* INTERRUPT ends it early. */
	nanosleep(&rest, NULL);
	error = runnable(&count);
	if (!error)
		error = tainted(&taints);
	wr_u32(out, (uint32_t)error);
	wr_u32(out, count);
	wr_u64(out, taints);
	wr_u32(out, workers_busy(agent) & ~(1u << (worker - agent->workers)));
	wr_u64(out, uevents());
	klog_from(from, out);
	return ST_OK;
}
