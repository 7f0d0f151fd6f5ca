/* SPDX-License-Identifier: MIT */
/* libmonrec: no field that names somebody is overlooked. */
#include "fixture.h"

#include "monrec.h"

/* Text that names nothing of its own. */
static const char *const harmless[] = {
	"CALLEVEL", "HCPCPEID", "PROFILE", "SCPLEVEL", "SCPTYPE", "SYSABNCD", "SYSDATE", "SYSMMODL",
	"SYSMPOM", "SYSMTYPE",
};

static bool is_harmless(const char *name)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (strcmp(harmless[i], name) == 0)
			return true;
	return false;
}

static void check_field(const struct monrec_layout *layout, const struct monrec_field *field)
{
	const enum monrec_identity identity = monrec_identity(field);

	if (field->type == MONREC_TEXT)
		ck_assert_msg((identity != MONREC_ID_NONE) != is_harmless(field->name), "D%uR%u %s",
			      layout->domain, layout->number, field->name);
	if (identity == MONREC_ID_DEVICE)
		ck_assert_msg(field->len == 2, "%s has %u bytes", field->name, field->len);
	if (identity == MONREC_ID_SUBCHANNEL)
		ck_assert_msg(field->len == 4, "%s has %u bytes", field->name, field->len);
}

TEST(every_text_is_decided_on)
{
	const struct monrec_layout *layout = NULL;
	unsigned int fields = 0;

	while ((layout = monrec_layout_next(layout)))
		for (unsigned int i = 0; i < layout->field_count; i++, fields++)
			check_field(layout, &layout->fields[i]);
	ck_assert_uint_gt(fields, 1000);
}

TEST(examples)
{
	static const struct { const char *layout, *field; enum monrec_identity identity; } known[] = {
		{ "USEDFC", "VMDUSER", MONREC_ID_USER }, { "USEDFC", "VMDCPUAD", MONREC_ID_NONE },
		{ "STOASP", "CALVSER", MONREC_ID_VOLUME }, { "STOASP", "RDEVDEV", MONREC_ID_DEVICE },
		{ "STOASP", "RDEVSID", MONREC_ID_SUBCHANNEL }, { "MTRSYS", "SYSMSEQC", MONREC_ID_SERIAL },
		{ "MTRSYS", "LPARNAME", MONREC_ID_NAME },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct monrec_field *field = monrec_field(
			monrec_layout_named(known[i].layout), known[i].field, MONREC_REFERENCE);

		ck_assert_ptr_nonnull(field);
		ck_assert_int_eq(monrec_identity(field), known[i].identity);
	}
}
