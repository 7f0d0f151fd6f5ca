/* SPDX-License-Identifier: MIT */
/*
 * Saved segments: definition (DEFSEG), contents (SAVESEG, files), load and
 * purge by the guest (DIAGNOSE X'64').
 *
 * The contents of a segment are a file of CP's, and so is what machines store into pages that they
 * share, from the first that loads the segment to the last that gives it back; a machine that has
 * pages of its own (loaded exclusively, EW, EN) has a copy.  The emulator shows the file in its
 * guest's storage while the guest has the segment (cp_host.window).  SAVESEG makes a new segment
 * with a file of its own; the old one stays as long as somebody has it.
 *
 * If the segment's addresses are the guest's own storage, its pages stay there, with the segment's
 * rights.
 */
#ifndef ZVMLAB_DCSS_H
#define ZVMLAB_DCSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"

struct cp;
struct state;

/** Class of the segment's system data file. */
enum dcss_class { DCSS_SKELETON = 'S', DCSS_ACTIVE = 'A', DCSS_RESTRICTED = 'R', DCSS_PENDING_PURGE = 'P' };

struct dcss {
	struct cp_segment_config config;
	uint16_t fileid;		/**< spool file number, from 1 */
	enum dcss_class cls;
	bool defined;			/**< slot in use */
	uint32_t loaders;		/**< machines that have loaded it */
	uint32_t users;			/**< those machines, and *MONITOR, if in use */
};

/** Return codes of DIAGNOSE X'64' with cc 2. */
enum { DCSS_RC_NOT_AUTHORISED = 4, DCSS_RC_NOT_FOUND = 44, DCSS_RC_OVERLAP = 263, DCSS_RC_PAGING = 177,
       DCSS_RC_IN_USE = 45, DCSS_RC_BAD_SUBCODE = 40 };

/** Segment by name (active or skeleton; the skeleton only if there is no other). */
struct dcss *dcss_find(struct cp *cp, const char *name);
/** The @index-th defined segment, NULL past the last. */
struct dcss *dcss_at(struct cp *cp, unsigned int index);
/** Has the machine loaded it? */
bool dcss_loaded(const struct cp *cp, const struct dcss *segment);
/** … and a copy of its own? */
bool dcss_exclusive(const struct cp *cp, const struct dcss *segment);
uint64_t dcss_start(const struct dcss *segment);
/** Last byte. */
uint64_t dcss_end(const struct dcss *segment);

/**
 * Define a skeleton.  Return: 0 or -1 with one sentence in @err (bad range,
 * too many, storage of the emulator does not reach it).
 */
int dcss_define(struct cp *cp, const struct cp_segment_config *config, char *err, size_t errlen);
/** Make the skeleton active (SAVESEG). */
int dcss_save(struct cp *cp, const char *name, char *err, size_t errlen);
/** Purge; in use: pending until the last user goes. */
int dcss_purge(struct cp *cp, const char *name, char *err, size_t errlen);
/** Contents to and from a file (raw bytes of all ranges from start to end). */
int dcss_to_file(struct cp *cp, const char *name, const char *path, char *err, size_t errlen);
int dcss_from_file(struct cp *cp, const char *name, const char *path, char *err, size_t errlen);
/** *MONITOR begins (+1) or ceases (-1) to use the segment. */
void dcss_use(struct cp *cp, struct dcss *segment, int delta);

/** Does the guest's directory entry allow the segment? */
bool dcss_allowed(const struct cp *cp, const struct dcss *segment);

/**
 * Store into the segment from outside.  Return: false if [offset, offset+len)
 * does not lie in it; then nothing has happened.
 */
bool dcss_write(struct cp *cp, const struct dcss *segment, uint64_t offset, const void *data,
		uint64_t len);

/** Do [offset, offset+len) lie in the segment? */
bool dcss_covers(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len);
/** What the machine has there, or would have; dcss_covers() has said that it can. */
void dcss_read(struct cp *cp, const struct dcss *segment, uint64_t offset, void *data, uint64_t len);

/** Host pointer to these bytes, NULL if outside, or if they lie in pages of different owners. */
void *dcss_map(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len);
/** The CP has stored there. */
void dcss_dirty(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len);

#endif
