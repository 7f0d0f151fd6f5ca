/* SPDX-License-Identifier: MIT */
/*
 * monread: data sets as CMS' MONWRITE writes them (z/VM control block HCPMWTBK).
 *
 * The interruption that announced a set is written as it was where it is known.
 * Else it is that of a message with parameter-list data on path 0 whose control area
 * begins at address 0; a device does not tell more.  What lies in a frame beside the
 * element's records is zeros.
 */
#include "sink.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "keep.h"
#include "bytes.h"

/* Of the interruption: flags, type, first and last byte of the control area. */
enum { IPFLAGS1 = 2, IPTYPE = 3, IPRMMSG1 = 12, IPRMMSG2 = 16 };
#define IPRMDATA 0x80
#define MESSAGE_PENDING 9

static const uint8_t zeros[MONREC_FRAME_SIZE];

struct monwrite {
	struct sink sink;
	struct keep keep;
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

static int begin_set(struct monwrite *m, const uint8_t *interrupt)
{
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
	return keep_mark(&monwrite_of(sink)->keep);
}

static int monwrite_drop(struct sink *sink)
{
	return keep_back(&monwrite_of(sink)->keep);
}

static int monwrite_close(struct sink *sink)
{
	struct monwrite *m = monwrite_of(sink);
	const int ret = keep_close(&m->keep);

	free(m);
	return ret;
}

struct sink *monwrite_sink(const char *name)
{
	static const struct sink_ops ops = {
		monwrite_item, monwrite_keep, monwrite_drop, monwrite_close, true,
	};
	struct monwrite *m = calloc(1, sizeof(*m));
	const int ret = m ? keep_open(&m->keep, name, zeros, sizeof(zeros)) : -ENOMEM;

	if (ret) {
		if (m)
			monwrite_close(&m->sink);
		errno = -ret;
		return NULL;
	}
	m->sink.ops = &ops;
	return &m->sink;
}
