/* SPDX-License-Identifier: MIT */
/*
 * CP's accesses are held against the shadow of a kernel with KASAN, as its
 * Documentation/dev-tools/kasan.rst describes it: a byte for each 8 of storage.
 */
#include <stdlib.h>

#include "cp_private.h"
#include "fixture.h"
#include "zvmlab/kasan.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* The virtual address of the shadow of 0, as on s390; the fake kernel has it of 64 KiB. */
#define OFFSET UINT64_C(0x1c000000000000)
#define SHADOWED 0x10000u
#define BUFFER 0x3000u
#define FREED 0xfbu
#define REDZONE 0xfcu

static uint8_t shadow[SHADOWED / 8];
static uint64_t shadow_start;
static unsigned int lookups;

static bool home_read(void *opaque, uint64_t addr, void *to, size_t len)
{
	(void)opaque;
	ck_assert_uint_eq(addr / CP_PAGE_SIZE, (addr + len - 1) / CP_PAGE_SIZE);
	lookups++;
	if (addr < shadow_start || addr - shadow_start > sizeof(shadow) - len)
		return false;
	memcpy(to, shadow + (addr - shadow_start), len);
	return true;
}

static void watch_at(uint64_t offset, uint64_t identity)
{
	const struct kasan_shadow settings = { .offset = offset, .identity = identity };

	fx.cp->host.home_read = home_read;
	shadow_start = offset + identity / 8;
	ck_assert(kasan_watch(fx.cp, &settings));
}

static void watch(uint64_t identity)
{
	watch_at(OFFSET, identity);
}

static void setup(void)
{
	fx_setup();
	memset(shadow, 0, sizeof(shadow));
	lookups = 0;
	watch(0);
}

/* The shadow of what begins at @addr. */
static void mark(uint64_t addr, size_t bytes, uint8_t value)
{
	memset(shadow + addr / 8, value, bytes / 8);
}

static void access_storage(bool store, uint64_t addr, size_t len)
{
	static uint8_t bytes[SHADOWED];

	trace_begin(fx.cp, 0, "iucv.test");
	trace_begin(fx.cp, 0, "inner");
	trace_end(fx.cp);
	ck_assert_uint_eq(store ? storage_write(fx.cp, 0, addr, bytes, len) :
				  storage_read(fx.cp, CP_ABSOLUTE, addr, bytes, len), 0);
	trace_end(fx.cp);
}

static void ck_reports(unsigned int count)
{
	ck_assert_uint_eq(fx.events[CP_EVENT_KASAN], count);
}

CASE("kasan", setup, fx_teardown);

struct usable {
	uint64_t addr;
	size_t len;
	bool good;
};

/* Three granules, of the last one four bytes; what is behind is a redzone, as it is in front. */
static const struct usable usable[] = {
	{ BUFFER, 1, true }, { BUFFER, 28, true }, { BUFFER + 27, 1, true }, { BUFFER + 5, 17, true },
	{ BUFFER + 24, 4, true }, { BUFFER, 29, false }, { BUFFER + 28, 1, false },
	{ BUFFER + 24, 8, false }, { BUFFER + 32, 4, false }, { BUFFER - 1, 1, false },
	{ BUFFER - 1, 2, false }, { BUFFER - 8, 8, false }, { BUFFER, 40, false },
	{ BUFFER, 3000, false },
};

TEST_EACH(bytes_that_may_be_used, usable)
{
	const struct usable *u = &usable[_i];

	mark(BUFFER - 64, 64, REDZONE);
	mark(BUFFER + 24, 8, 4);
	mark(BUFFER + 32, 64, REDZONE);
	access_storage(true, u->addr, u->len);
	ck_reports(!u->good);
	access_storage(false, u->addr, u->len);
	ck_reports(2 * !u->good);
}

TEST(report_says_who_and_what)
{
	mark(BUFFER + 32, 8, 4);
	mark(BUFFER + 40, 8, REDZONE);
	access_storage(true, BUFFER, 40);
	ck_reports(1);
	ck_assert_str_eq(fx.last_name, "iucv.test");
	ck_assert_str_eq(fx.last_text, "writes 40 bytes, shadow 00 00 00 00 [04] fc 00 00 00");
	ck_assert_uint_eq(fx.last_event.value, BUFFER);
	mark(BUFFER, 8, FREED);
	access_storage(false, BUFFER + 4, 2);
	ck_assert_str_eq(fx.last_text, "reads 2 bytes, shadow 00 00 00 00 [fb] 00 00 00 04");
}

TEST(identity_mapping_may_begin_anywhere)
{
	watch(UINT64_C(0x3ff00000000));
	mark(BUFFER, 8, FREED);
	access_storage(false, BUFFER, 8);
	ck_reports(1);
	access_storage(false, BUFFER + 8, 8);
	ck_reports(1);
}

TEST(long_access_is_looked_through)
{
	mark(0xfff8, 8, FREED);
	access_storage(false, 0x1000, SHADOWED - 0x1000 - 8);
	ck_reports(0);
	access_storage(false, 0x1000, SHADOWED - 0x1000);
	ck_reports(1);
}

/* A state that was saved may say so. */
TEST(shadow_at_the_end_of_all_addresses)
{
	watch_at(UINT64_MAX - (BUFFER + 63) / 8, 0);
	access_storage(false, BUFFER, 64);
	ck_reports(0);
	ck_assert_uint_eq(lookups, 1);
	mark(BUFFER + 56, 8, FREED);
	access_storage(false, BUFFER, 64);
	ck_assert_str_eq(fx.last_text, "reads 64 bytes, shadow 00 00 00 00 [fb]");
	access_storage(false, BUFFER, 256);
	ck_reports(2);
}

TEST(page_that_is_given_back_is_the_guests)
{
	fx.gr[2] = fx.gr[4] = BUFFER;
	ck_assert_int_eq(fx_diag(2, 4, 0x10).how, CP_DONE);
	ck_reports(0);
	mark(BUFFER, CP_PAGE_SIZE, FREED);
	ck_assert_int_eq(fx_diag(2, 4, 0x10).how, CP_DONE);
	ck_reports(1);
	ck_assert_str_eq(fx.last_name, "diag.10");
	ck_assert_uint_eq(fx.last_event.value, BUFFER);
}

TEST(storage_without_a_shadow_may_be_used)
{
	access_storage(true, SHADOWED + 0x1000, 64);
	access_storage(true, SHADOWED - 64, 128);
	ck_reports(0);
	ck_assert_uint_gt(lookups, 0);
}

TEST(what_a_test_reads_is_no_access_of_cp)
{
	uint8_t byte;

	mark(BUFFER, 8, FREED);
	ck_assert_uint_eq(storage_read(fx.cp, CP_ABSOLUTE, BUFFER, &byte, 1), 0);
	ck_reports(0);
	ck_assert_uint_eq(lookups, 0);
}

TEST(access_that_is_refused_is_none)
{
	uint8_t byte = 0;

	trace_begin(fx.cp, 0, "test");
	ck_assert_uint_eq(storage_write(fx.cp, 0, 0x400000, &byte, 1), PGM_ADDRESSING);
	trace_end(fx.cp);
	ck_assert_uint_eq(lookups, 0);
}

TEST(mistake_that_is_made_again_and_again)
{
	mark(BUFFER, 8, FREED);
	for (unsigned int i = 0; i < 100; i++)
		access_storage(false, BUFFER, 8);
	ck_reports(16);
}

TEST(it_ends)
{
	mark(BUFFER, 8, FREED);
	ck_assert(kasan_watch(fx.cp, NULL));
	access_storage(false, BUFFER, 8);
	watch(0);
	cp_reset(fx.cp);
	access_storage(false, BUFFER, 8);
	ck_reports(0);
	ck_assert_uint_eq(lookups, 0);
}

TEST(emulator_that_cannot)
{
	const struct kasan_shadow settings = { .offset = OFFSET };

	mark(BUFFER, 8, FREED);
	fx.cp->host.home_read = NULL;
	ck_assert(!kasan_watch(fx.cp, &settings));
	ck_assert(kasan_watch(fx.cp, NULL));
	access_storage(false, BUFFER, 8);
	ck_reports(0);
}

TEST(it_is_saved)
{
	char err[256];
	size_t len;
	uint8_t *image = cp_save(fx.cp, &len);

	ck_assert_ptr_nonnull(image);
	ck_assert(kasan_watch(fx.cp, NULL));
	ck_assert_int_eq(cp_load(fx.cp, image, len, err, sizeof(err)), 0);
	free(image);
	mark(BUFFER, 8, FREED);
	access_storage(false, BUFFER, 8);
	ck_reports(1);
}
