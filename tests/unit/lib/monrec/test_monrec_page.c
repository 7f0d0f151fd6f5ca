/* SPDX-License-Identifier: MIT */
/* libmonrec: layouts out of IBM's pages; these here are of the same form, with places of their own. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "monrec.h"

static char page[8192], err[256];

static void setup(void)
{
	page[0] = '\0';
}

static void teardown(void)
{
	monrec_forget_pages();
}

CASE("page", setup, teardown);

static void add(const char *text)
{
	ck_assert_uint_lt(strlen(page) + strlen(text), sizeof(page));
	strcat(page, text);
}

static const char prolog[] =
	" DSECT NAME - USEACT\n FUNCTION - Map a Monitor record.\n NAME - MRUSEACT\n"
	" DESCRIPTIVE NAME - Monitor Sample Record\n"
	"                    Domain 4 - User Domain\n"
	"                    Record 3 - User Activity Data\n"
	" NOTE - Others are in MRUSEDTC (Domain 4, Record 6).\n"
	"Offsets\nDec  Hex  Type        Len  Name (Dim)             Description\n \n";
static const char fields[] =
	"   0   0  Structure   508  USEACT                 Start of monitor record\n"
	"   0   0  Character     0  USEACT_MRHDR           Record header. See MRRECHDR\n"
	"   0   0  Unsigned      2  MRHDRLEN               record length in bytes\n"
	"  20  14  Character     8  USEACT_VMDUSER         Userid\n"
	"  28  1C  Unsigned      2  USEACT_VMDCPUAD        Processor ID/CPU address of\n"
	"                                                  virtual processor\n"
	"  30  1E  Bitstring     1  USEACT_VMDMODE         Guest machine mode\n"
	"          1... ....        USEACT_CALMESA         ESA architecture\n"
	"  31  1F  Unsigned      1  *                      reserved\n"
	"  40  28  Bitstring     8  USEACT_VMDTTIME        time\n"
	"  48  30  Signed        4  USEACT_HFDSVM (4)      an array\n"
	" 504 1F8  Unsigned      4  USEACT_LAST            the last one\n"
	" 508 1FC  Character     0  USEACT_END\n";
static const char end[] = "This information is based on z/VM V6R2.0.\nLast updated\n";

static unsigned int add_page(void)
{
	return monrec_add_page(page, strlen(page), err, sizeof(err));
}

static void ck_field(const char *name, unsigned int release, unsigned int offset, unsigned int len,
		     unsigned int type)
{
	const struct monrec_field *field = monrec_field(monrec_layout(4, 3), name, release);

	ck_assert_msg(field != NULL, "%s in %u", name, release);
	ck_assert_uint_eq(field->offset, offset);
	ck_assert_uint_eq(field->len, len);
	ck_assert_uint_eq(field->type, type);
}

/* Once as text, once as HTML with what browsers save. */
TEST_LOOP(of_a_page, 0, 2)
{
	const struct monrec_layout *layout, *found = NULL;
	unsigned int seen = 0;

	add(_i ? "<HTML><BODY><PRE>\r\n<B>" : "");
	add(prolog);
	add(_i ? "</B><A\nHREF=\"#x\">" : "");
	add(fields);
	add(_i ? " 100  64  Unsigned&nbsp; 2  <a name=\"q\">USEACT</a>_RDEVDEV  &lt;a device&gt;\n" :
		 " 100  64  Unsigned      2  USEACT_RDEVDEV  <a device>\n");
	add(end);
	ck_assert_msg(add_page() == 620, "%s", err);
	layout = monrec_layout(4, 3);
	ck_assert_str_eq(layout->name, "USEACT");
	ck_assert_uint_eq(layout->kind, MONREC_SAMPLE);
	ck_assert_uint_eq(monrec_length(layout, 620), 508);
	/* Of other releases it is as it was. */
	ck_assert_uint_eq(monrec_length(layout, 610), 440);
	ck_field("VMDUSER", 610, 20, 8, MONREC_TEXT);
	ck_assert_ptr_null(monrec_field(layout, "VMDTTIME", 610));
	ck_field("VMDUSER", 620, 20, 8, MONREC_TEXT);
	ck_field("VMDTTIME", 620, 40, 8, MONREC_UNSIGNED);
	ck_field("VMDMODE", 620, 30, 1, MONREC_BITS);
	ck_field("HFDSVM", 620, 48, 4, MONREC_SIGNED);
	ck_field("LAST", 620, 504, 4, MONREC_UNSIGNED);
	ck_field("RDEVDEV", 620, 100, 2, MONREC_UNSIGNED);
	for (unsigned int i = 0; i < layout->field_count; i++)
		seen += layout->fields[i].first <= 620 && 620 <= layout->fields[i].last;
	ck_assert_uint_eq(seen, 7);
	/* What goes through all finds it, too. */
	while ((found = monrec_layout_next(found)) && found != layout)
		;
	ck_assert_ptr_eq(found, layout);
	monrec_forget_pages();
	ck_assert_ptr_null(monrec_field(monrec_layout(4, 3), "VMDTTIME", 620));
	ck_assert_ptr_nonnull(monrec_field(monrec_layout(4, 3), "VMDSLIST", 620));
}

/* A record that the catalogue does not have; data follow behind its fields. */
TEST(of_another_record)
{
	add(" DSECT NAME - NEWONE\n DESCRIPTIVE NAME - Monitor Event Record\n Domain  4 - User\n"
	    " Record 63- Something\n"
	    " 0 0 Structure 24+ NEWONE\n 20 14 Unsigned 4 NEWONE_COUNT\n"
	    "This information is based on z/VM V7R3.0.\n");
	ck_assert_msg(add_page() == 730, "%s", err);
	ck_assert_str_eq(monrec_layout(4, 63)->name, "NEWONE");
	ck_assert_uint_eq(monrec_layout(4, 63)->kind, MONREC_EVENT);
	ck_assert(monrec_layout(4, 63)->variable);
	ck_assert_ptr_nonnull(monrec_field(monrec_layout(4, 63), "COUNT", 730));
}

static void ck_refused(const char *why)
{
	ck_assert_uint_eq(add_page(), 0);
	ck_assert_msg(strstr(err, why) != NULL, "%s", err);
	ck_assert_ptr_null(monrec_field(monrec_layout(4, 3), "VMDTTIME", 620));
}

TEST(refused)
{
	static const char of_no_release[] = "based on z/VM V9R9.0.\n";

	ck_refused("it has no numbers of domain and record");
	add(prolog);
	ck_refused("it has no length of the record");
	add(fields);
	ck_refused("on which release");
	add(of_no_release);
	ck_refused("on which release");
	/* The offsets disagree. */
	setup();
	add(prolog);
	add("  20  15  Character     8  USEACT_VMDUSER\n 0 0 Structure 508 USEACT\n");
	add(end);
	ck_refused("it has no lines of fields");
	setup();
	add(prolog);
	add(" 0 0 Structure 40 USEACT\n  40  28  Bitstring  8  USEACT_VMDTTIME\n");
	add(end);
	ck_refused("USEACT_VMDTTIME ends beyond the 40 bytes of the record");
}

/* Every beginning of a page, and one with bytes of all kinds: nothing is read beyond it. */
TEST(cut)
{
	add(prolog);
	add(fields);
	add(end);
	for (size_t len = 0; len < strlen(page); len++) {
		char *copy = malloc(len + 1);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, page, len);
		monrec_add_page(copy, len, err, sizeof(err));
		monrec_forget_pages();
		free(copy);
	}
	for (unsigned int i = 0; i < sizeof(page) - 1; i++)
		page[i] = (char)(i * 37 + i / 256);
	monrec_add_page(page, sizeof(page) - 1, err, sizeof(err));
}

/* More pages than there is room for, the last of a record being that which counts. */
TEST(many)
{
	add(prolog);
	add(fields);
	add(end);
	for (unsigned int i = 0; i < 64; i++)
		ck_assert_uint_eq(add_page(), 620);
	ck_assert_uint_eq(add_page(), 0);
	ck_assert_str_eq(err, "there are 64 pages already");
}
