/* SPDX-License-Identifier: MIT */
/*
 * What the kernel sends about tasks, taken apart: struct taskstats of versions 1 to 17 and later,
 * of either byte order, and the netlink attributes around it.  Pure: bytes in, values out; the
 * bytes may be anything.
 *
 * A version appends fields to the one before and changes none.  Three times that did not hold,
 * and layout.c knows: version 1 begins 8 bytes shorter, versions 2 and 3 lack the alignment that
 * version 4 gave to some fields (as 64-bit kernels lay them out; a 32-bit kernel for x86 did not
 * do as these do), and version 15, which Linux 6.14 still calls 14, has the longest and shortest
 * waits in the middle.
 */
#ifndef TASKMON_STATS_H
#define TASKMON_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_COMM_MAX 32u	/* TS_COMM_LEN */

enum stats_order {
	STATS_LITTLE,
	STATS_BIG,
};

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define STATS_OWN_ORDER STATS_BIG
#else
#define STATS_OWN_ORDER STATS_LITTLE
#endif

enum stats_field {
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, several, needs, \
	      meaning) \
	STATS_##id,
#include "fields.def"
#undef FIELD
	STATS_FIELDS
};

enum stats_layout {
	STATS_FIRST,		/* version 1 */
	STATS_UNALIGNED,	/* versions 2 and 3 */
	STATS_NORMAL,
	STATS_WAITS_INSIDE,	/* version 15, and 14 of that length */
	STATS_LAYOUTS
};

struct stats {
	unsigned int version;	/* as the bytes say, 0 if there are not even two */
	enum stats_layout layout;
	size_t size;		/* of all bytes, known or not */
	/* Times of a field of 16 bytes are nanoseconds; nice is signed, seen as 64 bits. */
	uint64_t value[STATS_FIELDS];	/* 0 if it is not present */
	bool present[STATS_FIELDS];
	unsigned int parts;	/* that it is the sum of, by stats_add() */
	char comm[STATS_COMM_MAX];
	size_t comm_len;
	bool has_comm;
};

/* Numbers from memory of any alignment. */
uint16_t stats_u16(const uint8_t *bytes, enum stats_order order);
uint32_t stats_u32(const uint8_t *bytes, enum stats_order order);
uint64_t stats_u64(const uint8_t *bytes, enum stats_order order);

/* The layout of a struct of this version and size. */
enum stats_layout stats_layout_of(unsigned int version, size_t size);

/* Offsets of the fields in the normal layout, which nearly all records have. */
extern const uint16_t stats_normal_offsets[STATS_FIELDS];

/* As stats_offset(), for any layout. */
size_t stats_offset_in(enum stats_layout layout, enum stats_field field);

/* Offset of a field in a layout; SIZE_MAX if the layout lacks it. */
static inline size_t stats_offset(enum stats_layout layout, enum stats_field field)
{
	return layout == STATS_NORMAL ? stats_normal_offsets[field] : stats_offset_in(layout, field);
}

/*
 * Takes a struct taskstats apart.  A field is present if its version has it and the bytes reach
 * that far, whatever their length is.
 */
void stats_decode(struct stats *stats, const uint8_t *bytes, size_t size, enum stats_order order);

/* Whether the kernel has sums of a process: of one task that has exited they are all 0. */
bool stats_has_sums(const struct stats *stats);

/* Whether the kernel has this field of a process, too. */
bool stats_is_of_process(enum stats_field field);

/* Whether it is added up where there are several tasks. */
bool stats_is_sum(enum stats_field field);

/*
 * Adds what one more task has; at first @sum is all zero.  Absent is what cannot be added up, and
 * what one of them does not have.
 */
void stats_add(struct stats *sum, const struct stats *one);

/*
 * What was added between two records of the same task or tasks: in place of sums their differences,
 * the rest as @now has it.  Absent is a sum that went back, or that was absent before.
 * Return: whether all sums of @before are in @now, and none went back.
 */
bool stats_since(struct stats *since, const struct stats *before, const struct stats *now);

/* Whether any sum is not 0. */
bool stats_is_active(const struct stats *stats);

enum stats_kind {
	STATS_TASK,		/* statistics of one task */
	STATS_PROCESS,		/* sums over a thread group */
	STATS_TREE,		/* sums over a process and all that it has started; by tree.h */
	STATS_USER,		/* sums over what lives, by snapshot.h */
	STATS_CGROUP,
	STATS_COMMAND,
};

struct stats_record {
	enum stats_kind kind;
	uint32_t id;		/* pid or tgid, as the attribute says */
	struct stats stats;
	/*
	 * Time since the process began.  stats_parse() has it of a process whose task's record
	 * is in the same message; the kernel's ETIME of a process is a sum over its tasks.
	 */
	bool has_elapsed;
	uint64_t elapsed_us;
	/* Not in the message, and for the caller to set. */
	bool exited;		/* EXITCODE tells how; of the living it tells nothing */
	uint64_t tasks;		/* of a tree and of sums by snapshot.h: tasks that they are of */
};

/* The contents of a message beside records. */
struct stats_message {
	unsigned int records;
	unsigned int unknown;	/* attributes of types that are not ours: ignored */
	bool malformed;		/* what follows the last record cannot be read */
};

typedef void stats_each(void *context, const struct stats_record *record);

/*
 * Finds the records in the attributes of a message (behind the generic netlink header) and calls
 * @each for each of them, in order.  Understands nests and, as the kernel's documentation has
 * it, AGGR attributes without payload that the others follow.
 */
struct stats_message stats_parse(const uint8_t *bytes, size_t size, enum stats_order order,
				 stats_each *each, void *context);

#endif
