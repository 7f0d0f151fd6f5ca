/* SPDX-License-Identifier: MIT */
/*
 * Writing monitor records into 4 KiB frames.
 *
 * record_header.h has the format.  RECORD_HEADER_SIZE bytes of each frame stay
 * free, so that D1R13, or the record that ends an interval or a block, always fits.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "record_header.h"

struct record_writer {
	uint8_t *buffer;	/**< owned by the caller */
	uint32_t size;		/**< bytes, a multiple of the frame size */
	uint32_t pos;		/**< bytes written */
	uint64_t tod;		/**< time stamp of the records that are written */
	uint16_t domains;	/**< of all records so far; domain 0 is the highest bit */
	uint32_t records;	/**< so far, with those that end a frame and the set */
	uint32_t bytes;		/**< of these records */
	bool closed;		/**< the last record has been written */
	bool overflow;		/**< a record did not fit and was left out */
};

void record_writer_init(struct record_writer *w, uint8_t *buffer, uint32_t size, uint64_t tod);

/**
 * Begin a record of @len bytes: header written, the rest zero.
 * Return: its first byte, or NULL if the buffer has no room for it.
 */
uint8_t *record_add(struct record_writer *w, unsigned int domain, unsigned int number,
		    uint32_t len);
/** Add a complete record, header included, as it is; false if there is no room. */
bool record_append(struct record_writer *w, const uint8_t *record, uint32_t len);
/** Would a record of @len bytes fit? */
bool record_fits(const struct record_writer *w, uint32_t len);
/**
 * Add D1R10 (MTRSCM), which says that a command has changed what samples there are: when, and the
 * first @len bytes of the command.  There is room for it: it is the set's first record.
 */
void record_sample_change(struct record_writer *w, uint64_t tod, const char *command, uint32_t len);
/** Write the last record, D1R11 or D1R12: it always fits.  Nothing may follow. */
void record_close(struct record_writer *w, unsigned int number);

/** Is @record a complete record of @domain: lengths agree, not too long? */
bool record_valid(const uint8_t *record, uint32_t len, unsigned int domain);

#endif
