/* SPDX-License-Identifier: MIT */
/* monread: the families of values for monitoring systems, out of quantities.def. */
#ifndef FAMILIES_H
#define FAMILIES_H

#include "metrics.h"

enum export_family {
#define FAMILY(id, name, type, unit, help, ...) EXPORT_##id,
#include "quantities.def"
	EXPORT_FAMILIES,
	EXPORT_NONE = EXPORT_FAMILIES
};
extern const struct metric_family export_families[EXPORT_FAMILIES];

#endif
