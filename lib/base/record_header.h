/* SPDX-License-Identifier: MIT */
/*
 * Monitor records as bytes: what whoever writes them and whoever reads them must agree on.
 *
 * Header and framing as the z/VM monitor record descriptions (MRRECHDR) have
 * them: a record never crosses a 4 KiB frame; end of frame (D1R13) comes after
 * the last record of every frame that another one follows.
 */
#ifndef RECORD_HEADER_H
#define RECORD_HEADER_H

#define RECORD_HEADER_SIZE 20u
#define RECORD_FRAME_SIZE 4096u
/** Longest record: a frame without the room kept for D1R13. */
#define RECORD_MAX_SIZE (RECORD_FRAME_SIZE - RECORD_HEADER_SIZE)

/** Offsets in the header; all else in it is zero. */
enum {
	MRHDRLEN = 0,	/**< 2: length, header included */
	MRHDRDM = 4,	/**< 1: domain */
	MRHDRRC = 6,	/**< 2: record number */
	MRHDRTOD = 8,	/**< 8: TOD clock */
};

/** Domain MONITOR, and those of its records that make up the framing. */
#define RECORD_DOMAIN_MONITOR 1u
enum { MTREND = 11, MTRSOS = 12, MTREOF = 13 };

#endif
