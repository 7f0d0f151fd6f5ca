/* SPDX-License-Identifier: MIT */
/*
 * libmonrec: the release of z/VM that wrote the data, by the lengths of records.
 *
 * No field that is public names the release.  But most records grow from release to
 * release, so that the lengths of a few types tell it.
 */
#include "monrec_private.h"

#define ALL_RELEASES ((UINT32_C(1) << MONREC_RELEASES) - 1)

bool monrec_length_fits(const struct monrec_layout *layout, unsigned int release, uint32_t len)
{
	for (unsigned int i = 0; i < layout->length_count; i++) {
		const struct monrec_length *one = &layout->lengths[i];

		if (one->first <= release && release <= one->last &&
		    (layout->variable ? len >= one->len : len == one->len))
			return true;
	}
	return false;
}

/* The releases in which the record's length is known: to be this one, if @fits, or another one. */
static uint32_t by_length(const struct monrec_layout *layout, uint32_t len, bool fits)
{
	uint32_t found = 0;

	for (unsigned int i = 0; i < MONREC_RELEASES; i++)
		if (monrec_length(layout, monrec_release(i)) &&
		    monrec_length_fits(layout, monrec_release(i), len) == fits)
			found |= UINT32_C(1) << i;
	return found;
}

/* NULL: its length tells nothing; a header alone is the same in every release. */
static const struct monrec_layout *telling(const struct monrec_record *record)
{
	const struct monrec_layout *layout = monrec_layout(record->domain, record->number);

	if (!layout || layout->variable || record->number >= MONREC_NUMBERS)
		return NULL;
	return record->len > MONREC_HEADER_SIZE ? layout : NULL;
}

void monrec_evidence_add(struct monrec_evidence *evidence, const struct monrec_record *record)
{
	const struct monrec_layout *layout = telling(record);
	uint32_t fits, differs;

	if (!layout || evidence->len[record->domain][record->number])
		return;
	fits = by_length(layout, record->len, true);
	/* What no release is known to have says nothing of any. */
	if (!fits)
		return;
	differs = by_length(layout, record->len, false);
	evidence->len[record->domain][record->number] = (uint16_t)record->len;
	evidence->types++;
	for (unsigned int i = 0; i < MONREC_RELEASES; i++) {
		evidence->fits[i] += fits >> i & 1;
		evidence->differs[i] += differs >> i & 1;
	}
}

uint32_t monrec_evidence_possible(const struct monrec_evidence *evidence)
{
	unsigned int least = evidence->types;
	uint32_t possible = 0;

	for (unsigned int i = 0; i < MONREC_RELEASES; i++)
		if (evidence->fits[i] && evidence->differs[i] < least)
			least = evidence->differs[i];
	for (unsigned int i = 0; i < MONREC_RELEASES; i++)
		if (evidence->fits[i] && evidence->differs[i] == least)
			possible |= UINT32_C(1) << i;
	return possible;
}

uint32_t monrec_evidence_releases(const struct monrec_evidence *evidence)
{
	const uint32_t possible = monrec_evidence_possible(evidence);
	unsigned int most = 0;
	uint32_t best = 0;

	for (unsigned int i = 0; i < MONREC_RELEASES; i++) {
		if (!(possible >> i & 1) || evidence->fits[i] < most)
			continue;
		if (evidence->fits[i] > most)
			best = 0;
		most = evidence->fits[i];
		best |= UINT32_C(1) << i;
	}
	return best;
}

uint32_t monrec_evidence_conflict(const struct monrec_evidence *evidence,
				  const struct monrec_record *record, uint32_t *len)
{
	const struct monrec_layout *layout = telling(record);
	uint32_t now;

	if (!layout)
		return 0;
	*len = evidence->len[record->domain][record->number];
	if (!*len || *len == record->len)
		return 0;
	now = by_length(layout, record->len, true);
	return now & by_length(layout, *len, true) ? 0 : now;
}

uint32_t monrec_record_releases(const struct monrec_record *record)
{
	const struct monrec_layout *layout = telling(record);

	return layout ? by_length(layout, record->len, true) : 0;
}

static unsigned int fields_in(const struct monrec_layout *layout, unsigned int release)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < layout->field_count; i++)
		count += layout->fields[i].first <= release && release <= layout->fields[i].last;
	return count;
}

unsigned int monrec_record_release(const struct monrec_record *record, uint32_t releases)
{
	const struct monrec_layout *layout = monrec_layout(record->domain, record->number);
	unsigned int found = 0, least = 0;
	uint32_t possible;

	if (!layout)
		return 0;
	releases = releases ? releases & ALL_RELEASES : ALL_RELEASES;
	possible = releases & by_length(layout, record->len, true);
	if (!possible)
		possible = releases & ~by_length(layout, record->len, false);
	/* Of several, the one of which least is known: it is what they have in common. */
	for (unsigned int i = 0; i < MONREC_RELEASES; i++) {
		unsigned int count;

		if (!(possible >> i & 1))
			continue;
		count = fields_in(layout, monrec_release(i));
		if (!found || count < least) {
			found = monrec_release(i);
			least = count;
		}
	}
	return found;
}
