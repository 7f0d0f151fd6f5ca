/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* wcwidth() */
#include "translate.h"

#include <argp.h>
#include <libintl.h>
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* Columns of argp's layout: of a line, and of the text beside an option. */
#define LINE_COLUMNS 79u
#define OPTION_COLUMNS 50u
/* So long in bytes that argp breaks no line that was laid out here. */
#define ARGP_LAYOUT "rmargin=400"

static bool is_translated;

/* Folder and name of this program: @path is cut in two.  Return: the name, NULL if not known. */
static char *split_own_path(char *path, size_t size)
{
	const ssize_t len = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (len <= 0)
		return NULL;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return slash + 1;
}

void translate_help(void)
{
	char own[PATH_MAX], folder[PATH_MAX + sizeof("/../share/locale")];
	const char *name = split_own_path(own, sizeof(own));

	if (!name || !setlocale(LC_CTYPE, "") || !setlocale(LC_MESSAGES, ""))
		return;
	snprintf(folder, sizeof(folder), "%s/locale", own);
	if (access(folder, F_OK))
		snprintf(folder, sizeof(folder), "%s/../share/locale", own);
	if (!bindtextdomain(name, folder) || !textdomain(name))
		return;
	/* A catalogue answers the empty text with its header. */
	is_translated = *dgettext(name, "") != '\0';
	if (is_translated)
		setenv("ARGP_HELP_FMT", ARGP_LAYOUT, 0);
}

/* Characters that begin no line, and those that end none: of Chinese texts, then of English ones. */
static bool begins_no_line(wchar_t c)
{
	static const wchar_t chinese[] = {
		0x3002, 0x3001, 0xff0c, 0xff1b, 0xff1a, 0xff1f, 0xff01, 0xff09, 0x300b, 0x300d,
		0x300f, 0x201d, 0x2019, 0x2026, 0,
	};

	return c && (wcschr(chinese, c) || wcschr(L"%,.;:?!)]}", c));
}

static bool ends_no_line(wchar_t c)
{
	static const wchar_t chinese[] = { 0xff08, 0x300a, 0x300c, 0x300e, 0x201c, 0x2018, 0 };

	return c && (wcschr(chinese, c) || wcschr(L"([{", c));
}

static unsigned int width_of(wchar_t c)
{
	const int width = wcwidth(c);

	return width > 0 ? (unsigned int)width : 0;
}

/* May a line end between these two?  Beside a wide character it may, where no blank is. */
static bool may_break(wchar_t before, wchar_t after)
{
	if (before == L' ' || after == L' ' || begins_no_line(after) || ends_no_line(before))
		return false;
	return width_of(before) == 2 || width_of(after) == 2;
}

/*
 * Length of the line that @text begins with, in characters.  @next: where the following one
 * begins, without the blanks between.
 */
static size_t line_length(const wchar_t *text, unsigned int columns, size_t *next)
{
	size_t at = 0, len = 0;
	unsigned int width = 0;

	*next = 0;
	for (; text[at] && text[at] != L'\n'; at++) {
		if (at && text[at] == L' ' && text[at - 1] != L' ') {
			len = at;
			*next = at + wcsspn(text + at, L" ");
		} else if (at && may_break(text[at - 1], text[at])) {
			len = *next = at;
		}
		width += width_of(text[at]);
		if (width > columns && *next && text[at] != L' ')
			return len;
	}
	*next = at;
	return at;
}

static wchar_t *wrap(const wchar_t *text, unsigned int columns)
{
	/* A break is between two characters, or in the place of a blank. */
	wchar_t *made = malloc((2 * wcslen(text) + 1) * sizeof(*made)), *end = made;

	while (made && *text) {
		size_t next, len = line_length(text, columns, &next);

		wmemcpy(end, text, len);
		end += len;
		text += next;
		if (*text)
			*end++ = L'\n';
		if (text[0] == L'\n')
			text++;
	}
	if (made)
		*end = L'\0';
	return made;
}

char *translate_wrap(const char *text, unsigned int columns)
{
	const size_t len = mbstowcs(NULL, text, 0);
	wchar_t *wide, *wrapped = NULL;
	char *made = NULL;
	size_t size;

	/* Bytes that are no characters here cannot be counted. */
	if (len == (size_t)-1)
		return NULL;
	wide = calloc(len + 1, sizeof(*wide));
	if (wide && mbstowcs(wide, text, len + 1) == len)
		wrapped = wrap(wide, columns);
	if (wrapped) {
		size = wcslen(wrapped) * MB_CUR_MAX + 1;
		made = malloc(size);
		if (made)
			wcstombs(made, wrapped, size);
	}
	free(wrapped);
	free(wide);
	return made;
}

char *translate_layout(int key, const char *text, void *input)
{
	/* Of no option, but a text of its own. */
	const bool whole = key >= ARGP_KEY_HELP_PRE_DOC && key <= ARGP_KEY_HELP_ARGS_DOC;
	char *made = NULL;

	(void)input;
	if (is_translated && text)
		made = translate_wrap(text, whole ? LINE_COLUMNS : OPTION_COLUMNS);
	/* argp frees what is not its own. */
	return made ? made : (char *)(uintptr_t)text;
}
