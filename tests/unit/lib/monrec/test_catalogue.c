/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include "monrec_catalogue.h"
#include "record_header.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
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
	ck_assert_msg(FIRST_RELEASE <= first && first <= last && last <= LAST_RELEASE &&
			      monrec_release_known(first) && monrec_release_known(last),
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

TEST(fields)
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

TEST(lengths)
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

/* A layout marked as complete has the length and all fields of the reference. */
TEST(complete)
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

TEST(names)
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

TEST(lookup)
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

/* Any pair of numbers gives the layout that has them, or none, even beyond the last. */
TEST(numbers)
{
	unsigned int found = 0, all = 0;

	for (unsigned int domain = 0; domain <= UINT8_MAX; domain++)
		for (unsigned int number = 0; number < 200; number++) {
			layout = monrec_layout(domain, number);
			if (!layout)
				continue;
			ck_assert_uint_eq(layout->domain, domain);
			ck_assert_uint_eq(layout->number, number);
			found++;
		}
	for (layout = monrec_layout_next(NULL); layout; layout = monrec_layout_next(layout))
		all++;
	ck_assert_uint_eq(found, all);
}

/* Names, offsets and lengths of z/VM 5.3 are those that zpmd declares; sums of them are kept. */
static const struct {
	unsigned int domain, number;
	const char *name;
	unsigned int members, len;
	uint32_t sum;
} zpmd[] = {
#include "zpmd_members.h"
};

static void add_text(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_text(char *text, size_t size, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	ck_assert_int_lt(vsnprintf(text + used, size - used, format, args), (int)(size - used));
	va_end(args);
}

static int by_offset(const void *a, const void *b)
{
	const struct monrec_field *const *one = a, *const *other = b;

	if ((*one)->offset != (*other)->offset)
		return (*one)->offset < (*other)->offset ? -1 : 1;
	return strcmp((*one)->name, (*other)->name);
}

/* FNV-1a of the members in 5.3, as zpmd_members.py adds them up. */
static uint32_t sum_of(unsigned int *members, char *text, size_t size)
{
	const struct monrec_field *sorted[256] = { NULL };
	uint32_t sum = 0x811c9dc5;

	*members = 0;
	text[0] = '\0';
	for (unsigned int i = 0; i < layout->field_count; i++)
		if (layout->fields[i].first <= 530 && 530 <= layout->fields[i].last)
			sorted[(*members)++] = &layout->fields[i];
	qsort(sorted, *members, sizeof(sorted[0]), by_offset);
	for (unsigned int i = 0; i < *members; i++)
		add_text(text, size, "%s %u %u\n", sorted[i]->name, sorted[i]->offset,
			 sorted[i]->len);
	for (const char *c = text; *c; c++)
		sum = (sum ^ (uint8_t)*c) * 0x01000193;
	return sum;
}

TEST(members_of_5_3)
{
	for (unsigned int i = 0; i < sizeof(zpmd) / sizeof(zpmd[0]); i++) {
		static char text[16384];
		unsigned int members;
		uint32_t sum;

		layout = monrec_layout(zpmd[i].domain, zpmd[i].number);
		ck_assert_msg(layout != NULL, "no D%uR%u", zpmd[i].domain, zpmd[i].number);
		ck_assert_str_eq(layout->name, zpmd[i].name);
		sum = sum_of(&members, text, sizeof(text));
		ck_assert_msg(members == zpmd[i].members && sum == zpmd[i].sum,
			      "D%uR%u is another in zpmd than here:\n%s", zpmd[i].domain,
			      zpmd[i].number, text);
		ck_assert_uint_eq(monrec_length(layout, 530), zpmd[i].len);
	}
}

/*
 * What IBM's pages show: releases and length of the record, releases, offset and length of fields;
 * nothing else is said to be from there.
 */
static const struct {
	unsigned int domain, number;
	const char *name, *lengths, *fields;
} ibm[] = {
	{ 0, 1, "SYTSYP", "420-510=96 530-750=116",
	  "PFXCPUAD 420-750 20/2, PLSABNCT 440-750 24/4, PLSDIAGT 440-750 28/4, "
	  "PLSPRVIS 440-750 32/4, PLSEXTNX 440-750 36/4, PLSEXTNC 440-750 40/4, "
	  "PLSMCHCT 440-530 44/4, PLSCTSS 440-530 48/4, PLSCTRS 440-530 52/4" },
	{ 0, 2, "SYTPRP", "430-510=104 540-540=124 610-620=140 640-640=352",
	  "PFXCPUAD 430-640 20/2, PLSCUHAF 430-640 22/2, PFXPRBTM 510-610 24/8, "
	  "PFXUTIME 510-640 32/8, PFXTMSYS 510-610 40/8" },
	{ 0, 3, "SYTRSG", "510-510=128 520-520=224",
	  "RSAFSTOR 510-510 20/4" },
	{ 0, 4, "SYTRSP", "530-750=72",
	  "PFXCPUAD 530-750 20/2" },
	{ 0, 5, "SYTXSP", "", "" },
	{ 0, 6, "SYTASG", "730-750=112", "" },
	{ 0, 7, "SYTSHS", "730-750=72", "" },
	{ 0, 8, "SYTUSR", "610-610=100 730-750=108",
	  "SYSUSRS 610-750 20/4, SRMCDORM 610-750 24/4" },
	{ 0, 9, "SYTCPC", "", "" },
	{ 0, 10, "SYTSCG", "", "" },
	{ 0, 12, "SYTUWT", "430-520=80 610-720=180", "" },
	{ 0, 13, "SYTSCP", "730-750=56", "" },
	{ 0, 15, "SYTCUG", "420-420=28 430-620=56", "" },
	{ 0, 16, "SYTCUP", "", "" },
	{ 0, 17, "SYTCUM", "", "" },
	{ 0, 18, "SYTCPM", "", "" },
	{ 0, 19, "SYTSYG", "620-620=144", "" },
	{ 0, 20, "SYTEPM", "", "" },
	{ 0, 21, "SYTSXG", "730-730=96",
	  "SXSSIZE 530-730 20/4" },
	{ 0, 22, "SYTSXP", "530-730=88", "" },
	{ 0, 24, "SYTSPT", "", "" },
	{ 1, 1, "MTREPR", "440-530=24 710-730=52",
	  "EDOMAINS 440-730 20/1, CONFIG 440-530 22/2" },
	{ 1, 2, "MTRECM", "730-730=24", "" },
	{ 1, 3, "MTRSUS", "530-730=24",
	  "LOSTRCCT 530-730 20/4" },
	{ 1, 4, "MTRSYS", "420-420=108 430-440=176 510-530=184 540-610=420 620-620=428",
	  "HCPCPEPP 420-620 20/8, HCPCPEID 530-620 28/8" },
	{ 1, 6, "MTRDEV", "730-730=320", "" },
	{ 1, 7, "MTRMEM", "440-440=100 730-730=326",
	  "RSASTORE 440-730 20/4" },
	{ 1, 8, "MTRPAG", "", "" },
	{ 1, 9, "MTRSPR", "430-540=36 620-640=48 750-750=52",
	  "INTERVAL 430-640 20/4, HFRATE 530-640 24/4, SDOMAINS 530-640 28/1, "
	  "HDOMAINS 430-540 30/1, CONFIG 430-540 32/2" },
	{ 1, 10, "MTRSCM", "530-730=32",
	  "CALTOD 530-730 20/8, CALBYCT 530-730 28/4" },
	{ 1, 11, "MTREND", "730-730=20", "" },
	{ 1, 12, "MTRSOS", "630-630=20", "" },
	{ 1, 13, "MTREOF", "730-730=20", "" },
	{ 1, 14, "MTRDDR", "430-750=28",
	  "PROFILE 430-730 20/1, DMNUMBER 620-730 21/1" },
	{ 1, 15, "MTRUSR", "540-540=204 620-620=224 730-730=348",
	  "VMDUSER 540-730 20/8, VMDCPUAD 540-540 28/2" },
	{ 1, 16, "MTRSCH", "", "" },
	{ 1, 19, "MTRQDC", "", "" },
	{ 1, 21, "MTRMCC", "610-610=36 620-750=48",
	  "SYSGSTBY 610-750 20/8, SYSGSTRS 610-750 28/8, RSAGOFFL 620-620 36/8, "
	  "RSAOFFLN 620-620 44/4" },
	{ 1, 23, "MTRISC", "", "" },
	{ 1, 24, "MTRILC", "740-750=96", "" },
	{ 1, 25, "MTRSSI", "", "" },
	{ 1, 28, "MTRCPC", "", "" },
	{ 1, 29, "MTRCPD", "", "" },
	{ 1, 31, "MTRSRV", "750-750=28",
	  "SRVOFF 750-750 20/2" },
	{ 1, 32, "MTRCHC", "740-750=24", "CHACHPID 740-750 20/1" },
	{ 1, 36, "MTRAZN", "", "" },
	{ 1, 37, "MTRFAC", "730-730=36", "VMDUSER 730-730 20/8" },
	{ 2, 7, "SCLSRM", "", "" },
	{ 2, 8, "SCLSTP", "", "" },
	{ 3, 1, "STORSG", "620-620=464 630-630=780 640-640=844 730-730=952",
	  "CALSSUBT 530-640 20/4, RSASAVFR 530-640 28/4" },
	{ 3, 2, "STORSP", "630-630=720 730-730=760",
	  "PFXCPUAD 530-630 20/2" },
	{ 3, 3, "STOSHR", "740-750=120", "" },
	{ 3, 4, "STOASP", "750-750=260", "" },
	{ 3, 21, "STOADD", "", "" },
	{ 3, 22, "STORST", "730-750=56", "" },
	{ 3, 24, "STORCP", "", "" },
	{ 4, 1, "USELON", "430-530=96 540-540=176 620-730=180",
	  "VMDUSER 430-640 20/8, VMDCPUAD 430-640 28/2, VMDMODE 430-640 30/1, "
	  "CALSTAT 440-620 31/1" },
	{ 4, 2, "USELOF", "430-430=284 540-540=444 620-620=496",
	  "VMDUSER 430-620 20/8, VMDCPUAD 430-620 28/2, VMDMODE 430-620 30/1, "
	  "CALMODE 540-620 31/1" },
	{ 4, 3, "USEACT", "610-610=440 620-620=508",
	  "VMDUSER 610-620 20/8, VMDCPUAD 610-620 28/2, VMDMODE 610-620 30/1, "
	  "CALMODE 620-620 31/1, VMDSLIST 620-620 32/1" },
	{ 4, 4, "USEINT", "510-510=228", "" },
	{ 4, 8, "USETRE", "730-730=60", "VMDUSER 730-730 20/8" },
	{ 4, 9, "USEATE", "620-620=352", "" },
	{ 4, 13, "USECPC", "720-720=48", "" },
	{ 4, 14, "USESCP", "730-750=132",
	  "VMDUSER 730-750 20/8, SCPTYPE 730-750 28/8, SCPNAME 730-750 36/8, "
	  "SCPPLEX 730-750 44/8, CALLEVEL 730-750 52/16, SCPLEVEL 730-750 68/64" },
	{ 5, 1, "PRCVON", "530-750=32",
	  "PFXCPUAD 530-750 20/2, PFXIDMDL 530-750 22/2" },
	{ 5, 2, "PRCVOF", "430-530=24 740-750=28",
	  "PFXCPUAD 430-750 20/2, VOFFRSON 740-750 22/1" },
	{ 5, 3, "PRCPRP", "430-520=124 530-750=384",
	  "PFXCPUAD 430-710 20/2, PLSSTLNU 430-520 22/62" },
	{ 5, 12, "PRCDIA", "530-750=800", "" },
	{ 5, 15, "PRCDSV", "", "" },
	{ 5, 16, "PRCPUP", "", "" },
	{ 5, 17, "PRCRCD", "", "" },
	{ 5, 18, "PRCDHF", "", "" },
	{ 6, 1, "IODVON", "730-730=292", "" },
	{ 6, 2, "IODVOF", "520-610=28",
	  "RDEVSID 520-610 20/4, RDEVDEV 520-610 24/2" },
	{ 6, 3, "IODDEV", "", "" },
	{ 6, 4, "IODCAD", "", "" },
	{ 6, 5, "IODATD", "530-730=44", "" },
	{ 6, 9, "IODATS", "", "" },
	{ 6, 11, "IODSON", "", "" },
	{ 6, 13, "IODMON", "430-730=28",
	  "RDEVSID 430-730 20/4, RDEVDEV 430-730 24/2" },
	{ 6, 14, "IODMOF", "430-430=52 440-530=68 740-750=76",
	  "RDEVSID 430-750 20/4, RDEVDEV 430-750 24/2" },
	{ 6, 15, "IODDDV", "530-750=28",
	  "RDEVSID 530-750 20/4, RDEVDEV 530-750 24/2" },
	{ 6, 16, "IODMDV", "710-730=36",
	  "RDEVSID 710-730 20/4, RDEVDEV 710-730 24/2, RDEVPIM 710-720 26/1, "
	  "RDEVPAM 710-720 27/1, RDEVCHPS 710-720 28/8" },
	{ 6, 24, "IODSZI", "730-730=396", "" },
	{ 6, 31, "IODMDE", "", "" },
	{ 6, 51, "IODFCA", "730-730=24", "FCARDEV 730-730 20/2" },
	{ 8, 2, "VNDLSU", "610-610=60",
	  "LANOWNER 530-610 20/8" },
	{ 8, 3, "VNDLSD", "530-540=56 630-640=60",
	  "LANOWNER 530-640 20/8, LANNAME 530-640 28/8, NICOWNER 530-640 36/8, "
	  "NICBASE 530-640 44/2, NICTYPE 630-640 46/1, LANTYPE 630-640 47/1, "
	  "NICMGPOR 530-540 48/4, NICMGIFI 530-540 52/4" },
	{ 9, 1, "ISFISC", "", "" },
	{ 9, 2, "ISFISA", "", "" },
	{ 10, 1, "APLEDT", "530-720=52",
	  "CALDATOF 530-710 20/2, CALDATLN 530-710 22/2" },
	{ 10, 2, "APLSDT", "440-640=52", "" },
	{ 11, 1, "SSISCS", "", "" },
	{ 11, 2, "SSISMI", "", "" },
	{ 11, 3, "SSISCH", "", "" },
	{ 11, 4, "SSISLT", "", "" },
};

TEST(pages_of_ibm)
{
	for (unsigned int i = 0; i < sizeof(ibm) / sizeof(ibm[0]); i++) {
		char told[128] = "", shown[1024] = "";

		layout = monrec_layout(ibm[i].domain, ibm[i].number);
		ck_assert_msg(layout != NULL, "no %s", ibm[i].name);
		ck_assert_str_eq(layout->name, ibm[i].name);
		for (unsigned int k = 0; k < layout->length_count; k++)
			if (layout->lengths[k].source == MONREC_IBM)
				add_text(told, sizeof(told), "%s%u-%u=%u", told[0] ? " " : "",
					 layout->lengths[k].first, layout->lengths[k].last,
					 layout->lengths[k].len);
		for (unsigned int k = 0; k < layout->field_count; k++)
			if (layout->fields[k].source == MONREC_IBM)
				add_text(shown, sizeof(shown), "%s%s %u-%u %u/%u",
					 shown[0] ? ", " : "", layout->fields[k].name,
					 layout->fields[k].first, layout->fields[k].last,
					 layout->fields[k].offset, layout->fields[k].len);
		ck_assert_str_eq(told, ibm[i].lengths);
		ck_assert_str_eq(shown, ibm[i].fields);
	}
}

/* All there is stands in one of the two tables, or in both. */
TEST(records)
{
	for (layout = monrec_layout_next(NULL); layout; layout = monrec_layout_next(layout)) {
		bool found = false;

		for (unsigned int i = 0; i < sizeof(zpmd) / sizeof(zpmd[0]); i++)
			found |= strcmp(zpmd[i].name, layout->name) == 0;
		for (unsigned int i = 0; i < sizeof(ibm) / sizeof(ibm[0]); i++)
			found |= strcmp(ibm[i].name, layout->name) == 0;
		ck_assert_msg(found, "%s is not in a table of this test", layout->name);
	}
}

/* From 4.1 to 5.4, 6.1 to 6.4, 7.1 to 7.5. */
TEST(releases)
{
	static const unsigned int last[] = { 0, 0, 0, 0, 4, 4, 4, 5 };

	for (unsigned int release = 0; release < 2000; release++) {
		const unsigned int version = release / 100, level = release / 10 % 10;
		const bool known = version >= 4 && version <= 7 && release % 10 == 0 && level >= 1 &&
				   level <= last[version];

		ck_assert_msg(monrec_release_known(release) == known, "%u", release);
	}
	ck_assert(!monrec_release_known(UINT_MAX));
}

/* The same name at two places, each in its releases. */
TEST(variants)
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

/* The writer's records agree with the catalogue. */
TEST(header)
{
	static const struct { const char *name; unsigned int offset, len; } expected[] = {
		{ "MRHDRLEN", MRHDRLEN, 2 }, { "MRHDRZER", 2, 2 }, { "MRHDRDM", MRHDRDM, 1 },
		{ "MRHDRRC", MRHDRRC, 2 }, { "MRHDRTOD", MRHDRTOD, 8 },
	};

	layout = monrec_header();
	ck_assert_uint_eq(monrec_length(layout, MONREC_REFERENCE), RECORD_HEADER_SIZE);
	ck_assert_uint_eq(layout->field_count, sizeof(expected) / sizeof(expected[0]));
	for (unsigned int i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct monrec_field *field =
			monrec_field(layout, expected[i].name, MONREC_REFERENCE);

		ck_assert_ptr_nonnull(field);
		ck_assert_uint_eq(field->offset, expected[i].offset);
		ck_assert_uint_eq(field->len, expected[i].len);
		/* Every release that is known has it. */
		ck_assert_uint_eq(field->first, FIRST_RELEASE);
		ck_assert_uint_eq(field->last, LAST_RELEASE);
	}
	ck_assert_uint_eq(layout->length_count, 1);
	ck_assert_uint_eq(layout->lengths[0].first, FIRST_RELEASE);
	ck_assert_uint_eq(layout->lengths[0].last, LAST_RELEASE);
}

/* The names of an enumeration's values, in its order; there is none behind the last. */
static void ck_names(const char *(*name)(unsigned int), const char *const *expected)
{
	unsigned int i;

	for (i = 0; expected[i]; i++)
		ck_assert_str_eq(name(i), expected[i]);
	ck_assert_ptr_null(name(i));
	ck_assert_ptr_null(name(UINT_MAX));
}

TEST(value_names)
{
	ck_names(monrec_domain_name, (const char *const[]){
		 "system", "monitor", "scheduler", "storage", "user", "processor", "io", "seeks",
		 "network", "isfc", "appldata", "ssi", NULL });
	ck_names(monrec_type_name, (const char *const[]){
		 "unsigned", "signed", "bits", "bytes", "text", "tod", "duration", NULL });
	ck_names(monrec_nature_name, (const char *const[]){
		 "unstated", "counter", "gauge", "attribute", NULL });
	ck_names(monrec_unit_name, (const char *const[]){
		 "unknown", "none", "times", "users", "records", "blocks", "pages", "frames",
		 "bytes", "s", "1/100 s", "ms", "1/4096 µs", NULL });
	ck_names(monrec_kind_name, (const char *const[]){
		 "any", "sample", "sample-config", "event", "event-config", NULL });
	ck_names(monrec_source_name, (const char *const[]){ "ibm", "zpmd", "same", NULL });
	ck_assert_ptr_nonnull(strstr(monrec_source_text(MONREC_IBM), "https://www.vm.ibm.com/pubs/"));
	ck_assert_ptr_nonnull(strstr(monrec_source_text(MONREC_ZPMD), "v53_records.h"));
	ck_assert_ptr_nonnull(strstr(monrec_source_text(MONREC_SAME), "same length"));
	ck_assert_ptr_null(monrec_source_text(3));
}
