/* SPDX-License-Identifier: MIT */
/* monread: what a system did in an interval, as JSON (docs/monread-activity.json). */
#ifndef ACTIVITY_LINE_H
#define ACTIVITY_LINE_H

#include <jansson.h>

#include "activity.h"

/*
 * The last interval of @now; @before: as of the line before, whose entries are in the same places.
 * @releases: that the data are of; 0: not known.  The caller has the only reference.
 */
json_t *activity_line(const struct activity *now, const struct activity *before, uint32_t releases);

#endif
