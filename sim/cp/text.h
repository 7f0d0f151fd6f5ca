/* SPDX-License-Identifier: MIT */
/* Texts that CP shows. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

/** Replace what is not printable ASCII by '.'. */
void text_printable(char *text, size_t len);
/** Field of @size bytes: EBCDIC, padded with blanks; @text fits. */
void text_field(uint8_t *to, const char *text, size_t size);

#endif
