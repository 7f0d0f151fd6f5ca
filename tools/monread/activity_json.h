/* SPDX-License-Identifier: MIT */
/* monread: parts of the JSON line of an interval. */
#ifndef ACTIVITY_JSON_H
#define ACTIVITY_JSON_H

#include <jansson.h>

#include "activity.h"

/* A count as a number a second; @time in TOD units, of which 0 gives none. */
void json_rate(json_t *line, const char *name, uint64_t count, uint64_t time);

/* activity_json_more.c; @before: as of the line before, whose entries are in the same places. */
void activity_json_more(json_t *line, const struct activity *now, const struct activity *before);

#endif
