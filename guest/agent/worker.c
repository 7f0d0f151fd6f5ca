// SPDX-License-Identifier: MIT
/* Threads that execute requests, each in order. */
#include <signal.h>
#include <stdlib.h>

#include "agent.h"

void lane_done(struct lane *lane)
{
	pthread_mutex_lock(&lane->agent->lock);
	lane->busy = false;
	pthread_mutex_unlock(&lane->agent->lock);
}

static void *lane_main(void *opaque)
{
	struct lane *lane = opaque;
	struct agent *agent = lane->agent;
	bool limited = limit_create(&lane->limit);

	for (;;) {
		struct request *req;

		pthread_mutex_lock(&agent->lock);
		while (!lane->head)
			pthread_cond_wait(&lane->wake, &agent->lock);
		req = lane->head;
		lane->head = req->next;
		if (!lane->head)
			lane->tail = &lane->head;
		lane->queued--;
		agent->queued_bytes -= req->len;
		lane->busy = true;
		pthread_mutex_unlock(&agent->lock);

		if (limited) {
			agent_execute(agent, lane, req, &lane->out);
		} else {
			lane->out.len = FRAME_HEADER;
			lane_done(lane);
			link_reply(&agent->link, req,
				   refuse(&lane->out, ST_NO_MEMORY, "no timer for this lane"),
				   &lane->out);
		}
		wr_reset(&lane->out);
		free(req);
	}
	return NULL;
}

static bool lane_start(struct agent *agent, struct lane *lane)
{
	if (lane->started)
		return true;
	if (!lane->out.data && !wr_create(&lane->out))
		return false;
	lane->agent = agent;
	lane->tail = &lane->head;
	pthread_cond_init(&lane->wake, NULL);
	if (pthread_create(&lane->thread, NULL, lane_main, lane))
		return false;
	lane->started = true;
	return true;
}

enum status lane_submit(struct agent *agent, struct request *req)
{
	struct lane *lane = &agent->lanes[req->lane];
	enum status status = ST_OK;

	pthread_mutex_lock(&agent->lock);
	if (!lane_start(agent, lane)) {
		status = ST_NO_MEMORY;
	} else if (lane->queued == LANE_QUEUE || agent->queued_bytes + req->len > QUEUED_MAX) {
		status = ST_BUSY;
	} else {
		req->next = NULL;
		*lane->tail = req;
		lane->tail = &req->next;
		lane->queued++;
		agent->queued_bytes += req->len;
		pthread_cond_signal(&lane->wake);
	}
	pthread_mutex_unlock(&agent->lock);
	return status;
}

bool lane_interrupt(struct agent *agent, unsigned int lane, int signal)
{
	bool sent = false;

	pthread_mutex_lock(&agent->lock);
	if (agent->lanes[lane].started && agent->lanes[lane].busy)
		sent = pthread_kill(agent->lanes[lane].thread, signal) == 0;
	pthread_mutex_unlock(&agent->lock);
	return sent;
}

uint32_t lanes_busy(struct agent *agent)
{
	uint32_t bits = 0;

	pthread_mutex_lock(&agent->lock);
	for (unsigned int i = 0; i < LANES; i++) {
		const struct lane *lane = &agent->lanes[i];

		/* Its thread may not have noticed yet that there is something to do. */
		bits |= (uint32_t)(lane->busy || lane->queued > 0) << i;
	}
	pthread_mutex_unlock(&agent->lock);
	return bits;
}
