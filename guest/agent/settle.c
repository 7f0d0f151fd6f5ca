// SPDX-License-Identifier: MIT
/* SETTLE: wait a moment, then tell what still runs and what the kernel has logged. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

#define SECOND_NS 1000000000u
#define LOADAVG_MAX 128

/*
 * proc(5): "0.00 0.01 0.05 RUNNABLE/TASKS PID".  The file stays open: a guest is asked after
 * each test, and opening a file is most of the work that the question would take.
 */
static struct {
	pthread_mutex_t lock;
	int fd;
} loadavg = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* Return: 0 or errno; @count: of tasks that run or could, this one among them. */
static int runnable(uint32_t *count)
{
	char text[LOADAVG_MAX + 1];
	const char *at = text;
	int error = 0;
	ssize_t got = -1;

	pthread_mutex_lock(&loadavg.lock);
	if (loadavg.fd < 0)
		loadavg.fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	if (loadavg.fd >= 0)
		got = pread(loadavg.fd, text, LOADAVG_MAX, 0);
	if (got < 0)
		error = errno;
	pthread_mutex_unlock(&loadavg.lock);
	if (error)
		return error;
	text[got] = '\0';
	for (int blanks = 0; blanks < 3 && at; blanks++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return EIO;
	*count = (uint32_t)strtoul(at, NULL, 10);
	return 0;
}

enum status handle_settle(struct agent *agent, struct worker *worker, struct rd *in,
			  struct wr *out)
{
	uint64_t ns = rd_u64(in), from = rd_u64(in);
	struct timespec rest = { (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };
	uint32_t count = 0;
	int error;

	(void)agent;
	(void)worker;
	if (!rd_done(in) || ns > LIMIT_MAX_MS * (uint64_t)(SECOND_NS / 1000))
		return refuse(out, ST_MALFORMED,
			      "SETTLE needs a time of an hour at most and the number of a record");
	/* INTERRUPT ends it early. */
	nanosleep(&rest, NULL);
	error = runnable(&count);
	wr_u32(out, (uint32_t)error);
	wr_u32(out, count);
	klog_from(from, out);
	return ST_OK;
}
