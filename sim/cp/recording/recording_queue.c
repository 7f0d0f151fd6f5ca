/* SPDX-License-Identifier: MIT */
/* Queues of records: which there are, and what is in them. */
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "recording_private.h"
#include "smaller.h"

#define LENGTH_SIZE 4u

const struct rec_service_info rec_service_info[REC_SERVICES] = {
#define REC_SERVICE(id, service, recording, retriever, limit) \
	{ service, recording, retriever, limit },
#include "zvmlab/recording_services.def"
#undef REC_SERVICE
};

struct rec_queue *rec_find(struct recording *recording, enum rec_service service, const char *userid)
{
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++) {
		struct rec_queue *queue = &recording->queue[i];

		if (queue->used && queue->service == service && strcmp(queue->userid, userid) == 0)
			return queue;
	}
	return NULL;
}

static struct rec_queue *unused(struct recording *recording)
{
	for (unsigned int i = 0; i < REC_MAX_QUEUES; i++)
		if (!recording->queue[i].used)
			return &recording->queue[i];
	return NULL;
}

struct rec_queue *rec_make(struct recording *recording, enum rec_service service, const char *userid)
{
	struct rec_queue *queue = rec_find(recording, service, userid);

	assert(service < REC_SERVICES && userid[0] != '\0' && strlen(userid) <= CP_NAME_LEN);
	if (queue)
		return queue;
	queue = unused(recording);
	if (!queue)
		return NULL;
	queue->used = true;
	queue->service = (uint8_t)service;
	snprintf(queue->userid, sizeof(queue->userid), "%s", userid);
	queue->limit = rec_service_info[service].limit;
	return queue;
}

/* Copy @len bytes from or to the ring at offset @at from its first record. */
static void ring_copy(struct rec_queue *queue, uint32_t at, uint8_t *out, const uint8_t *in,
		      uint32_t len)
{
	const uint32_t begin = (queue->first + at) % REC_QUEUE_BYTES;
	const uint32_t whole = (uint32_t)smaller(len, REC_QUEUE_BYTES - begin);

	assert(len <= REC_QUEUE_BYTES && at <= REC_QUEUE_BYTES - len);
	if (in) {
		memcpy(queue->ring + begin, in, whole);
		memcpy(queue->ring, in + whole, len - whole);
	} else {
		memcpy(out, queue->ring + begin, whole);
		memcpy(out + whole, queue->ring, len - whole);
	}
}

static uint32_t first_length(struct rec_queue *queue)
{
	uint8_t length[LENGTH_SIZE];

	assert(queue->count > 0 && queue->bytes > LENGTH_SIZE);
	ring_copy(queue, 0, length, NULL, LENGTH_SIZE);
	return get_be32(length);
}

bool rec_put(struct rec_queue *queue, const uint8_t *bytes, uint32_t len)
{
	uint8_t length[LENGTH_SIZE];

	assert(queue->used && len > 0 && len <= REC_MAX_RECORD);
	if (len + LENGTH_SIZE > REC_QUEUE_BYTES - queue->bytes)
		return false;
	put_be32(length, len);
	ring_copy(queue, queue->bytes, NULL, length, LENGTH_SIZE);
	ring_copy(queue, queue->bytes + LENGTH_SIZE, NULL, bytes, len);
	queue->bytes += LENGTH_SIZE + len;
	queue->count++;
	assert(queue->bytes <= REC_QUEUE_BYTES);
	return true;
}

uint32_t rec_first(struct rec_queue *queue)
{
	const uint32_t len = first_length(queue);

	assert(len > 0 && len <= REC_MAX_RECORD && len + LENGTH_SIZE <= queue->bytes);
	ring_copy(queue, LENGTH_SIZE, queue->message, NULL, len);
	return len;
}

void rec_drop(struct rec_queue *queue)
{
	const uint32_t len = LENGTH_SIZE + first_length(queue);

	assert(queue->count > 0 && len <= queue->bytes);
	queue->first = (queue->first + len) % REC_QUEUE_BYTES;
	queue->bytes -= len;
	queue->count--;
	assert((queue->count == 0) == (queue->bytes == 0));
}

void rec_clear(struct rec_queue *queue)
{
	assert(queue->used && queue->sent == 0);
	queue->count = queue->first = queue->bytes = 0;
}

void rec_disconnect(struct rec_queue *queue)
{
	queue->connected = queue->quiesced = false;
	queue->path = queue->user_path = 0;
	queue->sent = 0;
	memset(queue->msgid, 0, sizeof(queue->msgid));
}
