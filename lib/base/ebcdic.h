/* SPDX-License-Identifier: MIT */
/* EBCDIC code page 037 and ISO 8859-1; X'15' is a newline. */
#ifndef ZVMLAB_EBCDIC_H
#define ZVMLAB_EBCDIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint8_t ebcdic_from_latin1(uint8_t c);
uint8_t ebcdic_to_latin1(uint8_t c);
void ebcdic_encode(uint8_t *to, const char *from, size_t len);
void ebcdic_decode(char *to, const uint8_t *from, size_t len);
/** 8-byte field: upper case, padded with blanks. */
void ebcdic_name(uint8_t to[8], const char *name);
/** 8-byte field to a string without trailing blanks and zeros. */
void ebcdic_to_name(char to[9], const uint8_t from[8]);

#endif
