/* SPDX-License-Identifier: MIT */
/* Shared by the files of the spool, its commands and its DIAGNOSE codes. */
#ifndef SPOOL_PRIVATE_H
#define SPOOL_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/fault.h"
#include "zvmlab/spool.h"

/*
 * A page of a spool file (SPLINK), big-endian, as s390-tools' vmur reads it.  Where it has
 * fields that nobody describes there are zeros.
 */
enum {
	SPLINK_MAGIC = 0,	/* 4: 0, but for dumps */
	SPLINK_COUNT = 12,	/* 4: channel commands in the page */
	SPLINK_DATA = 16,
	SPLINK_DATA_END = 4064,
	SPLINK_RECLEN = 4064,	/* 2: Linux stores it here */
	SPLINK_ID = 4088,	/* 2: number of the file */
};
/* A record there: the CCW that wrote it, and its data. */
enum {
	RECORD_COMMAND = 0,	/* 1 */
	RECORD_FLAGS = 4,	/* 1 */
	RECORD_COUNT = 6,	/* 2: bytes of data */
	RECORD_LENGTH = 10,	/* 2: up to the next record */
	RECORD_DATA = 12,
};
/** CCW flags: command chaining and SLI; an immediate command has the CCW only, 8 bytes. */
#define RECORD_CHAINED 0x60
#define RECORD_IMMEDIATE 0x10
#define CCW_SIZE 8u
#define BLANK 0x40u

/** The attributes of a file. */
struct spool_label {
	char name[CP_NAME_LEN + 1], type[CP_NAME_LEN + 1];
	char form[CP_NAME_LEN + 1], dest[CP_NAME_LEN + 1], dist[CP_NAME_LEN + 1];
	char tag[SPOOL_TAG_LEN + 1];
};

struct spool_file {
	bool used;
	bool open;		/* written by an output device, or read by a reader */
	bool queued;		/* on its queue: complete */
	uint8_t queue, device;	/* enum spool_queue; device: that made it */
	uint16_t id;
	char owner[CP_NAME_LEN + 1], origin[CP_NAME_LEN + 1];
	struct spool_label label;
	char spool_class;
	bool user_hold, system_hold, keep;
	uint8_t copies;		/* 1 to 255 */
	uint16_t record_length;
	uint32_t records;	/* without immediate commands */
	uint64_t tod;
	uint16_t first, last;	/* pages, from 1 on; 0: none */
	uint16_t pages;
	uint16_t fill;		/* bytes used of the last page's data */
};

/** Settings of a virtual device (SPOOL, TAG), and its file. */
struct spool_device {
	char spool_class;	/* of a reader also '*': any */
	bool cont, hold, keep;
	uint8_t copies;
	char to[CP_NAME_LEN + 1];	/* "": the user itself */
	uint8_t to_queue;		/* enum spool_queue */
	struct spool_label label;	/* of its next file */
	uint16_t file;		/* slot from 1 on; 0: none is active */
	bool gone;		/* DETACH: the guest has it no longer */
	/* A reader: the page that is read next, 0 behind the last; within it the next record. */
	uint16_t page;
	uint16_t at;		/* offset in the page's data */
	uint32_t seen;		/* commands of the page before it */
};

struct spool {
	/* Without a spool all four are NULL. */
	uint8_t (*page)[CP_PAGE_SIZE];	/* SPOOL_PAGES */
	uint16_t *next;			/* page behind it, from 1 on; 0: the last, or a free one */
	uint16_t free;			/* first free page, from 1 on */
	uint16_t used;			/* pages in files */
	uint32_t page_limit, file_limit;
	struct spool_file *file;	/* SPOOL_MAX_FILES */
	/* Slots of the files on queues: a queue is those of one owner and kind, in this order. */
	uint16_t *line;			/* SPOOL_MAX_FILES */
	uint16_t lines;
};

/* spool.c */
/** A to Z, 0 to 9; of a reader also '*'. */
bool spool_class_valid(char c, bool reader);
enum spool_queue spool_unit_queue(const struct cp *cp, unsigned int unit);
/** The file on a user's queue, or NULL. */
struct spool_file *spool_find(struct cp *cp, const char *owner, enum spool_queue queue,
			      uint16_t id);
/** The @index-th file of a user's queue, or NULL. */
struct spool_file *spool_nth(struct cp *cp, const char *owner, enum spool_queue queue,
			     unsigned int index);
/** Can @owner have one more file? */
bool spool_has_room(const struct cp *cp, const char *owner);
/** A new file, on no queue yet; NULL if there is no room for it, or its user has too many. */
struct spool_file *spool_new(struct cp *cp, const char *owner, enum spool_queue device);
/** Put a file at the end of a queue; it gets another number if its own is taken there. */
void spool_enqueue(struct cp *cp, struct spool_file *file, const char *owner,
		   enum spool_queue queue);
/** A file on a queue: to the front of all queues. */
void spool_to_front(struct cp *cp, const struct spool_file *file);
/** The file is no more. */
void spool_purge(struct cp *cp, struct spool_file *file);
/** The default attributes of a user's files. */
struct spool_label spool_label_of(const char *user);
/** Settings that a device has at first. */
void spool_device_init(const struct cp *cp, unsigned int unit);

/** Addresses of a guest's storage, the last included. */
struct spool_range {
	uint64_t first, last;
};
#define SPOOL_RANGES 3u		/* VMDUMP's operands */
#define SPOOL_NOTE_LEN 100u
/**
 * spool_dump.c: registers and storage of the machine as a file on a user's reader queue.
 * @type: of the file; @note: up to 100 characters of the user's.  Return: NULL if the spool is
 * full, or the user has too many files.
 */
struct spool_file *spool_dump(struct cp *cp, const char *to, const char *type, const char *note,
			      const struct spool_range *ranges, unsigned int count);

/* spool_page.c */
/** Make all pages free ones. */
void spool_pages_init(struct spool *spool);
/** Add a free page, which there is, at the end of the file. */
void spool_add_page(struct spool *spool, struct spool_file *file);
/** Add a page of zeros at the end of the file; NULL if the spool is full. */
uint8_t *spool_empty_page(struct spool *spool, struct spool_file *file);
/** Add a record without the blanks at its end; false if the spool is full. */
bool spool_append(struct spool *spool, struct spool_file *file, uint8_t command,
		  const uint8_t *data, uint32_t len);
/** Add a command without data. */
bool spool_append_immediate(struct spool *spool, struct spool_file *file, uint8_t command);
/** Give the file's pages back. */
void spool_free_pages(struct spool *spool, struct spool_file *file);
/** The @index-th page (0 …) of the file, from 1 on; 0: it has fewer. */
uint16_t spool_page_at(const struct spool *spool, const struct spool_file *file, uint32_t index);
/** Position within a file. */
struct spool_place {
	uint16_t page, at;
	uint32_t seen;
};
/**
 * The next record from @place on, which moves behind it.  Return: its data, @len bytes, or NULL
 * at the end.
 */
const uint8_t *spool_next_record(const struct spool *spool, struct spool_place *place,
				 uint32_t *len);
/** Are the file's pages, as spool_add_page() has put them together, what spool_append() makes? */
bool spool_pages_valid(const struct spool *spool, const struct spool_file *file);

/* spool_arrival.c */
/** Is it of the device's class, and may anybody take it? */
bool spool_may_read(const struct spool_device *device, const struct spool_file *file);
/** A file has come to the end of a reader queue: the emulator of its owner's machine is told. */
void spool_arrived(struct cp *cp, const struct spool_file *file);

/* spool_device.c */
/** The reader's active file; if there is none, the next one that it may take; or NULL. */
struct spool_file *spool_select(struct cp *cp, unsigned int unit);
/** How CLOSE differs from what the device's settings say. */
struct spool_close {
	bool purge, hold, nohold, keep, nokeep, even_cont;
	const char *to;		/* NULL: as spooled */
	uint8_t to_queue;
	bool named;
	const char *name, *type;
};
enum spool_closed {
	SPOOL_NOTHING,		/* no file was active, or the device goes on (CONT) */
	SPOOL_CLOSED,		/* it is on a queue */
	SPOOL_PURGED,
	SPOOL_REFUSED,		/* the receiver has too many files: it is on the sender's queue */
};
/** Close the device's active file.  @sent: what has become of it, if it is on a queue. */
enum spool_closed spool_close(struct cp *cp, unsigned int unit, const struct spool_close *how,
			      struct spool_file **sent);

#endif
