/* SPDX-License-Identifier: MIT */
/* A folder of a test's own, and texts in files. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[sizeof("/tmp/zvmlab-test-XXXXXX")];

/* The test removes it. */
static inline void folder_make(void)
{
	strcpy(folder, "/tmp/zvmlab-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline void file_write(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

/* Returns the file's contents, which stay valid until the next call. */
static inline const char *file_text(const char *name)
{
	static char text[65536];
	FILE *file = fopen(name, "r");
	size_t len;

	ck_assert_msg(file != NULL, "%s", name);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	return text;
}

#endif
