/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include "monrec_catalogue.h"
#include "record.h"

#include <ctype.h>
#include <strings.h>

#define FIRST_RELEASE 420u
#define LAST_RELEASE 750u

static const struct monrec_layout *layout;

/* The field or length is about a release that the other one is about, too. */
#define SAME_RELEASE(a, b) ((a)->first <= (b)->last && (b)->first <= (a)->last)

static void ck_name(const char *name)
{
	ck_assert_ptr_nonnull(name);
	ck_assert_uint_gt(strlen(name), 0);
	for (; *name; name++)
		ck_assert_msg(isupper(*name) || isdigit(*name) || *name == '_', "%s: %c",
			      layout->name, *name);
}

static void ck_releases(unsigned int first, unsigned int last)
{
	ck_assert_msg(FIRST_RELEASE <= first && first <= last && last <= LAST_RELEASE,
		      "%s: releases %u to %u", layout->name, first, last);
}

static void ck_type(const struct monrec_field *field)
{
	bool number = field->len == 1 || field->len == 2 || field->len == 4 || field->len == 8;
	bool good = field->len > 0 && field->type <= MONREC_DURATION;

	if (field->type == MONREC_UNSIGNED || field->type == MONREC_SIGNED)
		good = number;
	else if (field->type == MONREC_BITS)
		good = field->len <= 8;
	else if (field->type == MONREC_TOD || field->type == MONREC_DURATION)
		good = field->len == 8;
	ck_assert_msg(good, "%s_%s: type %u of %u bytes", layout->name, field->name, field->type,
		      field->len);
}

/* An attribute has no unit, a quantity has one, and nothing is half told. */
static void ck_nature(const struct monrec_field *field)
{
	bool good;

	switch ((enum monrec_nature)field->nature) {
	case MONREC_UNSTATED:
		good = field->unit == MONREC_UNIT_UNKNOWN && !field->meaning;
		break;
	case MONREC_ATTRIBUTE:
		good = field->unit == MONREC_UNIT_NONE;
		break;
	default:
		good = field->unit > MONREC_UNIT_NONE && field->meaning;
	}
	ck_assert_msg(good && monrec_nature_name(field->nature) && monrec_unit_name(field->unit),
		      "%s_%s: nature %u, unit %u", layout->name, field->name, field->nature,
		      field->unit);
}

static void ck_fits(const struct monrec_field *field)
{
	ck_assert_uint_le(field->offset + field->len, RECORD_MAX_SIZE);
	for (unsigned int i = 0; i < layout->length_count; i++) {
		const struct monrec_length *length = &layout->lengths[i];

		if (SAME_RELEASE(field, length))
			ck_assert_msg(field->offset + field->len <= length->len,
				      "%s_%s ends behind %u bytes", layout->name, field->name,
				      length->len);
	}
}

static void ck_beside(const struct monrec_field *field, const struct monrec_field *other)
{
	if (!SAME_RELEASE(field, other))
		return;
	ck_assert_msg(field->offset + field->len <= other->offset, "%s: %s overlaps %s",
		      layout->name, field->name, other->name);
	ck_assert_msg(strcasecmp(field->name, other->name) != 0, "%s: two fields %s",
		      layout->name, field->name);
}

START_TEST(fields)
{
	unsigned int count = 0;

	for (layout = monrec_layout_next(NULL); layout; layout = monrec_layout_next(layout)) {
		for (unsigned int i = 0; i < layout->field_count; i++) {
			const struct monrec_field *field = &layout->fields[i];

			ck_name(field->name);
			ck_releases(field->first, field->last);
			ck_assert_uint_ge(field->offset, RECORD_HEADER_SIZE);
			ck_type(field);
			ck_nature(field);
			ck_fits(field);
			ck_assert_ptr_nonnull(monrec_source_text(field->source));
			for (unsigned int k = i + 1; k < layout->field_count; k++)
				ck_beside(field, &layout->fields[k]);
			count++;
		}
	}
	ck_assert_uint_gt(count, 1500);
}
END_TEST

START_TEST(lengths)
{
	for (layout = monrec_layout_next(NULL); layout; layout = monrec_layout_next(layout)) {
		for (unsigned int i = 0; i < layout->length_count; i++) {
			const struct monrec_length *length = &layout->lengths[i];

			ck_releases(length->first, length->last);
			ck_assert_uint_ge(length->len, RECORD_HEADER_SIZE);
			ck_assert_uint_le(length->len, RECORD_MAX_SIZE);
			ck_assert_ptr_nonnull(monrec_source_text(length->source));
			if (i > 0)
				ck_assert_uint_gt(length->first, length[-1].last);
		}
	}
}
END_TEST

/* What is said to be complete has the length and all fields of the reference. */
START_TEST(complete)
{
	unsigned int count = 0, partial = 0;

	for (layout = monrec_layout_next(NULL); layout; layout = monrec_layout_next(layout)) {
		unsigned int known = 0;

		for (unsigned int i = 0; i < layout->field_count; i++)
			known += layout->fields[i].first <= MONREC_REFERENCE &&
				 MONREC_REFERENCE <= layout->fields[i].last;
		if (!layout->complete) {
			partial++;
			continue;
		}
		ck_assert_msg(known > 0 && monrec_length(layout, MONREC_REFERENCE) > 0,
			      "%s is not complete", layout->name);
		count++;
	}
	ck_assert_uint_gt(count, 80);
	ck_assert_uint_gt(partial, 30);
}
END_TEST

START_TEST(names)
{
	const struct monrec_layout *other;

	for (layout = monrec_layout_next(NULL); layout; layout = monrec_layout_next(layout)) {
		ck_name(layout->name);
		ck_assert_uint_eq(strlen(layout->name), 6);
		ck_assert_ptr_eq(monrec_layout(layout->domain, layout->number), layout);
		ck_assert_ptr_nonnull(monrec_kind_name(layout->kind));
		for (other = monrec_layout_next(layout); other; other = monrec_layout_next(other))
			ck_assert_str_ne(layout->name, other->name);
	}
}
END_TEST

START_TEST(lookup)
{
	const struct monrec_field *field;

	layout = monrec_layout_named("sytsyp");
	ck_assert_ptr_eq(layout, monrec_layout(0, 1));
	field = monrec_field(layout, "plsdiagt", MONREC_REFERENCE);
	ck_assert_ptr_nonnull(field);
	ck_assert_uint_eq(field->offset, 28);
	ck_assert_uint_eq(field->len, 4);
	ck_assert_uint_eq(field->nature, MONREC_COUNTER);
	ck_assert_ptr_null(monrec_field(layout, "PLSDIAGT", 420));
	ck_assert_ptr_null(monrec_field(layout, "NOSUCH", MONREC_REFERENCE));
	ck_assert_ptr_null(monrec_layout(0, 0));
	ck_assert_ptr_null(monrec_layout(0, 23));
	ck_assert_ptr_null(monrec_layout(0, 65535));
	ck_assert_ptr_null(monrec_layout(12, 1));
	ck_assert_ptr_null(monrec_layout_named("SYTSY"));
}
END_TEST

/* The same name at two places, each in its releases. */
START_TEST(variants)
{
	layout = monrec_layout_named("MTRSPR");
	ck_assert_uint_eq(monrec_length(layout, 440), 36);
	ck_assert_uint_eq(monrec_length(layout, 630), 48);
	ck_assert_uint_eq(monrec_length(layout, 750), 52);
	ck_assert_uint_eq(monrec_length(layout, 710), 0);
	layout = monrec_layout_named("PRCPRP");
	ck_assert_uint_eq(monrec_length(layout, 520), 124);
	ck_assert_uint_eq(monrec_length(layout, 530), 384);
	ck_assert_ptr_nonnull(monrec_field(layout, "PLSSTLNU", 520));
	ck_assert_ptr_null(monrec_field(layout, "PLSSTLNU", 530));
	layout = monrec_layout_named("PRCDIA");
	ck_assert_uint_eq(monrec_field(layout, "PLSDGX08", 530)->offset, 32);
	ck_assert_uint_eq(monrec_field(layout, "PLSDG3FC", 530)->offset, 792);
	ck_assert_str_eq(monrec_field(layout, "PLSDG26C", 530)->meaning, "DIAGNOSE X'26C'");
}
END_TEST

/* What the writer writes is what the catalogue says. */
START_TEST(header)
{
	static const struct { const char *name; unsigned int offset; } expected[] = {
		{ "MRHDRLEN", MRHDRLEN }, { "MRHDRDM", MRHDRDM },
		{ "MRHDRRC", MRHDRRC }, { "MRHDRTOD", MRHDRTOD },
	};

	layout = monrec_header();
	ck_assert_uint_eq(monrec_length(layout, MONREC_REFERENCE), RECORD_HEADER_SIZE);
	for (unsigned int i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct monrec_field *field =
			monrec_field(layout, expected[i].name, MONREC_REFERENCE);

		ck_assert_ptr_nonnull(field);
		ck_assert_uint_eq(field->offset, expected[i].offset);
	}
}
END_TEST

START_TEST(value_names)
{
	ck_assert_str_eq(monrec_domain_name(0), "system");
	ck_assert_str_eq(monrec_domain_name(11), "ssi");
	ck_assert_ptr_null(monrec_domain_name(12));
	ck_assert_str_eq(monrec_type_name(MONREC_DURATION), "duration");
	ck_assert_ptr_null(monrec_type_name(MONREC_DURATION + 1));
	ck_assert_str_eq(monrec_unit_name(MONREC_UNIT_TOD_UNITS), "1/4096 µs");
	ck_assert_ptr_null(monrec_unit_name(MONREC_UNIT_TOD_UNITS + 1));
	ck_assert_str_eq(monrec_nature_name(MONREC_ATTRIBUTE), "attribute");
	ck_assert_ptr_null(monrec_nature_name(MONREC_ATTRIBUTE + 1));
	ck_assert_str_eq(monrec_kind_name(MONREC_EVENT_CONFIG), "event-config");
	ck_assert_ptr_null(monrec_kind_name(MONREC_EVENT_CONFIG + 1));
	ck_assert_str_eq(monrec_source_name(MONREC_ZPMD), "zpmd");
	ck_assert_ptr_null(monrec_source_name(MONREC_ZPMD + 1));
	ck_assert_ptr_null(monrec_source_text(MONREC_ZPMD + 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("catalogue");
	TCase *tc = tcase_create("catalogue");

	tcase_add_test(tc, fields);
	tcase_add_test(tc, lengths);
	tcase_add_test(tc, complete);
	tcase_add_test(tc, names);
	tcase_add_test(tc, lookup);
	tcase_add_test(tc, variants);
	tcase_add_test(tc, header);
	tcase_add_test(tc, value_names);
	suite_add_tcase(suite, tc);
	return fx_run(suite);
}
