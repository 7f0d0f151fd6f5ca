/* SPDX-License-Identifier: MIT */
/*
 * libmonrec: the rules that elements, records and sets are held to.
 *
 * From IBM's descriptions of the records that make up the framing (D1R3, D1R11 to
 * D1R14), of the domains (D1R1, D1R9) and of CP's block HCPMWTBK.  What they do
 * not say is no rule here: whether time stamps only grow, what reserved bytes
 * hold, what stands behind the end of a frame.
 */
#include "monrec_private.h"

#define DOMAIN_BIT(domain) (0x8000u >> (domain))
/* Samples have no scheduler and seeks data, events no system data. */
#define NO_SAMPLES (DOMAIN_BIT(2) | DOMAIN_BIT(7))
#define NO_EVENTS DOMAIN_BIT(0)

/* False if where the records end cannot be known. */
bool monrec_check_element(struct monrec_reader *r, uint64_t offset)
{
	const struct monrec_element *element = &r->element;
	uint32_t foreign = 0;

	if (element->type == MONREC_TYPE_SAMPLE)
		foreign = NO_SAMPLES;
	else if (element->type == MONREC_TYPE_EVENT)
		foreign = NO_EVENTS;
	else
		monrec_violation(r, MONREC_RULE_ELEMENT_TYPE, offset, element->type, 0);
	if (element->domains == 0 || element->domains & foreign)
		monrec_violation(r, MONREC_RULE_ELEMENT_DOMAINS, offset + 1, element->domains,
				 element->domains & foreign);
	if (element->end <= element->start) {
		monrec_violation(r, MONREC_RULE_ELEMENT_RANGE, offset + 4, element->start,
				 element->end);
		return false;
	}
	return true;
}

static void check_header(struct monrec_reader *r, const struct monrec_record *record,
			 uint64_t offset, bool framing)
{
	const uint16_t zero = get_be16(record->data + 2);

	if (zero)
		monrec_violation(r, MONREC_RULE_RECORD_ZERO, offset, zero, 0);
	/* Records of the framing are there whatever the domains are. */
	if (!framing && (record->domain > 15 || !(r->element.domains & DOMAIN_BIT(record->domain))))
		monrec_violation(r, MONREC_RULE_RECORD_DOMAIN, offset, record->domain,
				 r->element.domains);
}

static void check_layout(struct monrec_reader *r, const struct monrec_record *record,
			 uint64_t offset)
{
	const struct monrec_layout *layout = monrec_layout(record->domain, record->number);
	unsigned int len;
	bool sample, event;

	if (!layout)
		return;
	sample = layout->kind == MONREC_SAMPLE || layout->kind == MONREC_SAMPLE_CONFIG;
	event = layout->kind == MONREC_EVENT || layout->kind == MONREC_EVENT_CONFIG;
	if ((sample && r->element.type == MONREC_TYPE_EVENT) ||
	    (event && r->element.type == MONREC_TYPE_SAMPLE))
		monrec_violation(r, MONREC_RULE_RECORD_KIND, offset, sample, 0);
	len = r->release ? monrec_length(layout, r->release) : 0;
	if (len && (layout->variable ? record->len < len : record->len != len))
		monrec_violation(r, MONREC_RULE_RECORD_LENGTH, offset, record->len, len);
}

static void check_framing(struct monrec_reader *r, const struct monrec_record *record,
			  uint64_t offset)
{
	if (record->len != MONREC_HEADER_SIZE)
		monrec_violation(r, MONREC_RULE_FRAME_LENGTH, offset, record->len, 0);
	if (record->number == MTREOF && r->last_piece)
		monrec_violation(r, MONREC_RULE_FRAME_LAST, offset, 0, 0);
}

/* Event data go on where they were suspended, or are configured anew. */
static void check_suspension(struct monrec_reader *r, const struct monrec_record *record,
			     uint64_t offset)
{
	const bool monitor = record->domain == RECORD_DOMAIN_MONITOR;
	const bool first = r->record_number == 1;

	if (r->element.type != MONREC_TYPE_EVENT)
		return;
	if (monitor && record->number == MTRSUS && !first)
		monrec_violation(r, MONREC_RULE_SUSPENSION_PLACE, offset, 0, 0);
	if (first && r->seen.suspended) {
		r->seen.suspended = false;
		if (!monitor || (record->number != MTRSUS && record->number != MTREPR))
			monrec_violation(r, MONREC_RULE_SUSPENSION_OPEN, offset, 0, 0);
	}
}

static void note(struct monrec_reader *r, const struct monrec_record *record, bool framing)
{
	const bool interval = framing && record->number == MTREND;
	const bool suspend = framing && record->number == MTRSOS;

	if (interval || suspend)
		r->seen.ended = true;
	if (suspend)
		r->seen.suspended = true;
	if (r->element.type == MONREC_TYPE_SAMPLE) {
		r->seen.samples = true;
		r->seen.interval_ended = interval;
	}
}

void monrec_check_record(struct monrec_reader *r, const struct monrec_record *record,
			 uint64_t offset)
{
	const bool monitor = record->domain == RECORD_DOMAIN_MONITOR;
	const bool framing = monitor && record->number >= MTREND && record->number <= MTREOF;

	if (r->seen.ended && !r->seen.behind) {
		monrec_violation(r, MONREC_RULE_BEHIND_END, offset, 0, 0);
		r->seen.behind = true;
	}
	check_header(r, record, offset, framing);
	check_layout(r, record, offset);
	if (framing)
		check_framing(r, record, offset);
	check_suspension(r, record, offset);
	if (monitor && record->number == MTRDDR && record->len > MONREC_HEADER_SIZE &&
	    record->data[MONREC_HEADER_SIZE] != r->element.type)
		monrec_violation(r, MONREC_RULE_PROFILE, offset, record->data[MONREC_HEADER_SIZE],
				 r->element.type);
	note(r, record, framing);
}

void monrec_check_set(struct monrec_reader *r)
{
	if (r->seen.samples && !r->seen.interval_ended)
		monrec_violation(r, MONREC_RULE_INTERVAL_OPEN, r->offset, 0, 0);
}
