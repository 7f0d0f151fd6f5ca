/* SPDX-License-Identifier: MIT */
/* Dates and times as CP writes them, and since when it runs. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

struct cp;

struct clock_time {
	unsigned int year, month, day, hour, minute, second;
	unsigned int weekday;	/**< 0 = Sunday */
};

/** UTC of a TOD value (epoch 1900-01-01; leap seconds are not counted). */
struct clock_time clock_time(uint64_t tod);
/**
 * CP was IPLed before its first machine logged on, and this one has; the clock may not run yet when
 * a machine that is alone is made.
 */
void clock_note_ipl(struct cp *cp);
/** Microseconds since the machine logged on; if it is alone, since CP was IPLed. */
uint64_t clock_connected(struct cp *cp);

#endif
