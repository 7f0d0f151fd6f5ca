/* SPDX-License-Identifier: MIT */
/*
 * Application data (domain 10): buffers that the guest declares with DIAGNOSE X'DC', and from
 * which CP copies into monitor records.
 */
#ifndef ZVMLAB_APPLDATA_H
#define ZVMLAB_APPLDATA_H

#include <stdbool.h>
#include <stdint.h>

struct cp;

/** Product ID: number (7), function (2), record (1), version, release, modification level (2 each). */
#define APPLDATA_PRODUCT_SIZE 16u
#define APPLDATA_PRODUCT_NUMBER 7u
/** The rest of a record's 4076 bytes after the fixed part of D10R1 and D10R2. */
#define APPLDATA_MAX_LENGTH 4024u
/** Buffers that are declared at a time; docs/choices.md. */
#define APPLDATA_MAX_BUFFERS 512u

/** When CP copies from a declared buffer. */
enum appldata_kind {
	APPLDATA_INTERVAL,	/**< at the end of each sample interval */
	APPLDATA_CONFIG,	/**< whenever it writes configuration records */
	APPLDATA_KINDS
};

/** Return codes of DIAGNOSE X'DC' in Ry: 0 to 3 and 5 as z/VM has them, the others chosen. */
enum appldata_rc {
	APPLDATA_OK = 0,
	APPLDATA_BAD_CODE = 1,		/**< the list does not begin with X'00DC' */
	APPLDATA_BAD_FUNCTION = 2,
	APPLDATA_BAD_LIST = 3,		/**< length of the list */
	APPLDATA_BAD_LENGTH = 4,	/**< of the buffer: 1 to APPLDATA_MAX_LENGTH */
	APPLDATA_NOT_AUTHORISED = 5,	/**< no OPTION APPLMON */
	APPLDATA_DECLARED = 6,		/**< product ID, address and length are declared already */
	APPLDATA_NOT_DECLARED = 7,
	APPLDATA_TOO_MANY = 8,
};

/** A buffer, as the guest has named it. */
struct appldata_buffer {
	uint8_t product[APPLDATA_PRODUCT_SIZE];
	uint64_t address;	/**< guest absolute */
	uint16_t length;	/**< bytes, 1 to APPLDATA_MAX_LENGTH */
};

/** The three functions of DIAGNOSE X'DC'; the buffer is addressable. */
enum appldata_rc appldata_start(struct cp *cp, const struct appldata_buffer *buffer,
				enum appldata_kind kind);
/** All of @buffer must be as it was declared. */
enum appldata_rc appldata_stop(struct cp *cp, const struct appldata_buffer *buffer);
/** One D10R1 with what the buffer has now. */
void appldata_event(struct cp *cp, const struct appldata_buffer *buffer);

/** The product's number as text, for fault rules and people: as ASCII if it is that, else EBCDIC. */
void appldata_name(const uint8_t product[APPLDATA_PRODUCT_SIZE],
		   char name[APPLDATA_PRODUCT_NUMBER + 1]);

/** A declared buffer, for the control socket. */
struct appldata_info {
	struct appldata_buffer buffer;
	enum appldata_kind kind;
	uint64_t records;	/**< that CP has written from it */
};
/** In the order of declaration.  Return: false past the last. */
bool appldata_at(const struct cp *cp, unsigned int index, struct appldata_info *out);

#endif
