/* SPDX-License-Identifier: MIT */
/*
 * monread: data sets as CMS' MONWRITE writes them (z/VM control block HCPMWTBK).
 *
 * The interruption that announced a set is written as it was where it is known.
 * Else it is that of a message with parameter-list data on path 0 whose control area
 * begins at address 0; a device does not tell more.  What lies in a frame beside the
 * element's records is zeros.
 *
 * If files are rotated, a set is in one of them as a whole: the next set begins a new file when
 * one has reached its size or its time.
 */
#include "sink.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "index.h"
#include "keep.h"
#include "bytes.h"
#include "rotate.h"

/* Of the interruption: flags, type, first and last byte of the control area. */
enum { IPFLAGS1 = 2, IPTYPE = 3, IPRMMSG1 = 12, IPRMMSG2 = 16 };
#define IPRMDATA 0x80
#define MESSAGE_PENDING 9

static const uint8_t zeros[MONREC_FRAME_SIZE];

/* Bit 51 of the TOD clock is a microsecond. */
#define TOD_MICROSECOND 4096u

struct monwrite {
	struct sink sink;
	struct keep keep;
	const char *name;
	struct rotation rotation;
	bool full;		/* the next set begins a new file */
	bool not_rotated;	/* it should have been, and the user was told why it was not */
	uint64_t sets;		/* in the file */
	uint64_t begin;		/* of the file, or of what came after it could not be rotated */
	uint64_t first, last;	/* TOD of its first set; of the set at hand */
	bool has_interrupt;
	unsigned int elements;	/* of the set at hand */
	uint64_t control_at;	/* where its control record is in the file */
	uint32_t filled;	/* bytes of the frame at hand */
	uint8_t control[MONREC_FRAME_SIZE];
};

static struct monwrite *monwrite_of(struct sink *sink)
{
	return (struct monwrite *)sink;
}

/* False: the file that was being written goes on. */
static bool next_file(struct monwrite *m)
{
	struct keep next;
	int ret;

	if (!rotate_files(m->name, m->rotation.keep))
		return false;
	ret = keep_open(&next, m->name, zeros, sizeof(zeros));
	if (ret) {
		keep_close(&next);
		complain_about(m->name, -ret);
		rotate_back(m->name);
		return false;
	}
	ret = keep_close(&m->keep);
	if (ret)
		complain_about(m->name, -ret);
	m->not_rotated |= ret != 0;
	m->keep = next;
	return true;
}

static void rotate(struct monwrite *m)
{
	m->full = false;
	if (!next_file(m))
		m->not_rotated = true;
	m->begin = m->keep.kept;
	m->sets = 0;
}

/* A set is complete and stays. */
static void note_set(struct monwrite *m)
{
	const uint64_t us = (m->last - m->first) / TOD_MICROSECOND;

	/* Time of a clock that is set back begins anew. */
	if (m->sets++ == 0 || m->last < m->first)
		m->first = m->last;
	else if (m->rotation.ns && us >= m->rotation.ns / 1000)
		m->full = true;
	if (m->rotation.size && m->keep.kept + sizeof(zeros) - m->begin >= m->rotation.size)
		m->full = true;
}

static int begin_set(struct monwrite *m, const uint8_t *interrupt)
{
	if (m->full)
		rotate(m);
	memset(m->control, 0, sizeof(m->control));
	m->elements = 0;
	m->filled = 0;
	m->control_at = keep_at(&m->keep);
	m->has_interrupt = interrupt != NULL;
	if (interrupt)
		memcpy(m->control, interrupt, MONREC_INTERRUPT_SIZE);
	return keep_write(&m->keep, zeros, sizeof(zeros));
}

/* The rest of the frame at hand. */
static int end_element(struct monwrite *m)
{
	const uint32_t filled = m->filled;

	m->filled = 0;
	return filled ? keep_write(&m->keep, zeros, MONREC_FRAME_SIZE - filled) : 0;
}

static int begin_element(struct monwrite *m, const struct monrec_element *element)
{
	int ret = end_element(m);

	if (ret)
		return ret;
	if (m->elements == MONREC_MAX_ELEMENTS)
		return -E2BIG;
	monrec_element_bytes(element, m->control + MONREC_INTERRUPT_SIZE +
				      m->elements * MONREC_ELEMENT_SIZE);
	m->elements++;
	m->filled = element->start % MONREC_FRAME_SIZE;
	return keep_write(&m->keep, zeros, m->filled);
}

static int add_frame(struct monwrite *m, const struct monrec_record *frame)
{
	assert(frame->address % MONREC_FRAME_SIZE == m->filled);
	assert(m->filled + frame->len <= MONREC_FRAME_SIZE);
	m->filled = (m->filled + frame->len) % MONREC_FRAME_SIZE;
	return keep_write(&m->keep, frame->data, frame->len);
}

/* An index may have been written by anybody. */
static bool interrupt_fits(const struct monwrite *m)
{
	const uint32_t first = get_be32(m->control + IPRMMSG1);
	const uint64_t last = first + (uint64_t)m->elements * MONREC_ELEMENT_SIZE - 1;

	return m->has_interrupt && get_be32(m->control + IPRMMSG2) == last;
}

static int end_set(struct monwrite *m)
{
	const int ret = end_element(m);

	if (ret)
		return ret;
	if (!interrupt_fits(m)) {
		memset(m->control, 0, MONREC_INTERRUPT_SIZE);
		m->control[IPFLAGS1] = IPRMDATA;
		m->control[IPTYPE] = MESSAGE_PENDING;
		put_be32(m->control + IPRMMSG1, 0);
		put_be32(m->control + IPRMMSG2, m->elements * MONREC_ELEMENT_SIZE - 1);
	}
	return keep_patch(&m->keep, m->control_at, m->control, sizeof(m->control));
}

static int monwrite_item(struct sink *sink, const struct monrec_item *item)
{
	struct monwrite *m = monwrite_of(sink);

	switch (item->kind) {
	case MONREC_SET:
		return begin_set(m, item->interrupt);
	case MONREC_ELEMENT:
		return begin_element(m, &item->element);
	case MONREC_RECORD:
		m->last = item->record.tod;
		return 0;
	case MONREC_FRAME:
		return add_frame(m, &item->record);
	case MONREC_SET_END:
		/* A set without an element, which breaks a rule, has nothing to be written. */
		return m->elements ? end_set(m) : keep_back(&m->keep);
	default:
		return 0;
	}
}

static int monwrite_keep(struct sink *sink)
{
	struct monwrite *m = monwrite_of(sink);
	const uint64_t before = m->keep.kept;
	const int ret = keep_mark(&m->keep);

	if (!ret && m->keep.kept > before && rotation_wanted(&m->rotation))
		note_set(m);
	return ret;
}

static int monwrite_drop(struct sink *sink)
{
	return keep_back(&monwrite_of(sink)->keep);
}

static int monwrite_close(struct sink *sink)
{
	struct monwrite *m = monwrite_of(sink);
	int ret = keep_close(&m->keep);

	if (!ret && m->not_rotated)
		ret = -ECANCELED;
	free(m);
	return ret;
}

/* What an earlier run has written there is not written over, but is the first one to go on. */
static int keep_earlier(const char *name, const struct rotation *rotation)
{
	struct stat status;

	if (!rotation_wanted(rotation) || lstat(name, &status) || !S_ISREG(status.st_mode) ||
	    status.st_size == 0)
		return 0;
	return rotate_files(name, rotation->keep) ? 0 : -ECANCELED;
}

struct sink *monwrite_sink(const char *name, const struct rotation *rotation)
{
	static const struct sink_ops ops = {
		monwrite_item, monwrite_keep, monwrite_drop, monwrite_close, true,
	};
	struct monwrite *m = calloc(1, sizeof(*m));
	int ret = m ? keep_earlier(name, rotation) : -ENOMEM;

	if (!ret)
		ret = keep_open(&m->keep, name, zeros, sizeof(zeros));
	if (ret) {
		if (m)
			monwrite_close(&m->sink);
		errno = -ret;
		return NULL;
	}
	m->sink.ops = &ops;
	m->name = name;
	m->rotation = *rotation;
	return &m->sink;
}
