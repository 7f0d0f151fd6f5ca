/* SPDX-License-Identifier: MIT */
/*
 * From rows of names to offsets in the release that the model has.
 *
 * Where no source tells a length or an offset in that release, that of the
 * nearest release is taken, the earlier one if two are as near.  A field that
 * would then overlap one already placed, or reach beyond the record, is left out.
 */
#include "model_private.h"
#include "bytes.h"
#include "smaller.h"

static unsigned int distance(unsigned int release, unsigned int first, unsigned int last)
{
	if (release < first)
		return 2 * (first - release) + 1;
	return 2 * ((unsigned int)larger(release, last) - last);
}

static uint16_t nearest_length(const struct monrec_layout *layout, unsigned int release)
{
	const struct monrec_length *best = NULL;

	for (unsigned int i = 0; i < layout->length_count; i++) {
		const struct monrec_length *one = &layout->lengths[i];

		if (!best || distance(release, one->first, one->last) <
				     distance(release, best->first, best->last))
			best = one;
	}
	return best ? best->len : 0;
}

static const struct monrec_field *nearest_field(const struct monrec_layout *layout,
						const char *name, unsigned int release)
{
	const struct monrec_field *best = NULL;

	for (unsigned int i = 0; i < layout->field_count; i++) {
		const struct monrec_field *one = &layout->fields[i];

		if (strcmp(one->name, name) == 0 &&
		    (!best || distance(release, one->first, one->last) <
				      distance(release, best->first, best->last)))
			best = one;
	}
	return best;
}

static bool is_free(const struct plan *plan, uint32_t offset, uint32_t width)
{
	for (uint32_t i = 0; i < plan->puts; i++)
		if (offset < plan->put[i].offset + (uint32_t)plan->put[i].width &&
		    plan->put[i].offset < offset + width)
			return false;
	return offset >= RECORD_HEADER_SIZE && offset + width <= plan->len;
}

static void place(struct plan *plan, uint32_t offset, uint32_t width, uint16_t from)
{
	/* Of longer fields, all of them text, the first 8 bytes; X'00' is no character. */
	const uint32_t put = (uint32_t)smaller(width, 8);

	if (!is_free(plan, offset, put))
		return;
	assert(plan->puts < MAX_PUTS);
	plan->put[plan->puts++] = (struct put){ (uint16_t)offset, from, (uint8_t)put };
}

/* Fields known in the release first: nothing is to take their place. */
static void place_fields(struct plan *plan, const struct row *row,
			 const struct monrec_layout *layout, unsigned int release, bool known)
{
	for (uint32_t i = 0; i < row->bindings; i++) {
		const struct binding *b = &row->binding[i];
		const struct monrec_field *field;

		if (!b->field) {
			if (known)
				place(plan, b->offset, b->width, b->from);
			continue;
		}
		field = nearest_field(layout, b->field, release);
		assert(field || b->of_page);
		if (!field)
			continue;
		if (known == (field->first <= release && release <= field->last))
			place(plan, field->offset, field->len, b->from);
	}
}

static void plan_make(struct plan *plan, const struct row *row, unsigned int release)
{
	const struct monrec_layout *layout = monrec_layout(row->domain, row->number);
	uint16_t len;

	assert(layout);
	len = nearest_length(layout, release);
	*plan = (struct plan){
		.domain = row->domain,
		.number = row->number,
		.each = row->each,
		.need = row->event ? row->event : row->need,
		.len = (uint16_t)(len + row->len),
	};
	assert(plan->len >= RECORD_HEADER_SIZE && plan->len <= RECORD_MAX_SIZE);
	place_fields(plan, row, layout, release, true);
	place_fields(plan, row, layout, release, false);
}

void plans_make(struct plans *plans, const struct rows *rows, unsigned int release)
{
	assert(rows->count <= MAX_ROWS);
	plans->count = rows->count;
	for (uint32_t i = 0; i < rows->count; i++)
		plan_make(&plans->plan[i], &rows->row[i], release);
}

/* A counter that has outgrown its field wraps: what is above it is left out. */
void plan_fill(uint8_t *record, const struct plan *plan, const void *subject)
{
	for (uint32_t i = 0; i < plan->puts; i++) {
		const struct put *put = &plan->put[i];
		uint8_t bytes[8];
		uint64_t value;

		memcpy(&value, (const uint8_t *)subject + put->from, sizeof(value));
		put_be64(bytes, value);
		memcpy(record + put->offset, bytes + sizeof(bytes) - put->width, put->width);
	}
}
