/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'2FC': what the guests use. */
#include <string.h>

#include "command/command_private.h"
#include "diag_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "zvmlab/iucv.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* Parameter list, at a logical address; so is the buffer. */
enum {
	LIST_USERID = 0,	/* 8: blanks: the issuer; "*": all */
	LIST_GROUP = 8,		/* 8: access-control group; blanks or "*": any */
	LIST_ADDRESS = 16,	/* 8 */
	LIST_LENGTH = 24,	/* 4 */
	LIST_FORMAT = 28,	/* 4 */
	LIST_SIZE = 32,
};

#define FORMAT 2

/* One guest; what is not listed is zero. */
enum {
	GUEST_VERSION = 0,	/* 4 */
	GUEST_CPU_TIME = 8,	/* 8: microseconds, all its CPUs */
	GUEST_ELAPSED = 16,	/* 8: microseconds since it logged on */
	GUEST_STORAGE_MAX = 32,	/* 8: KiB, as all storage here */
	GUEST_STORAGE_SHARE = 40, /* 8 */
	GUEST_STORAGE_USED = 48, /* 8 */
	GUEST_PHYSICAL = 56,	/* 4: CPUs of the machine */
	GUEST_LOGICAL = 60,	/* 4: CPUs of CP's partition */
	GUEST_CPUS = 64,	/* 4 */
	GUEST_OPERATING = 68,	/* 4: of these not stopped */
	GUEST_CPU_MAX = 72,	/* 4: largest share */
	GUEST_CPU_SHARE = 76,	/* 4 */
	GUEST_NAME = 104,	/* 8 */
	GUEST_SIZE = 112,
};

/* Relative share of a user whose directory entry says nothing, and the largest there is. */
#define SHARE 100
#define SHARE_MAX 10000

/* In Ry: done; nothing to tell, or not to this user; buffer too short.  Linux reads all but
 * 0 and -2 as failure. */
#define RC_DONE 0
#define RC_NONE (-1)
#define RC_SHORT (-2)

struct guests {
	uint8_t data[(IUCV_MAX_USERS + 2) * GUEST_SIZE];
	size_t len;
};

static void add_user(struct cp *cp, struct guests *guests, const char *name)
{
	uint8_t *at = guests->data + guests->len;

	assert(guests->len + GUEST_SIZE <= sizeof(guests->data));
	put_be32(at + GUEST_VERSION, FORMAT);
	put_be32(at + GUEST_PHYSICAL, cp->config.cpus);
	put_be32(at + GUEST_LOGICAL, cp->config.cpus);
	ebcdic_name(at + GUEST_NAME, name);
	guests->len += GUEST_SIZE;
}

static void add_guest(struct cp *cp, struct guests *guests)
{
	uint8_t *at = guests->data + guests->len;
	uint64_t elapsed = cpcmd_connected(cp), kib = storage_size(cp) / 1024;

	add_user(cp, guests, cp->config.userid);
	/* The core has one clock; a guest that is always running uses all of it. */
	put_be64(at + GUEST_CPU_TIME, elapsed * cp->config.cpus);
	put_be64(at + GUEST_ELAPSED, elapsed);
	put_be64(at + GUEST_STORAGE_MAX, kib);
	put_be64(at + GUEST_STORAGE_SHARE, kib);
	put_be64(at + GUEST_STORAGE_USED, kib);
	put_be32(at + GUEST_CPUS, cp->config.cpus);
	put_be32(at + GUEST_OPERATING, cp->config.cpus);
	put_be32(at + GUEST_CPU_MAX, SHARE_MAX);
	put_be32(at + GUEST_CPU_SHARE, SHARE);
}

/* Peers and the operator have no virtual machine: they use nothing. */
static void add_others(struct cp *cp, struct guests *guests)
{
	bool operator_seen = strcmp(cp->config.userid, CPCMD_OPERATOR_ID) == 0;

	for (unsigned int i = 0; i < IUCV_MAX_USERS; i++) {
		const struct iucv_user *user = iucv_user_at(cp, i);

		if (!user)
			break;
		if (iucv_user_is_service(user) ||
		    strcmp(iucv_user_name(user), cp->config.userid) == 0)
			continue;
		add_user(cp, guests, iucv_user_name(user));
		operator_seen |= strcmp(iucv_user_name(user), CPCMD_OPERATOR_ID) == 0;
	}
	if (!operator_seen)
		add_user(cp, guests, CPCMD_OPERATOR_ID);
}

static void find(struct cp *cp, struct guests *guests, const uint8_t list[LIST_SIZE])
{
	char userid[CP_NAME_LEN + 1], group[CP_NAME_LEN + 1];
	bool all_allowed = strchr(cp->config.classes, 'B') != NULL;

	ebcdic_to_name(userid, list + LIST_USERID);
	ebcdic_to_name(group, list + LIST_GROUP);
	/* There are no groups here. */
	if (group[0] != '\0' && strcmp(group, "*") != 0)
		return;
	if (userid[0] == '\0' || strcmp(userid, cp->config.userid) == 0) {
		add_guest(cp, guests);
	} else if (all_allowed && strcmp(userid, "*") == 0) {
		add_guest(cp, guests);
		add_others(cp, guests);
	} else if (all_allowed && msg_logged_on(cp, userid)) {
		add_user(cp, guests, userid);
	}
}

static struct cp_result end(const struct cp_insn *insn, unsigned int r3, int rc)
{
	diag_set(insn, r3, (uint64_t)(int64_t)rc);
	return cp_done();
}

struct cp_result diag_2fc_guests(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3)
{
	uint64_t addr = diag_address(insn, r1);
	struct guests guests = { .len = 0 };
	uint8_t list[LIST_SIZE];
	size_t room;
	uint16_t pgm;

	if (r1 == r3 || addr % 8 != 0)
		return cp_program(PGM_SPECIFICATION);
	pgm = logical_read(cp, insn, addr, list, sizeof(list));
	if (pgm != 0)
		return cp_program(pgm);
	if (get_be32(list + LIST_FORMAT) != FORMAT)
		return end(insn, r3, RC_NONE);
	find(cp, &guests, list);
	assert(guests.len % GUEST_SIZE == 0 && guests.len <= sizeof(guests.data));
	if (guests.len == 0)
		return end(insn, r3, RC_NONE);
	room = get_be32(list + LIST_LENGTH);
	if (room >= guests.len) {
		pgm = logical_write(cp, insn, get_be64(list + LIST_ADDRESS), guests.data,
				    guests.len);
		if (pgm != 0)
			return cp_program(pgm);
	}
	/* What is left of the buffer, or missing from it. */
	diag_set(insn, r1, (uint64_t)room - guests.len);
	return end(insn, r3, room >= guests.len ? RC_DONE : RC_SHORT);
}
