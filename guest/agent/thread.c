// SPDX-License-Identifier: MIT
/* Threads that execute requests, each in order. */
#include <stdlib.h>

#include "agent.h"

/* Of its queue; with the agent's lock held. */
static struct request *dequeue(struct worker *worker)
{
	struct request *req = worker->head;

	worker->head = req->next;
	if (!worker->head)
		worker->tail = &worker->head;
	worker->queued--;
	worker->agent->queued_bytes -= req->len;
	return req;
}

/* Return: the request that the worker is to execute, or NULL at the end of the stream. */
static struct request *read_own(struct worker *worker)
{
	struct request *req = NULL;
	enum read what;

	do
		what = agent_read(worker->agent, worker, &req);
	while (what == READ_SERVED);
	if (what == READ_OWN)
		return req;
	reading_end(worker->agent);
	return NULL;
}

static struct request *next_request(struct worker *worker)
{
	struct agent *agent = worker->agent;
	struct request *req = NULL;

	pthread_mutex_lock(&agent->lock);
	while (!req) {
		if (worker->head) {
			req = dequeue(worker);
		} else if (reading_take(agent, worker)) {
			pthread_mutex_unlock(&agent->lock);
			req = read_own(worker);
			pthread_mutex_lock(&agent->lock);
		} else {
			pthread_cond_wait(&worker->wake, &agent->lock);
		}
	}
	worker->busy = true;
	worker->executed = 0;
	reading_offer(agent, worker);
	pthread_mutex_unlock(&agent->lock);
	return req;
}

static void *worker_main(void *opaque)
{
	struct worker *worker = opaque;
	struct agent *agent = worker->agent;
	bool limited = limit_create(&worker->limit);

	for (;;) {
		struct request *req = next_request(worker);

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
		reading_hand_over(agent, worker);
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
