// SPDX-License-Identifier: MIT
#include "order.h"

#include <string.h>

#include "command.h"

#define TOP_MOST 1000000u

/* False: there is no such key, or it is there already. */
static bool add_key(struct dms_top_keys *keys, const char *name, size_t len)
{
	for (enum dms_top_key key = 0; key < DMS_TOP_KEYS; key++) {
		if (strlen(dms_top_names[key]) != len || memcmp(name, dms_top_names[key], len) != 0)
			continue;
		for (size_t i = 0; i < keys->count; i++)
			if (keys->key[i] == key)
				return false;
		keys->key[keys->count++] = key;
		return true;
	}
	return false;
}

static void set_sort(void *target, char *word, struct argp_state *state)
{
	struct order *order = target;
	const char *at = word;

	order->keys.count = 0;
	order->sorted = true;
	for (;;) {
		const size_t len = strcspn(at, ",");

		if (!add_key(&order->keys, at, len))
			argp_error(state, "invalid --sort: '%s' (ios, bytes, latency, busy, queue, or "
				   "several of them, each once, with commas)", word);
		if (!at[len])
			return;
		at += len + 1;
	}
}

static const struct option_row rows[] = {
	{ "top", 't', "N", "only the N areas with the highest values, sorted",
	  TO_NUMBER(struct order, top, 1, TOP_MOST),
	  .wrong = "invalid --top: '%s' (1 to 1000000)" },
	{ "sort", 's', "WHAT", "sort areas by ios (default), bytes, latency, busy or queue, or by several, "
	  "for example busy,ios",
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
