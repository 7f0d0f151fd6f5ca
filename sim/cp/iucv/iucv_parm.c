/* SPDX-License-Identifier: MIT */
/*
 * IUCV: the parameter list and the external interrupt buffer, 40 bytes each.
 * Offsets: the forms that Linux declares in net/iucv/iucv.c.
 */
#include <string.h>

#include "iucv_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "zvmlab/storage.h"

enum {
	IPMASK = 0,
	IPPATHID = 0,
	IPFLAGS1 = 2,
	IPRCODE = 3,		/* interruption: IPTYPE */
	IPMSGLIM = 4,
	IPMSGID = 4,
	IPVMID = 8,
	IPTRGCLS = 8,
	IPAUDIT = 8,
	IPRMMSG = 12,
	IPBFADR1 = 12,
	IPBFLN1F = 16,
	IPUSER = 16,
	IPSRCCLS = 20,
	IPMSGTAG = 24,
	IPBFADR2 = 28,
	IPTARGET = 32,
	IPBFLN2F = 32,
	IPPOLLFG = 36,
};
/* docs/choices.md */
#define IPPOLLFG_STORED 0x80
#define IPUSER_SIZE 16
#define IPRMMSG_SIZE 8

static void put_be24(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)(v >> 16);
	put_be16(at + 1, (uint16_t)v);
}

static void decode_control(enum iucv_function function, const uint8_t *image,
			   struct iucv_parm *parm)
{
	memcpy(parm->ipuser, image + IPUSER, IPUSER_SIZE);
	if (function == IUCV_CONNECT || function == IUCV_ACCEPT)
		parm->msglim = get_be16(image + IPMSGLIM);
	if (function == IUCV_CONNECT) {
		ebcdic_to_name(parm->vmid, image + IPVMID);
		ebcdic_to_name(parm->target, image + IPTARGET);
	}
}

static void decode_message(enum iucv_function function, const uint8_t *image,
			   struct iucv_parm *parm)
{
	bool data = function == IUCV_SEND || function == IUCV_REPLY;

	parm->msgid = get_be32(image + IPMSGID);
	parm->trgcls = get_be32(image + IPTRGCLS);
	parm->srccls = get_be32(image + IPSRCCLS);
	parm->msgtag = get_be32(image + IPMSGTAG);
	if (data && parm->flags & IPRMDATA) {
		memcpy(parm->rmmsg, image + IPRMMSG, IPRMMSG_SIZE);
	} else {
		parm->buffer.list = parm->flags & IPBUFLST;
		parm->buffer.addr = get_be32(image + IPBFADR1);
		parm->buffer.len = get_be32(image + IPBFLN1F);
	}
	if (function == IUCV_SEND && !(parm->flags & IPNORPY)) {
		parm->answer.list = parm->flags & IPANSLST;
		parm->answer.addr = get_be32(image + IPBFADR2);
		parm->answer.len = get_be32(image + IPBFLN2F);
	}
}

void iucv_decode(enum iucv_function function, const uint8_t image[IUCV_PARM_SIZE],
		 struct iucv_parm *parm)
{
	assert((unsigned int)function < IUCV_FUNCTIONS);
	/* In two pieces: for one, compilers choose an instruction that is far slower. */
	memset(parm, 0, offsetof(struct iucv_parm, buffer));
	memset(&parm->buffer, 0, sizeof(*parm) - offsetof(struct iucv_parm, buffer));
	if (function == IUCV_SET_MASK || function == IUCV_SET_CONTROL_MASK) {
		parm->mask = image[IPMASK];
		return;
	}
	parm->path = get_be16(image + IPPATHID);
	parm->flags = image[IPFLAGS1];
	switch (function) {
	case IUCV_CONNECT:
	case IUCV_ACCEPT:
	case IUCV_QUIESCE:
	case IUCV_RESUME:
	case IUCV_SEVER:
		decode_control(function, image, parm);
		break;
	case IUCV_DECLARE_BUFFER:
		parm->buffer.addr = get_be32(image + IPBFADR1);
		break;
	default:
		decode_message(function, image, parm);
	}
}

/* The fields of the list that a function stores after it had an effect. */
static const struct span {
	uint8_t offset, len;
} stored[IUCV_FUNCTIONS][2] = {
	[IUCV_DESCRIBE] = { { 0, 20 }, { IPBFLN2F, 4 } },
	[IUCV_SEND] = { { IPRCODE, 5 } },
	[IUCV_RECEIVE] = { { 0, 20 }, { IPBFLN2F, 4 } },
	[IUCV_TEST_COMPLETION] = { { 0, 28 }, { IPBFLN2F, 4 } },
	[IUCV_PURGE] = { { IPRCODE, 8 }, { IPSRCCLS, 8 } },
	[IUCV_ACCEPT] = { { IPFLAGS1, 4 } },
	[IUCV_CONNECT] = { { IPPATHID, 6 } },
};
static const struct span stored_code[2] = { { IPRCODE, 1 } };
static const struct span stored_reply[2] = { { IPRCODE, 1 }, { IPBFLN1F, 4 } };

static void encode(enum iucv_function function, const struct iucv_parm *parm, uint8_t *image)
{
	if (function == IUCV_CONNECT || function == IUCV_ACCEPT) {
		put_be16(image + IPPATHID, parm->path);
		image[IPFLAGS1] = parm->flags;
		put_be16(image + IPMSGLIM, parm->msglim);
		return;
	}
	put_be16(image + IPPATHID, parm->path);
	image[IPFLAGS1] = parm->flags;
	put_be32(image + IPMSGID, parm->msgid);
	if (function == IUCV_TEST_COMPLETION || function == IUCV_PURGE)
		put_be24(image + IPAUDIT, parm->audit);
	else
		put_be32(image + IPTRGCLS, parm->trgcls);
	if (parm->flags & IPRMDATA)
		memcpy(image + IPRMMSG, parm->rmmsg, IPRMMSG_SIZE);
	else if (function == IUCV_DESCRIBE)
		put_be32(image + IPBFLN1F, parm->buffer.len);
	else
		put_be32(image + IPBFLN1F, parm->residual);
	put_be32(image + IPSRCCLS, parm->srccls);
	put_be32(image + IPMSGTAG, parm->msgtag);
	put_be32(image + IPBFLN2F, parm->answer.len);
}

/*
 * Store the results of a function into its list at @addr, of which @image is
 * what the guest gave.  The caller has checked that the list can be stored into.
 */
void iucv_store(struct cp *cp, int cpu, uint64_t addr, enum iucv_function function,
		const struct iucv_parm *parm, const struct iucv_result *result,
		uint8_t image[IUCV_PARM_SIZE])
{
	bool partial = result->cc == 1 && result->code == IUCV_SHORT_BUFFER;
	bool all = partial || result->cc == 0 || result->cc == 3;
	const struct span *span = stored_code;

	if (all && function < IUCV_FUNCTIONS && stored[function][0].len > 0) {
		span = stored[function];
		encode(function, parm, image);
	} else if (partial) {
		span = stored_reply;
		put_be32(image + IPBFLN1F, parm->residual);
	}
	image[IPRCODE] = result->code;
	for (int i = 0; i < 2 && span[i].len > 0; i++) {
		uint16_t pgm = storage_write(cp, cpu, addr + span[i].offset,
					     image + span[i].offset, span[i].len);

		assert(pgm == 0);
		(void)pgm;
	}
}

static void encode_message(const struct iucv_event *event, uint8_t *image)
{
	bool pending = event->type == IUCV_PRIO_PENDING || event->type == IUCV_MSG_PENDING;

	image[IPFLAGS1] = event->flags;
	put_be32(image + IPMSGID, event->msgid);
	if (event->flags & IPRMDATA)
		memcpy(image + IPRMMSG, event->rmmsg, IPRMMSG_SIZE);
	if (pending) {
		put_be32(image + IPTRGCLS, event->trgcls);
		if (!(event->flags & IPRMDATA))
			put_be32(image + IPBFLN1F, event->length);
	} else {
		put_be24(image + IPAUDIT, event->audit);
		put_be32(image + IPSRCCLS, event->srccls);
		put_be32(image + IPMSGTAG, event->msgtag);
	}
	put_be32(image + IPBFLN2F, event->answer_length);
}

void iucv_event_encode(const struct iucv_event *event, uint8_t image[IUCV_EVENT_SIZE])
{
	memset(image, 0, IUCV_EVENT_SIZE);
	put_be16(image + IPPATHID, event->path);
	image[IPRCODE] = (uint8_t)event->type;
	image[IPPOLLFG] = IPPOLLFG_STORED;
	if (event->type >= IUCV_PRIO_COMPLETE) {
		encode_message(event, image);
		return;
	}
	memcpy(image + IPUSER, event->ipuser, IPUSER_SIZE);
	if (event->type == IUCV_PENDING || event->type == IUCV_COMPLETE) {
		image[IPFLAGS1] = event->flags;
		put_be16(image + IPMSGLIM, event->msglim);
	}
	if (event->type == IUCV_PENDING)
		ebcdic_name(image + IPVMID, event->vmid);
}

static void decode_message_event(const uint8_t *image, struct iucv_event *event)
{
	event->flags = image[IPFLAGS1];
	event->msgid = get_be32(image + IPMSGID);
	event->answer_length = get_be32(image + IPBFLN2F);
	event->length = IPRMMSG_SIZE;
	if (event->flags & IPRMDATA)
		memcpy(event->rmmsg, image + IPRMMSG, IPRMMSG_SIZE);
	if (event->type >= IUCV_PRIO_PENDING) {
		event->trgcls = get_be32(image + IPTRGCLS);
		if (!(event->flags & IPRMDATA))
			event->length = get_be32(image + IPBFLN1F);
	} else {
		event->audit = get_be32(image + IPAUDIT) >> 8;
		event->srccls = get_be32(image + IPSRCCLS);
		event->msgtag = get_be32(image + IPMSGTAG);
	}
}

void iucv_event_decode(const uint8_t image[IUCV_EVENT_SIZE], enum iucv_type type,
		       struct iucv_event *event)
{
	const uint8_t own = image[IPRCODE];

	*event = (struct iucv_event){
		.type = own >= IUCV_PENDING && own <= IUCV_MSG_PENDING ? (enum iucv_type)own : type,
		.path = get_be16(image + IPPATHID),
	};
	if (event->type >= IUCV_PRIO_COMPLETE) {
		decode_message_event(image, event);
		return;
	}
	memcpy(event->ipuser, image + IPUSER, IPUSER_SIZE);
	if (event->type == IUCV_PENDING || event->type == IUCV_COMPLETE) {
		event->flags = image[IPFLAGS1];
		event->msglim = get_be16(image + IPMSGLIM);
	}
	if (event->type == IUCV_PENDING)
		ebcdic_to_name(event->vmid, image + IPVMID);
}
