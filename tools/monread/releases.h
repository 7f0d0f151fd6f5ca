/* SPDX-License-Identifier: MIT */
/*
 * monread: the release of z/VM that the data are of.
 *
 * The user gives it, or the lengths of records tell it (monrec_evidence_releases()).  Data of
 * two releases, and data of another release than the one given, are an error that the user is
 * told of once; all records are read on, each by the layout that it has.
 */
#ifndef RELEASES_H
#define RELEASES_H

#include <stdbool.h>
#include <stdio.h>

#include "monrec.h"

struct releases {
	const char *input;		/* its name, for messages */
	unsigned int given;		/* by the user; 0: to be found */
	uint32_t found;			/* releases; 0: nothing tells yet */
	bool contradicted;
	struct monrec_evidence evidence;
	uint32_t before;		/* before the first contradiction: */
	const struct monrec_layout *conflict;	/* the last type that had another length */
	struct {
		uint32_t len, found;
		uint16_t release;
	} layout[MONREC_DOMAINS][MONREC_NUMBERS];	/* what releases_set() found last */
};

/* Takes what the record tells. */
void releases_note(struct releases *releases, const struct monrec_item *item);
/* Sets the record's release. */
void releases_set(struct releases *releases, struct monrec_record *record);
/* What the data are of, so far as is known; 0: it is not, or @releases is NULL. */
uint32_t releases_all(const struct releases *releases);
/* A line for what is known of the release. */
void releases_print(const struct releases *releases, FILE *out);

#endif
