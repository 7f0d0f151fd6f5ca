/* SPDX-License-Identifier: MIT */
/* Groups that dmstats keeps in auxiliary data: who is in them, and what would break them. */
#include "dms_check.h"
#include "dms_delta.h"
#include "dms_group.h"
#include "unit_test.h"

/* As Debian's dmstats wrote them, but for the last region. */
static const char text[] = "0: 0+64 64 dmstats DMS_GROUP=:0#-\n"
			   "1: 64+64 64 dmstats DMS_GROUP=mine:1-3,6#its own text\n"
			   "2: 128+64 64 dmstats -\n"
			   "3: 192+64 64 dmstats -\n"
			   "5: 320+64 64 dmstats -\n"
			   "6: 384+64 64 dmstats hello\n"
			   "7: 384+64 64 other DMS_GROUP=x:7,five#\n";
static struct dms_regions all;

static void read_all(void)
{
	ck_assert_int_eq(dms_regions_read(&all, NULL, text, strlen(text)), 0);
	ck_assert_uint_eq(all.count, 7);
}

TEST(members)
{
	static const int mine[] = { 1, 2, 3, 6 };
	const struct dms_region *leader;

	read_all();
	leader = dms_regions_find(&all, 1);
	for (int id = 0, i = 0; id < 10; id++) {
		bool wanted = i < 4 && mine[i] == id;

		ck_assert_msg(dms_group_has(leader, id) == wanted, "%d", id);
		i += wanted;
		ck_assert_int_eq(dms_group_has(dms_regions_find(&all, 0), id), id == 0);
		ck_assert(!dms_group_has(dms_regions_find(&all, 2), id));
		ck_assert_int_eq(dms_group_has(dms_regions_find(&all, 7), id), id == 7);
	}
	dms_regions_free(&all);
}

TEST(group_of_a_region)
{
	static const struct { int id, leader; const char *alias; } c[] = {
		{ 0, 0, "" }, { 1, 1, "mine" }, { 3, 1, "mine" }, { 6, 1, "mine" }, { 7, 7, "x" },
	};
	size_t len;

	read_all();
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		const struct dms_region *leader = dms_group_of(&all, c[i].id);
		const char *alias;

		ck_assert_ptr_nonnull(leader);
		ck_assert_int_eq(leader->id, c[i].leader);
		alias = dms_group_alias(leader, &len);
		ck_assert_uint_eq(len, strlen(c[i].alias));
		ck_assert_mem_eq(alias, c[i].alias, len);
	}
	ck_assert_ptr_null(dms_group_of(&all, 5));
	ck_assert_ptr_null(dms_group_of(&all, 4));
	dms_group_alias(dms_regions_find(&all, 2), &len);
	ck_assert_uint_eq(len, 0);
	dms_regions_free(&all);
}

/* What dmstats would write, and what would end an alias is not in it. */
TEST(group_written)
{
	static const struct {
		const char *alias;
		int ids[6];
		size_t count;
		const char *aux, *wanted;
	} c[] = {
		{ "disk.img", { 0 }, 1, "-", "DMS_GROUP=disk.img:0#-" },
		{ "x", { 1, 2, 3, 6, 8, 9 }, 6, "own text", "DMS_GROUP=x:1-3,6,8-9#own text" },
		{ "a:b#c d\\\n\x7f\xc3\xa9", { 4, 2 }, 2, "-", "DMS_GROUP=a_b_c_d___\xc3\xa9:4,2#-" },
		{ "", { 7, 8 }, 2, "-", "DMS_GROUP=:7-8#-" },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct text out = { 0 };
		struct dms_region leader = { .id = c[i].ids[0] };

		dms_group_write(&out, c[i].alias, c[i].ids, c[i].count, c[i].aux);
		ck_assert(!out.failed);
		ck_assert_str_eq(out.bytes, c[i].wanted);
		leader.aux = out.bytes;
		for (int id = 0; id < 10; id++) {
			bool member = false;

			for (size_t j = 0; j < c[i].count; j++)
				member |= c[i].ids[j] == id;
			ck_assert_int_eq(dms_group_has(&leader, id), member);
		}
		text_free(&out);
	}
}

/* One region counts by ticks, in milliseconds, the other by the clock. */
TEST(totals)
{
	const struct dms_region ticks = { .id = 1 }, exact = { .id = 2, .precise = true };
	struct dms_group_sum sum = { .leader = &ticks };
	uint64_t row[DMS_COUNTERS];

	for (unsigned int i = 0; i < DMS_COUNTERS; i++)
		row[i] = i + 1;
	dms_group_add(&sum, &ticks, 64, row, 0);
	dms_group_add(&sum, &exact, 8, row, DMS_CLEARED);
	ck_assert_uint_eq(sum.sectors, 72);
	ck_assert_uint_eq(sum.doubt, DMS_CLEARED);
	/* Fields 1 to 13 of Documentation/admin-guide/device-mapper/statistics.rst. */
	for (unsigned int i = 0; i < DMS_COUNTERS; i++) {
		const bool time = strchr("\4\10\12\13\14\15", (int)i + 1) != NULL;

		ck_assert_msg(sum.row[i] == (time ? 1000001u : 2u) * (i + 1), "field %u", i + 1);
	}
}

TEST(what_is_no_group)
{
	static char data[][40] = {
		"DMS_GROUP=", "DMS_GROUP=a", "DMS_GROUP:1-2#", " DMS_GROUP=a:1-2#", "DMS_GROUP=a#1",
		"DMS_GROUPS=a:1-2#", "a:1-2#", "DMS_GROUP=a#1-2:",
	};

	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
		const struct dms_region r = { .id = 1, .aux = data[i] };

		ck_assert_msg(!dms_group_has(&r, 1) && !dms_group_has(&r, 2), "%s", data[i]);
		ck_assert(!dms_group_replaced(&r, "x"));
	}
}

/* Lists of members that cannot be read, up to where they can. */
TEST(odd_members)
{
	static const struct { char aux[40]; bool two; } c[] = {
		{ "DMS_GROUP=:#", false }, { "DMS_GROUP=:2#", true }, { "DMS_GROUP=:1,2#", true },
		{ "DMS_GROUP=:1-#2", false }, { "DMS_GROUP=:2-#", false }, { "DMS_GROUP=:2-x#", false }, { "DMS_GROUP=:1-x,2#", false },
		{ "DMS_GROUP=:1 2#", false }, { "DMS_GROUP=:0-18446744073709551615#", true },
		{ "DMS_GROUP=:0-18446744073709551616#", false }, { "DMS_GROUP=:3-1#", false },
		{ "DMS_GROUP=a:b:2#", false }, { "DMS_GROUP=:1,#2", false },
		/* Nothing but members; dmstats takes that as a group. */
		{ "DMS_GROUP=a:1-2", true }, { "DMS_GROUP=a:1,3", false }, { "DMS_GROUP=a:", false },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		char aux[40];
		const struct dms_region r = { .id = 7, .aux = aux };

		memcpy(aux, c[i].aux, sizeof(aux));
		ck_assert_msg(dms_group_has(&r, 2) == c[i].two, "%s", aux);
		ck_assert(dms_group_has(&r, 7));
	}
}

TEST(deletions_that_break_a_group)
{
	static const struct { int deleted[4]; size_t count; int broken; } c[] = {
		{ { 5 }, 1, -1 },
		{ { 0 }, 1, -1 },	/* all of its group */
		{ { 1 }, 1, 1 },
		{ { 6 }, 1, 1 },
		{ { 0, 1, 2, 3 }, 4, 1 },
		{ { 1, 2, 3, 6 }, 4, -1 },
	};

	read_all();
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct dms_region gone[4];
		const struct dms_regions deleted = { .count = c[i].count, .region = gone };
		const struct dms_region *broken;

		for (size_t d = 0; d < c[i].count; d++)
			gone[d] = *dms_regions_find(&all, c[i].deleted[d]);
		broken = dms_group_broken(&all, &deleted);
		ck_assert_int_eq(broken ? broken->id : -1, c[i].broken);
	}
	dms_regions_free(&all);
}

TEST(data_that_replace_a_group)
{
	const struct dms_region *leader;

	read_all();
	leader = dms_regions_find(&all, 1);
	ck_assert(dms_group_replaced(leader, "x"));
	ck_assert(dms_group_replaced(leader, ""));
	ck_assert(dms_group_replaced(leader, "DMS_GROUP=mine:1-3,61"));
	ck_assert(dms_group_replaced(leader, "DMS_GROUP=mine:1-3"));
	ck_assert(!dms_group_replaced(leader, "DMS_GROUP=mine:1-3,6"));
	ck_assert(dms_group_replaced(leader, "DMS_GROUP=mine:1-3#text"));
	ck_assert(!dms_group_replaced(leader, "DMS_GROUP=mine:1-3,6#"));
	ck_assert(!dms_group_replaced(leader, "DMS_GROUP=mine:1-3,6#text"));
	ck_assert(!dms_group_replaced(dms_regions_find(&all, 2), "x"));
	dms_regions_free(&all);
}
