/* SPDX-License-Identifier: MIT */
/* libmonrec: finding records, in pages that were added and in the tables of the catalogue. */
#include "monrec_private.h"

#include <strings.h>

const struct monrec_layout *monrec_layout(unsigned int domain, unsigned int number)
{
	const struct monrec_layout *layout = monrec_page_layout(domain, number);

	return layout ? layout : monrec_table_layout(domain, number);
}

const struct monrec_layout *monrec_layout_next(const struct monrec_layout *layout)
{
	unsigned int domain = layout ? layout->domain : 0;
	unsigned int number = layout ? layout->number + 1u : 0;

	for (; domain < MONREC_DOMAINS; domain++, number = 0)
		for (; number <= MONREC_LAST_NUMBER; number++)
			if (monrec_layout(domain, number))
				return monrec_layout(domain, number);
	return NULL;
}

const struct monrec_layout *monrec_layout_named(const char *name)
{
	const struct monrec_layout *layout = NULL;

	while ((layout = monrec_layout_next(layout)))
		if (strcasecmp(layout->name, name) == 0)
			return layout;
	return NULL;
}
