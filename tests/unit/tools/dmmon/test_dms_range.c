/* SPDX-License-Identifier: MIT */
/* Options that describe a region: sizes, bounds, and the region that they make. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "dms_check.h"
#include "range.h"
#include "said.h"
#include "unit_test.h"

static struct device device = { .sectors = 20000 };
static char program[] = "p", aux[] = "a";

TEST(sizes)
{
	static const struct { const char *word; uint64_t sectors; } right[] = {
		{ "0", 0 }, { "8", 8 }, { "8s", 8 }, { "0s", 0 }, { "4K", 8 }, { "1M", 2048 }, { "1G", 2097152 },
		{ "18446744073709551615", UINT64_MAX }, { "18446744073709551615s", UINT64_MAX },
	};
	static const char *const wrong[] = { "", "s", "x", "-1", "8S", "8 ", "1.5", "1kb", "+1" };
	uint64_t sectors;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		ck_assert_msg(range_parse_sectors(right[i].word, &sectors), "%s", right[i].word);
		ck_assert_uint_eq(sectors, right[i].sectors);
	}
	sectors = 7;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!range_parse_sectors(wrong[i], &sectors), "%s", wrong[i]);
	ck_assert_uint_eq(sectors, 7);
}

TEST(bounds)
{
	static const char *const wrong[] = { "", "1", "1ms,", ",1ms", "1ms,1ms", "2ms,1ms", "0ms",
					     "1ms,1", "ms", "1 ms" };
	uint64_t *found = NULL;
	size_t count = 0;

	ck_assert_ptr_null(range_parse_bounds("100ns,1us,1.5ms,2s,1h", &found, &count));
	ck_assert_uint_eq(count, 5);
	ck_assert_uint_eq(found[0], 100);
	ck_assert_uint_eq(found[2], 1500000);
	ck_assert_uint_eq(found[4], 3600000000000);
	free(found);
	found = NULL;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(range_parse_bounds(wrong[i], &found, &count) != NULL, "%s", wrong[i]);
	ck_assert_ptr_null(found);
}

TEST(more_bounds_than_anybody_needs)
{
	char *text = NULL;
	uint64_t *found = NULL;
	size_t count, len;

	for (unsigned int most = 1024; most <= 1025; most++) {
		FILE *out = open_memstream(&text, &len);
		const char *wrong;

		for (unsigned int i = 1; i <= most; i++)
			fprintf(out, "%s%ums", i > 1 ? "," : "", i);
		fclose(out);
		wrong = range_parse_bounds(text, &found, &count);
		ck_assert_int_eq(wrong != NULL, most > 1024);
		free(text);
	}
	ck_assert_uint_eq(count, 1024);
	free(found);
}

TEST(regions)
{
	static const struct device none = { .sectors = 0 };
	struct range range = { 0 };
	struct dms_region r;

	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_PASS);
	ck_assert(r.start == 0 && r.length == 20000 && r.step == 20000 && !r.precise);
	ck_assert_ptr_eq(r.program, program);
	range.start = 18;
	range.areas = 7;
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_PASS);
	ck_assert(r.start == 18 && r.length == 19982 && r.step == 2855);
	range = (struct range){ .start = 30000, .length = 10, .step = 3 };
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_PASS);
	ck_assert(r.start == 30000 && r.length == 10 && r.step == 3);
	/* Its own end is where a device's last area ends; one without a table has one sector. */
	range = (struct range){ .start = 19999 };
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_PASS);
	ck_assert(r.start == 19999 && r.length == 1 && r.step == 1);
	range.start = 20000;
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_USAGE);
	range.start = 0;
	ck_assert_int_eq(range_region(&range, &none, program, aux, &r), EXIT_PASS);
	ck_assert_uint_eq(r.length, 1);
	range = (struct range){ .start = UINT64_MAX - 1, .length = 1, .precise = true };
	/* Whatever was there before. */
	memset(&r, 0xff, sizeof(r));
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_PASS);
	ck_assert(r.precise && !r.bounds && !r.bound_count && r.aux == aux && r.id == 0);
	/* Without a length it has to begin on the device; nothing wraps. */
	range = (struct range){ .start = 30000 };
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_USAGE);
	range = (struct range){ .start = UINT64_MAX, .length = 1 };
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_USAGE);
}

/* The reason for which the region is refused. */
static const char *refused(const struct range *range)
{
	static char name[] = "vol";
	const struct device small = { .name = name, .sectors = 100 };
	struct said said = said_begin(2);
	struct dms_region r;
	int code = range_region(range, &small, program, aux, &r);
	const char *text = said_end(&said);

	ck_assert_int_eq(code, EXIT_USAGE);
	return text;
}

TEST(regions_that_cannot_be)
{
	const struct range behind = { .start = 100 }, far = { .start = UINT64_MAX, .length = 7 };

	ck_assert_str_eq(refused(&behind), "tool: vol has 100 sectors, a region cannot begin at "
					   "sector 100 without --length\n");
	ck_assert_str_eq(refused(&far), "tool: --start and --length together exceed the largest "
					"possible device\n");
}

TEST(bounds_decide_on_the_unit)
{
	uint64_t ms[] = { 1000000, 2000000 }, us[] = { 1000000, 2000001 };
	uint64_t first_us[] = { 1000001, 2000000 };
	struct range range = { .bounds = ms, .bound_count = 2 };
	struct dms_region r;

	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_PASS);
	ck_assert(!r.precise && r.bound_count == 2 && r.bounds[0] == 1 && r.bounds[1] == 2);
	free(r.bounds);
	range.bounds = first_us;
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_PASS);
	ck_assert(r.precise && r.bounds[0] == 1000001 && r.bounds[1] == 2000000);
	free(r.bounds);
	range.bounds = us;
	ck_assert_int_eq(range_region(&range, &device, program, aux, &r), EXIT_PASS);
	ck_assert(r.precise && r.bounds[1] == 2000001);
	free(r.bounds);
}

static void parse(struct range *range, const char *option)
{
	char name[] = "dmmon create", word[64];
	char *argv[] = { name, option ? strcpy(word, option) : NULL, NULL };
	static const struct command_line line = { .options = &range_options };

	command_parse(&line, 1 + !!option, argv, range);
}

TEST(options)
{
	struct range range = { 0 };

	parse(&range, NULL);
	ck_assert(!range.given);
	parse(&range, "--start=4K");
	ck_assert(range.start == 8 && range.given);
	range.given = false;
	parse(&range, "--start=0");
	ck_assert(range.start == 0 && range.given);
	parse(&range, "--length=1M");
	ck_assert_uint_eq(range.length, 2048);
	parse(&range, "--area-size=9s");
	ck_assert(range.step == 9 && range.areas == 0);
	range.step = 0;
	parse(&range, "--areas=4294967295");
	ck_assert(range.areas == UINT32_MAX && range.step == 0);
	parse(&range, "--areas=1");
	ck_assert(range.areas == 1 && !range.precise);
	parse(&range, "--precise");
	ck_assert(range.precise && !range.bounds);
	parse(&range, "--bounds=1ms,2ms");
	ck_assert(range.bound_count == 2 && range.bounds[1] == 2000000);
	parse(&range, "--bounds=3us");
	ck_assert(range.bound_count == 1 && range.bounds[0] == 3000);
	ck_assert(range.start == 0 && range.length == 2048);
	range_free(&range);
	ck_assert(!range.bounds && !range.bound_count && !range.length && !range.given);
}

/* In the help they stand together below their heading; none has a letter of its own. */
TEST(options_in_the_help)
{
	const struct option_row *row = range_options.rows;

	ck_assert(!row->name && row->help && row->group > 0);
	while ((++row)->name) {
		ck_assert_msg(row->group == range_options.rows[0].group, "%s", row->name);
		ck_assert_msg(row->letter == 0, "%s", row->name);
	}
}

/* Each ends the program, with a sentence that names the option. */
TEST(options_that_are_wrong)
{
	static const struct { const char *option, *said; } c[] = {
		{ "--start=x", "invalid --start: 'x' (a number of sectors" },
		{ "--length=0", "invalid --length: '0' (a number of sectors" },
		{ "--length=1k", "invalid --length: '1k'" },
		{ "--area-size=0", "G, above 0)" },
		{ "--areas=0", "invalid --areas: '0' (1 to 4294967295)" },
		{ "--areas=4294967296", "invalid --areas: '4294967296'" },
		{ "--bounds=1", "invalid --bounds: '1' (each is a time with its unit" },
		{ "--bounds=2ms,1ms", "each is above the one before" },
		{ "--areas=5", "--area-size and --areas cannot be used together" },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct range range = { .step = i + 1 == sizeof(c) / sizeof(c[0]) };
		struct said said = said_begin(2);
		pid_t child = fork();
		const char *text;
		int status;

		if (child == 0) {
			parse(&range, c[i].option);
			_exit(99);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		text = said_end(&said);
		ck_assert_msg(status == EXIT_USAGE << 8, "%s: %x", c[i].option, (unsigned)status);
		ck_assert_msg(strstr(text, c[i].said) != NULL, "%s: %s", c[i].option, text);
	}
}
