/* SPDX-License-Identifier: MIT */
/*
 * Messages to the kernel about statistics, put together so that it takes every word as it is.
 *
 * The kernel parts words at white space of its own table, which is Latin 1: 0xa0 is in it, and
 * so are halves of UTF-8 characters.  A backslash quotes the byte behind it.  No word can be
 * empty.
 */
#ifndef DMS_MESSAGE_H
#define DMS_MESSAGE_H

#include "dms_region.h"
#include "tool_text.h"

/** Does the kernel part words here? */
bool dms_parts_words(unsigned char byte);

/**
 * Messages, appended to @text, without a NUL.  @text->failed says whether memory was missing.
 *
 * dms_message_create() takes all of @r but the id.  The number of optional arguments is always
 * there, so that a program id that is a number is not taken for it.
 */
void dms_message_create(struct text *text, const struct dms_region *r);
/** @program: NULL for the regions of all programs. */
void dms_message_list(struct text *text, const char *program);
/** @count areas from @first on; @clear: and have them begin at 0 again, no I/O gets lost. */
void dms_message_print(struct text *text, int id, uint64_t first, uint64_t count, bool clear);
void dms_message_clear(struct text *text, int id);
void dms_message_delete(struct text *text, int id);
void dms_message_set_aux(struct text *text, int id, const char *aux);

#endif
