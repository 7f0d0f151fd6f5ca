/* SPDX-License-Identifier: MIT */
/* monread: what a file is that is no monitor data, by its beginning. */
#ifndef FOREIGN_H
#define FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREIGN_TEXT 160u

/*
 * Monitor data that were compressed, or transferred as text: into @what, and how to mend it.
 * False: these bytes are none of these.
 */
bool foreign(const uint8_t *bytes, size_t len, char what[FOREIGN_TEXT]);

#endif
