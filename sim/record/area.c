/* SPDX-License-Identifier: MIT */
/* The layout of the monitor segment. */
#include "area.h"

#include <assert.h>
#include <stdbool.h>

#include "smaller.h"

#define MIN_AREA 2u	/* a control and a data frame */
#define MIN_PARTITION (2 * MIN_AREA)
/* One control frame per 32 data frames; 64 have room for four elements of every set. */
#define DATA_PER_CONTROL 32u
#define MAX_CONTROL 64u

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
	assert(low <= high);
	return (uint32_t)smaller(larger(value, low), high);
}

static struct area_place place_area(uint32_t first, uint32_t pages)
{
	const uint32_t control = clamp(pages / DATA_PER_CONTROL, 1, MAX_CONTROL);

	assert(pages >= MIN_AREA);
	return (struct area_place){ first, control, pages - control };
}

/*
 * The default gives way to a small partition; a size that somebody chose does
 * not: X'2C'.
 */
static bool config_fits(uint32_t wanted, uint32_t usual, uint32_t partition, uint32_t *pages)
{
	*pages = (uint32_t)larger(wanted, MIN_AREA);
	if (wanted == usual && *pages > partition / 2)
		*pages = partition / 2;
	return *pages <= partition - MIN_AREA;
}

enum area_result area_lay_out(const struct area_wish *wish, struct area_place place[AREA_KINDS])
{
	const uint32_t total = wish->pages;
	uint32_t low, high, low_config, high_config;

	if (total < 2 * MIN_PARTITION)
		return AREA_TOO_SMALL;
	low = wish->partition ? wish->partition : total / 2;
	low = clamp(low, MIN_PARTITION, total - MIN_PARTITION);
	high = total - low;
	if (!config_fits(wish->event_config, AREA_EVENT_CONFIG_PAGES, low, &low_config) ||
	    !config_fits(wish->sample_config, wish->usual_sample_config, high, &high_config))
		return AREA_CONFIG_TOO_LARGE;
	place[AREA_EVENT_CONFIG] = place_area(0, low_config);
	place[AREA_EVENT] = place_area(low_config, low - low_config);
	place[AREA_SAMPLE_CONFIG] = place_area(low, high_config);
	place[AREA_SAMPLE] = place_area(low + high_config, high - high_config);
	return AREA_LAID_OUT;
}
