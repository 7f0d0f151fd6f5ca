/* SPDX-License-Identifier: MIT */
#include "scale.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* 9999-12-31T23:59:59Z */
#define LAST_SECOND UINT64_C(253402300799)

struct step {
	double factor;		/* of the step before; the first one needs none */
	const char *name;
};

/* Each ends with a name of NULL. */
static const struct step times[] = {
	{ .name = "ns" }, { 1000, "us" }, { 1000, "ms" }, { 1000, "s" }, { 60, "min" }, { 60, "h" },
	{ 24, "d" }, { .name = NULL },
};
static const struct step sizes[] = {
	{ .name = "B" }, { 1024, "KiB" }, { 1024, "MiB" }, { 1024, "GiB" }, { 1024, "TiB" },
	{ 1024, "PiB" }, { 1024, "EiB" }, { .name = NULL },
};
static const struct step percents[] = { { .name = "%" }, { .name = NULL } };

/*
 * What a unit is in steps of the first kind, and how a name ends that has it; those not named
 * are not scaled.
 */
static const struct {
	double factor;
	const struct step *steps;
	const char *end;
} units[UNIT_COUNT] = {
	[UNIT_NS] = { 1, times, "_ns" }, [UNIT_US] = { 1e3, times, "_us" },
	[UNIT_MS] = { 1e6, times, "_ms" }, [UNIT_S] = { 1e9, times, "_s" },
	[UNIT_BYTES] = { 1, sizes, "_bytes" }, [UNIT_KIB] = { 1024, sizes, "_kib" },
	[UNIT_SECTORS] = { 512, sizes, "_sectors" },
	[UNIT_BYTES_PER_S] = { 1, sizes, "_bytes_per_s" },
	[UNIT_PERCENT] = { 1, percents, "_percent" },
};

static double real_of(const struct column *column, const struct cell *cell)
{
	if (column->type == COLUMN_UNSIGNED)
		return (double)cell->number;
	if (column->type == COLUMN_SIGNED)
		return (double)cell->integer;
	return column->type == COLUMN_REAL ? cell->real : NAN;
}

bool scale_value(const struct column *column, const struct cell *cell, char *out, size_t size)
{
	const struct step *step = units[column->unit].steps;
	double value = units[column->unit].factor * real_of(column, cell);
	/* A whole number of the smallest unit has nothing behind the point. */
	bool whole = column->type != COLUMN_REAL;
	int digits;

	if (!step || !isfinite(value))
		return false;
	while (step[1].name && fabs(value) >= step[1].factor) {
		step++;
		value /= step->factor;
		whole = false;
	}
	digits = whole || fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2;
	snprintf(out, size, "%.*f %s%s", digits, value, step->name,
		 column->unit == UNIT_BYTES_PER_S ? "/s" : "");
	return true;
}

size_t scale_heading(const struct column *column, const char **heading)
{
	const char *end = units[column->unit].end;
	size_t len = strlen(column->name), end_len = end ? strlen(end) : 0;

	*heading = column->name;
	if (!end || len < end_len - 1)
		return len;
	/* A name that is the unit itself says how many there are; of "percent" there is no other. */
	if (strcmp(column->name, end + 1) == 0 && units[column->unit].steps != percents) {
		*heading = units[column->unit].steps == sizes ? "size" : "time";
		return strlen(*heading);
	}
	if (len > end_len && strcmp(column->name + len - end_len, end) == 0)
		return len - end_len;
	/* "start_sector": one of them */
	if (column->unit == UNIT_SECTORS && len > end_len - 1 &&
	    strncmp(column->name + len - end_len + 1, end, end_len - 1) == 0)
		return len - end_len + 1;
	return len;
}

void scale_time(uint64_t seconds, char *out, size_t size)
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (seconds > LAST_SECOND || !gmtime_r(&when, &parts) ||
	    !strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts))
		snprintf(out, size, "%" PRIu64, seconds);
}
