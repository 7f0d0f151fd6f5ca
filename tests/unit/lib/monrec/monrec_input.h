/* SPDX-License-Identifier: MIT */
/*
 * What a reader of libmonrec reads in tests: bytes, and between them what a read
 * gives instead of bytes.  Data are made with the record writer or byte by byte.
 */
#ifndef MONREC_INPUT_H
#define MONREC_INPUT_H

#include "fixture.h"

#include <errno.h>

#include "monrec.h"
#include "record_header.h"

#define MI_SIZE (256u * 1024u)
#define MI_STOPS 256u
#define MI_START 0x9000000u	/* guest absolute, begin of a frame */

static struct {
	uint8_t data[MI_SIZE];
	size_t len, pos;
	size_t chunk;			/* most bytes of a read; 0: no limit */
	int failed;			/* errno of the last read; 0: it gave bytes or the end */
	size_t begin;			/* where the file begins that is read now */
	enum monrec_format format;
	struct { size_t at; int result; } stops[MI_STOPS];
	unsigned int stop_count, next_stop;
} mi;

static struct monrec_reader *mi_reader;
static struct monrec_item mi_item;

static inline void mi_setup(void)
{
	memset(&mi, 0, sizeof(mi));
	mi_reader = NULL;
}

static inline void mi_teardown(void)
{
	monrec_close(mi_reader);
}

static inline ssize_t mi_read(void *context, void *buffer, size_t len)
{
	size_t end = mi.len;

	ck_assert_ptr_eq(context, &mi);
	ck_assert_uint_gt(len, 0);
	if (mi.next_stop < mi.stop_count) {
		end = mi.stops[mi.next_stop].at;
		if (end == mi.pos) {
			mi.failed = -mi.stops[mi.next_stop].result;
			return mi.stops[mi.next_stop++].result;
		}
	}
	if (len > end - mi.pos)
		len = end - mi.pos;
	if (mi.chunk && len > mi.chunk)
		len = mi.chunk;
	memcpy(buffer, mi.data + mi.pos, len);
	mi.pos += len;
	mi.failed = 0;
	return (ssize_t)len;
}

static inline uint8_t *mi_room(size_t len)
{
	uint8_t *at = mi.data + mi.len;

	ck_assert_uint_le(mi.len + len, MI_SIZE);
	mi.len += len;
	return at;
}

/* The next read gives @result instead of bytes: 0, or -errno. */
static inline void mi_stop(int result)
{
	ck_assert_uint_lt(mi.stop_count, MI_STOPS);
	mi.stops[mi.stop_count].at = mi.len;
	mi.stops[mi.stop_count++].result = result;
}

static inline uint8_t *mi_mce(uint8_t type, uint16_t domains, uint32_t start, uint32_t len)
{
	uint8_t *at = mi_room(MONREC_ELEMENT_SIZE);

	at[0] = type;
	put_be16(at + 1, domains);
	put_be32(at + 4, start);
	put_be32(at + 8, start + len - 1);
	return at;
}

/* A record of zeros with a header; its first byte. */
static inline uint8_t *mi_record(unsigned int domain, unsigned int number, unsigned int len)
{
	uint8_t *at = mi_room(len);

	put_be16(at, (uint16_t)len);
	at[4] = (uint8_t)domain;
	put_be16(at + 6, (uint16_t)number);
	put_be64(at + 8, UINT64_C(0xd012345678abcdef));
	return at;
}

/* Begins an element of domains system and monitor, whose length mi_end() fills in. */
static inline size_t mi_begin(uint8_t type, uint32_t start)
{
	mi_mce(type, type == MONREC_TYPE_EVENT ? 0x4800 : 0xc800, start, 0);
	return mi.len;
}

static inline void mi_end(size_t begin)
{
	uint8_t *mce = mi.data + begin - MONREC_ELEMENT_SIZE;

	put_be32(mce + 8, (uint32_t)(get_be32(mce + 4) + (mi.len - begin) - 1));
}

static inline void mi_open(enum monrec_format format)
{
	mi.format = format;
	mi_reader = monrec_open(format, mi_read, &mi);
	ck_assert_ptr_nonnull(mi_reader);
}

static inline const char *mi_rule(void)
{
	return mi_item.kind == MONREC_VIOLATION ? monrec_rule_name(mi_item.rule) : "";
}

/* Invariants of a place, whatever is read. */
static inline void mi_place(void)
{
	static const struct monrec_element none;
	const struct monrec_place *at = &mi_item.at;

	switch (mi_item.kind) {
	case MONREC_END:
	case MONREC_SET:
	case MONREC_OVERFLOW:
	case MONREC_ERROR:
		/* Between sets, where there is no element. */
		ck_assert_uint_eq(at->element, 0);
		break;
	case MONREC_AGAIN:
	case MONREC_SET_LOST:
	case MONREC_SET_END:
		/* Places of a device are counted in the set. */
		if (mi.format != MONREC_DEVICE)
			ck_assert_uint_eq(at->offset, mi.pos - mi.begin);
		break;
	default:
		break;
	}
	if (at->element == 0) {
		ck_assert_uint_eq(at->record, 0);
		ck_assert_mem_eq(&mi_item.element, &none, sizeof(none));
	}
}

static inline void mi_next(enum monrec_item_kind kind)
{
	enum monrec_item_kind got = monrec_next(mi_reader, &mi_item);

	ck_assert_int_eq(got, (int)mi_item.kind);
	ck_assert_msg(got == kind, "item %d instead of %d, at %llu %s", got, kind,
		      (unsigned long long)mi_item.at.offset, mi_rule());
	mi_place();
	/* It is lost to an error, or its contents make no sense. */
	if (kind == MONREC_SET_LOST)
		ck_assert_int_eq(mi_item.error, mi.failed);
}

/* The most numbers that an item of a rule has; the others are 0. */
static inline unsigned int mi_values(enum monrec_rule rule)
{
	switch (rule) {
	case MONREC_RULE_SET_EMPTY:
	case MONREC_RULE_FRAME_LAST:
	case MONREC_RULE_BEHIND_END:
	case MONREC_RULE_BEHIND_DATA:
	case MONREC_RULE_INTERVAL_OPEN:
	case MONREC_RULE_SUSPENSION_PLACE:
	case MONREC_RULE_SUSPENSION_OPEN:
		return 0;
	case MONREC_RULE_ELEMENT_CUT:
	case MONREC_RULE_ELEMENT_TYPE:
	case MONREC_RULE_RECORDS_CUT:
	case MONREC_RULE_HEADER_CUT:
	case MONREC_RULE_RECORD_SHORT:
	case MONREC_RULE_RECORD_ZERO:
	case MONREC_RULE_RECORD_KIND:
	case MONREC_RULE_FRAME_LENGTH:
	case MONREC_RULE_FRAME_OPEN:
	case MONREC_RULE_FILE_CUT:
		return 1;
	default:
		return 2;
	}
}

/* The next item is this violation, in these words. */
static inline void mi_violation(enum monrec_rule rule, const char *text)
{
	char line[256];

	mi_next(MONREC_VIOLATION);
	ck_assert_str_eq(monrec_describe(&mi_item, line, sizeof(line)), text);
	ck_assert_uint_eq(mi_item.rule, rule);
	for (unsigned int i = mi_values(rule); i < 2; i++)
		ck_assert_uint_eq(mi_item.value[i], 0);
}

/* A saved stream, up to its first record or what is told before it. */
static inline void mi_open_first(void)
{
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
}

static inline void mi_records(unsigned int count)
{
	while (count-- > 0)
		mi_next(MONREC_RECORD);
}

static inline void mi_set_ends(void)
{
	mi_next(MONREC_SET_END);
	mi_next(MONREC_END);
}

/* One record and the end of the interval; the record's number, flags and length vary. */
static inline uint8_t *mi_one_record(uint8_t type, unsigned int domain, unsigned int number,
				     unsigned int len)
{
	size_t begin = mi_begin(type, MI_START);
	uint8_t *record = mi_record(domain, number, len);

	if (type == MONREC_TYPE_SAMPLE)
		mi_record(1, MTREND, 20);
	mi_end(begin);
	return record;
}

#endif
