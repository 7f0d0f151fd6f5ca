/* SPDX-License-Identifier: MIT */
/* Shared by the files of the recording services. */
#ifndef RECORDING_PRIVATE_H
#define RECORDING_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/fault.h"
#include "zvmlab/iucv.h"
#include "zvmlab/recording.h"

/** Messages of one record: two if a fault sends it twice. */
#define REC_MAX_SENT 2u

/** Why a service refuses a connection: byte 8 of IPUSER, which Linux shows, and byte 0. */
enum rec_refusal {
	REC_CONNECTED = 4,	/**< the user has a path to the service already */
	REC_NO_QUEUE = 8,	/**< there is no room for another queue */
};

struct rec_queue {
	bool used;
	uint8_t service;	/* enum rec_service */
	char userid[CP_NAME_LEN + 1];
	bool on;
	uint32_t limit;
	uint64_t lost;

	bool connected;
	bool quiesced;		/* by the user */
	uint16_t path;		/* the service's end, if connected */
	uint16_t user_path;	/* the user's end */
	uint8_t sent;		/* messages outstanding, all of the first record */
	uint32_t msgid[REC_MAX_SENT];

	/* A ring: of each record its length, 4 bytes big-endian, then its bytes. */
	uint32_t count, first, bytes;
	uint8_t ring[REC_QUEUE_BYTES];
	/* The first record, while it is sent. */
	uint8_t message[REC_MAX_RECORD];
};

struct recording {
	struct iucv_user *service[REC_SERVICES];
	struct rec_queue queue[REC_MAX_QUEUES];
};

/* recording_queue.c */
struct rec_queue *rec_find(struct recording *recording, enum rec_service service, const char *userid);
/** The queue of the user, made if there is none; NULL if there is no room for it. */
struct rec_queue *rec_make(struct recording *recording, enum rec_service service, const char *userid);
/** Put a record at the end; false if there is no room. */
bool rec_put(struct rec_queue *queue, const uint8_t *bytes, uint32_t len);
/** Copy the first record into the queue's message; return: its length. */
uint32_t rec_first(struct rec_queue *queue);
/** Take the first record off. */
void rec_drop(struct rec_queue *queue);
/** Forget the path: what was sent and not received is sent again on the next one. */
void rec_disconnect(struct rec_queue *queue);

/** Forget all records. */
void rec_clear(struct rec_queue *queue);

/* recording_service.c */
/** The handler of a service's events. */
extern const struct iucv_user_ops rec_service_ops;
/** The fault due for @queue at @point. */
struct fault_action rec_fault(struct cp *cp, enum fault_point point, const struct rec_queue *queue);
/** Send the first record if the user can take one. */
void rec_send(struct cp *cp, struct rec_queue *queue);
/** Take back what was sent and not received. */
void rec_take_back(struct cp *cp, struct rec_queue *queue);
/** Sever the queue's path and forget it. */
void rec_sever(struct cp *cp, struct rec_queue *queue, uint8_t code);

#endif
