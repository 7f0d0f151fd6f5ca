/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* wcwidth() */
#include "translate.h"

#include <argp.h>
#include <libintl.h>
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* Columns of argp's layout: of a line, and where the text beside an option begins. */
#define LINE_COLUMNS 79u
#define OPTION_AT 29u
/* argp counts bytes and breaks lines at blanks only: it shall break none. */
#define ARGP_LAYOUT "rmargin=9999"

static bool is_translated;

/* Folder and name of this program: @path is cut in two.  Return: the name, NULL if not known. */
static char *split_own_path(char *path, size_t size)
{
	const ssize_t len = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (len == -1)
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

/* Characters (no NUL) that begin no line, and those that end none: of Chinese texts, then of English ones. */
static bool begins_no_line(wchar_t c)
{
	static const wchar_t chinese[] = {
		0x3002, 0x3001, 0xff0c, 0xff1b, 0xff1a, 0xff1f, 0xff01, 0xff09, 0x300b, 0x300d,
		0x300f, 0x201d, 0x2019, 0x2026, 0,
	};

	return wcschr(chinese, c) || wcschr(L"%,.;:?!)]}", c);
}

static bool ends_no_line(wchar_t c)
{
	static const wchar_t chinese[] = { 0xff08, 0x300a, 0x300c, 0x300e, 0x201c, 0x2018, 0 };

	return wcschr(chinese, c) || wcschr(L"([{", c);
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

/* A line of argp's help, which it left as long as it is; further lines of an option's text are below it. */
static void print_line(const char *line)
{
	const bool option = strlen(line) > OPTION_AT && line[0] == ' ' && line[OPTION_AT - 1] == ' ' &&
			    (line[2] == '-' || line[6] == '-');
	const size_t head = option ? OPTION_AT : 0;
	char *made = translate_wrap(line + head, LINE_COLUMNS - (unsigned int)head), *rest = made;

	printf("%.*s", (int)head, line);
	for (char *part; made && (part = strsep(&rest, "\n"));)
		printf("%s%s%*s", part, rest ? "\n" : "", rest ? (int)head : 0, "");
	puts(made ? "" : line + head);
	free(made);
}

void translate_print_help(const struct argp_state *state)
{
	char *text = NULL, *rest;
	size_t size = 0;
	FILE *held;

	translate_help();
	held = is_translated ? open_memstream(&text, &size) : NULL;
	if (!held) {
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return;
	}
	argp_state_help(state, held, ARGP_HELP_STD_HELP & ~(unsigned int)ARGP_HELP_EXIT_OK);
	fclose(held);
	rest = text;
	for (char *line; rest && *rest && (line = strsep(&rest, "\n"));)
		print_line(line);
	free(text);
	exit(EXIT_SUCCESS);
}
