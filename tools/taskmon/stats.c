/* SPDX-License-Identifier: MIT */
#include "stats.h"

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

static const struct {
	uint8_t bytes, since;
} fields[STATS_FIELDS] = {
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, meaning) \
	[STATS_##id] = { bytes, since },
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
	switch (fields[field].bytes) {
	case 1:
		return field == STATS_NICE ? (uint64_t)(int64_t)(int8_t)*at : *at;
	case 2:
		return stats_u16(at, order);
	case 4:
		return stats_u32(at, order);
	case 8:
		return stats_u64(at, order);
	default: /* struct __kernel_timespec; wraps as the kernel's own sums do */
		return stats_u64(at, order) * NS_PER_S + stats_u64(at + 8, order);
	}
}

/* Version 15, and what the kernel calls so, has all that 16 has. */
static bool has_field(const struct stats *stats, enum stats_field field, size_t offset)
{
	unsigned int version = stats->layout == STATS_WAITS_INSIDE ? 16 : stats->version;

	return fields[field].since <= version && offset < stats->size &&
	       fields[field].bytes <= stats->size - offset;
}

void stats_decode(struct stats *stats, const uint8_t *bytes, size_t size, enum stats_order order)
{
	size_t comm;

	memset(stats, 0, sizeof(*stats));
	stats->size = size;
	if (size < sizeof(uint16_t))
		return;
	stats->version = stats_u16(bytes, order);
	stats->layout = stats_layout_of(stats->version, size);
	for (unsigned int field = 0; field < STATS_FIELDS; field++) {
		size_t offset = stats_offset(stats->layout, field);

		if (!has_field(stats, field, offset))
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

/* Where in a message the walk is. */
struct walk {
	struct stats_record record;
	bool has_id;
	enum stats_order order;
	stats_each *each;
	void *context;
	struct stats_message found;
};

static void walk_attributes(struct walk *walk, const uint8_t *bytes, size_t size, bool nested);

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
