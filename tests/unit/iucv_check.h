/* SPDX-License-Identifier: MIT */
/* For the tests of IUCV: the guest's parameter list, and peers that note what they are told. */
#ifndef IUCV_CHECK_H
#define IUCV_CHECK_H

#include <string.h>

#include "fixture.h"
#include "iucv_fields.h"
#include "zvmlab/fault.h"

#define PARM 0x1000u
#define DATA 0x10000u	/* guest storage for messages */
#define HOLE 0x500000u	/* emulator storage that is not the guest's */
#define NOTES 512

struct note {
	struct iucv_user *user;
	struct iucv_event event[NOTES];
	unsigned int count;
};

static inline void note_event(struct cp *cp, struct iucv_user *user, void *opaque,
			      const struct iucv_event *event)
{
	struct note *n = opaque;

	ck_assert_ptr_eq(cp, fx.cp);
	ck_assert_ptr_eq(user, n->user);
	ck_assert_uint_lt(n->count, NOTES);
	n->event[n->count++] = *event;
}

static const struct iucv_user_ops note_ops = { .event = note_event };

static inline struct iucv_user *note_user(struct note *n, const char *name, uint32_t paths)
{
	n->count = 0;
	n->user = iucv_user_create(fx.cp, name, paths, &note_ops, n);
	ck_assert_ptr_nonnull(n->user);
	return n->user;
}

/* The last thing the peer was told. */
static inline const struct iucv_event *last(const struct note *n, enum iucv_type type)
{
	ck_assert_uint_gt(n->count, 0);
	ck_assert_int_eq(n->event[n->count - 1].type, type);
	return &n->event[n->count - 1];
}

static inline uint8_t *parm(void)
{
	return fx_at(PARM, IUCV_PARM_SIZE);
}

static inline uint8_t *parm_zero(void)
{
	return memset(parm(), 0, IUCV_PARM_SIZE);
}

static inline struct cp_result guest(uint32_t function)
{
	return fx_iucv(0, function, PARM);
}

#define ck_rc(result, code) \
	do { \
		ck_cc((result), 1); \
		ck_assert_uint_eq(parm()[IPRCODE], (code)); \
	} while (0)
#define ck_call(result, expected_cc, expected_code) \
	do { \
		struct iucv_result ck_i = (result); \
		ck_assert_int_eq(ck_i.pgm, 0); \
		ck_assert_int_eq(ck_i.cc, (expected_cc)); \
		ck_assert_int_eq(ck_i.code, (expected_code)); \
	} while (0)

static inline struct cp_result connect_to(const char *name, uint8_t flags, uint16_t msglim)
{
	uint8_t *p = parm_zero();

	p[IPFLAGS1] = flags;
	put_be16(p + IPMSGLIM, msglim);
	ebcdic_name(p + IPVMID, name);
	memset(p + IPUSER, 0xc1, 16);
	return guest(IUCV_CONNECT);
}

static inline struct cp_result on_path(uint32_t function, uint16_t path, uint8_t flags)
{
	uint8_t *p = parm_zero();

	put_be16(p + IPPATHID, path);
	p[IPFLAGS1] = flags;
	return guest(function);
}

static inline struct iucv_result peer_path(struct note *n, enum iucv_function function,
					   uint16_t path, uint8_t flags)
{
	struct iucv_parm q = { .path = path, .flags = flags };

	return iucv_call(fx.cp, n->user, function, &q);
}

/* An open path from the guest to @n; the guest has taken connection complete. */
static inline uint16_t open_path(struct note *n, uint8_t guest_flags, uint8_t peer_flags,
				 uint16_t msglim)
{
	uint16_t path;

	ck_cc(connect_to(iucv_user_name(n->user), guest_flags, msglim), 0);
	path = get_be16(parm() + IPPATHID);
	ck_call(peer_path(n, IUCV_ACCEPT, last(n, IUCV_PENDING)->path, peer_flags), 0, 0);
	ck_assert_ptr_nonnull(fx_take(0));
	return path;
}

/* SEND of the guest from @addr; answer area at @addr + 0x1000. */
static inline struct cp_result send(uint16_t path, uint8_t flags, uint32_t addr, uint32_t len,
				    uint32_t answer)
{
	uint8_t *p = parm_zero();

	put_be16(p + IPPATHID, path);
	p[IPFLAGS1] = flags;
	put_be32(p + IPTRGCLS, 0x11111111);
	put_be32(p + IPBFADR1, addr);
	put_be32(p + IPBFLN1F, len);
	put_be32(p + IPSRCCLS, 0x22222222);
	put_be32(p + IPMSGTAG, 0x33333333);
	put_be32(p + IPBFADR2, addr + 0x1000);
	put_be32(p + IPBFLN2F, answer);
	return guest(IUCV_SEND);
}

/* RECEIVE, REPLY, REJECT, PURGE, TEST COMPLETION of the guest. */
static inline struct cp_result message(uint32_t function, uint16_t path, uint8_t flags,
				       uint32_t id, uint32_t class, uint32_t addr, uint32_t len)
{
	uint8_t *p = parm_zero();

	put_be16(p + IPPATHID, path);
	p[IPFLAGS1] = flags;
	put_be32(p + IPMSGID, id);
	put_be32(p + IPTRGCLS, class);
	put_be32(p + IPBFADR1, addr);
	put_be32(p + IPBFLN1F, len);
	put_be32(p + IPSRCCLS, class);
	return guest(function);
}

/* SEND of a peer with data in its own storage; the message id. */
static inline uint32_t peer_send(struct note *n, uint16_t path, uint8_t flags, const void *data,
				 uint32_t len, void *answer, uint32_t room)
{
	struct iucv_parm q = { .path = path, .flags = flags, .trgcls = 0x44444444,
			       .srccls = 0x55555555, .msgtag = 0x66666666 };

	if (flags & IPRMDATA)
		memcpy(q.rmmsg, data, len);
	else
		q.buffer = (struct iucv_area){ .host = true, .ptr = (void *)(uintptr_t)data,
					       .len = len };
	q.answer = (struct iucv_area){ .host = true, .ptr = answer, .len = room };
	ck_call(iucv_call(fx.cp, n->user, IUCV_SEND, &q), 0, 0);
	return q.msgid;
}

/* Take an interruption that must be of @type on @path. */
static inline const uint8_t *take(enum iucv_type type, uint16_t path)
{
	const uint8_t *e = fx_take(0);

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e[IPTYPE], type);
	ck_assert_uint_eq(get_be16(e + IPPATHID), path);
	return e;
}

static inline void arm(enum fault_point point, enum fault_kind kind, uint32_t value,
		       uint32_t offset)
{
	ck_arm(point, kind, .times = 1, .value = value, .offset = offset);
}

#endif
