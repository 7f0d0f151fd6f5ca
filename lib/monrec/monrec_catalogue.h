/* SPDX-License-Identifier: MIT */
/*
 * Catalogue of z/VM monitor records: layouts by domain, number and release.
 *
 * z/VM 5.3 is the reference: the only release whose layouts are public in full,
 * for about 100 records.  What is known of other releases stands beside it: a
 * length, or an offset, with the first and the last release in which a source
 * shows it.  Nothing in between was seen to differ.  What no source tells is not
 * in the catalogue: not an offset, not a meaning, not a unit.
 *
 * Releases are numbers as in the names of IBM's pages: 530 is z/VM 5.3.
 * All that is returned is constant and lives as long as the program, or, of pages that
 * were added, until they are forgotten.
 */
#ifndef MONREC_CATALOGUE_H
#define MONREC_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define MONREC_DOMAINS 12u
/** z/VM 5.3 */
#define MONREC_REFERENCE 530u

/** Is there such a release of z/VM (530: 5.3), so far as the catalogue's sources go? */
bool monrec_release_known(unsigned int release);
/** Releases that there are: 4.1 to 7.5.  A set of them is a number with a bit for each. */
#define MONREC_RELEASES 17u
/** The release of a bit, counted from 0 and the oldest; 0 beyond the last one. */
unsigned int monrec_release(unsigned int index);
/** The set that has this release only; 0 if there is no such release. */
uint32_t monrec_release_bit(unsigned int release);
/** Room for all that monrec_releases_text() writes. */
#define MONREC_RELEASES_TEXT 128u
/** "5.3", "7.3 to 7.5", "5.1, 6.1 to 6.3"; "" of the empty set.  Return: @text. */
char *monrec_releases_text(uint32_t releases, char text[MONREC_RELEASES_TEXT]);

/** How the bytes of a field are to be read; numbers are big-endian. */
enum monrec_type {
	MONREC_UNSIGNED,	/**< 1, 2, 4 or 8 bytes */
	MONREC_SIGNED,		/**< 1, 2, 4 or 8 bytes, two's complement */
	MONREC_BITS,		/**< 1 to 8 bytes of flags */
	MONREC_BYTES,		/**< bytes whose inner form no source tells */
	MONREC_TEXT,		/**< EBCDIC, padded with blanks */
	MONREC_TOD,		/**< 8 bytes, a moment: TOD clock */
	MONREC_DURATION,	/**< 8 bytes, a time span in units of the TOD clock */
};

/** The nature of a value over time. */
enum monrec_nature {
	MONREC_UNSTATED,	/**< no source tells */
	MONREC_COUNTER,		/**< only grows, and wraps at its length */
	MONREC_GAUGE,		/**< a quantity at the time of the record */
	MONREC_ATTRIBUTE,	/**< names, addresses, states, flags */
};

enum monrec_unit {
	MONREC_UNIT_UNKNOWN,	/**< no source tells */
	MONREC_UNIT_NONE,	/**< an attribute */
	MONREC_UNIT_TIMES, MONREC_UNIT_USERS, MONREC_UNIT_RECORDS, MONREC_UNIT_BLOCKS,
	MONREC_UNIT_PAGES, MONREC_UNIT_FRAMES, MONREC_UNIT_BYTES,
	MONREC_UNIT_SECONDS, MONREC_UNIT_CENTISECONDS, MONREC_UNIT_MILLISECONDS,
	MONREC_UNIT_TOD_UNITS,	/**< 4096 to a microsecond */
};

/** The source of an offset or a length; monrec_source_text() names it in full. */
enum monrec_source { MONREC_IBM, MONREC_ZPMD, MONREC_SAME };

/** The kind of data that a record belongs to. */
enum monrec_kind {
	MONREC_ANY,		/**< no source tells, or it belongs to both */
	MONREC_SAMPLE, MONREC_SAMPLE_CONFIG,
	MONREC_EVENT, MONREC_EVENT_CONFIG,
};

/** A field, in the releases @first to @last. */
struct monrec_field {
	const char *name;	/**< as CP's control blocks have it, without the record's name */
	const char *meaning;	/**< NULL: no source tells */
	uint16_t offset;	/**< bytes, from the begin of the record's header */
	uint16_t len;		/**< bytes */
	uint16_t first, last;	/**< releases */
	uint8_t type;		/**< enum monrec_type */
	uint8_t nature;		/**< enum monrec_nature */
	uint8_t unit;		/**< enum monrec_unit */
	uint8_t source;		/**< enum monrec_source */
};

/** A record's length in the releases @first to @last, header included. */
struct monrec_length {
	uint16_t first, last;
	uint16_t len;
	uint8_t source;		/**< enum monrec_source */
};

struct monrec_layout {
	const char *name;	/**< of its block, without "MR": "SYTSYP"; NULL: not known */
	const char *title;	/**< NULL: not known */
	const struct monrec_field *fields;	/**< ascending by offset in each release */
	const struct monrec_length *lengths;	/**< ascending by release */
	uint16_t field_count, length_count;
	uint16_t number;
	uint8_t domain;
	uint8_t kind;		/**< enum monrec_kind */
	bool complete;		/**< has all fields of z/VM 5.3; if not, it is known only in part */
	bool variable;		/**< data follow behind the length that is given */
};

/**
 * The layout of a record by its number.
 * Return: NULL if the catalogue does not know the record.
 */
const struct monrec_layout *monrec_layout(unsigned int domain, unsigned int number);
/** The layout with this name ("SYTSYP", in any case); NULL if there is none. */
const struct monrec_layout *monrec_layout_named(const char *name);
/** All layouts, by domain and number: NULL gives the first, the last one gives NULL. */
const struct monrec_layout *monrec_layout_next(const struct monrec_layout *layout);
/** The header of every record, 20 bytes, as a layout of its own. */
const struct monrec_layout *monrec_header(void);

/** A field by its name (in any case) in @release; NULL if it is not known to be there. */
const struct monrec_field *monrec_field(const struct monrec_layout *layout, const char *name,
					unsigned int release);
/** The record's length in @release; 0 if no source tells. */
unsigned int monrec_length(const struct monrec_layout *layout, unsigned int release);
/** Is a record of @len bytes as long as it is known to be in @release? */
bool monrec_length_fits(const struct monrec_layout *layout, unsigned int release, uint32_t len);

/**
 * Add what a page of IBM's "z/VM Monitor Records" says of a record in the release that it is
 * of, for whoever has it: the catalogue has but the beginnings of most pages.  @text is the page
 * as it was saved, HTML or text.  Not while another thread uses the catalogue.
 * Return: the page's release; 0 with a sentence in @err if it is none of these pages.
 */
unsigned int monrec_add_page(const char *text, size_t len, char *err, size_t errlen);
/** Forget all pages; layouts of them that were returned are no longer valid. */
void monrec_forget_pages(void);

/* Names for people; NULL beyond the last value of an enumeration. */
/** "system", "monitor", … */
const char *monrec_domain_name(unsigned int domain);
const char *monrec_type_name(unsigned int type);
const char *monrec_nature_name(unsigned int nature);
const char *monrec_unit_name(unsigned int unit);
const char *monrec_kind_name(unsigned int kind);
const char *monrec_source_name(unsigned int source);
/** The source in full, where it can be found and what was done with it. */
const char *monrec_source_text(unsigned int source);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
