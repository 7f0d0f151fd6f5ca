/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The TOD clock counts 4096 to a microsecond since 1900 (z/Architecture PoP). */
#define TOD_SECOND UINT64_C(4096000000)
#define SECONDS_1900_TO_1970 INT64_C(2208988800)
#define DAY INT64_C(86400)
#define LONGEST_NAME 64u
/* No zone is further from UTC (the database has up to 15 hours and a bit). */
#define MOST_HOURS 24

static bool utc = true, with_offset;

/* "+02:00" as POSIX has it, which counts to the west. */
static bool set_offset(const char *zone)
{
	unsigned int hours, minutes;
	char posix[40], again[16];

	if (strlen(zone) != 6 || sscanf(zone + 1, "%2u:%2u", &hours, &minutes) != 2 ||
	    hours >= MOST_HOURS || minutes > 59)
		return false;
	/* What sscanf() takes may have blanks or signs. */
	snprintf(again, sizeof(again), "%c%02u:%02u", zone[0], hours, minutes);
	if (strcmp(again, zone) != 0)
		return false;
	snprintf(posix, sizeof(posix), "<%c%02u%02u>%c%02u:%02u", zone[0], hours, minutes,
		 zone[0] == '+' ? '-' : '+', hours, minutes);
	setenv("TZ", posix, 1);
	return true;
}

/* Letters, digits and "_+-/" only: no path beside the database's. */
static bool is_name(const char *zone)
{
	static const char possible[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789_+-/";

	return zone[0] && zone[0] != '/' && strlen(zone) <= LONGEST_NAME &&
	       strspn(zone, possible) == strlen(zone);
}

static bool set_name(const char *zone)
{
	const char *folder = getenv("TZDIR");
	char path[4096], begin[4] = "";
	FILE *file;
	size_t len;

	if (!is_name(zone) || (size_t)snprintf(path, sizeof(path), "%s/%s",
					       folder ? folder : "/usr/share/zoneinfo", zone) >=
				      sizeof(path))
		return false;
	file = fopen(path, "rb");
	if (!file)
		return false;
	len = fread(begin, 1, sizeof(begin), file);
	fclose(file);
	if (len != sizeof(begin) || memcmp(begin, "TZif", sizeof(begin)) != 0)
		return false;
	setenv("TZ", zone, 1);
	return true;
}

bool clock_set_zone(const char *zone)
{
	bool good = true;

	utc = strcmp(zone, "UTC") == 0;
	if (utc)
		return true;
	if (zone[0] == '+' || zone[0] == '-')
		good = set_offset(zone);
	else if (strcmp(zone, "local") != 0)
		good = set_name(zone);
	utc = !good;
	tzset();
	return good;
}

int64_t clock_seconds(uint64_t tod)
{
	return (int64_t)(tod / TOD_SECOND) - SECONDS_1900_TO_1970;
}

uint64_t clock_tod(int64_t seconds)
{
	return (uint64_t)(seconds + SECONDS_1900_TO_1970) * TOD_SECOND;
}

static void break_up(int64_t seconds, struct tm *tm)
{
	const time_t time = (time_t)seconds;

	/* Times of a TOD clock, and a day around them, are always dates. */
	if (utc)
		gmtime_r(&time, tm);
	else
		localtime_r(&time, tm);
}

int64_t clock_offset(int64_t seconds)
{
	struct tm tm;

	break_up(seconds, &tm);
	return utc ? 0 : tm.tm_gmtoff;
}

void clock_show_offset(bool show)
{
	with_offset = show;
}

const char *clock_text(uint64_t tod, char text[CLOCK_TEXT_SIZE])
{
	struct tm tm;

	break_up(clock_seconds(tod), &tm);
	strftime(text, CLOCK_TEXT_SIZE, with_offset ? "%Y-%m-%d %H:%M:%S %z" : "%Y-%m-%d %H:%M:%S",
		 &tm);
	return text;
}

const char *clock_zone_text(uint64_t tod, char text[CLOCK_TEXT_SIZE])
{
	const int64_t minutes = clock_offset(clock_seconds(tod)) / 60;
	const unsigned int apart = (unsigned int)(minutes < 0 ? -minutes : minutes);
	struct tm tm;
	size_t len;

	break_up(clock_seconds(tod), &tm);
	len = strftime(text, CLOCK_TEXT_SIZE, "%Y-%m-%d %H:%M:%S", &tm);
	if (utc)
		snprintf(text + len, CLOCK_TEXT_SIZE - len, " UTC");
	else if (tm.tm_zone[0] == '+' || tm.tm_zone[0] == '-')
		snprintf(text + len, CLOCK_TEXT_SIZE - len, " UTC%c%02u:%02u",
			 minutes < 0 ? '-' : '+', apart / 60, apart % 60);
	else
		snprintf(text + len, CLOCK_TEXT_SIZE - len, " %.8s (UTC%c%02u:%02u)", tm.tm_zone,
			 minutes < 0 ? '-' : '+', apart / 60, apart % 60);
	return text;
}

/* Digits as in @shape, where '0' is any of them; else the same characters.  How many fit. */
static size_t fits(const char *word, const char *shape)
{
	size_t len = 0;

	while (shape[len] && (shape[len] == '0' ? word[len] >= '0' && word[len] <= '9' :
						  word[len] == shape[len]))
		len++;
	return len;
}

static int two_digits(const char *word)
{
	return (word[0] - '0') * 10 + word[1] - '0';
}

/* The date and the time, as if they were UTC; @end: what follows them. */
static bool parse_shown(const char *word, int64_t *shown, const char **end)
{
	struct tm tm = { 0 }, again;
	size_t time = 0;

	if (fits(word, "0000-00-00") != 10)
		return false;
	if (word[10] == ' ' || word[10] == 'T') {
		time = fits(word + 11, "00:00:00");
		if (time != 5 && time != 8)
			return false;
	}
	tm.tm_year = two_digits(word) * 100 + two_digits(word + 2) - 1900;
	tm.tm_mon = two_digits(word + 5) - 1;
	tm.tm_mday = two_digits(word + 8);
	tm.tm_hour = time ? two_digits(word + 11) : 0;
	tm.tm_min = time ? two_digits(word + 14) : 0;
	tm.tm_sec = time == 8 ? two_digits(word + 17) : 0;
	again = tm;
	*shown = timegm(&again);
	*end = word + 10 + (time ? 1 + time : 0);
	/* The 31st of February is another day. */
	return again.tm_mon == tm.tm_mon && again.tm_mday == tm.tm_mday && again.tm_hour == tm.tm_hour &&
	       again.tm_min == tm.tm_min && again.tm_sec == tm.tm_sec && *shown >= 0;
}

/* The earliest moment at which clocks show this, or at which they have passed it. */
static int64_t first_moment(int64_t shown)
{
	int64_t low = shown - DAY - DAY, high = shown + DAY + DAY;

	/* Before a change and after it, clocks only go on. */
	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;

		if (middle + clock_offset(middle) >= shown)
			high = middle;
		else
			low = middle;
	}
	return high;
}

bool clock_parse(const char *word, uint64_t *tod)
{
	const char *end;
	int64_t shown;

	if (!parse_shown(word, &shown, &end) || (*end && strcmp(end, "Z") != 0))
		return false;
	*tod = clock_tod(*end ? shown : first_moment(shown));
	return true;
}

static const int64_t steps[] = {
	1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY,
	2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 182 * DAY, 364 * DAY, 728 * DAY, 1820 * DAY,
	3640 * DAY, 7280 * DAY,
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* The moment at which clocks of the zone show this; false: there is none, they were put on. */
static bool moment_of(int64_t shown, int64_t *seconds)
{
	*seconds = shown - clock_offset(shown);
	*seconds = shown - clock_offset(*seconds);
	return *seconds + clock_offset(*seconds) == shown;
}

static void describe(struct clock_tick *tick, int64_t step)
{
	struct tm tm;

	break_up(tick->seconds, &tm);
	strftime(tick->text, sizeof(tick->text),
		 step < 60 ? "%H:%M:%S" :
		 step > 366 * DAY ? "%Y-%m" :
		 tm.tm_hour + tm.tm_min == 0 || step >= DAY ? "%m-%d" : "%H:%M", &tm);
}

/* With this step; more than there is room for is none. */
static unsigned int ticks_of(int64_t first, int64_t last, int64_t step,
			     struct clock_tick ticks[CLOCK_TICKS])
{
	const int64_t begin = first + clock_offset(first), end = last + clock_offset(last);
	unsigned int count = 0;

	/* Round down to before the begin; clocks differ by less than a day. */
	for (int64_t at = begin / step - (begin % step < 0); at * step <= end; at++) {
		struct clock_tick tick = { .main = at % 2 == 0 };

		if (!moment_of(at * step, &tick.seconds) || tick.seconds < first ||
		    tick.seconds > last)
			continue;
		if (count == CLOCK_TICKS)
			return 0;
		describe(&tick, step);
		ticks[count++] = tick;
	}
	return count;
}

unsigned int clock_ticks(int64_t first, int64_t last, struct clock_tick ticks[CLOCK_TICKS])
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < STEPS && last > first && count == 0; i++)
		if ((last - first) / steps[i] <= CLOCK_TICKS)
			count = ticks_of(first, last, steps[i], ticks);
	return count;
}
