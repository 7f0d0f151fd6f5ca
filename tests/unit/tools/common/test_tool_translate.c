/* SPDX-License-Identifier: MIT */
/* Where lines of a translated help are broken, and that help stays English without a catalogue. */
#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_run.h"
#include "storage_fails.h"
#include "translate.h"

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

static void check_wrapped(const char *text, unsigned int columns, const char *expected)
{
	char *made = translate_wrap(text, columns);

	ck_assert_ptr_nonnull(made);
	ck_assert_str_eq(made, expected);
	free(made);
}

START_TEST(lines_that_fit)
{
	start();
	check_wrapped("", 10, "");
	check_wrapped(EIGHT, 16, EIGHT);
	check_wrapped("one two", 7, "one two");
	check_wrapped("one\ntwo\n", 3, "one\ntwo\n");
}
END_TEST

START_TEST(wide_characters)
{
	start();
	check_wrapped(EIGHT EIGHT, 16, EIGHT "\n" EIGHT);
	check_wrapped(EIGHT EIGHT, 17, EIGHT "\n" EIGHT);
	check_wrapped("ab" EIGHT, 16, "ab\u76d1\u89c6\u5668\u8bb0\u5f55\u6570\u636e\n\u96c6");
	/* Blanks at a break are gone, others stay. */
	check_wrapped(EIGHT " N " EIGHT, 18, EIGHT " N\n" EIGHT);
	check_wrapped(EIGHT "  " EIGHT, 16, EIGHT "\n" EIGHT);
}
END_TEST

START_TEST(words_of_letters)
{
	start();
	check_wrapped("one two three", 8, "one two\nthree");
	check_wrapped("unbreakable", 4, "unbreakable");
	check_wrapped("unbreakable word", 4, "unbreakable\nword");
	check_wrapped("  two blanks", 5, "  two\nblanks");
}
END_TEST

START_TEST(punctuation)
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
END_TEST

START_TEST(bytes_of_another_locale)
{
	start();
	ck_assert_ptr_null(translate_wrap("\xff", 10));
}
END_TEST

START_TEST(wrap_without_storage)
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
END_TEST

START_TEST(nothing_without_a_catalogue)
{
	setenv("LC_ALL", "C", 1);
	translate_help();
	ck_assert_ptr_null(getenv("ARGP_HELP_FMT"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		lines_that_fit, wide_characters, words_of_letters, punctuation,
		bytes_of_another_locale, wrap_without_storage, nothing_without_a_catalogue,
	};

	return check_run("tool translate", NULL, stop, tests, sizeof(tests) / sizeof(tests[0]));
}
