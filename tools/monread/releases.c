/* SPDX-License-Identifier: MIT */
#include "releases.h"

#include <inttypes.h>
#include <string.h>

enum { MTRSYS = 4 };

/* Where, and what is unusual of the record. */
static void begin_complaint(struct releases *r, const struct monrec_item *item, uint32_t other)
{
	const struct monrec_record *record = &item->record;
	char text[MONREC_RELEASES_TEXT];

	r->contradicted = true;
	fflush(stdout);
	fprintf(stderr, "monread: %s: set %" PRIu64 ", offset %" PRIu64 ": D%uR%u has %" PRIu32
		" bytes, as in z/VM %s, ", r->input, item->at.set, item->at.offset, record->domain,
		record->number, record->len, monrec_releases_text(other, text));
}

static void check_given(struct releases *r, const struct monrec_item *item)
{
	const struct monrec_layout *layout =
		monrec_layout(item->record.domain, item->record.number);
	const uint32_t other = monrec_record_releases(&item->record);

	if (r->contradicted || !other || other & monrec_release_bit(r->given) ||
	    !monrec_length(layout, r->given))
		return;
	begin_complaint(r, item, other);
	fprintf(stderr, "and not %u as in %u.%u: the given release contradicts the data; leave it out\n",
		monrec_length(layout, r->given), r->given / 100, r->given / 10 % 10);
}

/* Data of another release follow: what was learned before is not of them. */
static void begin_anew(struct releases *r, const struct monrec_record *record)
{
	memset(&r->evidence, 0, sizeof(r->evidence));
	r->conflict = NULL;
	monrec_evidence_add(&r->evidence, record);
}

static void check_found(struct releases *r, const struct monrec_item *item)
{
	const struct monrec_record *record = &item->record;
	const struct monrec_layout *layout = monrec_layout(record->domain, record->number);
	char text[MONREC_RELEASES_TEXT];
	uint32_t len;
	const uint32_t other = monrec_evidence_conflict(&r->evidence, record, &len);

	if (!other)
		return;
	if (!r->contradicted) {
		r->before = r->found;
		begin_complaint(r, item, other);
		fprintf(stderr, "and %" PRIu32 " in the data before, which are of %s: these are data of "
			"two releases; read those of each by themselves\n", len,
			monrec_releases_text(r->found, text));
	}
	/* One record may be damaged; two types are not, and D1R4 begins the data of a system. */
	if ((record->domain == 1 && record->number == MTRSYS) ||
	    (r->conflict && r->conflict != layout))
		begin_anew(r, record);
	else
		r->conflict = layout;
}

void releases_note(struct releases *r, const struct monrec_item *item)
{
	if (item->kind != MONREC_RECORD)
		return;
	if (r->given) {
		check_given(r, item);
		r->found = monrec_release_bit(r->given);
		return;
	}
	check_found(r, item);
	monrec_evidence_add(&r->evidence, &item->record);
	r->found = monrec_evidence_releases(&r->evidence);
}

void releases_set(struct releases *r, struct monrec_record *record)
{
	if (record->domain >= MONREC_DOMAINS || record->number >= MONREC_NUMBERS)
		return;
	if (r->layout[record->domain][record->number].len != record->len ||
	    r->layout[record->domain][record->number].found != r->found) {
		r->layout[record->domain][record->number].len = record->len;
		r->layout[record->domain][record->number].found = r->found;
		r->layout[record->domain][record->number].release =
			(uint16_t)monrec_record_release(record, r->found);
	}
	record->release = r->layout[record->domain][record->number].release;
}

uint32_t releases_all(const struct releases *r)
{
	return r ? r->before | r->found : 0;
}

/* Of a release of which little is known, as of the newest ones, no length may speak. */
static void print_others(const struct releases *r, FILE *out)
{
	const uint32_t others = monrec_evidence_possible(&r->evidence) & ~r->found;
	char text[MONREC_RELEASES_TEXT];

	if (others && !r->before)
		fprintf(out, "; %s not excluded", monrec_releases_text(others, text));
	fputc('\n', out);
}

void releases_print(const struct releases *r, FILE *out)
{
	char text[MONREC_RELEASES_TEXT], before[MONREC_RELEASES_TEXT];

	if (r->given) {
		fprintf(out, "z/VM %s, as given\n",
			monrec_releases_text(monrec_release_bit(r->given), text));
		return;
	}
	monrec_releases_text(r->found, text);
	if (!r->found)
		fputs("z/VM's release is not known: no record has a length that tells it", out);
	else if (r->before)
		fprintf(out, "z/VM %s, then %s, by the lengths of records",
			monrec_releases_text(r->before, before), text);
	else
		fprintf(out, "z/VM %s, by the lengths of %u type%s of records", text,
			r->evidence.types, r->evidence.types == 1 ? "" : "s");
	if (r->found)
		print_others(r, out);
	else
		fputc('\n', out);
}
