/* SPDX-License-Identifier: MIT */
/*
 * libmonrec: reading z/VM monitor data.
 *
 * A reader goes through data sets, control elements and records, in the order in
 * which they come, and gives them out one by one as items.  It understands what
 * read(2) gives from /dev/monreader, the same bytes saved in a file, and files of
 * CMS' MONWRITE.  On its way it checks every rule of the framing that is public
 * (enum monrec_rule) and tells each violation as an item before what it is about.
 *
 *	struct monrec_reader *reader = monrec_open(MONREC_DEVICE, monrec_read_fd, &fd);
 *	struct monrec_item item;
 *
 *	while (monrec_next(reader, &item) != MONREC_END)
 *		if (item.kind == MONREC_RECORD)
 *			printf("D%uR%u\n", item.record.domain, item.record.number);
 *	monrec_close(reader);
 *
 * A reader takes less than 16 KiB, whatever it reads, and allocates nothing after
 * monrec_open().  It belongs to one thread at a time; several do not know of each
 * other.  Whatever the bytes say, only bytes that were read are given out.
 *
 * Records are given out before their set is complete: only MONREC_SET_END makes
 * the set valid.  Whoever must not act on part of a set keeps it until then.
 */
#ifndef MONREC_H
#define MONREC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monrec_catalogue.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define MONREC_HEADER_SIZE 20u
#define MONREC_FRAME_SIZE 4096u
#define MONREC_ELEMENT_SIZE 12u
#define MONREC_INTERRUPT_SIZE 40u
/** Control elements that a control record of MONWRITE has room for. */
#define MONREC_MAX_ELEMENTS 338u
/** Byte 0 of a control element: EBCDIC S and E. */
#define MONREC_TYPE_SAMPLE 0xe2u
#define MONREC_TYPE_EVENT 0xc5u

/** The format of the data. */
enum monrec_format {
	/** /dev/monreader: a read of 0 bytes ends a set, and the device never ends. */
	MONREC_DEVICE,
	/**
	 * Bytes of the device, saved one after the other: their end ends the input.
	 * Where sets ended is not in them, so that all of them are set 1.
	 */
	MONREC_SAVED,
	/** A file of MONWRITE. */
	MONREC_MONWRITE,
};

/**
 * Reads at most @len bytes, of which there is at least one, into @buffer, as
 * read(2) would, but gives -errno for an error.
 */
typedef ssize_t (*monrec_read_fn)(void *context, void *buffer, size_t len);
/** monrec_read_fn for a file descriptor: @context points to it, an int. */
ssize_t monrec_read_fd(void *context, void *buffer, size_t len);

enum monrec_item_kind {
	/** Nothing comes any more: end of a file, or a violation behind which none can be read. */
	MONREC_END,
	/** A set begins; of MONWRITE with the interruption that announced it. */
	MONREC_SET,
	/** A control element begins. */
	MONREC_ELEMENT,
	/** A record, those that end a frame, an interval or a block included. */
	MONREC_RECORD,
	/** All of the set has been read: it is valid. */
	MONREC_SET_END,
	/**
	 * The set cannot be read to its end and is not valid: @error of the item says
	 * why, 0 for an end of input or a violation behind which it cannot be followed.
	 */
	MONREC_SET_LOST,
	/** Sets were lost before the next one (EOVERFLOW): CP's message limit was reached. */
	MONREC_OVERFLOW,
	/** A rule is broken: @rule of the item. */
	MONREC_VIOLATION,
	/** Reading would have to wait, or a signal came (EAGAIN, EINTR): call again later. */
	MONREC_AGAIN,
	/**
	 * Reading failed and no set can be read any more: @error of the item; END
	 * follows.  EIO of the device: CP has severed, it can be opened anew.
	 */
	MONREC_ERROR,
	/**
	 * Behind the records of a frame, if monrec_give_frames() asked for it: all that
	 * the element has in this frame, records and what is none, in @record's data,
	 * len (1 to MONREC_FRAME_SIZE) and address; its other members are 0.
	 */
	MONREC_FRAME,
};

/** The rules of checks; monrec_rule_name() and monrec_rule_text() have the words. */
enum monrec_rule {
	MONREC_RULE_ELEMENT_CUT,	/**< the set ends within a control element */
	MONREC_RULE_ELEMENT_TYPE,	/**< neither sample nor event */
	MONREC_RULE_ELEMENT_DOMAINS,	/**< no domain, or one that its type does not have */
	MONREC_RULE_ELEMENT_RANGE,	/**< ends before it begins */
	MONREC_RULE_RECORDS_CUT,	/**< the set ends within the records of an element */
	MONREC_RULE_SET_EMPTY,		/**< a set without a control element */
	MONREC_RULE_HEADER_CUT,		/**< fewer bytes than a header at the end of an element */
	MONREC_RULE_RECORD_SHORT,	/**< a length less than that of the header */
	MONREC_RULE_RECORD_FRAME,	/**< a record reaches into the next frame */
	MONREC_RULE_RECORD_ELEMENT,	/**< a record reaches behind its element */
	MONREC_RULE_RECORD_ZERO,	/**< MRHDRZER is not zero */
	MONREC_RULE_RECORD_DOMAIN,	/**< the element does not name the record's domain */
	MONREC_RULE_RECORD_KIND,	/**< event record in sample data or the reverse */
	MONREC_RULE_RECORD_LENGTH,	/**< not as long as in the release that was named */
	MONREC_RULE_FRAME_OPEN,		/**< no end of frame (D1R13) though another one follows */
	MONREC_RULE_FRAME_LAST,		/**< end of frame in the last frame */
	MONREC_RULE_FRAME_LENGTH,	/**< D1R11, D1R12 or D1R13 is more than a header */
	MONREC_RULE_BEHIND_END,		/**< a record behind the one that ends the element's data */
	MONREC_RULE_INTERVAL_OPEN,	/**< the set's sample data do not end in D1R11 */
	MONREC_RULE_SUSPENSION_PLACE,	/**< D1R3 is not the first record of its element */
	MONREC_RULE_SUSPENSION_OPEN,	/**< event data behind D1R12 do not begin with D1R3 */
	MONREC_RULE_PROFILE,		/**< D1R14 is of the other kind of data */
	MONREC_RULE_FILE_CUT,		/**< MONWRITE: ends within 4096 bytes, or without end of data */
	MONREC_RULE_CONTROL_AREA,	/**< MONWRITE: the control area is not 1 to 338 elements */
	MONREC_RULE_INTERRUPT,		/**< MONWRITE: not a message with parameter-list data */
	MONREC_RULE_BEHIND_DATA,	/**< MONWRITE: something behind end of data */
	MONREC_RULES
};

/** The position of an item; counts begin with 1, 0 is none. */
struct monrec_place {
	uint64_t set;
	uint64_t offset;	/**< bytes; of MONWRITE into the file, else into the set */
	uint32_t element;	/**< in the set */
	uint32_t record;	/**< in the element */
};

struct monrec_element {
	uint32_t start, end;	/**< addresses of the first and the last byte of the records */
	uint16_t domains;	/**< bytes 1 and 2; domain 0 is the highest bit */
	uint8_t type;		/**< MONREC_TYPE_SAMPLE or MONREC_TYPE_EVENT, if all is well */
	uint8_t byte3;
};

struct monrec_record {
	const uint8_t *data;	/**< header and all; until the next call of monrec_next() */
	uint32_t len;		/**< MONREC_HEADER_SIZE to MONREC_FRAME_SIZE */
	uint32_t address;	/**< where it lay in the segment */
	uint64_t tod;
	uint16_t number;
	uint8_t domain;
	/**
	 * Whose layout it has, 530 for z/VM 5.3; 0: not known.  A reader leaves it at 0, for
	 * whoever asks monrec_record_release() to set.
	 */
	uint16_t release;
};

struct monrec_item {
	enum monrec_item_kind kind;
	struct monrec_place at;
	/** Of ELEMENT, RECORD and the violations about them; zeros before a set's first one. */
	struct monrec_element element;
	/** Of RECORD and FRAME; of a violation if it is about a record, else @data is NULL. */
	struct monrec_record record;
	/** Of SET in a file of MONWRITE: MONREC_INTERRUPT_SIZE bytes; else NULL. */
	const uint8_t *interrupt;
	enum monrec_rule rule;	/**< of VIOLATION */
	int error;		/**< of SET_LOST and ERROR: errno, positive */
	uint64_t value[2];	/**< of VIOLATION: what its sentence speaks of */
};

struct monrec_reader;

/** A reader of what @read gives; NULL with errno set if there is no storage. */
struct monrec_reader *monrec_open(enum monrec_format format, monrec_read_fn read, void *context);
/** Frees the reader; what @context of monrec_open() stands for is the caller's.  NULL is allowed. */
void monrec_close(struct monrec_reader *reader);
/** Bytes of a file's beginning that tell whether MONWRITE has written it. */
#define MONREC_LOOK_AHEAD 20u
/**
 * Does a file that begins with these bytes begin with a control record of MONWRITE?
 * No control element looks like one.
 */
bool monrec_is_monwrite(const uint8_t beginning[MONREC_LOOK_AHEAD]);

/** Check lengths of records as of this release (530 for z/VM 5.3); 0, the default: do not. */
void monrec_set_release(struct monrec_reader *reader, unsigned int release);
/** Give MONREC_FRAME items, too, for programs that copy what they read; by default, do not. */
void monrec_give_frames(struct monrec_reader *reader, bool give);
/**
 * Read on: the source has been opened anew after MONREC_ERROR, or is another one
 * of the same format.  Sets are counted on; what was read of one is forgotten.
 */
void monrec_restart(struct monrec_reader *reader);

/**
 * The next item.
 * Return: its kind, which is also in @item.  After MONREC_END the same again.
 */
enum monrec_item_kind monrec_next(struct monrec_reader *reader, struct monrec_item *item);

/** A rule's name for programs ("frame-open"); NULL if there is no such rule. */
const char *monrec_rule_name(unsigned int rule);
/** The rule's demand in one sentence; NULL if there is no such rule. */
const char *monrec_rule_text(unsigned int rule);
/**
 * A violation (no other item) as one line without a line break: set, offset,
 * element, record, what is wrong, the rule.  Never more than @size bytes with the
 * terminating zero, cut if need be; 256 are always enough.
 * Return: @buffer.
 */
char *monrec_describe(const struct monrec_item *item, char *buffer, size_t size);

/* Values of fields: 0, or one of these. */
enum {
	MONREC_ABSENT = -1,	/**< the record ends before the field does */
	MONREC_MISMATCH = -2,	/**< not a value of this type */
};

/** UNSIGNED, BITS, TOD, DURATION; BYTES of up to 8, as a big-endian number. */
int monrec_unsigned(const struct monrec_record *record, const struct monrec_field *field,
		    uint64_t *value);
/** SIGNED; the others as above if they do not exceed INT64_MAX. */
int monrec_signed(const struct monrec_record *record, const struct monrec_field *field,
		  int64_t *value);
/**
 * TEXT as UTF-8 without the blanks and zeros at its end; what is not printable is
 * '.'.  @size must be at least twice the field's length and 1 (MONREC_MISMATCH).
 */
int monrec_text(const struct monrec_record *record, const struct monrec_field *field,
		char *buffer, size_t size);

/** Numbers of records are below this, so far as the catalogue has them. */
#define MONREC_NUMBERS 128u

/**
 * Evidence of the release by the lengths of its records.  Begin with all zeros;
 * the members are the library's.
 */
struct monrec_evidence {
	uint16_t len[MONREC_DOMAINS][MONREC_NUMBERS];
	/** Types whose length is that of the release; that it is known not to have. */
	uint16_t fits[MONREC_RELEASES], differs[MONREC_RELEASES];
	unsigned int types;
};

/** Takes what the record's length tells; only the first one of each type counts. */
void monrec_evidence_add(struct monrec_evidence *evidence, const struct monrec_record *record);
/** The releases that a length speaks for, and the fewest against. */
uint32_t monrec_evidence_possible(const struct monrec_evidence *evidence);
/** Those of them that the most lengths speak for: of others less may be known.  0: nothing tells. */
uint32_t monrec_evidence_releases(const struct monrec_evidence *evidence);
/**
 * Has the record a length of other releases than the first one of its type had?
 * Return: those releases, with the first one's length in @len; 0 if not.
 */
uint32_t monrec_evidence_conflict(const struct monrec_evidence *evidence,
				  const struct monrec_record *record, uint32_t *len);
/** The releases in which a record of this type is known to be so long; 0: none. */
uint32_t monrec_record_releases(const struct monrec_record *record);
/**
 * Whose layout the record has if it is of one of @releases (0: of any): in which it is known to
 * be so long or, if there is none, in which its length is not known.  Of several that with the
 * fewest fields, which they have in common.  0: in all of them it has another length.
 */
unsigned int monrec_record_release(const struct monrec_record *record, uint32_t releases);

/** Whom or what a field names, so that data that leave the house can do without it. */
enum monrec_identity {
	MONREC_ID_NONE,		/**< nothing that can be told apart from others of its kind */
	MONREC_ID_USER,		/**< user ID, EBCDIC */
	MONREC_ID_VOLUME,		/**< volume serial, EBCDIC */
	MONREC_ID_NAME,		/**< of a system, partition, network, segment, file: EBCDIC */
	MONREC_ID_DEVICE,		/**< device number, 2 bytes */
	MONREC_ID_SUBCHANNEL,	/**< subsystem identification: 2 bytes, then the subchannel's number */
	MONREC_ID_SERIAL,		/**< serial number, address of an adapter or a unit: bytes */
	MONREC_IDENTITIES
};

/** Told by the field's name, which is the same in all records that have the field. */
enum monrec_identity monrec_identity(const struct monrec_field *field);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
