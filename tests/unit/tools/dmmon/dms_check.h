/* SPDX-License-Identifier: MIT */
/* Helpers of the tests of device-mapper statistics (tools/dmmon/dms_*). */
#ifndef DMS_CHECK_H
#define DMS_CHECK_H

#include <check.h>
#include <string.h>

#include "dms_message.h"

/* Words of a message by the kernel's rule, a second time: a backslash quotes a byte, white
 * space of Latin 1 parts words.  @message is overwritten. */
static inline size_t dms_split(char *message, char **words, size_t most)
{
	char *in = message, *out = message;
	size_t count = 0;

	for (;;) {
		while (*in && dms_parts_words((unsigned char)*in))
			in++;
		if (!*in || count == most)
			return count;
		words[count++] = out;
		while (*in && !dms_parts_words((unsigned char)*in)) {
			if (*in == '\\' && in[1])
				in++;
			*out++ = *in++;
		}
		/* The word's NUL may stand where the blank is. */
		in += *in != '\0';
		*out++ = '\0';
	}
}

#endif
