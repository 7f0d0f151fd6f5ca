/* SPDX-License-Identifier: MIT */
#include "quantity.h"

/* The unit of a measurement block's times (z/Architecture PoP, format 0: 128 us). */
#define BLOCK_NS 128000u
#define NS_PER_MS 1e6
#define NS_DECIMALS 9u
#define PAGE_BYTES UINT64_C(4096)
#define PAGES_A_MIB 256.0

#define VALUE(thing, id, expression, whole)                     \
	static uint64_t value_##id(const void *pointer)    \
	{                                                  \
		const struct thing *it = pointer;          \
							   \
		return (uint64_t)(expression);                 \
	}                                                  \
	static double real_##id(const void *pointer)       \
	{                                                  \
		const struct thing *it = pointer;          \
							   \
		return (double)(expression);                   \
	}                                                  \
	static uint64_t of_##id(const void *pointer)       \
	{                                                  \
		const struct thing *it = pointer;          \
							   \
		(void)it;                                  \
		return (whole);                              \
	}

#define OF_INTERVAL(id, heading, decimals, threshold, key, as, value, of, family) \
	VALUE(bucket, id, value, of)
#define OF_PROCESSOR(id, heading, decimals, threshold, key, as, value, of, family) \
	VALUE(cpu_activity, id, value, of)
#define OF_DEVICE(id, heading, decimals, threshold, key, as, value, of, family) \
	VALUE(device_activity, id, value, of)
#define OF_VOLUME(id, heading, decimals, threshold, key, as, value, of, family) \
	VALUE(device_activity, id, value, of)
#define OF_USER(id, heading, decimals, threshold, key, as, value, of, family) \
	VALUE(user_activity, id, value, of)
#define OF_USER_TIME(id, heading, decimals, threshold, key, as, value, of, family) \
	VALUE(user_activity, id, value, of)
#include "quantities.def"

#define ROW(id, heading, decimals, threshold, key, as, value, of, family)                     \
	{ heading, key, AS_##as, decimals, THRESHOLD_##threshold, EXPORT_##family, value_##id, \
	  of_##id, real_##id },

static const struct quantity of_intervals[] = {
#define OF_INTERVAL ROW
#include "quantities.def"
	{ 0 }
}, of_processors[] = {
#define OF_PROCESSOR ROW
#include "quantities.def"
	{ 0 }
}, of_devices[] = {
#define OF_DEVICE ROW
#include "quantities.def"
	{ 0 }
}, of_volumes[] = {
#define OF_VOLUME ROW
#include "quantities.def"
	{ 0 }
}, of_users[] = {
#define OF_USER ROW
#include "quantities.def"
	{ 0 }
}, of_user_times[] = {
#define OF_USER_TIME ROW
#include "quantities.def"
	{ 0 }
};

const struct quantity *quantities(enum subject subject)
{
	static const struct quantity *const all[] = {
		[OF_INTERVAL] = of_intervals, [OF_PROCESSOR] = of_processors,
		[OF_DEVICE] = of_devices, [OF_VOLUME] = of_volumes, [OF_USER] = of_users,
		[OF_USER_TIME] = of_user_times,
	};

	return all[subject];
}

double quantity_value(const struct quantity *quantity, const void *it, double seconds)
{
	const double value = quantity->real(it), of = (double)quantity->of(it);

	switch (quantity->as) {
	case AS_RATE:
		return seconds > 0 ? value / seconds : -1;
	case AS_SHARE:
		return of > 0 ? 100 * value / of : -1;
	case AS_MEAN_TIME:
		return of > 0 ? value * (BLOCK_NS / NS_PER_MS) / of : -1;
	case AS_PAGES:
		return value / PAGES_A_MIB;
	case AS_RATIO:
		return of > 0 ? value / of : -1;
	case AS_COUNT:
	case AS_LATEST:
	case AS_TIME:
	case AS_IT_IS:
		break;
	}
	return value;
}

void quantity_json(json_t *line, const struct quantity *quantity, const void *now,
		   const void *before, uint64_t time)
{
	const uint64_t latest = quantity->value(now);
	const uint64_t more = latest - quantity->value(before);
	const uint64_t of = quantity->of(now) - quantity->of(before);
	json_t *value = NULL;

	switch (quantity->as) {
	case AS_COUNT:
		value = json_integer((json_int_t)more);
		break;
	case AS_LATEST:
	case AS_PAGES:
		value = json_integer((json_int_t)latest);
		break;
	case AS_RATE:
		value = time ? json_real(activity_rate(more, time)) : NULL;
		break;
	case AS_SHARE:
		value = of ? json_real(100 * (double)more / (double)of) : NULL;
		break;
	case AS_MEAN_TIME:
		value = of ? json_real((double)more * (BLOCK_NS / NS_PER_MS) / (double)of) : NULL;
		break;
	case AS_RATIO:
	case AS_TIME:
	case AS_IT_IS:
		break;
	}
	if (value)
		json_object_set_new(line, quantity->key, value);
}

void quantity_metric(struct metrics *metrics, const struct quantity *quantity,
		     const char *const *labels, const void *it)
{
	const uint64_t value = quantity->value(it), of = quantity->of(it);

	if (quantity->family == EXPORT_NONE)
		return;
	if (quantity->as == AS_MEAN_TIME) {
		if (of)
			metrics_decimal(metrics, quantity->family, labels, value * BLOCK_NS / of,
					NS_DECIMALS);
		return;
	}
	metrics_unsigned(metrics, quantity->family, labels,
			 quantity->as == AS_PAGES ? value * PAGE_BYTES : value);
}
