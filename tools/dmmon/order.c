// SPDX-License-Identifier: MIT
#include "order.h"

#include <string.h>

#include "command.h"

#define TOP_MOST 1000000u

static void set_sort(void *target, char *word, struct argp_state *state)
{
	struct order *order = target;

	for (enum dms_top_key key = 0; key < DMS_TOP_KEYS; key++) {
		if (strcmp(word, dms_top_names[key]) == 0) {
			order->key = key;
			order->sorted = true;
			return;
		}
	}
	argp_error(state, "invalid --sort: '%s' (ios, bytes, latency, busy or queue)", word);
}

static const struct option_row rows[] = {
	{ "top", 't', "N", "only the N areas with the highest values, sorted",
	  TO_NUMBER(struct order, top, 1, TOP_MOST),
	  .wrong = "invalid --top: '%s' (1 to 1000000)" },
	{ "sort", 's', "WHAT", "sort areas by ios (default), bytes, latency, busy or queue",
	  TO_CALL(set_sort) },
	{ 0 }
};
const struct option_table order_options = { .rows = rows };

bool order_wanted(const struct order *order)
{
	return order->top || order->sorted;
}

int order_open(const struct order *order, uint64_t areas, struct dms_top *top)
{
	if (!areas)
		areas = 1;
	if (order->top && order->top < areas)
		areas = order->top;
	if (!dms_top_init(top, (size_t)areas))
		return EXIT_PASS;
	complain("not enough memory");
	return EXIT_FAILED;
}
