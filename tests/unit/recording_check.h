/* SPDX-License-Identifier: MIT */
/* IUCV as Linux' vmlogrdr uses it, for the tests of the recording services. */
#ifndef RECORDING_CHECK_H
#define RECORDING_CHECK_H

#include "command_check.h"
#include "iucv_guest.h"
#include "zvmlab/recording.h"

/* The guest may connect to all of the services. */
static inline void rec_setup(void)
{
	fx_setup_with((const char *const[]){
		"directory", "IUCV *LOGREC;IUCV *ACCOUNT;IUCV *SYMPTOM", NULL });
}

static inline void rec_sever(uint16_t path)
{
	ck_cc(on_path(IUCV_SEVER, path, 0), 0);
}

/* CONNECT as the driver does it; return: the path. */
static inline uint16_t rec_connect(const char *service)
{
	return connected_to(service, 10);
}

/* Recording is on and the path open, as after the driver's first open. */
static inline uint16_t rec_opened(const char *service, const char *recording)
{
	char command[64];
	uint16_t path;

	snprintf(command, sizeof(command), "RECORDING %s ON", recording);
	ck_guest(command, 0, "HCPCRC8072I Recording entry not found\nCommand complete\n");
	/* Only the guest's own queue counts here. */
	snprintf(command, sizeof(command), "RECORDING %s OFF QID %s", recording,
		 strcmp(recording, "EREP") == 0 ? "EREP" :
		 strcmp(recording, "ACCOUNT") == 0 ? "DISKACNT" : "OPERSYMP");
	ck_operator(command, 0, "Command complete\n");
	path = rec_connect(service);
	take(IUCV_COMPLETE, path);
	return path;
}

static inline uint16_t rec_connected(const char *service, const char *recording)
{
	fx_declare(0);
	return rec_opened(service, recording);
}

/* CP makes a record of ASCII text, which goes on so many queues. */
static inline void rec_made(enum rec_service service, const char *text, unsigned int queues)
{
	ck_assert_uint_eq(recording_add(fx.cp, service, text, strlen(text)), queues);
}

struct rec_sent {
	uint16_t path;
	uint32_t msgid, length;
};

/* The interruption of a record: one-way, class 0. */
static inline struct rec_sent rec_take(uint16_t path)
{
	const uint8_t *event = take(IUCV_MSG_PENDING, path);

	ck_assert_int_eq(event[IPFLAGS1], IPNORPY);
	ck_assert_uint_eq(get_be32(event + IPTRGCLS), 0);
	return (struct rec_sent){ path, get_be32(event + IPMSGID), get_be32(event + IPBFLN1F) };
}

/* RECEIVE @length bytes; return: IPRCODE, or 0. */
static inline int rec_get(const struct rec_sent *sent, uint32_t length)
{
	struct cp_result result = message(IUCV_RECEIVE, sent->path, IPFGPID | IPFGMID | IPFGMCL,
					  sent->msgid, 0, DATA, length);

	ck_assert_int_eq(result.how, CP_CC);
	ck_assert_int_le(result.cc, 1);
	return result.cc == 0 ? 0 : parm()[IPRCODE];
}

/* Take the interruption and receive a record of this text. */
static inline void rec_receive(uint16_t path, const char *text)
{
	const struct rec_sent sent = rec_take(path);

	ck_assert_uint_eq(sent.length, strlen(text));
	ck_assert_int_eq(rec_get(&sent, sent.length), 0);
	ck_assert_mem_eq(fx_at(DATA, sent.length), text, sent.length);
}

#endif
