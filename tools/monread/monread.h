/* SPDX-License-Identifier: MIT */
/*
 * monread: prints and checks z/VM monitor data.
 *
 * main	the outputs that were asked for, exit code
 * options	the command line
 * files	several files as one recording; selection: which of their sets
 * foreign	what a file is that is no monitor data
 * pass	one pass through the data; hold: items that wait until the release is known
 * releases	the release of z/VM that the data are of
 * input	where bytes come from: waits with a limit, signals, the device opened anew
 * index	where sets end in a file of the device's bytes
 * text	items for people; json: items as JSON lines
 * anonymise	names of users and devices replaced; siphash: what by
 * sink	items to outputs that take whole sets: stream, monwrite, csv, summary
 * activity	what the system did over time; html: the same as a page; export: the same for
 *		monitoring systems
 * quantity	each quantity once, for tables, page, JSON lines and families of values
 * report	tables of it, for the page and as text; threshold: what is marked there
 * clock	times as people read them
 * rotate	files that make room for the next one
 * keep	a file that always ends where a set does
 * tally	what there was, at the end
 */
#ifndef MONREAD_H
#define MONREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "monrec.h"
#include "monrec_application.h"

/* What of the data is printed. */
struct show {
	FILE *out;
	bool values;		/* of fields, too */
};

/* Prints an item as lines of text; as a JSON object on one line.  -1 if @out fails. */
int text_item(const struct show *show, const struct monrec_item *item);
int json_item(const struct show *show, const struct monrec_item *item);

/* NULL: the catalogue does not know the record. */
const struct monrec_layout *layout_of(const struct monrec_record *record);
/* Is the field known in the record's release, and all of it in the record? */
bool field_there(const struct monrec_record *record, const struct monrec_field *field);

/* A TOD clock value as UTC with microseconds, leap seconds not counted; 28 bytes at least. */
#define TOD_TEXT_SIZE 32u
char *tod_text(uint64_t tod, char text[TOD_TEXT_SIZE]);

/* Bytes of the field in hexadecimal. */
#define HEX_TEXT_SIZE (2u * MONREC_FRAME_SIZE + 1)
char *hex_text(const struct monrec_record *record, const struct monrec_field *field,
	       char text[HEX_TEXT_SIZE]);

/*
 * A field that is there (field_there()): decimal, UTC, text without the blanks at its
 * end, else hexadecimal digits.  Until the next call.
 */
const char *value_text(const struct monrec_record *record, const struct monrec_field *field);

/* "sample", "event", or the byte: "X'53'". */
#define TYPE_TEXT_SIZE 8u
const char *type_text(uint8_t type, char text[TYPE_TEXT_SIZE]);

/* What went wrong with what, on standard error; what was printed before stands before it. */
void complain_about(const char *what, int error);

struct tally {
	uint64_t sets, lost, overflows, elements, records, bytes;
	uint64_t severs;	/* after which the device was opened anew */
	uint64_t violations, broken[MONREC_RULES];
};

void tally_item(struct tally *tally, const struct monrec_item *item);
/* A line for what there was, and one for each rule that was broken. */
void tally_print(const struct tally *tally, FILE *out);

#endif
