// SPDX-License-Identifier: MIT
#include "dms_top.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

const char *const dms_top_names[DMS_TOP_KEYS] = {
	[DMS_TOP_IOS] = "ios", [DMS_TOP_BYTES] = "bytes", [DMS_TOP_LATENCY] = "latency",
	[DMS_TOP_BUSY] = "busy", [DMS_TOP_QUEUE] = "queue",
};

double dms_top_value(enum dms_top_key key, const struct dms_rates *rates)
{
	const double values[DMS_TOP_KEYS] = {
		[DMS_TOP_IOS] = rates->reads + rates->writes,
		[DMS_TOP_BYTES] = rates->read_bytes + rates->write_bytes,
		/* Of one that has no I/O there is no latency. */
		[DMS_TOP_LATENCY] = fmax(rates->read_latency, rates->write_latency),
		[DMS_TOP_BUSY] = rates->busy,
		[DMS_TOP_QUEUE] = rates->queue,
	};

	assert(key < DMS_TOP_KEYS);
	return isnan(values[key]) ? -1 : values[key];
}

void dms_top_values(double value[DMS_TOP_KEYS], const struct dms_top_keys *keys,
		    const struct dms_rates *rates)
{
	const size_t count = keys->count ? keys->count : 1;

	assert(keys->count <= DMS_TOP_KEYS);
	for (size_t i = 0; i < DMS_TOP_KEYS; i++)
		value[i] = i < count ? dms_top_value(keys->key[i], rates) : 0;
}

int dms_top_init(struct dms_top *top, size_t most)
{
	assert(most);
	*top = (struct dms_top){ .of = calloc(most, sizeof(*top->of)), .most = most };
	return top->of ? 0 : DMS_NO_MEMORY;
}

void dms_top_free(struct dms_top *top)
{
	free(top->of);
	*top = (struct dms_top){ 0 };
}

static int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_indices(const struct dms_candidate *a, const struct dms_candidate *b)
{
	int order = order_of(a->device, b->device);

	if (!order)
		order = order_of(a->region, b->region);
	return order ? order : order_of(a->area, b->area);
}

/* Below 0 if @first comes first. */
static int compare(const void *first, const void *second)
{
	const struct dms_candidate *a = first, *b = second;

	for (size_t i = 0; i < DMS_TOP_KEYS; i++) {
		if (a->value[i] > b->value[i])
			return -1;
		if (a->value[i] < b->value[i])
			return 1;
	}
	return compare_indices(a, b);
}

static void swap(struct dms_candidate *a, struct dms_candidate *b)
{
	struct dms_candidate kept = *a;

	*a = *b;
	*b = kept;
}

/* A heap: none comes after the one above it, so that the last one of all is first. */
static void rise(struct dms_top *top, size_t at)
{
	for (; at && compare(&top->of[at], &top->of[(at - 1) / 2]) > 0; at = (at - 1) / 2)
		swap(&top->of[at], &top->of[(at - 1) / 2]);
}

static void sink(struct dms_top *top)
{
	size_t at = 0, below;

	while ((below = 2 * at + 1) < top->count) {
		if (below + 1 < top->count && compare(&top->of[below + 1], &top->of[below]) > 0)
			below++;
		if (compare(&top->of[below], &top->of[at]) < 0)
			break;
		swap(&top->of[below], &top->of[at]);
		at = below;
	}
}

void dms_top_offer(struct dms_top *top, const struct dms_candidate *candidate)
{
	if (top->count < top->most) {
		top->of[top->count] = *candidate;
		rise(top, top->count++);
	} else if (compare(candidate, &top->of[0]) < 0) {
		top->of[0] = *candidate;
		sink(top);
	}
}

void dms_top_sort(struct dms_top *top)
{
	if (top->count)
		qsort(top->of, top->count, sizeof(*top->of), compare);
}
