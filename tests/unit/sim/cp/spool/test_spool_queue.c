/* SPDX-License-Identifier: MIT */
/* Queues of the spool: whose files are on them, their numbers and order, and how much there is room for. */
#include "spool/spool_private.h"
#include "spool_check.h"

static const uint8_t letters[] = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88 };
static char err[256];

/* "abcdefgh" in records of @record_length on a queue of @user's; return: the file's number. */
static int put(const char *user, enum spool_queue queue, uint32_t record_length, size_t len)
{
	const struct spool_put request = {
		.user = user, .queue = queue, .spool_class = 'A', .record_length = record_length,
		.data = letters, .len = len,
	};

	return spool_put(fx.cp, &request, err, sizeof(err));
}

static struct spool_file_info nth(unsigned int index)
{
	struct spool_file_info info = { .owner = "" };

	ck_assert(spool_file(fx.cp, index, &info));
	return info;
}

static void ck_nth(unsigned int index, const char *owner, enum spool_queue queue, unsigned int id)
{
	const struct spool_file_info info = nth(index);

	ck_assert_str_eq(info.owner, owner);
	ck_assert_int_eq(info.queue, queue);
	ck_assert_uint_eq(info.id, id);
}

CASE("queues", spool_setup, fx_teardown);

/* Numbers are a user's; each command sees the files of one user and one queue. */
TEST(queues_of_several_users)
{
	ck_assert_int_eq(put(OTHER, SPOOL_RDR, 80, 8), 1);
	ck_assert_int_eq(put(OTHER, SPOOL_RDR, 80, 8), 2);
	ck_assert_int_eq(put("LINUX001", SPOOL_PUN, 80, 8), 1);
	ck_guest("ORDER RDR 1", 0, "NO FILES ORDERED\n");
	ck_guest("ORDER PUN 2", 0, "NO FILES ORDERED\n");
	ck_assert_int_eq(put("LINUX001", SPOOL_RDR, 80, 8), 2);
	ck_guest("ORDER RDR 2", 0, "0001 FILE ORDERED\n");
	ck_nth(0, "LINUX001", SPOOL_RDR, 2);
	ck_nth(1, OTHER, SPOOL_RDR, 1);
	ck_nth(2, OTHER, SPOOL_RDR, 2);
	ck_nth(3, "LINUX001", SPOOL_PUN, 1);
	ck_guest("ORDER PUN 1", 0, "0001 FILE ORDERED\n");
	ck_nth(0, "LINUX001", SPOOL_PUN, 1);
	ck_nth(1, "LINUX001", SPOOL_RDR, 2);
	ck_nth(3, OTHER, SPOOL_RDR, 2);
	ck_guest("PURGE RDR 2", 0, "0001 FILE PURGED\n");
	ck_nth(0, "LINUX001", SPOOL_PUN, 1);
	ck_nth(1, OTHER, SPOOL_RDR, 1);
	ck_nth(2, OTHER, SPOOL_RDR, 2);
	ck_assert_uint_eq(spool_files(), 3);
	/* A number that is free again is given again, the lowest first. */
	ck_operator("PURGE LINUX001 PUN 1", 0, "0001 FILE PURGED\n");
	ck_assert_int_eq(put("LINUX001", SPOOL_PRT, 80, 8), 1);
	ck_operator("PURGE RDR 1", 0, "0001 FILE PURGED\n");
	ck_assert_int_eq(put(OTHER, SPOOL_RDR, 80, 8), 1);
}

/* Behind those on queues come those that are being written, by the order in which they began. */
TEST(files_that_are_being_written)
{
	struct spool_file_info info;

	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_assert_int_eq(put("LINUX001", SPOOL_RDR, 80, 8), 2);
	ck_assert_uint_eq(unit_write(PRINTER, 0x09, "line"), 0x0c);
	ck_assert_int_eq(put("LINUX001", SPOOL_RDR, 80, 8), 4);
	ck_nth(0, "LINUX001", SPOOL_RDR, 2);
	ck_nth(1, "LINUX001", SPOOL_RDR, 4);
	ck_nth(2, "LINUX001", SPOOL_PUN, 1);
	ck_nth(3, "LINUX001", SPOOL_PRT, 3);
	ck_assert(!spool_file(fx.cp, 4, &info));
	ck_assert_uint_eq(spool_use(fx.cp).files, 4);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 4);
	ck_assert_uint_eq(nth(3).record_length, 132);
	ck_assert(nth(3).open && !nth(1).open);
	ck_assert_int_eq(nth(3).device, SPOOL_PRT);
	ck_assert_int_eq(nth(1).device, SPOOL_PUN);
}

static const struct {
	const char *text;
	bool valid;
} fields[] = {
	{ "!", true }, { "~", true }, { "12345678", true }, { "", true }, { NULL, true },
	{ "123456789", false }, { " ", false }, { "a ", false }, { "\x7f", false }, { "a\x1f", false },
};

/* Each text of a request by itself: its file is there, or nothing is. */
TEST_EACH(texts_of_a_request, fields)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct spool_put request = {
			.user = "BOB", .queue = SPOOL_PRT, .spool_class = '0', .record_length = 80,
			.data = letters, .len = 8,
		};
		const char **texts[] = {
			&request.name, &request.type, &request.origin, &request.user,
		};

		if (i == 3 && (!fields[_i].text || fields[_i].text[0] == '\0'))
			continue;
		*texts[i] = fields[_i].text;
		ck_assert_int_eq(spool_put(fx.cp, &request, err, sizeof(err)),
				 fields[_i].valid ? 1 : -1);
		if (!fields[_i].valid) {
			ck_assert_str_eq(err, "users, names and types of spool files have up to 8 "
					      "printable characters without blanks");
			ck_assert_uint_eq(spool_files(), 0);
			continue;
		}
		ck_assert_str_eq(nth(0).owner, request.user);
		ck_assert_str_eq(nth(0).origin, request.origin ? request.origin : request.user);
		ck_assert_str_eq(nth(0).name, request.name ? request.name : "");
		ck_assert_str_eq(nth(0).type, request.type ? request.type : "");
		ck_assert_str_eq(nth(0).dist, request.user);
		ck_assert_str_eq(nth(0).form, "STANDARD");
		spool_purge(fx.cp, &fx.cp->system->spool->file[0]);
	}
}

/* The number of a file, or 0, is in the trace. */
TEST(numbers_in_the_trace)
{
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 8), 1);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"id\":1"));
	ck_assert_int_eq(put("TOOLONGID", SPOOL_RDR, 80, 8), -1);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"id\":0"));
}

/* As many records as there is room for, the last one with blanks behind it. */
TEST(records_that_fit)
{
	uint8_t to[9];

	ck_assert_int_eq(put("BOB", SPOOL_RDR, 3, 8), 1);
	memset(to, 0xee, sizeof(to));
	ck_assert_int_eq(spool_records(fx.cp, "BOB", SPOOL_RDR, 1, 0, to, 8), 2);
	ck_assert_mem_eq(to, letters, 6);
	ck_assert_uint_eq(to[6], 0xee);
	ck_assert_int_eq(spool_records(fx.cp, "BOB", SPOOL_RDR, 1, 1, to, 6), 2);
	ck_assert_mem_eq(to, letters + 3, 5);
	ck_assert_uint_eq(to[5], 0x40);
	ck_assert_uint_eq(to[6], 0xee);
	ck_assert_int_eq(spool_records(fx.cp, "BOB", SPOOL_RDR, 1, 0, to, 2), 0);
	ck_assert_int_eq(spool_records(fx.cp, "BOB", SPOOL_PUN, 1, 0, to, 9), -1);
	ck_assert_int_eq(spool_records(fx.cp, "EVE", SPOOL_RDR, 1, 0, to, 9), -1);
	ck_assert_int_eq(spool_records(fx.cp, "BOB", SPOOL_RDR, 2, 0, to, 9), -1);
}

TEST(limits_that_are_too_high)
{
	spool_limits(fx.cp, SPOOL_PAGES + 1, SPOOL_MAX_ID + 1);
	ck_assert_uint_eq(spool_use(fx.cp).page_limit, 61440);
	ck_assert_uint_eq(spool_use(fx.cp).file_limit, 9999);
	spool_limits(fx.cp, 0, 0);
	ck_assert_uint_eq(spool_use(fx.cp).page_limit, 0);
	ck_assert_uint_eq(spool_use(fx.cp).file_limit, 0);
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 0), -1);
	ck_assert_str_eq(err, "BOB cannot have more files");
}

/* A request that does not fit leaves nothing behind. */
TEST(no_room_for_a_request)
{
	spool_limits(fx.cp, 0, 9999);
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 8), -1);
	ck_assert_str_eq(err, "the spool is full: it has no room for 8 bytes");
	ck_assert_uint_eq(spool_files(), 0);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
	spool_limits(fx.cp, 1, 1);
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 8), 1);
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 8), -1);
	ck_assert_str_eq(err, "BOB cannot have more files");
	/* Files that are no more do not count, nor do other users'. */
	spool_limits(fx.cp, 9, 1);
	ck_assert_int_eq(put("EVE", SPOOL_RDR, 80, 8), 1);
	ck_operator("PURGE BOB RDR 1", 0, "0001 FILE PURGED\n");
	ck_assert_int_eq(put("BOB", SPOOL_PUN, 80, 8), 1);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 2);
}

/* The system's files, of which one user has all but one: to the last slot. */
TEST(as_many_files_as_there_can_be)
{
	ck_assert_int_eq(put("EVE", SPOOL_RDR, 80, 0), 1);
	for (int i = 1; i < (int)SPOOL_MAX_FILES; i++)
		ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 0), i);
	ck_assert_int_eq(put("ALICE", SPOOL_RDR, 80, 0), -1);
	ck_assert_str_eq(err, "ALICE cannot have more files");
	ck_assert_uint_eq(spool_use(fx.cp).files, 1024);
	ck_assert_uint_eq(spool_files(), 1024);
	ck_nth(1023, "BOB", SPOOL_RDR, 1023);
	/* All of them move. */
	ck_operator("ORDER BOB RDR 1023", 0, "0001 FILE ORDERED\n");
	ck_nth(0, "BOB", SPOOL_RDR, 1023);
	ck_nth(1, "EVE", SPOOL_RDR, 1);
	ck_nth(1023, "BOB", SPOOL_RDR, 1022);
	ck_operator("PURGE BOB RDR 1023", 0, "0001 FILE PURGED\n");
	ck_nth(0, "EVE", SPOOL_RDR, 1);
	ck_nth(1022, "BOB", SPOOL_RDR, 1022);
	/* The slot that is free is the last. */
	ck_assert_uint_eq(punch("x"), 0x0c);
	ck_nth(1023, "LINUX001", SPOOL_PUN, 1);
	ck_assert_uint_eq(punch("y"), 0x0c);
	run_as(CPCMD_GUEST, "CLOSE PUN TO * RDR", 0);
	ck_card("x");
	ck_guest("CLOSE RDR", 0, "");
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 0), 1023);
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 0), -1);
	/* A user's limit is reached at it, and not before. */
	ck_operator("PURGE EVE RDR 1", 0, "0001 FILE PURGED\n");
	spool_limits(fx.cp, SPOOL_PAGES, 1023);
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 0), -1);
	spool_limits(fx.cp, SPOOL_PAGES, 1024);
	ck_assert_int_eq(put("BOB", SPOOL_RDR, 80, 0), 1024);
}

/* Records of 1 byte take 16, so a page has 253 of them. */
#define RECORDS_OF_A_PAGE 253u

/* The file takes all pages that are free, each to its last record; return: how many records. */
static unsigned int fill_all(struct spool_file *file)
{
	unsigned int records = 0;

	while (spool_append(fx.cp->system->spool, file, 0x01, letters, 1))
		records++;
	return records;
}

TEST(every_page)
{
	struct spool_file *one = spool_new(fx.cp, "ONE", SPOOL_PUN);
	struct spool_file *two = spool_new(fx.cp, "TWO", SPOOL_PUN);
	struct spool_place place;
	unsigned int records = 0;
	uint32_t len;

	for (unsigned int i = 0; i <= RECORDS_OF_A_PAGE; i++)
		ck_assert(spool_append(fx.cp->system->spool, one, 0x01, letters, 1));
	ck_assert_uint_eq(one->pages, 2);
	ck_assert_uint_eq(fill_all(two), (SPOOL_PAGES - 2) * RECORDS_OF_A_PAGE);
	ck_assert_uint_eq(two->pages, SPOOL_PAGES - 2);
	ck_assert_uint_eq(spool_use(fx.cp).pages, SPOOL_PAGES);
	ck_assert_uint_eq(spool_page_at(fx.cp->system->spool, two, SPOOL_PAGES - 3), SPOOL_PAGES);
	ck_assert_uint_eq(spool_page_at(fx.cp->system->spool, two, SPOOL_PAGES - 2), 0);
	/* The pages that one file gives back are those that another takes. */
	spool_purge(fx.cp, one);
	ck_assert_uint_eq(spool_use(fx.cp).pages, SPOOL_PAGES - 2);
	ck_assert_uint_eq(fill_all(two), 2 * RECORDS_OF_A_PAGE);
	ck_assert_uint_eq(two->records, SPOOL_PAGES * RECORDS_OF_A_PAGE);
	place = (struct spool_place){ .page = two->first };
	while (spool_next_record(fx.cp->system->spool, &place, &len)) {
		ck_assert_uint_eq(len, 1);
		records++;
	}
	ck_assert_uint_eq(records, SPOOL_PAGES * RECORDS_OF_A_PAGE);
	spool_purge(fx.cp, two);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
	one = spool_new(fx.cp, "ONE", SPOOL_PUN);
	ck_assert_uint_eq(fill_all(one), SPOOL_PAGES * RECORDS_OF_A_PAGE);
}

/* A page has nothing of the file that used it before. */
TEST(a_page_used_again)
{
	struct spool_file *file = spool_new(fx.cp, "ONE", SPOOL_PRT);
	static const uint8_t nothing[CP_PAGE_SIZE];
	const uint8_t *page;

	fill_all(file);
	spool_purge(fx.cp, file);
	file = spool_new(fx.cp, "ONE", SPOOL_PRT);
	ck_assert(spool_append_immediate(fx.cp->system->spool, file, 0x8b));
	ck_assert(spool_append(fx.cp->system->spool, file, 0x09, letters, 5));
	page = fx.cp->system->spool->page[file->first - 1];
	ck_assert_mem_eq(page, nothing, 12);
	ck_assert_uint_eq(get_be32(page + 12), 2);
	ck_assert_uint_eq(get_be64(page + 16), 0x8b00000070000001);
	ck_assert_uint_eq(get_be64(page + 24), 0x0900000060000005);
	ck_assert_uint_eq(get_be32(page + 32), 0x00000018);
	ck_assert_mem_eq(page + 36, letters, 5);
	ck_assert_mem_eq(page + 41, nothing, CP_PAGE_SIZE - 41);
	ck_assert_uint_eq(file->records, 1);
	ck_assert_uint_eq(file->fill, 32);
}
