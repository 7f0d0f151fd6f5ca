/* SPDX-License-Identifier: MIT */
/* Writing monitor records into 4 KiB frames. */
#include <assert.h>
#include <string.h>

#include "record.h"
#include "bytes.h"
#include "ebcdic.h"

void record_writer_init(struct record_writer *w, uint8_t *buffer, uint32_t size, uint64_t tod)
{
	assert(size > 0 && size % RECORD_FRAME_SIZE == 0);
	*w = (struct record_writer){ .buffer = buffer, .size = size, .tod = tod };
}

static uint32_t left_in_frame(const struct record_writer *w)
{
	return RECORD_FRAME_SIZE - w->pos % RECORD_FRAME_SIZE;
}

bool record_fits(const struct record_writer *w, uint32_t len)
{
	if (len < RECORD_HEADER_SIZE || len > RECORD_MAX_SIZE || w->closed)
		return false;
	/* The room kept in every frame has the consequence that pos is never at its end. */
	assert(w->pos < w->size);
	if (len + RECORD_HEADER_SIZE <= left_in_frame(w))
		return true;
	return w->size - w->pos > left_in_frame(w);
}

static void count(struct record_writer *w, unsigned int domain, uint32_t len)
{
	w->domains |= (uint16_t)(0x8000u >> domain);
	w->records++;
	w->bytes += len;
	w->pos += len;
}

static void put_header(struct record_writer *w, unsigned int domain, unsigned int number,
		       uint32_t len)
{
	uint8_t *record = w->buffer + w->pos;

	assert(domain < 16 && len <= left_in_frame(w));
	memset(record, 0, len);
	put_be16(record + MRHDRLEN, (uint16_t)len);
	record[MRHDRDM] = (uint8_t)domain;
	put_be16(record + MRHDRRC, (uint16_t)number);
	put_be64(record + MRHDRTOD, w->tod);
	count(w, domain, len);
}

/* Go to the next frame if @len bytes and the room kept do not fit into this one. */
static void make_room(struct record_writer *w, uint32_t len)
{
	uint32_t left;

	assert(record_fits(w, len));
	if (len + RECORD_HEADER_SIZE <= left_in_frame(w))
		return;
	put_header(w, RECORD_DOMAIN_MONITOR, MTREOF, RECORD_HEADER_SIZE);
	left = left_in_frame(w) % RECORD_FRAME_SIZE;
	memset(w->buffer + w->pos, 0, left);
	w->pos += left;
}

uint8_t *record_add(struct record_writer *w, unsigned int domain, unsigned int number,
		    uint32_t len)
{
	if (!record_fits(w, len)) {
		w->overflow = true;
		return NULL;
	}
	make_room(w, len);
	put_header(w, domain, number, len);
	return w->buffer + w->pos - len;
}

bool record_append(struct record_writer *w, const uint8_t *record, uint32_t len)
{
	if (!record_fits(w, len) || !record_valid(record, len, record[MRHDRDM])) {
		w->overflow = true;
		return false;
	}
	make_room(w, len);
	memcpy(w->buffer + w->pos, record, len);
	count(w, record[MRHDRDM], len);
	return true;
}

void record_sample_change(struct record_writer *w, uint64_t tod, const char *command, uint32_t len)
{
	/* IBM, MRMTRSCM: time of the change, length of the text, text. */
	enum { MTRSCM = 10, MTRSCM_TOD = 20, MTRSCM_LENGTH = 28, MTRSCM_TEXT = 32 };
	uint8_t *record = record_add(w, RECORD_DOMAIN_MONITOR, MTRSCM, MTRSCM_TEXT + len);

	assert(record);
	put_be64(record + MTRSCM_TOD, tod);
	put_be32(record + MTRSCM_LENGTH, len);
	ebcdic_encode(record + MTRSCM_TEXT, command, len);
}

void record_close(struct record_writer *w, unsigned int number)
{
	assert(number == MTREND || number == MTRSOS);
	assert(!w->closed && left_in_frame(w) >= RECORD_HEADER_SIZE);
	put_header(w, RECORD_DOMAIN_MONITOR, number, RECORD_HEADER_SIZE);
	w->closed = true;
}

bool record_valid(const uint8_t *record, uint32_t len, unsigned int domain)
{
	return len >= RECORD_HEADER_SIZE && len <= RECORD_MAX_SIZE &&
	       get_be16(record + MRHDRLEN) == len && record[MRHDRDM] == domain && domain < 16;
}
