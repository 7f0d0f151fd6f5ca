/* SPDX-License-Identifier: MIT */
/* Texts that CP shows. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/** Replace what is not printable ASCII by '.'. */
void text_printable(char *text, size_t len);

#endif
