// SPDX-License-Identifier: MIT
/* Threads that execute requests, each in order. */
#include <stdlib.h>

#include "agent.h"

static void *worker_main(void *opaque)
{
	struct worker *worker = opaque;
	struct agent *agent = worker->agent;
	bool limited = limit_create(&worker->limit);

	for (;;) {
		struct request *req;

		pthread_mutex_lock(&agent->lock);
		while (!worker->head)
			pthread_cond_wait(&worker->wake, &agent->lock);
		req = worker->head;
		worker->head = req->next;
		if (!worker->head)
			worker->tail = &worker->head;
		worker->queued--;
		agent->queued_bytes -= req->len;
		worker->busy = true;
		worker->executed = 0;
		pthread_mutex_unlock(&agent->lock);

		if (limited) {
			agent_execute(agent, worker, req, &worker->out);
		} else {
			worker->out.len = FRAME_HEADER;
			worker_done(worker);
			link_reply(&agent->link, req,
				   refuse(&worker->out, ST_NO_MEMORY, "no timer for this worker"),
				   &worker->out);
		}
		wr_reset(&worker->out);
		free(req);
	}
	return NULL;
}

static bool worker_start(struct agent *agent, struct worker *worker)
{
	if (worker->started)
		return true;
	if (!worker->out.data && !wr_create(&worker->out))
		return false;
	worker->agent = agent;
	worker->tail = &worker->head;
	pthread_cond_init(&worker->wake, NULL);
	if (pthread_create(&worker->thread, NULL, worker_main, worker))
		return false;
	worker->started = true;
	return true;
}

enum status worker_submit(struct agent *agent, struct request *req)
{
	struct worker *worker = &agent->workers[req->worker];
	enum status status = ST_OK;

	pthread_mutex_lock(&agent->lock);
	if (!worker_start(agent, worker)) {
		status = ST_NO_MEMORY;
	} else if (worker->queued == WORKER_QUEUE || agent->queued_bytes + req->len > QUEUED_MAX) {
		status = ST_BUSY;
	} else {
		req->next = NULL;
		*worker->tail = req;
		worker->tail = &req->next;
		worker->queued++;
		agent->queued_bytes += req->len;
		pthread_cond_signal(&worker->wake);
	}
	pthread_mutex_unlock(&agent->lock);
	return status;
}
