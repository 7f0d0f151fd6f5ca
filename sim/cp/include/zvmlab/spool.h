/* SPDX-License-Identifier: MIT */
/*
 * CP's spool: files on the reader, punch and printer queues of users, and the guest's virtual
 * unit record devices, which write such files and read them.
 *
 * There is a spool if the guest's directory entry has a SPOOL statement.  A file is kept in pages
 * (SPLINK) as DIAGNOSE X'14' hands them over, so records look there as they do to the guest.
 */
#ifndef ZVMLAB_SPOOL_H
#define ZVMLAB_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"
#include "zvmlab/unit.h"

struct cp;

/** Queues, and what makes files: SPOOL_DUMP is VMDUMP, whose pages are a dump and no records. */
enum spool_queue { SPOOL_RDR, SPOOL_PUN, SPOOL_PRT, SPOOL_QUEUES, SPOOL_DUMP = SPOOL_QUEUES };

/** Pages of 4 KiB that the spool has, and how many of them a limit may leave. */
#define SPOOL_PAGES 61440u
/** Files in the system, open ones included. */
#define SPOOL_MAX_FILES 1024u
/** Largest spool file number of a user (CP's). */
#define SPOOL_MAX_ID 9999u
/** Longest record: a line of a 1403; cards of a 2540 have SPOOL_CARD bytes. */
#define SPOOL_MAX_RECORD 132u
#define SPOOL_CARD 80u
/** Longest tag (TAG command). */
#define SPOOL_TAG_LEN 136u
/** Bytes of the records that one request puts into a file, at most. */
#define SPOOL_MAX_PUT (3u << 20)

/** The @index-th SPOOL statement of the directory, NULL past the last. */
const struct cp_unit_config *cp_unit_at(const struct cp_config *config, unsigned int index);

/** A file that somebody else sends. */
struct spool_put {
	const char *user;	/**< whose queue */
	enum spool_queue queue;
	const char *origin;	/**< who sends it; NULL: the user */
	const char *name, *type;	/**< up to 8 characters; NULL: none */
	char spool_class;	/**< A to Z, 0 to 9 */
	bool hold;		/**< in user hold */
	bool system_hold;
	uint32_t record_length;	/**< 1 to SPOOL_MAX_RECORD */
	const uint8_t *data;	/**< records one after the other, the last may be shorter */
	size_t len;
};
/** Return: the file's number, or -1 with one sentence in @err. */
int spool_put(struct cp *cp, const struct spool_put *put, char *err, size_t errlen);

/** Leave the spool @pages, and each user @files; 0: none at all. */
void spool_limits(struct cp *cp, uint32_t pages, uint32_t files);

struct spool_file_info {
	const char *owner, *origin, *name, *type, *form, *dist, *tag;
	enum spool_queue queue, device;	/**< device: that made it */
	uint16_t id;
	char spool_class;
	bool open, user_hold, system_hold;
	uint32_t records, record_length, pages, copies;
};
/** The @index-th file in the order of the queues, then those being written; false past the last. */
bool spool_file(const struct cp *cp, unsigned int index, struct spool_file_info *out);

/**
 * Copy records of a file from the @first (0 …) on to @to, each with the blanks that were cut off
 * behind it, as many as there is room for.  Return: their number, or -1 if there is no such file.
 */
int spool_records(const struct cp *cp, const char *owner, enum spool_queue queue, uint16_t id,
		  uint32_t first, uint8_t *to, size_t room);

struct spool_use {
	uint32_t pages, page_limit, files, file_limit;
};
/** How full it is, and the limits; all 0 without a spool. */
struct spool_use spool_use(const struct cp *cp);

/** "RDR", "PUN", "PRT", and "DMP" of SPOOL_DUMP. */
extern const char *const spool_queue_name[SPOOL_QUEUES + 1];

#endif
