/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <limits.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>

#define COMM_OFFSET 80u
#define COMM_SINCE 2u
#define COMM_IN_VERSION_15 128u	/* behind three pairs of longest and shortest */
#define HEADER 4u	/* NLA_HDRLEN, unsigned */
#define ALIGNMENT 4u	/* NLA_ALIGNTO */
#define NS_PER_S UINT64_C(1000000000)

_Static_assert(HEADER == sizeof(struct nlattr) && ALIGNMENT == NLA_ALIGNTO, "as netlink says");
_Static_assert(STATS_COMM_MAX == TS_COMM_LEN, "the name's length is part of the interface");

enum of_several {
	OF_SEVERAL_NONE,
	OF_SEVERAL_SUM,
	OF_SEVERAL_MOST,
	OF_SEVERAL_LEAST,
	OF_SEVERAL_WHEN,
};

static const struct {
	uint8_t bytes, since;
	bool process;
	enum of_several several;
} fields[STATS_FIELDS] = {
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, several, needs, \
	      meaning) \
	[STATS_##id] = { bytes, since, process, OF_SEVERAL_##several },
#include "fields.def"
#undef FIELD
};

uint16_t stats_u16(const uint8_t *bytes, enum stats_order order)
{
	uint16_t number;

	memcpy(&number, bytes, sizeof(number));
	return order == STATS_OWN_ORDER ? number : __builtin_bswap16(number);
}

uint32_t stats_u32(const uint8_t *bytes, enum stats_order order)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return order == STATS_OWN_ORDER ? number : __builtin_bswap32(number);
}

uint64_t stats_u64(const uint8_t *bytes, enum stats_order order)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	return order == STATS_OWN_ORDER ? number : __builtin_bswap64(number);
}

static uint64_t field_value(const uint8_t *at, enum stats_field field, enum stats_order order)
{
	/* Nearly all. */
	if (fields[field].bytes == sizeof(uint64_t))
		return stats_u64(at, order);
	switch (fields[field].bytes) {
	case 1:
		return field == STATS_NICE ? (uint64_t)(int64_t)(int8_t)*at : *at;
	case 2:
		return stats_u16(at, order);
	case 4:
		return stats_u32(at, order);
	default: /* struct __kernel_timespec; wraps as the kernel's own sums do */
		return stats_u64(at, order) * NS_PER_S + stats_u64(at + 8, order);
	}
}

/* The version whose fields it has: 15, and what the kernel calls so, has all that there is a place for. */
static unsigned int latest_of(const struct stats *stats)
{
	return stats->layout == STATS_WAITS_INSIDE ? UINT_MAX : stats->version;
}

void stats_decode(struct stats *stats, const uint8_t *bytes, size_t size, enum stats_order order)
{
	unsigned int latest;
	size_t comm;

	memset(stats, 0, sizeof(*stats));
	stats->size = size;
	if (size < sizeof(uint16_t))
		return;
	stats->version = stats_u16(bytes, order);
	stats->layout = stats_layout_of(stats->version, size);
	latest = latest_of(stats);
	for (unsigned int field = 0; field < STATS_FIELDS; field++) {
		size_t offset = stats_offset(stats->layout, field), bytes_of = fields[field].bytes;

		if (fields[field].since > latest || bytes_of > size || offset > size - bytes_of)
			continue;
		stats->present[field] = true;
		stats->value[field] = field_value(bytes + offset, field, order);
	}
	comm = stats->layout == STATS_WAITS_INSIDE ? COMM_IN_VERSION_15 : COMM_OFFSET;
	if (stats->version >= COMM_SINCE && size >= comm + STATS_COMM_MAX) {
		memcpy(stats->comm, bytes + comm, STATS_COMM_MAX);
		stats->comm_len = strnlen(stats->comm, STATS_COMM_MAX);
		stats->has_comm = true;
	}
}

bool stats_has_sums(const struct stats *stats)
{
	for (unsigned int field = STATS_VERSION + 1; field < STATS_FIELDS; field++)
		if (stats->value[field])
			return true;
	return false;
}

bool stats_is_of_process(enum stats_field field)
{
	return fields[field].process;
}

bool stats_is_sum(enum stats_field field)
{
	return fields[field].several == OF_SEVERAL_SUM;
}

/* The field with the longest wait whose end @when tells: both are in the same order. */
static enum stats_field longest_of(enum stats_field when)
{
	return STATS_CPU_DELAY_MAX + 2 * (when - STATS_CPU_DELAY_MAX_AT);
}

static uint64_t of_both(const struct stats *sum, const struct stats *one, enum stats_field field)
{
	uint64_t before = sum->value[field], value = one->value[field];

	switch (fields[field].several) {
	case OF_SEVERAL_SUM:
		return before + value;
	case OF_SEVERAL_MOST:
		return value > before ? value : before;
	case OF_SEVERAL_LEAST:
		return value && (!before || value < before) ? value : before;
	case OF_SEVERAL_NONE: /* nobody asks for these */
	case OF_SEVERAL_WHEN:
		break;
	}
	return one->value[longest_of(field)] > sum->value[longest_of(field)] ? value : before;
}

void stats_add(struct stats *sum, const struct stats *one)
{
	/* From the last one: when a longest wait ended follows from which one was the longest. */
	for (unsigned int field = STATS_FIELDS; field-- > 0;) {
		if (fields[field].several == OF_SEVERAL_NONE)
			continue;
		sum->present[field] = one->present[field] && (sum->present[field] || !sum->parts);
		sum->value[field] = sum->present[field] ? of_both(sum, one, field) : 0;
	}
	sum->parts++;
}

bool stats_since(struct stats *since, const struct stats *before, const struct stats *now)
{
	bool whole = true;

	*since = *now;
	for (unsigned int field = 0; field < STATS_FIELDS; field++) {
		if (!stats_is_sum(field))
			continue;
		since->present[field] = now->present[field] && before->present[field] &&
					now->value[field] >= before->value[field];
		since->value[field] = since->present[field] ?
				      now->value[field] - before->value[field] : 0;
		whole &= since->present[field] || !before->present[field];
	}
	return whole;
}

bool stats_is_active(const struct stats *stats)
{
	for (unsigned int field = 0; field < STATS_FIELDS; field++)
		if (stats_is_sum(field) && stats->value[field])
			return true;
	return false;
}

/* The position in a message. */
struct walk {
	struct stats_record record;
	bool has_id;
	uint32_t process;	/* that the task of the record before belongs to; 0: none */
	enum stats_order order;
	stats_each *each;
	void *context;
	struct stats_message found;
};

static void walk_attributes(struct walk *walk, const uint8_t *bytes, size_t size, bool nested);

/* A task knows since when there is its process, whose record comes after the task's. */
static void set_elapsed(struct walk *walk)
{
	const struct stats *stats = &walk->record.stats;

	if (walk->record.kind == STATS_TASK) {
		walk->process = (uint32_t)stats->value[STATS_TGID];
		walk->record.has_elapsed = stats->present[STATS_TGETIME];
		walk->record.elapsed_us = stats->value[STATS_TGETIME];
	} else if (walk->record.id != walk->process) {
		walk->record.has_elapsed = false;
	}
}

/* An attribute of type @type with its payload. */
static void walk_one(struct walk *walk, unsigned int type, const uint8_t *bytes, size_t size,
		     bool nested)
{
	switch (type) {
	case TASKSTATS_TYPE_AGGR_PID:
	case TASKSTATS_TYPE_AGGR_TGID:
		walk->has_id = false;
		if (nested)
			walk->found.malformed = true;
		else
			walk_attributes(walk, bytes, size, true);
		break;
	case TASKSTATS_TYPE_PID:
	case TASKSTATS_TYPE_TGID:
		if (size != sizeof(uint32_t)) {
			walk->found.malformed = true;
			break;
		}
		walk->record.kind = type == TASKSTATS_TYPE_PID ? STATS_TASK : STATS_PROCESS;
		walk->record.id = stats_u32(bytes, walk->order);
		walk->has_id = true;
		break;
	case TASKSTATS_TYPE_STATS:
		if (!walk->has_id) {
			walk->found.malformed = true;
			break;
		}
		stats_decode(&walk->record.stats, bytes, size, walk->order);
		walk->has_id = false;
		walk->found.records++;
		set_elapsed(walk);
		walk->each(walk->context, &walk->record);
		break;
	case TASKSTATS_TYPE_NULL:	/* padding before a STATS */
		break;
	default:
		walk->found.unknown++;
	}
}

static void walk_attributes(struct walk *walk, const uint8_t *bytes, size_t size, bool nested)
{
	while (size && !walk->found.malformed) {
		size_t len = size < HEADER ? 0 : stats_u16(bytes, walk->order);
		size_t step = len + (ALIGNMENT - len % ALIGNMENT) % ALIGNMENT;
		unsigned int type;

		if (len < HEADER || len > size) {
			walk->found.malformed = true;
			return;
		}
		/* The two bits above it tell nests and byte orders, and old kernels set neither. */
		type = stats_u16(bytes + 2, walk->order) & (unsigned int)NLA_TYPE_MASK;
		walk_one(walk, type, bytes + HEADER, len - HEADER, nested);
		step = step < size ? step : size;
		bytes += step;
		size -= step;
	}
}

struct stats_message stats_parse(const uint8_t *bytes, size_t size, enum stats_order order,
				 stats_each *each, void *context)
{
	struct walk walk = { .order = order, .each = each, .context = context };

	walk_attributes(&walk, bytes, size, false);
	return walk.found;
}
