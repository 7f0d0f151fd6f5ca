/* SPDX-License-Identifier: MIT */
/*
 * The monitor segment's four areas, in pages.
 *
 * EVENT partition low, SAMPLE partition high; in each the configuration area,
 * then the data area (z/VM's description of MONDCSS).  That each area begins
 * with frames for control areas is our choice (docs/choices.md).
 */
#ifndef AREA_H
#define AREA_H

#include <stdint.h>

#define AREA_PAGE_SIZE 4096u
/** Bytes; control areas begin at multiples of it. */
#define AREA_CONTROL_UNIT 16u

/** Defaults of z/VM: 68 pages; 4096 since 6.2, 241 before. */
#define AREA_EVENT_CONFIG_PAGES 68u
#define AREA_SAMPLE_CONFIG_PAGES 4096u

/** In the order of enum mon_kind. */
enum area_kind { AREA_SAMPLE_CONFIG, AREA_SAMPLE, AREA_EVENT_CONFIG, AREA_EVENT, AREA_KINDS };

struct area_place {
	uint32_t first;		/**< page in the segment: the first one for control areas */
	uint32_t control;	/**< pages for control areas */
	uint32_t data;		/**< pages for records, behind those */
};

struct area_wish {
	uint32_t pages;			/**< size of the segment */
	uint32_t partition;		/**< pages for events; 0: half of the segment */
	uint32_t sample_config, event_config;	/**< pages of the configuration areas */
	uint32_t usual_sample_config;	/**< the default: gives way to a small partition */
};

enum area_result { AREA_LAID_OUT, AREA_TOO_SMALL, AREA_CONFIG_TOO_LARGE };

/** Lay out the areas.  @place is set only if the result is AREA_LAID_OUT. */
enum area_result area_lay_out(const struct area_wish *wish, struct area_place place[AREA_KINDS]);

#endif
