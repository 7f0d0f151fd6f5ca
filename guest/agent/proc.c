// SPDX-License-Identifier: MIT
/*
 * Programs started by the agent.  Each has a thread that feeds its standard
 * input, keeps what it writes (up to a limit; the rest is read and dropped, so
 * that it never blocks) and waits for its end.  Who is told of the end finds the
 * thread gone, too: programs can hear of the end of a thread.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

/* How long a killed program may take to go. */
#define KILL_GRACE_MS 30000

struct output {
	uint8_t *data;
	uint32_t len, cap;
	bool cut;
};

struct process {
	struct processes *all;
	bool used, done;
	uint32_t handle;
	bool has_pump;
	pthread_t pump;
	struct launched run;
	uint8_t *input;
	uint32_t input_len, input_done;
	struct output output[2];
	enum process_state state;
	uint32_t code;
	uint64_t began, elapsed;
};

struct processes {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	uint32_t last_handle;
	struct process slot[PROCESSES];
};

struct processes *processes_create(void)
{
	struct processes *all = calloc(1, sizeof(*all));
	pthread_condattr_t attr;

	if (!all)
		return NULL;
	pthread_mutex_init(&all->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&all->ended, &attr);
	return all;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The lock is held, or nobody else knows the process yet; the thread needs it no more. */
static void release(struct process *p)
{
	if (p->has_pump)
		pthread_join(p->pump, NULL);
	close_one(&p->run.pidfd);
	close_one(&p->run.in);
	for (int i = 0; i < 2; i++) {
		close_one(&p->run.from[i]);
		free(p->output[i].data);
	}
	free(p->input);
	memset(p, 0, sizeof(*p));
}

static void keep(struct output *out, const uint8_t *data, size_t len)
{
	uint32_t room = OUTPUT_MAX - out->len;

	if (len > room) {
		out->cut = true;
		len = room;
	}
	if (out->len + len > out->cap) {
		uint32_t cap = out->cap ? out->cap * 2 : 16384;
		uint8_t *more;

		while (cap < out->len + len)
			cap *= 2;
		more = realloc(out->data, cap);
		if (!more) {
			out->cut = true;
			return;
		}
		out->data = more;
		out->cap = cap;
	}
	if (len)
		memcpy(out->data + out->len, data, len);
	out->len += (uint32_t)len;
}

/* Return: there may be more. */
static bool pump_output(struct process *p, int which)
{
	uint8_t data[16384];
	ssize_t got;

	if (p->run.from[which] < 0)
		return false;
	got = read(p->run.from[which], data, sizeof(data));
	if (got > 0) {
		keep(&p->output[which], data, (size_t)got);
		return true;
	}
	if (got == 0 || (errno != EAGAIN && errno != EINTR))
		close_one(&p->run.from[which]);
	return false;
}

static void pump_input(struct process *p)
{
	if (p->input_done < p->input_len) {
		ssize_t put = write(p->run.in, p->input + p->input_done,
				    p->input_len - p->input_done);

		if (put > 0)
			p->input_done += (uint32_t)put;
		else if (put < 0 && errno != EAGAIN && errno != EINTR)
			close_one(&p->run.in);
	}
	if (p->input_done == p->input_len)
		close_one(&p->run.in);
}

static void ended(struct process *p)
{
	int status = 0;

	/* What is in the pipes already; a child of the program may hold them open for ever. */
	for (int i = 0; i < 2; i++)
		for (uint32_t n = 0; n < OUTPUT_MAX / 4096 && pump_output(p, i); n++)
			;
	pthread_mutex_lock(&p->all->lock);
	waitpid(p->run.pid, &status, 0);
	p->elapsed = clock_ns() - p->began;
	p->state = WIFSIGNALED(status) ? PROC_SIGNALLED : PROC_EXITED;
	p->code = (uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	p->done = true;
	pthread_cond_broadcast(&p->all->ended);
	pthread_mutex_unlock(&p->all->lock);
}

static void *pump(void *opaque)
{
	struct process *p = opaque;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = p->run.pidfd, .events = POLLIN },
			{ .fd = p->run.in, .events = POLLOUT },
			{ .fd = p->run.from[0], .events = POLLIN },
			{ .fd = p->run.from[1], .events = POLLIN },
		};

		if (poll(fds, 4, -1) < 0)
			continue;
		if (fds[1].revents)
			pump_input(p);
		for (int i = 0; i < 2; i++)
			if (fds[2 + i].revents)
				pump_output(p, i);
		if (fds[0].revents)
			break;
	}
	ended(p);
	return NULL;
}

static int start_pump(struct process *p)
{
	int error = pthread_create(&p->pump, NULL, pump, p);

	p->has_pump = !error;
	if (error) {
		kill(-p->run.pid, SIGKILL);
		waitpid(p->run.pid, NULL, 0);
	}
	return error;
}

static struct process *free_slot(struct processes *all)
{
	for (unsigned int i = 0; i < PROCESSES; i++)
		if (!all->slot[i].used)
			return &all->slot[i];
	return NULL;
}

int64_t process_start(struct processes *all, const struct start *start)
{
	struct process *p;
	int64_t result;
	int error = ENOMEM;

	pthread_mutex_lock(&all->lock);
	p = free_slot(all);
	if (!p) {
		pthread_mutex_unlock(&all->lock);
		return -EMFILE;
	}
	*p = (struct process){ .all = all, .used = true,
				.run = { .pidfd = -1, .in = -1, .from = { -1, -1 } } };
	p->began = clock_ns();
	p->input = malloc((size_t)start->input_len + 1);
	if (p->input) {
		memcpy(p->input, start->input, start->input_len);
		p->input_len = start->input_len;
		error = launch(start, &p->run);
	}
	if (!error && p->run.exec_errno) {
		p->done = true;
		p->state = PROC_NO_EXEC;
		p->code = (uint32_t)p->run.exec_errno;
	} else if (!error) {
		error = start_pump(p);
	}
	if (error) {
		release(p);
		result = -error;
	} else {
		p->handle = ++all->last_handle;
		result = p->handle;
	}
	pthread_mutex_unlock(&all->lock);
	return result;
}

static struct process *find(struct processes *all, uint32_t handle)
{
	for (unsigned int i = 0; i < PROCESSES; i++)
		if (all->slot[i].used && all->slot[i].handle == handle)
			return &all->slot[i];
	return NULL;
}

bool process_signal(struct processes *all, uint32_t handle, int signal, bool group, int *error)
{
	struct process *p;

	*error = 0;
	pthread_mutex_lock(&all->lock);
	p = find(all, handle);
	/* After its end the process id may be somebody else's. */
	if (p && p->done)
		*error = ESRCH;
	else if (p && kill(group ? -p->run.pid : p->run.pid, signal))
		*error = errno;
	pthread_mutex_unlock(&all->lock);
	return p;
}

/* The lock is held.  Return: the process, NULL when somebody else has fetched it. */
static struct process *wait_done(struct processes *all, uint32_t handle, uint32_t ms)
{
	struct process *p;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while ((p = find(all, handle)) && !p->done)
		if (pthread_cond_timedwait(&all->ended, &all->lock, &until))
			break;
	return p;
}

bool process_wait(struct processes *all, uint32_t handle, uint32_t ms, bool end, struct wr *out)
{
	struct process *p;
	uint8_t flags = 0;

	pthread_mutex_lock(&all->lock);
	p = wait_done(all, handle, ms);
	if (p && !p->done)
		flags = OUT_TIMED_OUT;
	if (p && !p->done && end) {
		kill(-p->run.pid, SIGKILL);
		p = wait_done(all, handle, KILL_GRACE_MS);
	}
	if (p) {
		bool done = p->done;

		flags |= (uint8_t)((done && p->output[0].cut ? OUT_STDOUT_CUT : 0) |
				   (done && p->output[1].cut ? OUT_STDERR_CUT : 0));
		wr_u32(out, handle);
		wr_u8(out, done ? p->state : PROC_RUNNING);
		wr_u8(out, flags);
		wr_u32(out, done ? p->code : 0);
		wr_u64(out, done ? p->elapsed : clock_ns() - p->began);
		for (int i = 0; i < 2; i++)
			wr_bytes(out, done ? p->output[i].data : NULL, done ? p->output[i].len : 0);
		if (done)
			release(p);
	}
	pthread_mutex_unlock(&all->lock);
	return p;
}
