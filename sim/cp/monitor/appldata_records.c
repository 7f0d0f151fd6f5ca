/* SPDX-License-Identifier: MIT */
/*
 * D10R1 and D10R2: CP copies a buffer as a whole, within one call of the emulator, so that the
 * guest's programs can change it before or after, but not while it is copied by this CPU.
 *
 * Offsets: IBM's descriptions of MRAPLEDT and MRAPLSDT.
 */
#include <string.h>

#include "monitor_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

static bool is_text(const char *text)
{
	for (unsigned int i = 0; i < APPLDATA_PRODUCT_NUMBER; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return true;
}

void appldata_name(const uint8_t product[APPLDATA_PRODUCT_SIZE],
		   char name[APPLDATA_PRODUCT_NUMBER + 1])
{
	memcpy(name, product, APPLDATA_PRODUCT_NUMBER);
	if (!is_text(name))
		ebcdic_decode(name, product, APPLDATA_PRODUCT_NUMBER);
	for (unsigned int i = 0; i < APPLDATA_PRODUCT_NUMBER; i++)
		if (name[i] < 0x20 || name[i] > 0x7e)
			name[i] = '.';
	name[APPLDATA_PRODUCT_NUMBER] = '\0';
}

enum {
	APL_CALDATOF = 20,	/* 2: offset of the data */
	APL_CALDATLN = 22,	/* 2: their length */
	APL_USERID = 24,	/* 8 */
	APL_MDGPROD = 32,	/* 16: product ID */
	APL_STATUS = 48,	/* 1, and 3 reserved; its values are not public */
	APL_ADATA = 52,
};
enum { APLEDT = 1, APLSDT = 2 };
static_assert(APL_ADATA + APPLDATA_MAX_LENGTH == RECORD_MAX_SIZE, "the longest record");

static struct fault_action fault_of(struct cp *cp, enum fault_point point,
				    const struct appldata_buffer *buffer)
{
	char name[APPLDATA_PRODUCT_NUMBER + 1];

	appldata_name(buffer->product, name);
	return fault_of_guest(cp, point, name);
}

/* Copy the buffer's current contents to cp->appldata->copy; false if it is no storage any more. */
static bool copy(struct cp *cp, const struct appldata_buffer *buffer,
		 const struct fault_action *fault)
{
	uint8_t *to = cp->appldata->copy;

	assert(buffer->length > 0 && buffer->length <= APPLDATA_MAX_LENGTH);
	if (storage_read(cp, CP_ABSOLUTE, buffer->address, to, buffer->length) != 0) {
		trace_hex(cp, "unreadable", buffer->address);
		return false;
	}
	if (fault->kind == FAULT_CORRUPT)
		to[fault->offset % buffer->length] ^= (uint8_t)fault->value;
	return true;
}

/* False if @w has no room. */
static bool add(struct cp *cp, struct record_writer *w, unsigned int number,
		const struct appldata_buffer *buffer)
{
	uint8_t *record = record_add(w, MON_APPLDATA, number, APL_ADATA + buffer->length);

	if (!record)
		return false;
	put_be16(record + APL_CALDATOF, APL_ADATA);
	put_be16(record + APL_CALDATLN, buffer->length);
	ebcdic_name(record + APL_USERID, cp->config.userid);
	memcpy(record + APL_MDGPROD, buffer->product, APPLDATA_PRODUCT_SIZE);
	memcpy(record + APL_ADATA, cp->appldata->copy, buffer->length);
	return true;
}

static bool wanted(const struct cp *cp, bool event)
{
	const struct mon_settings *settings = &cp->system->monitor->settings[event];

	return (settings->domains & MON_DOMAIN_BIT(MON_APPLDATA)) &&
	       monitor_selected(&settings->appldata, cp->config.userid);
}

void appldata_write_one(struct cp *cp, struct record_writer *w, struct appldata_info *info)
{
	struct fault_action fault;

	if (!wanted(cp, false))
		return;
	fault = fault_of(cp, FAULT_APPLDATA_SAMPLE, &info->buffer);
	if (fault.kind == FAULT_DROP || !copy(cp, &info->buffer, &fault))
		return;
	for (unsigned int i = 0; i < (fault.kind == FAULT_DUPLICATE ? 2u : 1u); i++)
		info->records += add(cp, w, APLSDT, &info->buffer);
}

void appldata_write(struct cp *cp, struct record_writer *w, enum appldata_kind kind)
{
	struct appldata *a = cp->appldata;

	assert(a->count <= APPLDATA_MAX_BUFFERS && (unsigned int)kind < APPLDATA_KINDS);
	for (uint32_t i = 0; i < a->count; i++)
		if (a->declared[i].kind == kind)
			appldata_write_one(cp, w, &a->declared[i]);
}

void appldata_event(struct cp *cp, const struct appldata_buffer *buffer)
{
	struct fault_action fault;
	struct record_writer w;

	if (!cp->system->monitor->settings[true].active || !wanted(cp, true))
		return;
	fault = fault_of(cp, FAULT_APPLDATA_EVENT, buffer);
	if (fault.kind == FAULT_DROP || !copy(cp, buffer, &fault))
		return;
	record_writer_init(&w, cp->appldata->frame, RECORD_FRAME_SIZE, cp_system_tod(cp));
	if (!add(cp, &w, APLEDT, buffer))
		return;
	for (unsigned int i = 0; i < (fault.kind == FAULT_DUPLICATE ? 2u : 1u); i++)
		(void)mon_event_record(cp, MON_APPLDATA, w.buffer, APL_ADATA + buffer->length);
}
