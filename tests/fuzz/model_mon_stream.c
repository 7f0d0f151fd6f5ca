// SPDX-License-Identifier: MIT
/* What the read machine should do, as simply as can be. */
#include "model_mon_stream.h"

bool model_init(struct model *m, const u8 *image, u64 start, u64 end)
{
	m->image = image;
	m->start = start;
	m->end = end;
	m->counts = (struct mon_counts){ 0 };
	model_open(m);
	return end > start && end <= 0xffffffff;
}

void model_open(struct model *m)
{
	m->read = 0;
	m->arrived = 0;
	m->limit = MON_LIMIT;
	m->overflow = false;
	m->severed = false;
	m->begun = false;
	m->defect = MON_DEFECT_NONE;
}

void model_limit(struct model *m, unsigned int granted)
{
	m->limit = granted < 1 ? 1 : granted > MON_LIMIT ? MON_LIMIT : granted;
}

/* EOVERFLOW will follow the last message; once, however often that is found. */
static void model_fill(struct model *m)
{
	m->message[m->arrived - 1].full = true;
	m->counts.overflows++;
}

bool model_notify(struct model *m, const struct mon_note *note)
{
	unsigned int outstanding = m->arrived - m->read;

	if (outstanding == MON_LIMIT) {
		model_fill(m);
		return false;
	}
	assert(m->arrived < MODEL_MESSAGES);
	m->message[m->arrived] = *note;
	m->message[m->arrived].full = false;
	m->arrived++;
	if (outstanding + 1 >= m->limit)
		model_fill(m);
	return true;
}

void model_sever(struct model *m)
{
	m->severed = true;
	m->counts.severs++;
}

enum mon_poll model_poll(const struct model *m)
{
	if (m->arrived > m->read || m->overflow)
		return MON_POLL_READABLE;
	return m->severed ? MON_POLL_SEVERED : MON_POLL_EMPTY;
}

static u64 model_word(const u8 *p)
{
	return (u64)p[0] << 24 | (u64)p[1] << 16 | (u64)p[2] << 8 | p[3];
}

/* What is wrong with the control area of a message. */
static enum mon_defect model_area(const struct model *m, const struct mon_note *note)
{
	u64 first = note->first, last = note->last;

	if (!note->addressed)
		return MON_DEFECT_NO_ADDRESSES;
	if (last <= first)
		return MON_DEFECT_AREA_EMPTY;
	if ((last - first + 1) % MON_ELEMENT_SIZE)
		return MON_DEFECT_AREA_LENGTH;
	if (first < m->start)
		return MON_DEFECT_AREA_BEGIN;
	if (last > m->end)
		return MON_DEFECT_AREA_END;
	return MON_DEFECT_NONE;
}

/* What is wrong with the current element. */
static enum mon_defect model_check(const struct model *m)
{
	u64 first = model_word(m->element + 4), last = model_word(m->element + 8);

	if (!m->element[0])
		return MON_DEFECT_TYPE;
	if (!m->element[1] && !m->element[2])
		return MON_DEFECT_DOMAINS;
	if (last < first)
		return MON_DEFECT_RECORDS_EMPTY;
	if (first < m->start)
		return MON_DEFECT_RECORDS_BEGIN;
	if (last > m->end)
		return MON_DEFECT_RECORDS_END;
	return MON_DEFECT_NONE;
}

/* Goes to a part, if there is one of that number. */
static void model_part(struct model *m, u64 part)
{
	u64 area = m->message[m->read].first - m->start;

	m->part = part;
	if (part == m->parts)
		return;
	for (unsigned int i = 0; i < MON_ELEMENT_SIZE; i++)
		m->element[i] = m->image[area + MON_ELEMENT_SIZE * part + i];
	m->defect = model_check(m);
	m->offset = 0;
	m->length = MON_ELEMENT_SIZE + model_word(m->element + 8) - model_word(m->element + 4) + 1;
}

static void model_begin(struct model *m)
{
	const struct mon_note *note = &m->message[m->read];

	m->begun = true;
	m->bytes = 0;
	m->part = 0;
	m->defect = model_area(m, note);
	if (m->defect)
		return;
	m->parts = ((u64)note->last - note->first + 1) / MON_ELEMENT_SIZE;
	model_part(m, 0);
}

static u8 model_byte(const struct model *m, u64 offset)
{
	if (offset < MON_ELEMENT_SIZE)
		return m->element[offset];
	return m->image[model_word(m->element + 4) - m->start + (offset - MON_ELEMENT_SIZE)];
}

static bool model_over(const struct model *m)
{
	return m->defect || m->part == m->parts;
}

/*
 * Bytes of the current set: they are copied in lots, each up to the end of element or records.
 * A lot is cut short only if it is the first of the read.
 */
static int model_bytes(struct model *m, const struct read_request *request)
{
	size_t done = 0;

	while (done < request->size && !model_over(m)) {
		u64 stop = m->offset < MON_ELEMENT_SIZE ? MON_ELEMENT_SIZE : m->length;
		u64 lot = stop - m->offset;

		if (lot > request->size - done) {
			if (done)
				break;
			lot = request->size;
		}
		request->between(request->ctx, READ_COPY);
		if (done + lot > request->writable)
			return done ? (int)done : -EFAULT;
		for (u64 i = 0; i < lot; i++)
			request->out[done + i] = model_byte(m, m->offset + i);
		request->between(request->ctx, READ_COPIED);
		done += lot;
		m->offset += lot;
		m->bytes += lot;
		if (m->offset == m->length)
			model_part(m, m->part + 1);
	}
	return (int)done;
}

static int model_finish(struct model *m, const struct read_request *request)
{
	bool replied = false;

	request->between(request->ctx, READ_REPLY);
	if (!m->severed)
		replied = request->reply(request->ctx, m->message[m->read].id,
					 m->message[m->read].class);
	request->between(request->ctx, READ_REPLIED);
	m->overflow = m->message[m->read].full;
	m->read++;
	m->begun = false;
	m->counts.bytes += m->bytes;
	if (m->defect)
		m->counts.invalid_sets++;
	else if (replied)
		m->counts.sets++;
	return replied && !m->defect ? 0 : -EIO;
}

int model_read(struct model *m, const struct read_request *request)
{
	if (!request->size)
		return 0;
	if (!m->begun) {
		if (m->overflow) {
			m->overflow = false;
			return -EOVERFLOW;
		}
		if (m->read == m->arrived)
			return m->severed ? -EIO : -EAGAIN;
		model_begin(m);
		request->between(request->ctx, READ_BEGUN);
	}
	return model_over(m) ? model_finish(m, request) : model_bytes(m, request);
}
