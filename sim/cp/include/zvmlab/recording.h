/* SPDX-License-Identifier: MIT */
/*
 * Records that CP makes for others to collect: the services *LOGREC, *ACCOUNT and *SYMPTOM,
 * and the queues that RECORDING switches on and off.
 *
 * A queue holds the records of one service for one user ID.  Each record becomes a one-way
 * message to that user; the next is sent when the user has received the one before.
 */
#ifndef ZVMLAB_RECORDING_H
#define ZVMLAB_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"

struct cp;

enum rec_service {
#define REC_SERVICE(id, service, recording, retriever, limit) REC_##id,
#include "zvmlab/recording_services.def"
#undef REC_SERVICE
	REC_SERVICES
};

/** Longest record in bytes. */
#define REC_MAX_RECORD 16384u
/** Queues there can be; one for each service exists always. */
#define REC_MAX_QUEUES 12u
/** Bytes of the records in a queue, with 4 more for each of them. */
#define REC_QUEUE_BYTES 65536u
/** RECORDING LIMIT: records, 0 for no message. */
#define REC_MAX_LIMIT 999u
/** Length of an accounting record (HCPACOBK). */
#define REC_ACCOUNT_LENGTH 80u

struct rec_service_info {
	const char *service;	/**< "*ACCOUNT" */
	const char *recording;	/**< as RECORDING calls it: "ACCOUNT" */
	const char *retriever;	/**< user ID whose queue exists always */
	uint16_t limit;		/**< records that may accumulate before CP says so */
};
extern const struct rec_service_info rec_service_info[REC_SERVICES];

/**
 * CP makes a record: it is put on each queue of @service that is switched on.
 * @bytes: copied; @len: 1 to REC_MAX_RECORD.  Return: number of these queues.
 */
unsigned int recording_add(struct cp *cp, enum rec_service service, const void *bytes, size_t len);

/**
 * The service severs its path to @userid (NULL: all its paths).  What has not been received stays
 * queued.  @code: IPUSER bytes 0 and 8.  Return: number of paths.
 */
unsigned int recording_sever(struct cp *cp, enum rec_service service, const char *userid,
			     uint8_t code);

/** The service quiesces its path to @userid (NULL: all), or resumes it.  Return: number of paths. */
unsigned int recording_quiesce(struct cp *cp, enum rec_service service, const char *userid,
			       bool quiesce);

/** COMMUNICATION of QUERY RECORDING. */
enum rec_state { REC_INACTIVE, REC_ACTIVE, REC_PENDING, REC_STATES };

struct rec_queue_info {
	enum rec_service service;
	const char *userid;
	bool on;
	uint32_t count;		/**< records in the queue, also the one that is sent */
	uint32_t limit;
	uint64_t lost;		/**< records for which there was no room */
	enum rec_state state;
	uint16_t path;		/**< of the user, unless inactive */
};
/** The @index-th queue; false past the last. */
bool recording_queue(const struct cp *cp, unsigned int index, struct rec_queue_info *out);

#endif
