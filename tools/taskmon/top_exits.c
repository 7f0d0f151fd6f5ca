/* SPDX-License-Identifier: MIT */
#include "top_exits.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "command.h"
#include "exits.h"

/* Of an interval: more are counted, and not shown. */
#define TASKS_MAX 50000u

static void keep(void *context, const struct stats_record *record)
{
	struct top_exits *exits = context;
	const uint64_t process = record->stats.value[STATS_TGID];
	const struct snapshot_task task = {
		.record = *record, .process = process ? (uint32_t)process : record->id,
	};

	if (record->kind != STATS_TASK)
		return;
	if (exits->tasks.count == TASKS_MAX || snapshot_add(&exits->tasks, &task))
		exits->missed++;
}

/* The readers must not take signals, which are those of the screen. */
static int start(struct listener *listener)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = listener_start(listener, false);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -EINVAL:
		return "the kernel reports exits in the initial PID namespace only";
	case -ETIMEDOUT:
		return "the kernel reports exits in the initial network namespace only";
	default:
		return kernel_reason(error);
	}
}

bool top_exits_open(struct top_exits *exits)
{
	struct cpus cpus;
	int ret = -ENOMEM;

	*exits = (struct top_exits){ 0 };
	if (cpus_read(&cpus, "possible")) {
		complain("processes that exit are not shown: /sys/devices/system/cpu/possible cannot "
			 "be read");
		return false;
	}
	if (collector_init(&exits->collector)) {
		exits->collector.each = keep;
		exits->collector.each_context = exits;
		exits_look(&exits->collector);
		ret = listener_open(&exits->listener, &cpus, KERNEL_BUFFER, &exits->collector);
		if (!ret)
			ret = start(&exits->listener);
		exits->open = !ret;
		if (!ret)
			ret = exits_heard(&exits->listener, &cpus);
		if (!exits->open)
			listener_close(&exits->listener);
	}
	if (ret)
		complain("processes that exit are not shown: %s", reason_of(ret));
	return !ret;
}

struct handed {
	struct top_exits *exits;
	struct snapshot *exited;
	uint64_t more;
};

static void hand_over(void *context)
{
	struct handed *handed = context;
	struct top_exits *exits = handed->exits;
	uint64_t lost = 0;

	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (exits->collector.is_counted[cpu])
			lost += message_count_lost(&exits->collector.accounts[cpu]);
	handed->more = exits->missed + (lost > exits->lost ? lost - exits->lost : 0);
	exits->lost = lost;
	exits->missed = 0;
	*handed->exited = exits->tasks;
	exits->tasks = (struct snapshot){ 0 };
}

uint64_t top_exits_take(struct top_exits *exits, struct snapshot *exited)
{
	struct handed handed = { .exits = exits, .exited = exited };

	listener_look(&exits->listener, hand_over, &handed);
	return handed.more;
}

void top_exits_close(struct top_exits *exits)
{
	if (exits->open) {
		listener_stop(&exits->listener);
		listener_close(&exits->listener);
	}
	collector_free(&exits->collector);
	snapshot_free(&exits->tasks);
}
