// SPDX-License-Identifier: MIT
/* Differences of counters, doubts about them, rates. */
#include "dms_delta.h"

#include <math.h>

#define NS_PER_S 1e9
/* Times in milliseconds go by ticks: two of them at 100 Hz, the slowest clock there is. */
#define TICKS_NS 20000000u

static bool is_time(size_t counter)
{
	switch (counter) {
	case DMS_READ_TIME:
	case DMS_WRITE_TIME:
	case DMS_IO_TIME:
	case DMS_QUEUE_TIME:
	case DMS_READING_TIME:
	case DMS_WRITING_TIME:
		return true;
	default:
		return false;
	}
}

static unsigned int gone_back(const uint64_t *before, const uint64_t *after, size_t stride)
{
	unsigned int doubt = 0;

	for (size_t i = 0; i < stride; i++)
		if (i != DMS_IN_FLIGHT && after[i] < before[i])
			doubt |= is_time(i) ? DMS_TIME_WRAPPED : DMS_CLEARED;
	/* A clear takes the times along. */
	return doubt & DMS_CLEARED ? DMS_CLEARED : doubt;
}

/* Is @time more than @count times @each? */
static bool exceeds(uint64_t time, uint64_t count, uint64_t each)
{
	uint64_t most;

	return !__builtin_mul_overflow(count, each, &most) && time > most;
}

/* A counter that the kernel may show below 0. */
static uint64_t under_way(const uint64_t *counters)
{
	return dms_in_flight(counters) > 0 ? counters[DMS_IN_FLIGHT] : 0;
}

/* I/Os that can have been under way between the looks. */
static uint64_t seen(const uint64_t *delta, const uint64_t *before)
{
	return delta[DMS_READS] + delta[DMS_WRITES] + under_way(before) + under_way(delta);
}

static bool impossible(const uint64_t *delta, const uint64_t *before, const struct dms_region *r,
		       const struct dms_span *span)
{
	uint64_t slack = r->precise ? 0 : TICKS_NS;
	uint64_t elapsed = span->elapsed + slack, oldest = span->oldest + slack;

	return exceeds(dms_time_ns(r, delta[DMS_READ_TIME]), delta[DMS_READS], oldest) ||
	       exceeds(dms_time_ns(r, delta[DMS_WRITE_TIME]), delta[DMS_WRITES], oldest) ||
	       exceeds(dms_time_ns(r, delta[DMS_IO_TIME]), 1, elapsed) ||
	       exceeds(dms_time_ns(r, delta[DMS_READING_TIME]), 1, elapsed) ||
	       exceeds(dms_time_ns(r, delta[DMS_WRITING_TIME]), 1, elapsed) ||
	       exceeds(dms_time_ns(r, delta[DMS_QUEUE_TIME]), seen(delta, before), elapsed);
}

unsigned int dms_delta(uint64_t *delta, const uint64_t *before, const uint64_t *after,
		       size_t stride, const struct dms_region *r, const struct dms_span *span)
{
	unsigned int doubt = gone_back(before, after, stride);

	for (size_t i = 0; i < stride; i++)
		delta[i] = after[i] - (doubt & DMS_CLEARED ? 0 : before[i]);
	delta[DMS_IN_FLIGHT] = after[DMS_IN_FLIGHT];
	/* What was cleared may have been counted long before the first look. */
	if (!doubt && impossible(delta, before, r, span))
		doubt |= DMS_TIME_IMPOSSIBLE;
	return doubt;
}

static double mean(uint64_t time, uint64_t count)
{
	return count ? (double)time / (double)count : NAN;
}

struct dms_rates dms_rates(const uint64_t *delta, const struct dms_region *r, uint64_t elapsed,
			   unsigned int doubt)
{
	double ns = (double)elapsed, unit = r->precise ? 1.0 : 1e6;
	struct dms_rates rates = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };

	/* Since when a cleared region has counted is not known. */
	if (!(doubt & DMS_CLEARED)) {
		double per_second = NS_PER_S / ns;

		rates.reads = (double)delta[DMS_READS] * per_second;
		rates.writes = (double)delta[DMS_WRITES] * per_second;
		rates.read_bytes = (double)delta[DMS_READ_SECTORS] * DMS_SECTOR_SIZE * per_second;
		rates.write_bytes = (double)delta[DMS_WRITE_SECTORS] * DMS_SECTOR_SIZE * per_second;
		rates.read_size = DMS_SECTOR_SIZE * mean(delta[DMS_READ_SECTORS], delta[DMS_READS]);
		rates.write_size = DMS_SECTOR_SIZE * mean(delta[DMS_WRITE_SECTORS],
							  delta[DMS_WRITES]);
	}
	if (!doubt) {
		rates.read_latency = unit * mean(delta[DMS_READ_TIME], delta[DMS_READS]);
		rates.write_latency = unit * mean(delta[DMS_WRITE_TIME], delta[DMS_WRITES]);
		rates.busy = fmin(1.0, unit * (double)delta[DMS_IO_TIME] / ns);
		rates.queue = unit * (double)delta[DMS_QUEUE_TIME] / ns;
		rates.service = unit * mean(delta[DMS_IO_TIME],
					    delta[DMS_READS] + delta[DMS_WRITES]);
	}
	return rates;
}

bool dms_active(const uint64_t *delta, size_t stride)
{
	for (size_t i = 0; i < stride; i++)
		if (delta[i])
			return true;
	return false;
}
