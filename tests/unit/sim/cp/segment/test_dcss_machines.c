/* SPDX-License-Identifier: MIT */
/* Saved segments in a system of several machines: whose they are, and what happens to contents. */
#include "segext_fields.h"
#include "segment/dcss_private.h"

#define NAME 0x3000u

enum { ALICE, BOB, CAROL };

static const char *const small[] = { "storage", "0.4M", NULL };

static void setup(void)
{
	fx_system((const char *const[]){
		"segment", "ROM 800-80F SR;RAM 810-81F SW;OWN 820-82F EW 830-83F EN;OVER 808-817 SR",
		NULL,
	});
	fx_logon(ALICE, "ALICE", small);
	fx_logon(BOB, "BOB", small);
}

FX_REPLAY_TRACES;

CASE("segments", setup, fx_teardown);

static struct cp_result call(unsigned int machine, const char *name, uint64_t subcode)
{
	fx_use(machine);
	fx_put_name(NAME, name);
	fx.gr[2] = NAME;
	fx.gr[4] = subcode;
	return fx_diag(2, 4, 0x64);
}

#define refused(result, rc) \
	do { \
		ck_cc(result, 2); \
		ck_assert_uint_eq(fx.gr[4], (rc)); \
	} while (0)

static const struct dcss *segment(const char *name)
{
	const struct dcss *found = dcss_find(fx.cp, name);

	ck_assert_ptr_nonnull(found);
	return found;
}

/* Each has loaded what it has loaded; the users are counted over all. */
TEST(loaded_by_each)
{
	ck_cc(call(ALICE, "ROM", LOADSHR), 0);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x800000), CP_ACCESS_READ);
	fx_use(BOB);
	ck_assert(!dcss_loaded(fx.cp, segment("ROM")));
	ck_assert_int_eq(cp_page_access(fx.cp, 0x800000), CP_ACCESS_NONE);
	ck_assert_uint_eq(fx.storage_changes, 0);
	ck_cc(call(BOB, "ROM", LOADSHR), 0);
	ck_assert_uint_eq(segment("ROM")->users, 2);
	ck_cc(call(ALICE, "ROM", PURGESEG), 0);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x800000), CP_ACCESS_NONE);
	fx_use(BOB);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x800000), CP_ACCESS_READ);
	ck_assert_uint_eq(segment("ROM")->users, 1);
}

/* A byte that one stores is there in the other, until the last has given the segment back. */
TEST(stored_by_one)
{
	fx_use(ALICE);
	ck_assert(dcss_write(fx.cp, segment("RAM"), 0, "saved", 5));
	ck_cc(call(ALICE, "RAM", LOADSHR), 0);
	ck_cc(call(BOB, "RAM", LOADSHR), 0);
	memcpy(fx_at(0x810000, 5), "store", 5);
	fx_use(ALICE);
	ck_assert_mem_eq(fx_at(0x810000, 5), "store", 5);
	ck_cc(call(ALICE, "RAM", PURGESEG), 0);
	ck_cc(call(ALICE, "RAM", LOADSHR), 0);
	ck_assert_mem_eq(fx_at(0x810000, 5), "store", 5);
	ck_cc(call(ALICE, "RAM", PURGESEG), 0);
	ck_cc(call(BOB, "RAM", PURGESEG), 0);
	ck_cc(call(ALICE, "RAM", LOADSHR), 0);
	ck_assert_mem_eq(fx_at(0x810000, 5), "saved", 5);
}

/* A machine that has pages of its own sees nobody else's stores, and nobody its. */
TEST(pages_of_its_own)
{
	fx_use(ALICE);
	ck_assert(dcss_write(fx.cp, segment("OWN"), 0, "saved", 5));
	ck_cc(call(ALICE, "OWN", LOADSHR), 0);
	ck_cc(call(BOB, "OWN", LOADSHR), 0);
	ck_assert_mem_eq(fx_at(0x820000, 5), "saved", 5);
	memcpy(fx_at(0x820000, 3), "BOB", 3);
	memcpy(fx_at(0x830000, 3), "BOB", 3);
	fx_use(ALICE);
	ck_assert_mem_eq(fx_at(0x820000, 5), "saved", 5);
	ck_assert_uint_eq(*fx_at(0x830000, 1), 0);
	ck_assert_uint_eq(segment("OWN")->users, 2);
}

/* Exclusively, while others share it: each has what was saved, and stores for itself. */
TEST(exclusive)
{
	fx_use(ALICE);
	ck_assert(dcss_write(fx.cp, segment("RAM"), 0, "saved", 5));
	ck_cc(call(ALICE, "RAM", LOADSHR), 0);
	memcpy(fx_at(0x810000, 5), "ALICE", 5);
	ck_cc(call(BOB, "RAM", LOADNSR), 0);
	ck_assert_mem_eq(fx_at(0x810000, 5), "saved", 5);
	memcpy(fx_at(0x810000, 3), "BOB", 3);
	fx_use(ALICE);
	ck_assert_mem_eq(fx_at(0x810000, 5), "ALICE", 5);
	ck_cc(call(ALICE, "ROM", LOADSHR), 0);
	ck_cc(call(BOB, "ROM", LOADNSR), 0);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x800000), CP_ACCESS_WRITE);
	fx_use(ALICE);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x800000), CP_ACCESS_READ);
	/* Loaded already, in the other mode. */
	refused(call(ALICE, "ROM", LOADNSR), DCSS_RC_IN_USE);
}

/* One changes its copy and saves it: the others read on what they have, and then the new one. */
TEST(saved_by_one)
{
	struct cp_segment_config c = { .name = "ROM", .ranges = 1,
				       .range = { { 0x800, 0x80f, DCSS_SR } } };
	char err[256];

	fx_use(ALICE);
	ck_assert(dcss_write(fx.cp, segment("ROM"), 0, "old", 3));
	ck_cc(call(ALICE, "ROM", LOADSHR), 0);
	ck_cc(call(BOB, "ROM", LOADNSR), 0);
	memcpy(fx_at(0x800000, 3), "new", 3);
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_save(fx.cp, "ROM", err, sizeof(err)), 0);
	fx_use(ALICE);
	ck_assert_mem_eq(fx_at(0x800000, 3), "old", 3);
	ck_cc(call(ALICE, "ROM", PURGESEG), 0);
	ck_cc(call(ALICE, "ROM", LOADSHR), 0);
	ck_assert_mem_eq(fx_at(0x800000, 3), "new", 3);
	/* Bob still has the old one. */
	fx_use(BOB);
	ck_assert_uint_eq(segment("ROM")->users, 1);
	ck_assert_ptr_nonnull(dcss_at(fx.cp, 4));
	ck_cc(call(BOB, "ROM", PURGESEG), 0);
	ck_assert_ptr_null(dcss_at(fx.cp, 4));
}

/* Other segments at the same address are other pages. */
TEST(overlapping)
{
	ck_cc(call(ALICE, "RAM", LOADSHR), 0);
	memcpy(fx_at(0x810000, 5), "ALICE", 5);
	ck_cc(call(BOB, "OVER", LOADSHR), 0);
	ck_assert_uint_eq(*fx_at(0x810000, 1), 0);
	refused(call(ALICE, "OVER", LOADSHR), DCSS_RC_OVERLAP);
}

/* The last to go ends a pending purge, be it by its log-off. */
TEST(pending_purge)
{
	char err[256];

	ck_cc(call(ALICE, "ROM", LOADSHR), 0);
	ck_cc(call(BOB, "ROM", LOADSHR), 0);
	ck_assert_int_eq(dcss_purge(fx.cp, "ROM", err, sizeof(err)), 0);
	ck_assert_ptr_null(dcss_find(fx.cp, "ROM"));
	ck_assert_ptr_nonnull(dcss_at(fx.cp, 3));
	fx_logoff(ALICE);
	ck_assert_ptr_nonnull(dcss_at(fx.cp, 3));
	fx_logoff(BOB);
	fx_logon(CAROL, "CAROL", small);
	ck_assert_ptr_null(dcss_at(fx.cp, 3));
}

/* What lies in a machine's own storage is the machine's; the others' is the segment's. */
TEST(in_the_storage_of_one)
{
	fx_logon(CAROL, "CAROL", (const char *const[]){ "storage", "0.16M", NULL });
	ck_assert(dcss_in_storage(fx.cp, segment("ROM")));
	fx_use(ALICE);
	ck_assert(!dcss_in_storage(fx.cp, segment("ROM")));
	fx_use(CAROL);
	ck_assert(dcss_write(fx.cp, segment("ROM"), 0, "contents", 8));
	fx_use(ALICE);
	ck_cc(call(ALICE, "ROM", LOADSHR), 0);
	ck_assert_mem_eq(fx_at(0x800000, 8), "contents", 8);
}
