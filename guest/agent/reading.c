// SPDX-License-Identifier: MIT
/*
 * Which thread reads requests.
 *
 * The main thread hands each request to a worker, which has to wake for it: a third of the time
 * that a short one takes.  So worker 0, which most requests are for, reads by itself, and executes
 * what it has read.  Such a request may sleep, and the others have to be read meanwhile.  So the
 * main thread is woken each time; but if the worker is back before the main thread has had the
 * CPU, the worker goes on reading.  With several CPUs it would have one at once: then the main
 * thread reads all.
 */
#include <sched.h>

#include "agent.h"

static bool one_cpu(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) == 1;
}

void reading_create(struct reading *reading)
{
	*reading = (struct reading){ .who = READER_MAIN, .shared = one_cpu() };
	pthread_cond_init(&reading->changed, NULL);
}

void reading_begin(struct agent *agent)
{
	pthread_mutex_lock(&agent->lock);
	agent->reading.who = READER_MAIN;
	agent->reading.ended = false;
	pthread_mutex_unlock(&agent->lock);
}

/* @patient: does not take the CPU from who runs when it wakes.  Without that all is slower. */
static void set_patient(bool patient)
{
	const struct sched_param none = { 0 };

	sched_setscheduler(0, patient ? SCHED_BATCH : SCHED_OTHER, &none);
}

bool reading_await(struct agent *agent)
{
	struct reading *reading = &agent->reading;
	bool waited = false, ended;

	pthread_mutex_lock(&agent->lock);
	while (reading->who == READER_WORKER && !reading->ended) {
		if (!waited)
			set_patient(true);
		waited = true;
		pthread_cond_wait(&reading->changed, &agent->lock);
	}
	reading->who = READER_MAIN;
	ended = reading->ended;
	pthread_mutex_unlock(&agent->lock);
	if (waited)
		set_patient(false);
	return !ended;
}

static bool can_read(const struct agent *agent, const struct worker *worker)
{
	return agent->reading.shared && worker == &agent->workers[READING_WORKER];
}

void reading_hand_over(struct agent *agent, const struct worker *worker)
{
	if (can_read(agent, worker) && !worker->busy && worker->queued == 0)
		agent->reading.who = READER_WORKER;
}

bool reading_take(struct agent *agent, const struct worker *worker)
{
	if (!can_read(agent, worker))
		return false;
	if (agent->reading.who == READER_NONE)
		agent->reading.who = READER_WORKER;
	return agent->reading.who == READER_WORKER;
}

void reading_offer(struct agent *agent, const struct worker *worker)
{
	if (!can_read(agent, worker) || agent->reading.who != READER_WORKER)
		return;
	agent->reading.who = READER_NONE;
	pthread_cond_signal(&agent->reading.changed);
}

void reading_end(struct agent *agent)
{
	pthread_mutex_lock(&agent->lock);
	agent->reading.who = READER_MAIN;
	agent->reading.ended = true;
	pthread_cond_signal(&agent->reading.changed);
	pthread_mutex_unlock(&agent->lock);
}
