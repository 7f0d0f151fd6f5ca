// SPDX-License-Identifier: MIT
/* Serving the stream: each request goes to a worker, or is executed at once. */
#include <stdlib.h>
#include <unistd.h>

#include "agent.h"

static void answer(struct agent *agent, const struct request *req, enum status status,
		   const char *why)
{
	refuse(&agent->out, status, why);
	link_reply(&agent->link, req, status, &agent->out);
}

/* The reply comes first: the machine does not come back to send it. */
static void power(struct agent *agent, const struct request *req)
{
	enum power what;
	unsigned int flags;

	if (req->len != 2 || req->payload[0] > POWER_HALT || req->payload[1] & ~POWER_FLAGS) {
		answer(agent, req, ST_MALFORMED, "POWER needs 0, 1 or 2, and flags");
		return;
	}
	what = (enum power)req->payload[0];
	flags = req->payload[1];
	answer(agent, req, ST_OK, "");
	link_detach(&agent->link);
	if (!agent->machine)
		_exit(0);
	machine_power(what, flags);
}

/* Return: the request was taken over. */
static bool take(struct agent *agent, struct request *req)
{
	enum status status;

	if (req->type == REQ_POWER) {
		power(agent, req);
	} else if (req->worker >= WORKERS) {
		answer(agent, req, ST_MALFORMED, "no such worker");
	} else if (agent_at_once(req->type)) {
		agent_execute(agent, NULL, req, &agent->out);
		wr_reset(&agent->out);
	} else {
		status = worker_submit(agent, req);
		if (status == ST_OK)
			return true;
		answer(agent, req, status, "the worker takes no more requests");
	}
	return false;
}

static bool is_for(const struct agent *agent, const struct worker *own, const struct request *req)
{
	return own && req->worker == own - agent->workers && req->type != REQ_POWER &&
	       !agent_at_once(req->type);
}

enum read agent_read(struct agent *agent, const struct worker *own, struct request **request)
{
	struct request *req;
	const enum receive got = link_receive(&agent->link, &req);

	if (got == RECEIVE_END)
		return READ_END;
	agent->served = true;
	if (got == RECEIVE_NO_MEMORY) {
		answer(agent, req, ST_NO_MEMORY, "no memory for the request");
	} else if (is_for(agent, own, req)) {
		*request = req;
		return READ_OWN;
	} else if (take(agent, req)) {
		return READ_SERVED;
	}
	free(req);
	return READ_SERVED;
}

bool agent_serve(struct agent *agent, int fd)
{
	struct request *unused;

	link_attach(&agent->link, fd);
	agent->served = false;
	reading_begin(agent);
	while (reading_await(agent) && agent_read(agent, NULL, &unused) != READ_END)
		;
	link_detach(&agent->link);
	return agent->served;
}

bool agent_create(struct agent *agent, bool machine)
{
	agent->machine = machine;
	agent->link.fd = -1;
	pthread_mutex_init(&agent->link.lock, NULL);
	pthread_mutex_init(&agent->lock, NULL);
	reading_create(&agent->reading);
	limit_signals();
	agent->processes = processes_create();
	return agent->processes && wr_create(&agent->out);
}
