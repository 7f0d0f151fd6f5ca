/* SPDX-License-Identifier: MIT */
/*
 * monread: times as people read them.
 *
 * The TOD clock of records is UTC.  What is drawn for people may be in another time zone, with
 * its changes of daylight saving time; it is chosen once, before anything is written.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * "UTC"; "local": that of this machine; "+02:00", "-05:30": east or west of Greenwich;
 * "Europe/Berlin": by the time zone database of this machine.  False: none of these.
 */
bool clock_set_zone(const char *zone);

/*
 * "2026-03-02", "2026-03-02 10:15", "2026-03-02T10:15:00": as clocks of the zone show it; with a
 * "Z" behind it, UTC.  Of an hour that comes twice the first one; of one that is left out the time
 * behind it.  False: none of these, or before 1970.
 */
bool clock_parse(const char *word, uint64_t *tod);
/* Seconds since 1970 of a TOD clock value, leap seconds not counted; before 1970 negative. */
int64_t clock_seconds(uint64_t tod);
uint64_t clock_tod(int64_t seconds);
/* How many seconds the zone is ahead of UTC then; seconds since 1970. */
int64_t clock_offset(int64_t seconds);

/*
 * If clocks of the zone are changed between any of the times that are shown, each of them gets its
 * offset, so that those of the hour that comes twice differ.
 */
void clock_show_offset(bool show);

/* "2026-03-02 10:15:00", or "2026-03-02 10:15:00 +0100" */
#define CLOCK_TEXT_SIZE 48u
const char *clock_text(uint64_t tod, char text[CLOCK_TEXT_SIZE]);
/* The same with the zone: "2026-03-02 10:15:00 CET (UTC+01:00)"; of UTC "… UTC". */
const char *clock_zone_text(uint64_t tod, char text[CLOCK_TEXT_SIZE]);

#define CLOCK_TICKS 8u

struct clock_tick {
	int64_t seconds;	/* since 1970 */
	bool main;		/* that stays where there is little room */
	char text[12];		/* "06:00", "10:15:30", "03-02" */
};

/*
 * Round times of the zone from @first to @last, seconds since 1970: so many of the same step that
 * there is room for, down to seconds.  Return: their number; 0 if there is no second between.
 */
unsigned int clock_ticks(int64_t first, int64_t last, struct clock_tick ticks[CLOCK_TICKS]);

#endif
