/* SPDX-License-Identifier: MIT */
/*
 * monread: records without whom and what they are about.
 *
 * User IDs, names, volumes, device numbers and serials are replaced, the same by the
 * same wherever they stand, as long as the key is the same: without it nobody can
 * tell what stood there, nor try out what gives the replacement.  Everything that
 * the catalogue does not explain becomes zeros, because anything may stand there:
 * reserved bytes, data behind a record's fixed part, what is in a frame beside its
 * records, and all of a record that has not the length that is known in its release.
 */
#ifndef ANONYMISE_H
#define ANONYMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "monrec.h"

#define ANONYMISE_KEY_SIZE 16u

struct anonymiser {
	uint64_t key[2];
	bool in_frame;
	uint32_t number;	/* of the frame at hand in the segment */
	uint8_t frame[MONREC_FRAME_SIZE];
};

/* The first 16 bytes of the file are the key.  0 or -errno; EINVAL: it has fewer. */
int anonymise_open(struct anonymiser *a, const char *name);
/* The item's record or frame becomes one without names; good until the next call. */
void anonymise_item(struct anonymiser *a, struct monrec_item *item);

/* SipHash-2-4 (Aumasson and Bernstein, 2012) of up to 255 bytes. */
uint64_t siphash(const uint64_t key[2], const uint8_t *bytes, uint8_t len);

#endif
