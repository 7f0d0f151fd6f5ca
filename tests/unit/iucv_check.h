/* SPDX-License-Identifier: MIT */
/* For the tests of IUCV: peers that note what they are told. */
#ifndef IUCV_CHECK_H
#define IUCV_CHECK_H

#include <string.h>

#include "iucv_guest.h"
#include "zvmlab/fault.h"

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

#define ck_call(result, expected_cc, expected_code) \
	do { \
		struct iucv_result ck_i = (result); \
		ck_assert_int_eq(ck_i.pgm, 0); \
		ck_assert_int_eq(ck_i.cc, (expected_cc)); \
		ck_assert_int_eq(ck_i.code, (expected_code)); \
	} while (0)

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

/*
 * A system whose guest has a buffer, may send anything to anybody, and has this many CPUs; the path
 * from it to ALPHA, @n, with @msglim messages.
 */
static inline uint16_t path_to_alpha(struct note *n, const char *cpus, uint16_t msglim)
{
	const char *const options[] = {
		"cpus", cpus, "directory", "IUCV ANY PRIORITY;IUCV ALLOW", NULL,
	};

	fx_setup_with(options);
	note_user(n, "ALPHA", 8);
	fx_declare(0);
	return open_path(n, IPRMDATA | IPPRTY, IPRMDATA | IPPRTY, msglim);
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

static inline void arm(enum fault_point point, enum fault_kind kind, uint32_t value,
		       uint32_t offset)
{
	ck_arm(point, kind, .times = 1, .value = value, .offset = offset);
}

#endif
