/* SPDX-License-Identifier: MIT */
/*
 * Help in the language of the user: that of LANGUAGE, LC_ALL, LC_MESSAGES or LANG, if po/ has it.
 *
 * Only what --help and --fields help print is translated.  Error messages and all that a program
 * may read are the same in every locale, because the locale is not set before help is asked for.
 * Texts of option tables, columns and lists of commands need no mark: ci/translations.py finds
 * them.  Others are given to gettext() where they are printed.
 */
#ifndef TOOLS_TRANSLATE_H
#define TOOLS_TRANSLATE_H

/* A text that is translated elsewhere, where it is printed. */
#define N_(text) text

/*
 * Sets the locale, and opens the catalogue named after the program: in the folder locale beside it
 * (a tree that was built), or in ../share/locale from there.  To be called before help is printed.
 */
void translate_help(void);

struct argp_state;

/*
 * Prints a command's help, and ends the program.  Lines of a translated one are broken by what their
 * characters need on a terminal.
 */
void translate_print_help(const struct argp_state *state);

/*
 * Breaks lines of @text that are wider than @columns; the locale must be set.
 * Return: allocated; NULL without memory, or if the text is none of this locale.
 */
char *translate_wrap(const char *text, unsigned int columns);

#endif
