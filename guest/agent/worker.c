// SPDX-License-Identifier: MIT
/* What the workers are doing. */
#include <signal.h>

#include "agent.h"

void worker_done(struct worker *worker)
{
	pthread_mutex_lock(&worker->agent->lock);
	worker->busy = false;
	pthread_mutex_unlock(&worker->agent->lock);
}

void worker_progress(struct worker *worker, unsigned int executed)
{
	pthread_mutex_lock(&worker->agent->lock);
	worker->executed = executed;
	pthread_mutex_unlock(&worker->agent->lock);
}

bool worker_interrupt(struct agent *agent, unsigned int worker, int signal,
		      unsigned int *executed)
{
	bool sent = false;

	pthread_mutex_lock(&agent->lock);
	*executed = agent->workers[worker].executed;
	if (agent->workers[worker].started && agent->workers[worker].busy)
		sent = pthread_kill(agent->workers[worker].thread, signal) == 0;
	pthread_mutex_unlock(&agent->lock);
	return sent;
}

uint32_t workers_busy(struct agent *agent)
{
	uint32_t bits = 0;

	pthread_mutex_lock(&agent->lock);
	for (unsigned int i = 0; i < WORKERS; i++) {
		const struct worker *worker = &agent->workers[i];

		/* Its thread may not have noticed yet that there is something to do. */
		bits |= (uint32_t)(worker->busy || worker->queued > 0) << i;
	}
	pthread_mutex_unlock(&agent->lock);
	return bits;
}
