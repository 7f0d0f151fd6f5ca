/* SPDX-License-Identifier: MIT */
/* Definition, contents, files and saved state of segments. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "segment/dcss_private.h"

#define MAX_PATH 64

static char err[256];
static char path[MAX_PATH];

static void setup(void)
{
	fx_setup_with((const char *const[]){
		"segment", "MULTI 500-50F EW 510-51F EN 530-530 SR;MON 800-9FF SC RSTD;"
			   "INSIDE 3FF-400 SW;FAR 1000-10FF SW", NULL });
	snprintf(path, sizeof(path), "/tmp/test_dcss.%d", (int)getpid());
}

static void teardown(void)
{
	unlink(path);
	fx_teardown();
}

CASE("dcss", setup, teardown);

static struct cp_segment_config config(const char *name, uint32_t first, uint32_t last,
				       enum dcss_type type)
{
	struct cp_segment_config c = { .ranges = 1, .range = { { first, last, type } } };

	snprintf(c.name, sizeof(c.name), "%s", name);
	return c;
}

static int define(const char *name, uint32_t first, uint32_t last)
{
	struct cp_segment_config c = config(name, first, last, DCSS_EN);

	return dcss_define(fx.cp, &c, err, sizeof(err));
}

#define fails(call, text) \
	do { \
		ck_assert_int_eq(call, -1); \
		ck_assert_str_eq(err, text); \
	} while (0)

TEST(from_the_configuration)
{
	const struct dcss *multi = dcss_find(fx.cp, "MULTI"), *mon = dcss_find(fx.cp, "MON");

	ck_assert_uint_eq(multi->fileid, 1);
	ck_assert_uint_eq(mon->fileid, 2);
	ck_assert_int_eq(multi->cls, DCSS_ACTIVE);
	ck_assert_int_eq(mon->cls, DCSS_RESTRICTED);
	ck_assert_uint_eq(dcss_start(multi), 0x500000);
	ck_assert_uint_eq(dcss_end(multi), 0x530fff);
	ck_assert_ptr_eq(dcss_at(fx.cp, 0), multi);
	ck_assert_ptr_eq(dcss_at(fx.cp, 1), mon);
	ck_assert_ptr_null(dcss_at(fx.cp, 4));
	ck_assert_ptr_null(dcss_find(fx.cp, "NONE"));
	ck_assert(dcss_allowed(fx.cp, multi));
	ck_assert(!dcss_allowed(fx.cp, mon));
}

TEST(define_save_purge)
{
	struct dcss *skeleton, *active;

	ck_assert_int_eq(define("new", 0x600, 0x60f), 0);
	skeleton = dcss_find(fx.cp, "NEW");
	ck_assert_int_eq(skeleton->cls, DCSS_SKELETON);
	ck_assert_uint_eq(skeleton->fileid, 5);
	fails(define("NEW", 0x600, 0x60f),
	      "segment NEW is defined but not saved: save or purge it first");
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	ck_assert_int_eq(skeleton->cls, DCSS_ACTIVE);
	fails(dcss_save(fx.cp, "NEW", err, sizeof(err)),
	      "segment NEW cannot be saved: define it first");
	/* A second one: the first is found until this is saved. */
	ck_assert_int_eq(define("NEW", 0x610, 0x61f), 0);
	ck_assert_uint_eq(dcss_find(fx.cp, "NEW")->fileid, 5);
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	active = dcss_find(fx.cp, "NEW");
	ck_assert_uint_eq(active->fileid, 6);
	ck_assert_ptr_null(dcss_at(fx.cp, 5));
	ck_assert_int_eq(dcss_purge(fx.cp, "NEW", err, sizeof(err)), 0);
	ck_assert_ptr_null(dcss_find(fx.cp, "NEW"));
	fails(dcss_purge(fx.cp, "NEW", err, sizeof(err)),
	      "segment NEW does not exist: query-segments lists them");
}

TEST(restricted_skeleton_becomes_restricted)
{
	struct cp_segment_config c = config("NEW", 0x600, 0x60f, DCSS_SC);

	c.restricted = true;
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_find(fx.cp, "NEW")->cls, DCSS_RESTRICTED);
}

TEST(wrong_definitions)
{
	struct cp_segment_config c = config("", 0x600, 0x60f, DCSS_SC);

	fails(dcss_define(fx.cp, &c, err, sizeof(err)),
	      "segment name \"\" is not valid: expected 1 to 8 characters");
	memset(c.name, 'A', sizeof(c.name));
	fails(dcss_define(fx.cp, &c, err, sizeof(err)),
	      "segment name \"AAAAAAAAA\" is not valid: expected 1 to 8 characters");
	fails(define("NEW", 2, 1), "segment NEW is not valid: expected 1 to 6 page ranges up to "
				   "7FFFFFF in ascending order, none overlapping");
	fails(define("NEW", 0, 0x8000000), "segment NEW is not valid: expected 1 to 6 page ranges "
					   "up to 7FFFFFF in ascending order, none overlapping");
	c = config("NEW", 1, 2, DCSS_SC);
	c.ranges = 7;
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), -1);
	c.ranges = 0;
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), -1);
	c = config("NEW", 1, 2, (enum dcss_type)7);
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), -1);
	fails(define("NEW", 0xfff, 0x1000), "segment NEW ends at 1000FFF, which the emulator's "
					    "storage does not reach: start it with more storage");
	ck_assert_ptr_null(dcss_at(fx.cp, 4));
}

TEST(as_many_as_there_is_room_for)
{
	char name[3] = "S0";

	for (int i = 4; i < CP_MAX_SEGMENTS; i++) {
		name[1] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i];
		ck_assert_int_eq(define(name, 0x600, 0x600), 0);
	}
	fails(define("NEW", 0x600, 0x600),
	      "segment NEW cannot be defined: 32 segments exist, purge one first");
	ck_assert_int_eq(dcss_purge(fx.cp, "S7", err, sizeof(err)), 0);
	ck_assert_int_eq(define("NEW", 0x600, 0x600), 0);
	ck_assert_uint_eq(dcss_find(fx.cp, "NEW")->fileid, 33);
	ck_assert_ptr_nonnull(dcss_at(fx.cp, 31));
	ck_assert_ptr_null(dcss_at(fx.cp, 32));
}

TEST(file_numbers_start_again)
{
	fx.cp->system->dcss->last_fileid = 9998;
	ck_assert_int_eq(define("A", 0x600, 0x600), 0);
	ck_assert_int_eq(define("B", 0x600, 0x600), 0);
	ck_assert_uint_eq(dcss_find(fx.cp, "A")->fileid, 9999);
	ck_assert_uint_eq(dcss_find(fx.cp, "B")->fileid, 1);
}

TEST(purge_waits_for_the_last_user)
{
	struct dcss *mon = dcss_find(fx.cp, "MULTI");

	dcss_use(fx.cp, mon, 1);
	dcss_load(fx.cp, mon, false);
	ck_assert_int_eq(dcss_purge(fx.cp, "MULTI", err, sizeof(err)), 0);
	ck_assert_ptr_null(dcss_find(fx.cp, "MULTI"));
	ck_assert_int_eq(mon->cls, DCSS_PENDING_PURGE);
	cp_reset(fx.cp);
	ck_assert(mon->defined);
	ck_assert(!dcss_loaded(fx.cp, mon));
	dcss_use(fx.cp, mon, -1);
	ck_assert(!mon->defined);
}

TEST(contents_survive_a_reset)
{
	struct dcss *multi = dcss_find(fx.cp, "MULTI");
	uint8_t *at = dcss_map(fx.cp, multi, 0, 1);

	*at = 0x42;
	dcss_load(fx.cp, multi, true);
	fx.storage_changes = 0;
	cp_reset(fx.cp);
	ck_assert(!dcss_loaded(fx.cp, multi) && !dcss_exclusive(fx.cp, multi));
	ck_assert_uint_eq(multi->users, 0);
	ck_assert_uint_eq(fx.storage_changes, 1);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x500000), CP_ACCESS_NONE);
	ck_assert_uint_eq(*at, 0x42);
	cp_reset(fx.cp);
	ck_assert_uint_eq(fx.storage_changes, 1);
}

/* All there is to know of a type: may it be stored into, is its content saved? */
static const struct { enum dcss_type type; bool written, saved; } types[] = {
	{ DCSS_SW, true, true }, { DCSS_EW, true, true }, { DCSS_SR, false, true },
	{ DCSS_ER, false, true }, { DCSS_SN, true, false }, { DCSS_EN, true, false },
	{ DCSS_SC, false, true },
};

/* The guest's stores are gone when it gives the segment back, by PURGESEG or a reset. */
TEST_LOOP(stores_last_until_purge, 0, 4 * (int)(sizeof(types) / sizeof(types[0])))
{
	struct cp_segment_config c = config("NEW", 0x600, 0x601, types[_i / 4].type);
	const bool exclusive = _i & 1 && c.range[0].type != DCSS_SC, reset = _i & 2;
	/* Whoever has it alone may store into any type. */
	const bool written = types[_i / 4].written || exclusive, saved = types[_i / 4].saved;
	struct dcss *segment;
	uint8_t *at;

	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	memset(fx_at(0x600000, 0x1000), 0x11, 0x1000);
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	segment = dcss_find(fx.cp, "NEW");
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_uint_eq(dcss_load(fx.cp, segment, exclusive), 0);
		at = fx_at(0x600000, 0x2000);
		ck_assert_uint_eq(cp_page_access(fx.cp, 0x600000) == CP_ACCESS_WRITE, written);
		ck_assert_uint_eq(at[0], saved ? 0x11 : 0);
		ck_assert_uint_eq(at[0xfff], saved ? 0x11 : 0);
		ck_assert_uint_eq(at[0x1000], 0);
		if (written) {
			at[0] = 0x22;
			at[0x1000] = 0x33;
			/* As CP sees it, too. */
			ck_assert_uint_eq(*(uint8_t *)dcss_map(fx.cp, segment, 0, 1), 0x22);
		}
		if (reset)
			cp_reset(fx.cp);
		else
			dcss_unload(fx.cp, segment);
	}
}

/* As Linux' dcssblk saves: DEFSEG and SAVESEG while the segment is loaded. */
TEST(saved_while_loaded)
{
	struct cp_segment_config c = config("NEW", 0x600, 0x601, DCSS_EW);
	struct dcss *old, *new;
	uint8_t *at;

	c.ranges = 2;
	c.range[0].last = 0x600;
	c.range[1] = (struct cp_segment_range){ 0x601, 0x601, DCSS_EN };
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	old = dcss_find(fx.cp, "NEW");
	ck_assert_uint_eq(dcss_load(fx.cp, old, true), 0);
	at = fx_at(0x600000, 0x2000);
	at[5] = 1;
	at[0x1005] = 1;
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	/* What has been written into the new one is not what the guest has there. */
	ck_assert(dcss_write(fx.cp, dcss_at(fx.cp, 5), 9, "\7", 1));
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	new = dcss_find(fx.cp, "NEW");
	ck_assert_ptr_ne(new, old);
	at[5] = 2;
	/* What was saved, and what the guest has. */
	ck_assert_uint_eq(*(uint8_t *)dcss_map(fx.cp, new, 5, 1), 1);
	ck_assert_uint_eq(*(uint8_t *)dcss_map(fx.cp, new, 9, 1), 0);
	ck_assert_uint_eq(*(uint8_t *)dcss_map(fx.cp, old, 5, 1), 2);
	/* Stored from outside: into what was saved, and the guest does not see it. */
	ck_assert(dcss_write(fx.cp, new, 6, "\7", 1));
	ck_assert_uint_eq(at[6], 0);
	dcss_unload(fx.cp, old);
	ck_assert(!old->defined);
	ck_assert_uint_eq(dcss_load(fx.cp, new, false), 0);
	at = fx_at(0x600000, 0x2000);
	ck_assert_uint_eq(at[5], 1);
	ck_assert_uint_eq(at[6], 7);
	ck_assert_uint_eq(at[0x1005], 0);
	at[5] = 3;
	/* Purged while the guest has it: nobody will see its contents again. */
	ck_assert_int_eq(dcss_purge(fx.cp, "NEW", err, sizeof(err)), 0);
	cp_reset(fx.cp);
	ck_assert_ptr_null(dcss_find(fx.cp, "NEW"));
}

/* Of another segment at these addresses only what both have is saved. */
TEST(saved_from_another)
{
	struct cp_segment_config c = config("NEW", 0x50f, 0x512, DCSS_SW);
	uint8_t *at;

	ck_assert_uint_eq(dcss_load(fx.cp, dcss_find(fx.cp, "MULTI"), false), 0);
	at = fx_at(0x50e000, 0x5000);
	for (unsigned int i = 0; i < 5; i++)
		at[i * 0x1000] = (uint8_t)(0x50e + i);
	c.ranges = 2;
	c.range[0].last = 0x50f;
	c.range[1] = (struct cp_segment_range){ 0x511, 0x512, DCSS_EW };
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	at = dcss_map(fx.cp, dcss_find(fx.cp, "NEW"), 0, 0x1000);
	ck_assert_uint_eq(*at, 0x0f);
	at = dcss_map(fx.cp, dcss_find(fx.cp, "NEW"), 0x2000, 0x2000);
	ck_assert_uint_eq(at[0], 0x11);
	ck_assert_uint_eq(at[0x1000], 0x12);
}

/* SAVESEG, then PURGE, while the guest has the segment of before: nothing is left of either. */
TEST(saved_and_purged_while_loaded)
{
	struct cp_segment_config c = config("NEW", 0x600, 0x600, DCSS_EW);
	struct dcss *old;
	uint8_t *at;

	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	old = dcss_find(fx.cp, "NEW");
	ck_assert_uint_eq(dcss_load(fx.cp, old, true), 0);
	at = fx_at(0x600000, 1);
	*at = 1;
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_purge(fx.cp, "NEW", err, sizeof(err)), 0);
	ck_assert(old->defined && dcss_loaded(fx.cp, old));
	ck_assert_uint_eq(*at, 1);
	dcss_unload(fx.cp, old);
	ck_assert_uint_eq(*at, 0);
	ck_assert(!old->defined);
}

/* The emulator cannot show it: the guest has not got it, and nothing is left of the attempt. */
TEST_LOOP(no_room_in_the_emulator, 0, 2)
{
	struct dcss *multi = dcss_find(fx.cp, "MULTI");
	const unsigned int changes = fx.storage_changes;

	fx.no_windows = true;
	ck_assert_uint_eq(dcss_load(fx.cp, multi, _i), 177);
	ck_assert(!dcss_loaded(fx.cp, multi) && !dcss_exclusive(fx.cp, multi));
	ck_assert_uint_eq(multi->users, 0);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x500000), CP_ACCESS_NONE);
	ck_assert_uint_gt(fx.storage_changes, changes);
	fx.no_windows = false;
	ck_assert_uint_eq(dcss_load(fx.cp, multi, _i), 0);
}

static const struct { uint64_t offset, len; bool there; } maps[] = {
	{ 0, 1, true }, { 0, 0x20000, true }, { 0xffff, 2, true }, { 0x30000, 0x1000, true },
	{ 0, 0, false }, { 0, 0x20001, false }, { 0x20000, 1, false }, { 0x2ffff, 2, false },
	{ 0, 0x31000, false }, { 0x30000, 0x1001, false }, { 0x31000, 1, false },
	{ UINT64_MAX, 1, false }, { 0, UINT64_MAX, false }, { 1, UINT64_MAX, false },
};

TEST_EACH(mapping, maps)
{
	void *at = dcss_map(fx.cp, dcss_find(fx.cp, "MULTI"), maps[_i].offset, maps[_i].len);

	ck_assert_int_eq(at != NULL, maps[_i].there);
	if (at) {
		memset(at, 0x5a, maps[_i].len);
		ck_assert_uint_eq(*fx_at(0x500000 + maps[_i].offset, 1), 0x5a);
	}
}

TEST(no_contents)
{
	ck_assert_ptr_null(dcss_map(fx.cp, dcss_find(fx.cp, "INSIDE"), 0, 1));
	ck_assert_ptr_null(dcss_map(fx.cp, dcss_find(fx.cp, "INSIDE"), 0x1000, 1));
	fails(dcss_to_file(fx.cp, "INSIDE", path, err, sizeof(err)),
	      "segment INSIDE has no contents: it overlaps the guest's storage, move one of them");
	/* Who cannot load it can still save it. */
	ck_assert_int_eq(dcss_to_file(fx.cp, "FAR", path, err, sizeof(err)), 0);
}

static void resize(off_t size)
{
	FILE *file = fopen(path, "ab");

	ck_assert_ptr_nonnull(file);
	fclose(file);
	ck_assert_int_eq(truncate(path, size), 0);
}

TEST(file_stays_as_it_is_without_contents)
{
	struct stat st;

	resize(1);
	ck_assert_int_eq(dcss_to_file(fx.cp, "INSIDE", path, err, sizeof(err)), -1);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 1);
}

static void fill(void)
{
	memset(fx_at(0x500000, 0x10000), 1, 0x10000);
	memset(fx_at(0x510000, 0x10000), 2, 0x10000);
	memset(fx_at(0x530000, 0x1000), 4, 0x1000);
}

TEST(to_a_file_and_back)
{
	uint8_t expected[0x21000], found[0x21000];
	FILE *file;

	fill();
	ck_assert_int_eq(dcss_to_file(fx.cp, "MULTI", path, err, sizeof(err)), 0);
	file = fopen(path, "rb");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(expected, 1, sizeof(expected), file), sizeof(expected));
	ck_assert_int_eq(fgetc(file), EOF);
	fclose(file);
	for (unsigned int i = 0; i < sizeof(expected); i++)
		ck_assert_uint_eq(expected[i], 1 + i / 0x10000 + (i >= 0x20000 ? 1 : 0));
	memset(fx_at(0x500000, 0x20000), 9, 0x20000);
	memset(fx_at(0x530000, 0x1000), 9, 0x1000);
	ck_assert_int_eq(dcss_from_file(fx.cp, "MULTI", path, err, sizeof(err)), 0);
	memcpy(found, fx_at(0x500000, 0x20000), 0x20000);
	memcpy(found + 0x20000, fx_at(0x530000, 0x1000), 0x1000);
	ck_assert_mem_eq(found, expected, sizeof(expected));
}

/* Larger than what is moved at once: 2 MiB. */
TEST(large_segment_to_a_file_and_back)
{
	const size_t size = 0x200000;
	uint8_t *found = fx_at(0x800000, size), *expected = malloc(size);

	ck_assert_ptr_nonnull(expected);
	for (size_t i = 0; i < size; i++)
		found[i] = expected[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
	ck_assert_int_eq(dcss_to_file(fx.cp, "MON", path, err, sizeof(err)), 0);
	memset(found, 9, size);
	ck_assert_int_eq(dcss_from_file(fx.cp, "MON", path, err, sizeof(err)), 0);
	ck_assert_mem_eq(found, expected, size);
	free(expected);
}

TEST(files_that_do_not_fit)
{
	char expected[256];

	fill();
	resize(0x20fff);
	snprintf(expected, sizeof(expected), "segment MULTI cannot be read from %s: expected a "
		 "file of 135168 bytes, it has 135167", path);
	fails(dcss_from_file(fx.cp, "MULTI", path, err, sizeof(err)), expected);
	resize(0x21001);
	ck_assert_int_eq(dcss_from_file(fx.cp, "MULTI", path, err, sizeof(err)), -1);
	fails(dcss_from_file(fx.cp, "MULTI", "/dev/null", err, sizeof(err)),
	      "segment MULTI cannot be read from /dev/null: it is not a regular file");
	ck_assert_uint_eq(*fx_at(0x500000, 1), 1);
	resize(0x2000);
	ck_assert_int_eq(dcss_from_file(fx.cp, "INSIDE", path, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "segment INSIDE has no contents: it overlaps the guest's storage, "
			      "move one of them");
}

/* Somebody else cuts the file off while it is read: a record tells of each part. */
static void (*trace)(void *opaque, const char *line, size_t len);
static unsigned int parts, cut_at;

static void trace_and_cut(void *opaque, const char *line, size_t len)
{
	if (++parts == cut_at)
		resize(0x10000);
	trace(opaque, line, len);
}

TEST(file_that_becomes_shorter)
{
	char expected[256];
	unsigned int shorter = 0;

	snprintf(expected, sizeof(expected), "segment MULTI cannot be read from %s: it has become "
		 "shorter", path);
	trace = fx.cp->host.trace;
	fx.cp->host.trace = trace_and_cut;
	for (cut_at = 1;; cut_at++, shorter++) {
		resize(0x21000);
		parts = 0;
		if (dcss_from_file(fx.cp, "MULTI", path, err, sizeof(err)) == 0)
			break;
		ck_assert_str_eq(err, expected);
	}
	fx.cp->host.trace = trace;
	/* Two of its three parts lie behind the cut. */
	ck_assert_uint_eq(shorter, 2);
}

TEST(files_that_fail)
{
	fails(dcss_from_file(fx.cp, "MULTI", "/nonexistent/file", err, sizeof(err)),
	      "segment MULTI cannot be read from /nonexistent/file: No such file or directory");
	fails(dcss_to_file(fx.cp, "MULTI", "/nonexistent/file", err, sizeof(err)),
	      "segment MULTI cannot be written to /nonexistent/file: No such file or directory");
	fails(dcss_to_file(fx.cp, "MULTI", "/dev/full", err, sizeof(err)),
	      "segment MULTI cannot be written to /dev/full: No space left on device");
	fails(dcss_to_file(fx.cp, "NONE", path, err, sizeof(err)),
	      "segment NONE does not exist: define it first");
	fails(dcss_from_file(fx.cp, "NONE", path, err, sizeof(err)),
	      "segment NONE does not exist: define it first");
}

/* Opening it like other files would wait for the other end, and stop the machine. */
TEST(fifo)
{
	char expected[2][160];
	int reader;

	fill();
	snprintf(expected[0], sizeof(expected[0]),
		 "segment MULTI cannot be read from %s: it is not a regular file", path);
	snprintf(expected[1], sizeof(expected[1]),
		 "segment MULTI cannot be written to %s: it is not a regular file", path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fails(dcss_from_file(fx.cp, "MULTI", path, err, sizeof(err)), expected[0]);
	fails(dcss_to_file(fx.cp, "MULTI", path, err, sizeof(err)), expected[1]);
	/* A pipe that somebody could read, but does not. */
	reader = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(reader, 0);
	fails(dcss_to_file(fx.cp, "MULTI", path, err, sizeof(err)), expected[1]);
	close(reader);
	ck_assert_uint_eq(*fx_at(0x500000, 1), 1);
}

TEST(small_file_on_a_full_disk)
{
	/* One page stays in the stream's buffer until the file is closed. */
	ck_assert_int_eq(define("ONE", 0x600, 0x600), 0);
	fails(dcss_to_file(fx.cp, "ONE", "/dev/full", err, sizeof(err)),
	      "segment ONE cannot be written to /dev/full: No space left on device");
}

static struct cp *create(const char *segment)
{
	struct cp_config c;
	struct cp *cp;

	cp_config_init(&c);
	ck_assert_int_eq(cp_config_set(&c, "storage", "0.4M", err, sizeof(err)), 0);
	ck_assert_int_eq(cp_config_set(&c, "segment", segment, err, sizeof(err)), 0);
	cp = cp_create(NULL, &c, &fx.cp->host, err, sizeof(err));
	cp_config_fini(&c);
	return cp;
}

TEST(initial_contents)
{
	char text[128];
	struct cp *cp;

	fill();
	ck_assert_int_eq(dcss_to_file(fx.cp, "MULTI", path, err, sizeof(err)), 0);
	snprintf(text, sizeof(text), "B 600-620 EN FILE=%s", path);
	cp = create(text);
	ck_assert_ptr_nonnull(cp);
	ck_assert_uint_eq(*(uint8_t *)dcss_map(cp, dcss_find(cp, "B"), 0, 1), 1);
	ck_assert_uint_eq(*(uint8_t *)dcss_map(cp, dcss_find(cp, "B"), 0x20fff, 1), 4);
	cp_destroy(cp);
	ck_assert_ptr_null(create("B 600-620 EN FILE=/nonexistent/file"));
	ck_assert_str_eq(err, "segment B cannot be read from /nonexistent/file: No such file or "
			      "directory");
}
