/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'2FC': what the guests use. */
#include <string.h>

#include "bytes.h"
#include "diag_private.h"
#include "ebcdic.h"
#include "zvmlab/fault.h"
#include "zvmlab/guests.h"
#include "zvmlab/iucv.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* Parameter list, at a logical address; so is the buffer. */
enum {
	LIST_USERID = 0,	/* 8: blanks: the issuer; "*": all */
	LIST_GROUP = 8,		/* 8: access-control group; blanks: users of none; "*": all */
	LIST_ADDRESS = 16,	/* 8 */
	LIST_LENGTH = 24,	/* 4 */
	LIST_FORMAT = 28,	/* 4 */
	LIST_SIZE = 32,
};

#define FORMAT 2

/* One guest. */
enum {
	GUEST_VERSION = 0,	/* 4 */
	GUEST_FLAGS = 4,	/* 4 */
	GUEST_CPU_TIME = 8,	/* 8: microseconds, all its CPUs */
	GUEST_ELAPSED = 16,	/* 8: microseconds since it logged on */
	GUEST_STORAGE_MIN = 24,	/* 8: KiB, as all storage here */
	GUEST_STORAGE_MAX = 32,	/* 8 */
	GUEST_STORAGE_SHARE = 40, /* 8 */
	GUEST_STORAGE_USED = 48, /* 8 */
	GUEST_PHYSICAL = 56,	/* 4: CPUs of the machine */
	GUEST_LOGICAL = 60,	/* 4: CPUs of CP's partition */
	GUEST_CPUS = 64,	/* 4 */
	GUEST_OPERATING = 68,	/* 4: of these not stopped */
	GUEST_CPU_MAX = 72,	/* 4: largest share */
	GUEST_CPU_SHARE = 76,	/* 4 */
	GUEST_SAMPLES = 80,	/* 6 of 4, as guests.h has them */
	GUEST_NAME = 104,	/* 8 */
	GUEST_SIZE = 112,
};

/* Bits of the flags. */
#define FLAG_CAPPED_SHIFT 1	/* two bits: 1 soft, 2 hard */
#define FLAG_DEDICATED 8

/* In Ry: done; nothing to tell, or not to this user; buffer too short.  Linux reads all but
 * 0 and -2 as failure. */
#define RC_DONE 0
#define RC_NONE (-1)
#define RC_SHORT (-2)

struct answer {
	struct cp *cp;
	char group[CP_NAME_LEN + 1];	/* only users of that one, "*": all */
	uint8_t data[(IUCV_MAX_USERS + GUESTS_MAX + 2) * GUEST_SIZE];
	size_t len;
};

static void add(void *opaque, const char *name)
{
	struct answer *answer = opaque;
	uint8_t *at = answer->data + answer->len;
	struct guest_data data;

	assert(answer->len + GUEST_SIZE <= sizeof(answer->data));
	guests_data(answer->cp, name, &data);
	if (strcmp(answer->group, "*") != 0 && strcmp(answer->group, data.group) != 0)
		return;
	put_be32(at + GUEST_VERSION, FORMAT);
	put_be32(at + GUEST_FLAGS, (uint32_t)data.capped << FLAG_CAPPED_SHIFT |
				   (data.dedicated ? FLAG_DEDICATED : 0));
	put_be64(at + GUEST_CPU_TIME, data.cpu_us);
	put_be64(at + GUEST_ELAPSED, data.online_us);
	put_be64(at + GUEST_STORAGE_MIN, data.storage_min);
	put_be64(at + GUEST_STORAGE_MAX, data.storage_max);
	put_be64(at + GUEST_STORAGE_SHARE, data.storage_share);
	put_be64(at + GUEST_STORAGE_USED, data.storage_used);
	put_be32(at + GUEST_PHYSICAL, data.physical);
	put_be32(at + GUEST_LOGICAL, data.logical);
	put_be32(at + GUEST_CPUS, data.cpus);
	put_be32(at + GUEST_OPERATING, data.operating);
	put_be32(at + GUEST_CPU_MAX, data.share_max);
	put_be32(at + GUEST_CPU_SHARE, data.share);
	for (unsigned int i = 0; i < GUESTS_SAMPLES; i++)
		put_be32(at + GUEST_SAMPLES + 4 * i, data.sample[i]);
	ebcdic_name(at + GUEST_NAME, name);
	answer->len += GUEST_SIZE;
}

static void find(struct cp *cp, struct answer *answer, const uint8_t list[LIST_SIZE])
{
	char userid[CP_NAME_LEN + 1];
	bool all_allowed = strchr(cp->config.classes, 'B') != NULL;

	ebcdic_to_name(userid, list + LIST_USERID);
	ebcdic_to_name(answer->group, list + LIST_GROUP);
	if (userid[0] == '\0' || strcmp(userid, cp->config.userid) == 0) {
		add(answer, cp->config.userid);
	} else if (all_allowed && strcmp(userid, "*") == 0) {
		guests_all(cp, add, answer);
	} else if (all_allowed && parts_logged_on(cp, userid)) {
		add(answer, userid);
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
	struct answer answer = { .cp = cp };
	struct fault_action action;
	uint8_t list[LIST_SIZE];
	size_t room;
	uint16_t pgm;

	if (r1 == r3 || addr % 8 != 0)
		return cp_program(PGM_SPECIFICATION);
	pgm = logical_read(cp, insn, addr, list, sizeof(list));
	if (pgm != 0)
		return cp_program(pgm);
	action = diag_fault(cp, FAULT_DIAG2FC);
	if (action.kind == FAULT_PGM)
		return cp_program((uint16_t)action.value);
	if (action.kind != FAULT_NONE)
		return end(insn, r3, action.kind == FAULT_RC ? (int)action.value : RC_DONE);
	if (get_be32(list + LIST_FORMAT) != FORMAT)
		return end(insn, r3, RC_NONE);
	find(cp, &answer, list);
	assert(answer.len % GUEST_SIZE == 0 && answer.len <= sizeof(answer.data));
	if (answer.len == 0)
		return end(insn, r3, RC_NONE);
	room = get_be32(list + LIST_LENGTH);
	if (room >= answer.len) {
		pgm = logical_write(cp, insn, get_be64(list + LIST_ADDRESS), answer.data,
				    answer.len);
		if (pgm != 0)
			return cp_program(pgm);
	}
	/* What is left of the buffer, or missing from it. */
	diag_set(insn, r1, (uint64_t)room - answer.len);
	return end(insn, r3, room >= answer.len ? RC_DONE : RC_SHORT);
}
