/* SPDX-License-Identifier: MIT */
/* Short forms for tables of struct ctl_member. */
#ifndef CTL_TABLE_H
#define CTL_TABLE_H

#include "ctl_private.h"

/* Ranges, lowest and highest; strings, data and lists: of the length. */
#define U8 0, UINT8_MAX
#define U16 0, UINT16_MAX
#define U32 0, UINT32_MAX
#define U63 0, INT64_MAX
#define OPT CTL_OPTIONAL

/* name, flags, range, text */
#define RANGED(n, f, t, lo, hi, d) \
	.name = n, .flags = f, .type = t, .min = lo, .max = hi, .text = d
#define INT(n, f, ...) { RANGED_(n, f, CTL_INT, __VA_ARGS__) }
#define STRING(n, f, ...) { RANGED_(n, f, CTL_STRING, __VA_ARGS__) }
#define DATA(n, f, ...) { RANGED_(n, f, CTL_DATA, __VA_ARGS__) }
#define LIST(n, f, m, ...) { .members = m, RANGED_(n, f, CTL_ARRAY, __VA_ARGS__) }
#define RANGED_(n, f, t, ...) RANGED(n, f, t, __VA_ARGS__)
#define PLAIN(n, f, t, d) .name = n, .flags = f, .type = t, .text = d
#define BOOL(n, f, d) { PLAIN(n, f, CTL_BOOL, d) }
#define NAME(n, f, d) { PLAIN(n, f, CTL_NAME, d) }
#define FILE_NAME(n, f, d) { PLAIN(n, f, CTL_FILE, d) }
#define ENUM(n, f, c, d) { .choices = c, PLAIN(n, f, CTL_ENUM, d) }
#define OBJECT(n, f, m, d) { .members = m, PLAIN(n, f, CTL_OBJECT, d) }
/* Type and range are those of a member of an input to the core. */
#define OF_INPUT(n, f, id, field, d) \
	{ PLAIN(n, f, CTL_OF_INPUT, d), .input = INPUT_##id, \
	  .offset = offsetof(struct input_##id, field) }
#define END { .name = NULL }
#define MEMBERS(name) static const struct ctl_member name[]

#endif
