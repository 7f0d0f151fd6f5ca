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

struct cp;

enum spool_queue { SPOOL_RDR, SPOOL_PUN, SPOOL_PRT, SPOOL_QUEUES };

/** Pages of 4 KiB that the spool has, and how many of them a limit may leave. */
#define SPOOL_PAGES 8192u
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

/** The direction of data of a device's command. */
enum cp_unit_way { CP_UNIT_REJECT, CP_UNIT_NO_DATA, CP_UNIT_TAKES, CP_UNIT_GIVES };

/* Unit status (PoP, ch. 16), and sense byte 0 of unit record devices. */
#define CP_UNIT_ENDED 0x0c	/**< channel end, device end */
#define CP_UNIT_CHECK 0x02
#define CP_UNIT_EXCEPTION 0x01	/**< end of file */
#define CP_SENSE_REJECT 0x80
#define CP_SENSE_INTERVENTION 0x40

/** One command of a channel program. */
struct cp_unit_io {
	uint16_t device;
	uint8_t command;
	uint8_t data[SPOOL_MAX_RECORD];	/**< of a record, EBCDIC */
	uint32_t length;		/**< bytes of it */
	uint8_t status, sense;		/**< how it has ended */
};

/** The effect of a channel program's command at this device; no other is given to cp_unit(). */
enum cp_unit_way cp_unit_way(const struct cp *cp, uint16_t device, uint8_t command);
/** Bytes of a record of this device, which there is. */
uint32_t cp_unit_length(const struct cp *cp, uint16_t device);
/** Carry it out.  CP_UNIT_TAKES: with @io->data; CP_UNIT_GIVES: into it. */
void cp_unit(struct cp *cp, struct cp_unit_io *io);
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

/** "RDR", "PUN", "PRT". */
extern const char *const spool_queue_name[SPOOL_QUEUES];

#endif
