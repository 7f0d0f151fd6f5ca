/* SPDX-License-Identifier: MIT */
/* monread: what there was. */
#include "monread.h"

#include <inttypes.h>

void tally_item(struct tally *tally, const struct monrec_item *item)
{
	switch (item->kind) {
	case MONREC_SET_END:
		tally->sets++;
		break;
	case MONREC_SET_LOST:
		tally->lost++;
		break;
	case MONREC_OVERFLOW:
		tally->overflows++;
		break;
	case MONREC_ELEMENT:
		tally->elements++;
		break;
	case MONREC_RECORD:
		tally->records++;
		tally->bytes += item->record.len;
		break;
	case MONREC_VIOLATION:
		tally->violations++;
		tally->broken[item->rule]++;
		break;
	default:
		break;
	}
}

void tally_print(const struct tally *tally, FILE *out)
{
	fprintf(out, "%" PRIu64 " sets complete, %" PRIu64 " lost, %" PRIu64 " overflows; %" PRIu64
		" elements, %" PRIu64 " records, %" PRIu64 " bytes of records; %" PRIu64
		" violations\n", tally->sets, tally->lost, tally->overflows, tally->elements,
		tally->records, tally->bytes, tally->violations);
	if (tally->severs)
		fprintf(out, "%8" PRIu64 " times CP severed, and the device was opened anew\n",
			tally->severs);
	for (unsigned int rule = 0; rule < MONREC_RULES; rule++)
		if (tally->broken[rule])
			fprintf(out, "%8" PRIu64 " %s: %s\n", tally->broken[rule],
				monrec_rule_name(rule), monrec_rule_text(rule));
}
