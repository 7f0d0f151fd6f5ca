/* SPDX-License-Identifier: MIT */
/* Options that say which areas are shown, and in what order: --top, --sort. */
#ifndef DMMON_ORDER_H
#define DMMON_ORDER_H

#include "command_line.h"
#include "dms_top.h"

struct order {
	struct dms_top_keys keys;
	bool sorted;		/* by --sort; --top sorts, too */
	uint64_t top;		/* areas that are shown; 0: all */
};

/* About a struct order. */
extern const struct option_table order_options;

/* Was any of them given? */
bool order_wanted(const struct order *order);

/*
 * Room in @top for those that are shown of @areas areas; @areas may be 0.
 * Return: EXIT_PASS, and dms_top_free() is due; else an exit code, having complained.
 */
int order_open(const struct order *order, uint64_t areas, struct dms_top *top);

#endif
