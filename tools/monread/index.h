/* SPDX-License-Identifier: MIT */
/*
 * monread: where sets end in a file of the device's bytes.
 *
 * FILE.idx has a JSON object a line for each set of FILE, in order; its member
 * "length" counts the set's bytes.  "interrupt" has in hexadecimal the 40 bytes of
 * the message that announced the set, where they are known: files of MONWRITE begin
 * a set with them.  Other members are not looked at.  zvmlab's captures have such
 * files, too.
 */
#ifndef INDEX_H
#define INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "monrec.h"

struct index_entry {
	uint64_t length;	/* bytes; at least 1 */
	bool has_interrupt;
	uint8_t interrupt[MONREC_INTERRUPT_SIZE];
};

/* "FILE.idx", to be freed; NULL without memory. */
char *index_name(const char *name);
/* 1: an entry was read; 0: there is no further one; -1: the line is not one of an index. */
int index_next(FILE *file, struct index_entry *entry);

/* A control element's 12 bytes. */
void monrec_element_bytes(const struct monrec_element *element,
			  uint8_t bytes[MONREC_ELEMENT_SIZE]);

#endif
