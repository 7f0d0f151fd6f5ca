/* SPDX-License-Identifier: MIT */
/* Words that stand for a device and are no name. */
#ifndef DMS_NAME_H
#define DMS_NAME_H

#include <stdbool.h>
#include <stdint.h>

/** A number, "MAJOR:MINOR", as the kernel can have it: 12 and 20 bits.  False, nothing set. */
bool dms_name_number(const char *word, uint32_t *major, uint32_t *minor);

/** The UUID after "uuid:", 1 to 128 bytes as in the kernel; NULL if @word is no UUID. */
const char *dms_name_uuid(const char *word);

#endif
