/* SPDX-License-Identifier: MIT */
/* A file for node_exporter's textfile collector: it is there whole, or as it was before. */
#ifndef TOOLS_TEXTFILE_H
#define TOOLS_TEXTFILE_H

#include "tool_text.h"

/*
 * Puts @text in the place of the file @name, by a file NAME.PID beside it.
 * Return: 0 or -errno; @name is as it was then, and nothing is left beside it.
 */
int textfile_write(const char *name, const struct text *text);

#endif
