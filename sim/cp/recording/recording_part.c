/* SPDX-License-Identifier: MIT */
/* The recording services as a part of the CP: made, reset, saved and loaded. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "recording_private.h"
#include "smaller.h"
#include "zvmlab/state.h"

/* Paths of a service: one for each user, and connections left unanswered by a fault. */
#define MAX_PATHS 256u

/* The records from the first on; the ring begins anew with it. */
static void records_state(struct rec_queue *queue, struct state *state)
{
	const uint32_t first = state->loading ? 0 : queue->first;
	uint32_t whole;

	state_u32(state, &queue->count);
	state_u32(state, &queue->bytes);
	state_require(state, queue->bytes <= REC_QUEUE_BYTES);
	if (state->failed)
		return;
	whole = (uint32_t)smaller(queue->bytes, REC_QUEUE_BYTES - first);
	state_bytes(state, queue->ring + first, whole);
	state_bytes(state, queue->ring, queue->bytes - whole);
	queue->first = first;
}

/* Are there as many records in the ring, which was loaded, as it says? */
static bool records_valid(const struct rec_queue *queue)
{
	uint32_t at = 0, count = 0;

	assert(queue->first == 0 && queue->bytes <= REC_QUEUE_BYTES);
	while (queue->bytes - at > 4) {
		const uint32_t len = get_be32(queue->ring + at);

		if (len == 0 || len > smaller(REC_MAX_RECORD, queue->bytes - at - 4))
			return false;
		at += 4 + len;
		assert(at <= queue->bytes);
		count++;
	}
	return at == queue->bytes && count == queue->count;
}

static bool connection_valid(const struct rec_queue *queue)
{
	if (queue->connected)
		return queue->sent <= REC_MAX_SENT && (queue->sent == 0 || queue->count > 0);
	return queue->sent == 0 && !queue->quiesced && queue->path == 0 && queue->user_path == 0;
}

static void queue_state(struct rec_queue *queue, struct state *state)
{
	state_bool(state, &queue->used);
	if (!queue->used)
		return;
	state_u8(state, &queue->service);
	state_require(state, queue->service < REC_SERVICES);
	state_name(state, queue->userid);
	state_require(state, queue->userid[0] != '\0');
	state_bool(state, &queue->on);
	state_u32(state, &queue->limit);
	state_require(state, queue->limit <= REC_MAX_LIMIT);
	state_u64(state, &queue->lost);
	state_bool(state, &queue->connected);
	state_bool(state, &queue->quiesced);
	state_u16(state, &queue->path);
	state_u16(state, &queue->user_path);
	state_u8(state, &queue->sent);
	for (unsigned int i = 0; i < REC_MAX_SENT; i++)
		state_u32(state, &queue->msgid[i]);
	records_state(queue, state);
	if (state->loading && !state->failed)
		state_require(state, records_valid(queue));
	if (!state->failed)
		state_require(state, connection_valid(queue));
}

static void attach(struct cp *cp, struct state *state)
{
	for (unsigned int i = 0; i < REC_SERVICES; i++) {
		struct iucv_user *user = iucv_service_find(cp->system, rec_service_info[i].service);

		state_require(state, user != NULL);
		cp->system->recordings->service[i] = user;
		if (user)
			iucv_user_attach(user, &rec_service_ops, cp->system->recordings);
	}
}

/* No service has two queues of one user, and the system's own are there. */
static bool table_valid(struct recording *recording)
{
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		const struct rec_queue *queue = &recording->queue[i];

		if (queue->used &&
		    rec_find(recording, (enum rec_service)queue->service, queue->userid) != queue)
			return false;
	}
	for (unsigned int i = 0; i < REC_SERVICES; i++)
		if (!rec_find(recording, (enum rec_service)i, rec_service_info[i].retriever))
			return false;
	return true;
}

/* The system's own queues are on from the beginning. */
static void make_own(struct recording *recording)
{
	for (unsigned int i = 0; i < REC_SERVICES; i++)
		rec_make(recording, (enum rec_service)i, rec_service_info[i].retriever)->on = true;
}

/* What is behind the end of an empty ring says nothing, and a start has no time to clear a megabyte. */
static void forget_all(struct recording *recording)
{
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++)
		memset(&recording->queue[i], 0, offsetof(struct rec_queue, ring));
}

static void recording_state(struct cp *cp, struct state *state)
{
	struct recording *recording = cp->system->recordings;

	state_tag(state, "CREC");
	if (state->loading)
		forget_all(recording);
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++)
		queue_state(&recording->queue[i], state);
	if (!state->loading)
		return;
	attach(cp, state);
	if (!state->failed)
		state_require(state, table_valid(recording));
	if (!state->failed)
		return;
	forget_all(recording);
	make_own(recording);
}

static int recording_init(struct cp_system *system, char *err, size_t errlen)
{
	struct recording *recording = calloc(1, sizeof(*recording));

	if (!recording) {
		snprintf(err, errlen, "not enough memory for the recording services");
		return -1;
	}
	for (unsigned int i = 0; i < REC_SERVICES; i++) {
		recording->service[i] = iucv_service_create(system, rec_service_info[i].service,
							    MAX_PATHS, &rec_service_ops, recording);
		if (recording->service[i])
			continue;
		snprintf(err, errlen, "the %s service cannot be created: there are too many IUCV "
			 "users", rec_service_info[i].service);
		free(recording);
		return -1;
	}
	assert(!system->recordings);
	system->recordings = recording;
	make_own(recording);
	return 0;
}

/* The services themselves go with IUCV. */
static void recording_fini(struct cp_system *system)
{
	free(system->recordings);
	system->recordings = NULL;
}

/*
 * Queues belong to the system; the guest's paths end by the sever that IUCV's reset queues for
 * them, but what CP sends until then would be lost.
 */
static void recording_reset(struct cp *cp)
{
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		struct rec_queue *queue = &cp->system->recordings->queue[i];

		if (queue->used && strcmp(queue->userid, cp->config.userid) == 0)
			rec_disconnect(queue);
	}
}

static void recording_logoff(struct cp *cp, const char *userid)
{
	/* Services have no virtual machine, and the harness's channel is no user. */
	if (userid[0] != '*' && !cp_is_agent(userid))
		recording_account(cp, userid, userid);
}

const struct cp_part recording_part = {
	.init_system = recording_init,
	.fini_system = recording_fini,
	.reset = recording_reset,
	.state_system = recording_state,
	.logoff = recording_logoff,
};
