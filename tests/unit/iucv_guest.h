/* SPDX-License-Identifier: MIT */
/* A guest's use of IUCV: parameter list, functions and interruptions. */
#ifndef IUCV_GUEST_H
#define IUCV_GUEST_H

#include <string.h>

#include "fixture.h"
#include "iucv_fields.h"

#define PARM 0x1000u
#define DATA 0x10000u	/* guest storage for messages */

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

static inline struct cp_result connect_to(const char *name, uint8_t flags, uint16_t msglim)
{
	uint8_t *p = parm_zero();

	p[IPFLAGS1] = flags;
	put_be16(p + IPMSGLIM, msglim);
	ebcdic_name(p + IPVMID, name);
	memset(p + IPUSER, 0xc1, 16);
	return guest(IUCV_CONNECT);
}

/* CONNECT that CP accepts; return: the path. */
static inline uint16_t connected_to(const char *name, uint16_t msglim)
{
	ck_cc(connect_to(name, 0, msglim), 0);
	return get_be16(parm() + IPPATHID);
}

static inline struct cp_result on_path(uint32_t function, uint16_t path, uint8_t flags)
{
	uint8_t *p = parm_zero();

	put_be16(p + IPPATHID, path);
	p[IPFLAGS1] = flags;
	return guest(function);
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

/* Take an interruption that must be of @type on @path. */
static inline const uint8_t *take(enum iucv_type type, uint16_t path)
{
	const uint8_t *e = fx_take(0);

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e[IPTYPE], type);
	ck_assert_uint_eq(get_be16(e + IPPATHID), path);
	return e;
}

#endif
