/* SPDX-License-Identifier: MIT */
/* Line breaks in translated help, and the places where the catalogue is looked for. */
#include <errno.h>
#include <libintl.h>
#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command_line.h"
#include "said.h"
#include "scratch.h"
#include "storage_fails.h"
#include "translate.h"
#include "unit_test.h"

/* Eight characters of two columns each, which is also what a terminal of Unicode's width has. */
#define EIGHT "\u76d1\u89c6\u5668\u8bb0\u5f55\u6570\u636e\u96c6"
#define COMMA "\uff0c"
#define OPENING "\uff08"

static void start(void)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

static void stop(void)
{
	storage_left = -1;
	setlocale(LC_CTYPE, "C");
}

CASE("tool translate", NULL, stop);

static void check_wrapped(const char *text, unsigned int columns, const char *expected)
{
	char *made = translate_wrap(text, columns);

	ck_assert_ptr_nonnull(made);
	ck_assert_str_eq(made, expected);
	free(made);
}

TEST(lines_that_fit)
{
	start();
	check_wrapped("", 10, "");
	check_wrapped(EIGHT, 16, EIGHT);
	check_wrapped("one two", 7, "one two");
	check_wrapped("one\ntwo\n", 3, "one\ntwo\n");
}

TEST(wide_characters)
{
	start();
	check_wrapped(EIGHT EIGHT, 16, EIGHT "\n" EIGHT);
	check_wrapped(EIGHT EIGHT, 17, EIGHT "\n" EIGHT);
	check_wrapped("ab" EIGHT, 16, "ab\u76d1\u89c6\u5668\u8bb0\u5f55\u6570\u636e\n\u96c6");
	/* Blanks at a break are gone, others stay. */
	check_wrapped(EIGHT " N " EIGHT, 18, EIGHT " N\n" EIGHT);
	check_wrapped(EIGHT "  " EIGHT, 16, EIGHT "\n" EIGHT);
	/* Between a wide one and a letter, in either order. */
	check_wrapped(EIGHT "ab", 16, EIGHT "\nab");
	check_wrapped("ab\u76d1", 3, "ab\n\u76d1");
	/* As many lines as there can be. */
	check_wrapped(EIGHT, 2,
		      "\u76d1\n\u89c6\n\u5668\n\u8bb0\n\u5f55\n\u6570\n\u636e\n\u96c6");
	check_wrapped("\u76d1", 1, "\u76d1");
}

TEST(words_of_letters)
{
	start();
	check_wrapped("one two three", 8, "one two\nthree");
	check_wrapped("unbreakable", 4, "unbreakable");
	check_wrapped("unbreakable word", 4, "unbreakable\nword");
	check_wrapped("  two blanks", 5, "  two\nblanks");
	/* An accent and a control character have no width. */
	check_wrapped("one\u0301 two", 7, "one\u0301 two");
	check_wrapped("one\001 two", 7, "one\001 two");
	check_wrapped("one\001 two", 6, "one\001\ntwo");
}

TEST(punctuation)
{
	/* What begins no line: stops, closing brackets and quotation marks, of Chinese and of English. */
	static const char *const closing[] = {
		"\u3002", "\u3001", "\uff1b", "\uff1a", "\uff1f", "\uff01", "\uff09", "\u300b",
		"\u300d", "\u300f", "\u201d", "\u2019", "\u2026", "%", ",", ".", ";", ":", "?", "!",
		")", "]", "}",
	};
	static const char *const opening[] = {
		"\u300a", "\u300c", "\u300e", "\u201c", "\u2018", "(", "[", "{",
	};

	start();
	/* A comma goes with the character before it, a parenthesis with the one after it. */
	check_wrapped(EIGHT COMMA "a", 16, "\u76d1\u89c6\u5668\u8bb0\u5f55\u6570\u636e\n\u96c6" COMMA "a");
	for (size_t i = 0; i < sizeof(closing) / sizeof(closing[0]); i++) {
		char text[64], wanted[64];

		snprintf(text, sizeof(text), EIGHT "%sa", closing[i]);
		snprintf(wanted, sizeof(wanted),
			 "\u76d1\u89c6\u5668\u8bb0\u5f55\u6570\u636e\n\u96c6%sa", closing[i]);
		check_wrapped(text, 16, wanted);
	}
	check_wrapped(EIGHT OPENING EIGHT, 18, EIGHT "\n" OPENING EIGHT);
	for (size_t i = 0; i < sizeof(opening) / sizeof(opening[0]); i++) {
		char text[64], wanted[64];

		snprintf(text, sizeof(text), EIGHT "%s" EIGHT, opening[i]);
		snprintf(wanted, sizeof(wanted), EIGHT "\n%s" EIGHT, opening[i]);
		check_wrapped(text, 18, wanted);
	}
}

TEST(bytes_of_another_locale)
{
	start();
	ck_assert_ptr_null(translate_wrap("\xff", 10));
}

TEST(wrap_without_storage)
{
	char *made = NULL;
	long place;

	start();
	for (place = 0; !made && place < 10; place++) {
		storage_left = place;
		made = translate_wrap(EIGHT EIGHT, 16);
		storage_left = -1;
	}
	ck_assert_int_eq(place, 4);
	ck_assert_str_eq(made, EIGHT "\n" EIGHT);
	free(made);
}

TEST(nothing_without_a_catalogue)
{
	setenv("LC_ALL", "C", 1);
	translate_help();
	ck_assert_ptr_null(getenv("ARGP_HELP_FMT"));
}

/* The program's path for this test; NULL: not known. */
static const char *own_path;

ssize_t __wrap_readlink(const char *link, char *path, size_t size);
ssize_t __wrap_readlink(const char *link, char *path, size_t size)
{
	size_t len;

	/* There has to be room for a NUL. */
	if (strcmp(link, "/proc/self/exe") != 0 || size != PATH_MAX - 1)
		abort();
	if (!own_path) {
		errno = ENOENT;
		return -1;
	}
	len = strlen(own_path);
	memcpy(path, own_path, len < size ? len : size);
	return (ssize_t)(len < size ? len : size);
}

#define TWENTY EIGHT EIGHT "\u76d1\u89c6\u5668\u8bb0"
#define FORTY TWENTY TWENTY

/* 28 letters with a hyphen where an option has one, and a word for the next line. */
#define LIKE_AN_OPTION "ab-defghijklmnopqrstuvwxyzab"
#define SIXTY "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh"

/* The catalogue's entries in the order of the texts; the first one is its header. */
static const char *const texts[][2] = {
	{ "", "Content-Type: text/plain; charset=UTF-8\n" },
	{ "All of it.", FORTY },
	{ "Some of it.", LIKE_AN_OPTION " " SIXTY },
	{ "of bytes", "\xff" },
	{ "of one line", TWENTY "\u76d1\u89c6\u5668\u8bb0\u5f55" },
	{ "of three lines", TWENTY TWENTY TWENTY EIGHT "\u76d1\u89c6" },
	{ "of two lines", TWENTY "\u76d1\u89c6\u5668\u8bb0\u5f55\u6570" },
};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static void put_word(FILE *out, size_t number)
{
	const uint32_t word = (uint32_t)number;

	fwrite(&word, sizeof(word), 1, out);
}

/* The catalogue of "tool" below @folder_name, as the manual of GNU gettext describes MO files. */
static void make_catalogue(const char *folder_name)
{
	static const char *const below[] = { "", "/zz", "/zz/LC_MESSAGES" };
	char path[PATH_MAX];
	size_t at = 28 + 2 * 8 * TEXTS;
	FILE *out;

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s%s", folder, folder_name, below[i]);
		ck_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
	}
	strcat(path, "/tool.mo");
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	put_word(out, 0x950412de);
	put_word(out, 0);
	put_word(out, TEXTS);
	put_word(out, 28);
	put_word(out, 28 + 8 * TEXTS);
	put_word(out, 0);
	put_word(out, at);
	for (size_t language = 0; language < 2; language++) {
		for (size_t i = 0; i < TEXTS; i++) {
			put_word(out, strlen(texts[i][language]));
			put_word(out, at);
			at += strlen(texts[i][language]) + 1;
		}
	}
	for (size_t language = 0; language < 2; language++)
		for (size_t i = 0; i < TEXTS; i++)
			fwrite(texts[i][language], 1, strlen(texts[i][language]) + 1, out);
	fclose(out);
}

static void make_folder(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

/* Removed by whoever has made it: a test is a process of its own. */
static void remove_folder(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

/*
 * A user's locale: that of C.UTF-8 by another name, because the glibc of Debian 13 looks for no catalogue
 * in the C.UTF-8 locale itself, whatever LANGUAGE says.
 */
static void set_locale(void)
{
	char path[PATH_MAX];

	make_folder("locales");
	snprintf(path, sizeof(path), "%s/locales/zz.UTF-8", folder);
	ck_assert_int_eq(symlink("/usr/lib/locale/C.utf8", path), 0);
	*strrchr(path, '/') = '\0';
	setenv("LOCPATH", path, 1);
	setenv("LC_ALL", "zz.UTF-8", 1);
	setenv("LANGUAGE", "zz", 1);
}

/* An installation with the program in bin. */
static void install(void)
{
	static char path[PATH_MAX];

	folder_make();
	make_folder("bin");
	make_folder("share");
	snprintf(path, sizeof(path), "%s/bin/tool", folder);
	own_path = path;
	set_locale();
	unsetenv("ARGP_HELP_FMT");
}

/* Built: locale is beside the program.  Installed: it is in share. */
TEST_LOOP(places_of_the_catalogue, 0, 2)
{
	static const char *const places[] = { "bin/locale", "share/locale" };

	install();
	make_catalogue(places[_i]);
	translate_help();
	ck_assert_str_eq(getenv("ARGP_HELP_FMT"), "rmargin=9999");
	ck_assert_str_eq(gettext("All of it."), FORTY);
	remove_folder();
}

/* The one beside the program is the one. */
TEST(folder_without_a_catalogue)
{
	install();
	make_folder("bin/locale");
	make_catalogue("share/locale");
	translate_help();
	ck_assert_ptr_null(getenv("ARGP_HELP_FMT"));
	ck_assert_str_eq(gettext("All of it."), "All of it.");
	remove_folder();
}

/* A user's own layout stays. */
TEST(layout_of_the_user)
{
	install();
	make_catalogue("share/locale");
	setenv("ARGP_HELP_FMT", "rmargin=60", 1);
	translate_help();
	ck_assert_str_eq(getenv("ARGP_HELP_FMT"), "rmargin=60");
	ck_assert_str_eq(gettext("All of it."), FORTY);
	remove_folder();
}

/* A path that is not known, or is none; one as long as there is room for. */
TEST(strange_paths)
{
	static char longest[PATH_MAX + 100];
	const char *const paths[] = { NULL, "", "tool", longest };

	install();
	make_catalogue("share/locale");
	make_catalogue("bin/locale");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = longest[PATH_MAX - 10] = '/';
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		own_path = paths[i];
		translate_help();
		ck_assert_ptr_null(getenv("ARGP_HELP_FMT"));
		ck_assert_str_eq(gettext("All of it."), "All of it.");
	}
	remove_folder();
}

TEST(locale_that_there_is_none_of)
{
	install();
	make_catalogue("bin/locale");
	setenv("LC_ALL", "nowhere", 1);
	translate_help();
	ck_assert_ptr_null(getenv("ARGP_HELP_FMT"));
	remove_folder();
}

/* The beginning of "tool --help". */
static void ck_help(const struct command_line *line, const char *wanted)
{
	static bool flags[5];
	char name[] = "tool", word[] = "--help";
	char *argv[] = { name, word, NULL };
	struct said said = said_begin(1);
	const pid_t child = fork();
	const char *text;
	int status;

	if (child == 0) {
		command_line_parse(line, 0, 2, argv, flags);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	text = said_end(&said);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strncmp(text, wanted, strlen(wanted)) == 0, "%s", text);
}

#define BLANKS "                             "

static const struct option_row rows[] = {
	{ "bytes", 'b', NULL, "of bytes", .kind = OPTION_FLAG, .member = 0, .size = 1 },
	{ "english", 'e', NULL, "of English", .kind = OPTION_FLAG, .member = 1, .size = 1 },
	{ "five", '\0', "N", "of three lines", .kind = OPTION_FLAG, .member = 2, .size = 1 },
	{ "one", 'o', NULL, "of one line", .kind = OPTION_FLAG, .member = 3, .size = 1 },
	{ "two", '\0', NULL, "of two lines", .kind = OPTION_FLAG, .member = 4, .size = 1 },
	{ 0 }
};
static const struct option_table table = { .rows = rows };

/* 79 columns; the text of an option is in the last 50 of them. */
TEST(translated_help)
{
	static const struct command_line line = { .options = &table, .help = "All of it." };
	static const char wanted[] =
		"Usage: tool [OPTION...]\n"
		TWENTY EIGHT EIGHT "\u76d1\u89c6\u5668\n\u8bb0\n"
		"\n"
		"  -b, --bytes                \xff\n"
		"  -e, --english              of English\n"
		"      --five=N               " TWENTY "\u76d1\u89c6\u5668\u8bb0\u5f55\n"
		BLANKS "\u6570\u636e\u96c6" EIGHT "\u76d1\u89c6\u5668\u8bb0" EIGHT "\u76d1\u89c6\n"
		BLANKS "\u5668\u8bb0\u5f55\u6570\u636e\u96c6\u76d1\u89c6\u5668\u8bb0" EIGHT "\u76d1\u89c6\n"
		"  -o, --one                  " TWENTY "\u76d1\u89c6\u5668\u8bb0\u5f55\n"
		"      --two                  " TWENTY "\u76d1\u89c6\u5668\u8bb0\u5f55\n"
		BLANKS "\u6570\n";

	install();
	make_catalogue("bin/locale");
	ck_help(&line, wanted);
	remove_folder();
}

/* Nothing but an option has its text in the last columns. */
TEST(translated_paragraph)
{
	static const struct command_line line = { .options = &table, .help = "Some of it." };

	install();
	make_catalogue("bin/locale");
	ck_help(&line, "Usage: tool [OPTION...]\n" LIKE_AN_OPTION "\n" SIXTY "\n");
	remove_folder();
}
