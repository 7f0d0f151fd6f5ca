/* SPDX-License-Identifier: MIT */
/* The tables of the catalogue; finding fields; names of their values. */
#include "catalogue_private.h"
#include "monrec_private.h"

#include <assert.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct catalogue_domain *const domains[] = {
	&catalogue_system, &catalogue_monitor, &catalogue_scheduler, &catalogue_storage,
	&catalogue_user, &catalogue_processor, &catalogue_io, &catalogue_seeks,
	&catalogue_network, &catalogue_isfc, &catalogue_appldata, &catalogue_ssi,
};
static_assert(COUNT(domains) == MONREC_DOMAINS, "a table for every domain");

/* MRRECHDR */
static const struct monrec_field header_fields[] = {
	SEEN(420, 750, MRHDRLEN, 0, 2, UNSIGNED, GAUGE, BYTES,
	     "length of the record, header included"),
	SEEN(420, 750, MRHDRZER, 2, 2, UNSIGNED, ATTRIBUTE, NONE, "zero"),
	SEEN(420, 750, MRHDRDM, 4, 1, UNSIGNED, ATTRIBUTE, NONE, "domain"),
	SEEN(420, 750, MRHDRRC, 6, 2, UNSIGNED, ATTRIBUTE, NONE, "record number"),
	SEEN(420, 750, MRHDRTOD, 8, 8, TOD, ATTRIBUTE, NONE, "when the record was built"),
};

static const struct monrec_layout header = {
	.name = "RECHDR", .title = "header of every record", WHOLE(header_fields),
	LENGTHS(L(420, 750, 20)),
};

const struct monrec_layout *monrec_header(void)
{
	return &header;
}

const struct monrec_layout *monrec_table_layout(unsigned int domain, unsigned int number)
{
	const struct monrec_layout *layout;

	if (domain >= COUNT(domains) || number >= domains[domain]->count)
		return NULL;
	layout = &domains[domain]->layouts[number];
	assert(!layout->name || (layout->domain == domain && layout->number == number));
	return layout->name ? layout : NULL;
}

const struct monrec_field *monrec_field(const struct monrec_layout *layout, const char *name,
					unsigned int release)
{
	for (unsigned int i = 0; i < layout->field_count; i++) {
		const struct monrec_field *field = &layout->fields[i];

		if (field->first <= release && release <= field->last &&
		    strcasecmp(field->name, name) == 0)
			return field;
	}
	return NULL;
}

unsigned int monrec_length(const struct monrec_layout *layout, unsigned int release)
{
	for (unsigned int i = 0; i < layout->length_count; i++)
		if (layout->lengths[i].first <= release && release <= layout->lengths[i].last)
			return layout->lengths[i].len;
	return 0;
}

#define NAME_OF(value, names) ((value) < COUNT(names) ? (names)[value] : NULL)

const char *monrec_domain_name(unsigned int domain)
{
	static const char *const names[] = {
		"system", "monitor", "scheduler", "storage", "user", "processor",
		"io", "seeks", "network", "isfc", "appldata", "ssi",
	};

	static_assert(COUNT(names) == MONREC_DOMAINS, "a name for every domain");
	return NAME_OF(domain, names);
}

const char *monrec_type_name(unsigned int type)
{
	static const char *const names[] = {
		[MONREC_UNSIGNED] = "unsigned", [MONREC_SIGNED] = "signed",
		[MONREC_BITS] = "bits", [MONREC_BYTES] = "bytes", [MONREC_TEXT] = "text",
		[MONREC_TOD] = "tod", [MONREC_DURATION] = "duration",
	};

	return NAME_OF(type, names);
}

const char *monrec_nature_name(unsigned int nature)
{
	static const char *const names[] = {
		[MONREC_UNSTATED] = "unstated", [MONREC_COUNTER] = "counter",
		[MONREC_GAUGE] = "gauge", [MONREC_ATTRIBUTE] = "attribute",
	};

	return NAME_OF(nature, names);
}

const char *monrec_unit_name(unsigned int unit)
{
	static const char *const names[] = {
		[MONREC_UNIT_UNKNOWN] = "unknown", [MONREC_UNIT_NONE] = "none",
		[MONREC_UNIT_TIMES] = "times", [MONREC_UNIT_USERS] = "users",
		[MONREC_UNIT_RECORDS] = "records", [MONREC_UNIT_BLOCKS] = "blocks",
		[MONREC_UNIT_PAGES] = "pages", [MONREC_UNIT_FRAMES] = "frames",
		[MONREC_UNIT_BYTES] = "bytes", [MONREC_UNIT_SECONDS] = "s",
		[MONREC_UNIT_CENTISECONDS] = "1/100 s", [MONREC_UNIT_MILLISECONDS] = "ms",
		[MONREC_UNIT_TOD_UNITS] = "1/4096 µs",
	};

	return NAME_OF(unit, names);
}

const char *monrec_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[MONREC_ANY] = "any", [MONREC_SAMPLE] = "sample",
		[MONREC_SAMPLE_CONFIG] = "sample-config", [MONREC_EVENT] = "event",
		[MONREC_EVENT_CONFIG] = "event-config",
	};

	return NAME_OF(kind, names);
}

const char *monrec_source_name(unsigned int source)
{
	static const char *const names[] = {
		[MONREC_IBM] = "ibm", [MONREC_ZPMD] = "zpmd", [MONREC_SAME] = "same",
	};

	return NAME_OF(source, names);
}

const char *monrec_source_text(unsigned int source)
{
	static const char *const texts[] = {
		[MONREC_IBM] = "IBM, z/VM Monitor Records: the record's pages below "
			"https://www.vm.ibm.com/pubs/ and "
			"https://www.ibm.com/support/pages/zvm/pubs/, mon440 for z/VM 4.4; "
			"the beginning of each page, which is what was at hand; of 7.4 and 7.5 also the "
			"lists of changed records, so far as they were: a record that is not among them "
			"is as in the release before",
		[MONREC_ZPMD] = "pak-center/zpmd, src/v53_records.h "
			"(https://github.com/pak-center/zpmd): members declared for z/VM 5.3, "
			"their lengths added up without padding; D6R3, D10R1 and D10R2 on its "
			"branch v1.0.0-alpha1",
		[MONREC_SAME] = "concluded: the record has the same length as in the release before, whose "
			"page shows the field",
	};

	return NAME_OF(source, texts);
}
