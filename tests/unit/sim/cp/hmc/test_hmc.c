/* SPDX-License-Identifier: MIT */
/* The HMC's drive: its files, DIAGNOSE X'2C4', and the interruption that tells of transfers. */
#include <stdlib.h>

#include "fixture.h"
#include "segext_fields.h"
#include "state_check.h"
#include "zvmlab/fault.h"
#include "zvmlab/hmc.h"

/* The parameter list, as Linux' drivers/s390/char/diag_ftp.c has it (struct diag_ftp_ldfpl). */
enum {
	FTP_BUFFER = 0,		/* 8 */
	FTP_LENGTH = 8,		/* 8 */
	FTP_OFFSET = 16,	/* 8 */
	FTP_INTPARM = 24,	/* 8 */
	FTP_TRANSFERRED = 32,	/* 8 */
	FTP_SIZE = 40,		/* 8 */
	FTP_FAILING = 48,	/* 8 */
	FTP_NAME = 64,		/* 192 */
	FTP_LIST = 256,
};
enum { NOOP, GET, PUT, APPEND, DIR, NLIST, DELETE, CANCEL };
enum { OK = 0, PROGRAM = 4, FAILED = 17, NOT_ALLOWED = 18 };
#define LIST 0x3000u
#define BUFFER 0x8000u
#define ROOM 1000u
#define SEGMENT 0xa00000u

static char err[512];

static void setup(void)
{
	fx_setup_with((const char *const[]){ "cpus", "2", NULL });
	ck_assert_int_eq(hmc_drive(fx.cp, ROOM, false, err, sizeof(err)), 0);
}

FX_REPLAY_TRACES;

CASE("hmc", setup, fx_teardown);

static void put_file(const char *name, const char *text)
{
	ck_assert_int_eq(hmc_write(fx.cp, name, text, strlen(text), err, sizeof(err)), 0);
}

static void ck_file(const char *name, const char *text)
{
	const struct hmc_file *file = hmc_find(fx.cp, name);

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(file->len, strlen(text));
	ck_assert_mem_eq(hmc_bytes(fx.cp, file), text, strlen(text));
}

static void put_list_at(uint64_t at, const char *name, uint64_t length, uint64_t offset)
{
	uint8_t *list = fx_at(at, FTP_LIST);

	memset(list, 0, FTP_LIST);
	put_be64(list + FTP_BUFFER, BUFFER);
	put_be64(list + FTP_LENGTH, length);
	put_be64(list + FTP_OFFSET, offset);
	put_be64(list + FTP_INTPARM, 0x1122334455667788);
	memcpy(list + FTP_NAME, name, strlen(name));
}

static void put_list(const char *name, uint64_t length, uint64_t offset)
{
	put_list_at(LIST, name, length, offset);
}

/* X'64' of the segment DATA. */
static void segment_call(uint64_t subcode)
{
	fx_put_name(LIST, "DATA");
	fx.gr[2] = LIST;
	fx.gr[4] = subcode;
	ck_cc(fx_diag(2, 4, 0x64), 0);
}

/* Rx = 2, Ry = 4.  Return: what is in Ry. */
static uint64_t diag(unsigned int function)
{
	fx.gr[2] = LIST;
	fx.gr[4] = function;
	ck_assert_int_eq(fx_diag(2, 4, 0x2c4).how, CP_DONE);
	return fx.gr[4];
}

/* The interruption that CPU 1 takes. */
static void ck_told(unsigned int status)
{
	struct cp_external external;

	ck_assert(cp_external_pending(fx.cp, 0) && cp_external_pending(fx.cp, 1));
	ck_assert(cp_external_take(fx.cp, 1, &external));
	ck_assert_uint_eq(external.code, 0x2603);
	ck_assert_uint_eq(external.subcode, 0x0800 + status);
	ck_assert_uint_eq(external.parameter32, 0x55667788);
	ck_assert_uint_eq(external.parameter, 0x1122334455667788);
}

static void ck_untold(void)
{
	ck_assert(!cp_external_pending(fx.cp, 0) && !cp_external_pending(fx.cp, 1));
}

static void run(unsigned int function, const char *name, uint64_t length, uint64_t offset,
		unsigned int status)
{
	put_list(name, length, offset);
	ck_assert_uint_eq(diag(function), 0);
	ck_told(status);
	ck_untold();
}

static void ck_list(uint64_t transferred, uint64_t size)
{
	const uint8_t *list = fx_at(LIST, FTP_LIST);

	ck_assert_uint_eq(get_be64(list + FTP_TRANSFERRED), transferred);
	ck_assert_uint_eq(get_be64(list + FTP_SIZE), size);
}

static void get(const char *name, uint64_t length, uint64_t offset, const char *text, uint64_t size)
{
	uint8_t *buffer = fx_at(BUFFER, 4096);

	memset(buffer, 0xee, 4096);
	run(GET, name, length, offset, OK);
	ck_list(strlen(text), size);
	ck_assert_mem_eq(buffer, text, strlen(text));
	ck_assert_uint_eq(buffer[strlen(text)], 0xee);
}

TEST(parts_of_a_file)
{
	put_file("/dir/file", "0123456789");
	get("dir/file", 100, 0, "0123456789", 10);
	get("/dir/file/", 4, 3, "3456", 10);
	get("dir/file", 4, 8, "89", 10);
	get("dir/file", 0, 0, "", 10);
	get("dir/file", 4, 10, "", 10);
	get("dir/file", 4, UINT64_MAX, "", 10);
	get("dir/file", UINT64_MAX, 1, "123456789", 10);
	ck_assert_uint_eq(fx.externals[0], 7);
	ck_assert_uint_eq(fx.externals[1], 7);
	ck_assert_int_eq(fx.last_event.kind, CP_EVENT_HMC);
	ck_assert_str_eq(fx.last_text, "get");
}

TEST(written_replaced_and_appended)
{
	put_file("a", "first");
	put_file("c", "third");
	memcpy(fx_at(BUFFER, 10), "abcdefghij", 10);
	run(PUT, "b", 10, 0, OK);
	ck_list(10, 10);
	run(PUT, "b", 5, 10, OK);
	ck_list(5, 15);
	ck_file("b", "abcdefghijabcde");
	run(APPEND, "b", 2, 77, OK);
	ck_list(2, 17);
	run(PUT, "a", 10, 2, OK);
	ck_file("a", "fiabcdefghij");
	run(PUT, "b", 3, 0, OK);
	ck_file("b", "abc");
	ck_file("c", "third");
	run(DELETE, "a", 0, 0, OK);
	ck_assert_ptr_null(hmc_find(fx.cp, "a"));
	ck_file("b", "abc");
	ck_file("c", "third");
	ck_assert_uint_eq(hmc_info(fx.cp).used, 8);
}

static const struct {
	unsigned int function;
	const char *name;
	uint64_t length, offset;
	unsigned int status;
} refusals[] = {
	{ GET, "nothing", 1, 0, FAILED }, { GET, "dir", 1, 0, FAILED }, { GET, "", 1, 0, FAILED },
	{ DIR, "nothing", 1, 0, FAILED }, { NLIST, "dir/no", 1, 0, FAILED },
	{ DELETE, "dir", 1, 0, FAILED }, { PUT, "dir", 1, 0, FAILED }, { PUT, "/", 1, 0, FAILED },
	{ PUT, "dir/file/x", 1, 0, FAILED }, { PUT, "a//b", 1, 0, FAILED },
	{ PUT, "new", 1, 1, FAILED }, { PUT, "dir/file", 1, 5, FAILED },
	{ PUT, "new", ROOM, 0, FAILED }, { APPEND, "dir/file", ROOM - 3, 0, FAILED },
	{ PUT, "new", UINT64_MAX, 0, FAILED }, { GET, "tab\t", 1, 0, FAILED },
};

TEST_EACH(cannot_be, refusals)
{
	put_file("dir/file", "text");
	run(refusals[_i].function, refusals[_i].name, refusals[_i].length, refusals[_i].offset,
	    refusals[_i].status);
	ck_list(0, 0);
	ck_file("dir/file", "text");
	ck_assert_ptr_null(hmc_file(fx.cp, 1));
	ck_assert_uint_eq(hmc_info(fx.cp).used, 4);
}

TEST(full_to_the_last_byte)
{
	put_file("dir/file", "text");
	run(PUT, "new", ROOM - 4, 0, OK);
	ck_assert_uint_eq(hmc_info(fx.cp).used, ROOM);
	run(APPEND, "dir/file", 1, 0, FAILED);
	run(APPEND, "dir/file", 0, 0, OK);
	ck_assert_int_eq(hmc_write(fx.cp, "x", "y", 1, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "x does not fit: the drive has 1000 bytes"));
}

TEST(as_many_files_as_there_is_room_for)
{
	char name[16];

	for (unsigned int i = 0; i < HMC_MAX_FILES; i++) {
		snprintf(name, sizeof(name), "file%u", i);
		put_file(name, "x");
	}
	run(PUT, "one more", 1, 0, FAILED);
	run(PUT, "file7", 1, 0, OK);
	ck_assert_uint_eq(hmc_info(fx.cp).used, HMC_MAX_FILES);
}

TEST(read_only_and_none)
{
	ck_assert_int_eq(hmc_drive(fx.cp, ROOM, true, err, sizeof(err)), 0);
	put_file("file", "text");
	run(PUT, "new", 1, 0, NOT_ALLOWED);
	run(APPEND, "file", 1, 0, NOT_ALLOWED);
	run(DELETE, "file", 1, 0, NOT_ALLOWED);
	get("file", 10, 0, "text", 4);
	run(NOOP, "", 1, 0, OK);
	ck_assert_int_eq(hmc_drive(fx.cp, 0, false, err, sizeof(err)), 0);
	run(NOOP, "", 1, 0, FAILED);
	run(GET, "file", 1, 0, FAILED);
	ck_assert_int_eq(hmc_write(fx.cp, "file", "x", 1, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "no drive is assigned; hmc-drive assigns one");
}

TEST(listings)
{
	uint8_t *buffer = fx_at(BUFFER, 4096);

	put_file("b", "text");
	put_file("a/x", "");
	put_file("a/y/z", "123");
	put_file("a-file", "1");
	run(NLIST, "/", 4096, 0, OK);
	ck_assert_mem_eq(buffer, "a-file\nb\n", 9);
	ck_list(9, 9);
	run(NLIST, "a", 4096, 1, OK);
	ck_list(1, 2);
	run(DIR, "", 4096, 0, OK);
	/* 1900-01-01 is day 0 of the TOD clock; a directory has no date of its own. */
	buffer[get_be64(fx_at(LIST + FTP_TRANSFERRED, 8))] = '\0';
	ck_assert_mem_eq(buffer, "-rw-r--r-- 1 0 0          1 ", 28);
	ck_assert_ptr_nonnull(strstr((char *)buffer,
				     "\ndrw-r--r-- 1 0 0          0 Jan  1  1900 a\n"));
	ck_assert_ptr_nonnull(strstr((char *)buffer, " b\n"));
	ck_assert_ptr_null(strstr((char *)buffer, "a/"));
}

/* A file's own line, and a line for each directory, also for two whose names are as long. */
TEST(listings_of_a_file_and_of_directories)
{
	static const char *const names[] = { "a", "b", "cd" };
	char *buffer = (char *)fx_at(BUFFER, 4096), line[80];
	size_t at = 0;

	put_file("a/x", "1");
	put_file("a/y", "2");
	put_file("b/x", "3");
	put_file("cd/x", "4");
	run(NLIST, "/b/x", 4096, 0, OK);
	ck_list(4, 4);
	ck_assert_mem_eq(buffer, "b/x\n", 4);
	run(DIR, "/", 4096, 0, OK);
	for (unsigned int i = 0; i < 3; i++) {
		const int len = snprintf(line, sizeof(line), "drw-r--r-- 1 0 0          0 Jan  1  "
					 "1900 %s\n", names[i]);

		ck_assert_mem_eq(buffer + at, line, (size_t)len);
		at += (size_t)len;
	}
	ck_list(at, at);
}

/* Every column of a file's line: kind, size, the date on which it was written, name. */
TEST(a_line_of_a_listing)
{
	const char *line = "-rw-r--r-- 1 0 0         12 Dec 15  2015 a/file\n";
	const char *other = "-rw-r--r-- 1 0 0          0 Jan  2  2000 b\n";
	char *buffer = (char *)fx_at(BUFFER, 4096);

	put_file("a/file", "twelve bytes");
	/* 36525 days after 1900-01-01, in units of which 4096 are 1 us. */
	fx.tod = UINT64_C(36525) * 24 * 3600 * 1000000 << 12;
	put_file("b", "");
	run(DIR, "a/file", 4096, 0, OK);
	ck_list(strlen(line), strlen(line));
	ck_assert_mem_eq(buffer, line, strlen(line));
	run(DIR, "b/", 4096, 0, OK);
	ck_list(strlen(other), strlen(other));
	ck_assert_mem_eq(buffer, other, strlen(other));
	run(NLIST, "a", 4096, 0, OK);
	ck_list(5, 5);
	ck_assert_mem_eq(buffer, "file\n", 5);
}

/* A name that begins like another is in no directory of it. */
TEST(names_that_begin_alike)
{
	char *buffer = (char *)fx_at(BUFFER, 4096);

	put_file("ab", "1");
	put_file("a/x", "2");
	put_file("abc/y", "3");
	put_file("b/c/d", "4");
	put_file("b/ce", "5");
	run(NLIST, "a", 4096, 0, OK);
	ck_list(2, 2);
	ck_assert_mem_eq(buffer, "x\n", 2);
	run(NLIST, "b", 4096, 0, OK);
	ck_list(3, 3);
	ck_assert_mem_eq(buffer, "ce\n", 3);
	run(PUT, "a/x/y", 1, 0, FAILED);
	run(PUT, "b/c", 1, 0, FAILED);
	run(PUT, "b/c/d/e/f", 1, 0, FAILED);
	run(PUT, "b/cd", 1, 0, OK);
	ck_assert_uint_eq(hmc_info(fx.cp).used, 6);
	/* In the order of their names. */
	ck_assert_str_eq(hmc_file(fx.cp, 0)->name, "a/x");
	ck_assert_str_eq(hmc_file(fx.cp, 1)->name, "ab");
	ck_assert_str_eq(hmc_file(fx.cp, 2)->name, "abc/y");
	ck_assert_str_eq(hmc_file(fx.cp, 3)->name, "b/c/d");
	ck_assert_str_eq(hmc_file(fx.cp, 4)->name, "b/cd");
	ck_assert_str_eq(hmc_file(fx.cp, 5)->name, "b/ce");
	ck_assert_ptr_null(hmc_file(fx.cp, 6));
	ck_assert(hmc_remove(fx.cp, "b/c/d"));
	ck_file("ab", "1");
	ck_file("abc/y", "3");
	ck_file("b/ce", "5");
	ck_assert_str_eq(hmc_file(fx.cp, 3)->name, "b/cd");
	ck_assert_str_eq(hmc_file(fx.cp, 4)->name, "b/ce");
	ck_assert_ptr_null(hmc_file(fx.cp, 5));
}

/* Checks the beginning of query-hmc's answer. */
TEST(what_is_known_of_the_drive)
{
	struct hmc_info info = hmc_info(fx.cp);

	ck_assert_uint_eq(info.bytes, ROOM);
	ck_assert_uint_eq(info.used, 0);
	ck_assert(!info.read_only && !info.hold && !info.waits && !info.pending);
	ck_assert_uint_eq(info.requests, 0);
	put_file("file", "text");
	hmc_hold(fx.cp, true);
	put_list("nothing", 1, 0);
	ck_assert_uint_eq(diag(DELETE), 0);
	info = hmc_info(fx.cp);
	ck_assert_uint_eq(info.used, 4);
	ck_assert(info.hold && info.waits && !info.pending);
	ck_assert_int_eq(info.function, HMC_DELETE);
	ck_assert_uint_eq(info.requests, 1);
	ck_assert(hmc_complete(fx.cp));
	info = hmc_info(fx.cp);
	ck_assert(info.pending && !info.waits);
	ck_assert_uint_eq(info.status, FAILED);
	ck_assert_str_eq(fx.last_name, "nothing");
	ck_assert_str_eq(fx.last_text, "delete");
	ck_assert_uint_eq(fx.last_event.value, FAILED);
	ck_told(FAILED);
	ck_assert(!hmc_info(fx.cp).pending);
	/* Another drive has no files; what tests have chosen stays. */
	ck_assert_int_eq(hmc_drive(fx.cp, 10, true, err, sizeof(err)), 0);
	info = hmc_info(fx.cp);
	ck_assert_uint_eq(info.bytes, 10);
	ck_assert_uint_eq(info.used, 0);
	ck_assert_ptr_null(hmc_file(fx.cp, 0));
	ck_assert(info.read_only && info.hold);
	ck_assert_uint_eq(info.requests, 1);
	ck_assert_int_eq(hmc_drive(fx.cp, 10, false, err, sizeof(err)), 0);
	ck_assert(!hmc_info(fx.cp).read_only);
}

/* A file without bytes stays where there is no room for more, at whatever time it was written. */
TEST_LOOP(an_empty_file_that_cannot_grow, 0, 2)
{
	fx.tod = _i ? 0 : fx.tod;
	put_file("a", "text");
	put_file("empty", "");
	run(PUT, "full", ROOM - 6, 0, OK);
	run(APPEND, "empty", 3, 0, FAILED);
	ck_file("empty", "");
	run(PUT, "new", 3, 0, FAILED);
	ck_assert_ptr_null(hmc_find(fx.cp, "new"));
	ck_assert_uint_eq(hmc_info(fx.cp).used, ROOM - 2);
	/* The first of a name that there is not yet. */
	memcpy(fx_at(BUFFER, 2), "ab", 2);
	run(APPEND, "new", 2, 0, OK);
	ck_list(2, 2);
	ck_file("new", "ab");
}

static const struct {
	unsigned int function, offset;
	uint8_t value;
	uint16_t pgm;
} bad[] = {
	{ CANCEL, 300, 0, PGM_SPECIFICATION }, { 255, 300, 0, PGM_SPECIFICATION },
	{ GET, FTP_BUFFER + 7, 1, PGM_SPECIFICATION }, { GET, FTP_BUFFER + 6, 0x8f, PGM_SPECIFICATION },
};

TEST_EACH(wrong_lists, bad)
{
	put_list("file", 1, 0);
	if (bad[_i].offset < FTP_LIST)
		*fx_at(LIST + bad[_i].offset, 1) = bad[_i].value;
	fx.gr[2] = LIST;
	fx.gr[4] = bad[_i].function;
	ck_pgm(fx_diag(2, 4, 0x2c4), bad[_i].pgm);
	ck_untold();
	ck_assert_uint_eq(hmc_info(fx.cp).requests, 0);
}

TEST(wrong_places)
{
	put_list("file", 1, 0);
	memset(fx_at(LIST + FTP_NAME, 192), 'x', 192);
	fx.gr[2] = LIST;
	fx.gr[4] = GET;
	ck_pgm(fx_diag(2, 4, 0x2c4), PGM_SPECIFICATION);
	fx.gr[2] = LIST + 4;
	ck_pgm(fx_diag(2, 4, 0x2c4), PGM_SPECIFICATION);
	fx.gr[2] = UINT64_C(1) << 40;
	ck_pgm(fx_diag(2, 4, 0x2c4), PGM_ADDRESSING);
	put_file("file", "text");
	put_list("file", 10, 0);
	put_be64(fx_at(LIST, 8), UINT64_C(1) << 40);
	ck_assert_uint_eq(diag(GET), 0);
	ck_told(PROGRAM);
	ck_list(0, 4);
	ck_assert_uint_eq(get_be64(fx_at(LIST + FTP_FAILING, 8)), UINT64_C(1) << 40);
	ck_assert_uint_eq(diag(PUT), 0);
	ck_told(PROGRAM);
	ck_file("file", "text");
	/* What has no room is not looked at. */
	put_list("file", ROOM - 3, 4);
	put_be64(fx_at(LIST, 8), UINT64_C(1) << 40);
	ck_assert_uint_eq(diag(PUT), 0);
	ck_told(FAILED);
	put_be64(fx_at(LIST + FTP_LENGTH, 8), ROOM - 4);
	ck_assert_uint_eq(diag(PUT), 0);
	ck_told(PROGRAM);
}

/* The trace says how each request has ended. */
TEST(ends_in_the_trace)
{
	put_file("file", "text");
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"status\":0"));
	ck_assert_int_eq(hmc_write(fx.cp, "file/x", "y", 1, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"status\":17"));
	ck_assert_ptr_null(strstr(fx.trace, "\"transferred\""));
	run(GET, "file", 3, 0, OK);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"status\":0,\"transferred\":3"));
	run(GET, "nothing", 3, 0, FAILED);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"status\":17,\"transferred\":0"));
}

TEST(one_at_a_time)
{
	put_file("file", "text");
	hmc_hold(fx.cp, true);
	ck_assert(!hmc_complete(fx.cp));
	put_list("file", 10, 0);
	ck_assert_uint_eq(diag(GET), 0);
	ck_assert_str_eq(fx.last_text, "held");
	ck_untold();
	ck_assert_uint_eq(diag(GET), 4);
	put_file("file", "changed");
	ck_assert(hmc_complete(fx.cp));
	ck_list(7, 7);
	/* Until the guest knows of it. */
	ck_assert_uint_eq(diag(GET), 4);
	ck_told(OK);
	ck_assert_uint_eq(diag(GET), 0);
	cp_reset(fx.cp);
	ck_assert(!hmc_complete(fx.cp));
	ck_untold();
	ck_file("file", "changed");
}

/* The list can be gone when the transfer ends: then only the status tells of it. */
TEST(list_that_has_gone)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "cpus", "2", "segment", "DATA A00-A0F SW", NULL });
	ck_assert_int_eq(hmc_drive(fx.cp, ROOM, false, err, sizeof(err)), 0);
	put_file("file", "text");
	hmc_hold(fx.cp, true);
	segment_call(LOADSHR);
	put_list_at(SEGMENT, "file", 10, 0);
	fx.gr[2] = SEGMENT;
	fx.gr[4] = GET;
	ck_assert_int_eq(fx_diag(2, 4, 0x2c4).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	segment_call(PURGESEG);
	ck_assert(hmc_complete(fx.cp));
	ck_told(PROGRAM);
	ck_assert_mem_eq(fx_at(BUFFER, 5), "text", 5);
}

static void arm(enum fault_point point, enum fault_kind kind, uint32_t value)
{
	ck_arm(point, kind, .value = value);
}

TEST(faults_of_the_start)
{
	put_list("file", 1, 0);
	arm(FAULT_HMC_START, FAULT_RC, 8);
	ck_assert_uint_eq(diag(GET), 8);
	fault_disarm(fx.cp, 0);
	arm(FAULT_HMC_START, FAULT_DROP, 0);
	ck_assert_uint_eq(diag(GET), 0);
	fault_disarm(fx.cp, 0);
	arm(FAULT_HMC_START, FAULT_PGM, PGM_PRIVILEGED);
	fx.gr[4] = GET;
	ck_pgm(fx_diag(2, 4, 0x2c4), PGM_PRIVILEGED);
	ck_untold();
	ck_assert_uint_eq(hmc_info(fx.cp).requests, 0);
}

TEST(faults_of_the_transfer)
{
	put_file("file", "0123456789");
	arm(FAULT_HMC_TRANSFER, FAULT_RC, 0x114);
	run(GET, "file", 10, 0, 0x14);
	ck_list(0, 0);
	fault_disarm(fx.cp, 0);
	arm(FAULT_HMC_TRANSFER, FAULT_LIMIT, 4);
	get("file", 10, 2, "2345", 10);
	memcpy(fx_at(BUFFER, 10), "abcdefghij", 10);
	run(PUT, "file", 10, 0, OK);
	ck_file("file", "abcd");
	/* No more than the limit anyway. */
	get("file", 10, 0, "abcd", 4);
	run(APPEND, "file", 3, 0, OK);
	ck_file("file", "abcdabc");
	run(PUT, "file", 4, 0, OK);
	fault_disarm(fx.cp, 0);
	arm(FAULT_HMC_TRANSFER, FAULT_CORRUPT, 1);
	get("file", 10, 0, "`bcd", 4);
	/* There is no byte to be changed. */
	get("file", 0, 0, "", 4);
	ck_file("file", "abcd");
}

TEST(faults_of_the_completion)
{
	put_file("file", "text");
	put_list("file", 10, 0);
	arm(FAULT_HMC_COMPLETION, FAULT_DUPLICATE, 0);
	ck_assert_uint_eq(diag(GET), 0);
	ck_told(OK);
	ck_told(OK);
	ck_untold();
	fault_disarm(fx.cp, 0);
	arm(FAULT_HMC_COMPLETION, FAULT_DROP, 0);
	ck_assert_uint_eq(diag(GET), 0);
	ck_list(4, 4);
	ck_untold();
}

TEST(saved_and_loaded)
{
	uint8_t *image;
	size_t len;

	put_file("b", "text");
	put_file("a", "more text");
	put_list("a", 10, 0);
	hmc_hold(fx.cp, true);
	ck_assert_uint_eq(diag(GET), 0);
	image = fx_save(&len);
	ck_assert(hmc_complete(fx.cp));
	ck_told(OK);
	ck_assert_int_eq(hmc_drive(fx.cp, 0, false, err, sizeof(err)), 0);
	fx_load(image, len);
	free(image);
	ck_file("a", "more text");
	ck_file("b", "text");
	ck_assert(hmc_info(fx.cp).waits && hmc_info(fx.cp).hold);
	ck_assert(!hmc_info(fx.cp).read_only && !hmc_info(fx.cp).pending);
	ck_assert_uint_eq(hmc_info(fx.cp).requests, 1);
	ck_assert_uint_eq(hmc_info(fx.cp).bytes, ROOM);
	ck_assert_uint_eq(hmc_info(fx.cp).used, 13);
	ck_assert_int_eq(hmc_info(fx.cp).function, HMC_GET);
	ck_assert(hmc_complete(fx.cp));
	ck_told(OK);
	ck_list(9, 9);
}

/* Loading leaves nothing of what the drive had before. */
TEST(loaded_over_more_files)
{
	uint8_t *image;
	size_t len;

	put_file("a", "text");
	image = fx_save(&len);
	ck_assert_int_eq(hmc_drive(fx.cp, ROOM, false, err, sizeof(err)), 0);
	/* In the second place now: a file at the drive's first byte. */
	put_file("b", "more");
	put_file("a", "other");
	fx_load(image, len);
	free(image);
	ck_file("a", "text");
	ck_assert_ptr_null(hmc_find(fx.cp, "b"));
	ck_assert_uint_eq(hmc_info(fx.cp).used, 4);
}

static uint8_t *request_image(size_t *len, size_t *at)
{
	uint8_t *image;

	put_file("a", "text");
	put_file("b", "more");
	put_list("a", 10, 3);
	hmc_hold(fx.cp, true);
	ck_assert_uint_eq(diag(APPEND), 0);
	image = fx_save(len);
	/* Behind two files of 216 bytes each, and their 8 bytes. */
	*at = state_find(image, *len, "HMC ") + 26 + 2 * 216 + 8;
	return image;
}

/* Offsets of a request's members in the image, with their lengths. */
enum {
	REQUEST_FUNCTION = 0,	/* 1 */
	REQUEST_CPU = 1,	/* 2 */
	REQUEST_LIST = 3,	/* 8 */
	REQUEST_NAME = 43,	/* 192 */
	REQUEST_WAITS = 235,	/* 1 */
	REQUEST_PENDING = 236,	/* 4 */
	REQUEST_STATUS = 240,	/* 1 */
	REQUEST_REQUESTS = 241,	/* 8 */
};

static const struct {
	unsigned int offset;
	uint8_t is, value;
	bool loads;
} requests[] = {
	{ REQUEST_FUNCTION, APPEND, DELETE, true }, { REQUEST_FUNCTION, APPEND, CANCEL, false },
	{ REQUEST_CPU + 1, 0, 1, true }, { REQUEST_CPU + 1, 0, 2, false },
	{ REQUEST_NAME, 'a', '/', true }, { REQUEST_WAITS, 1, 2, false },
	{ REQUEST_WAITS, 1, 0, true }, { REQUEST_PENDING + 3, 0, 1, false },
	{ REQUEST_PENDING + 3, 0, 3, false }, { REQUEST_STATUS, 0, 255, true },
	{ REQUEST_REQUESTS + 7, 1, 255, true },
};

TEST_EACH(requests_in_an_image, requests)
{
	size_t len, at;
	uint8_t *image = request_image(&len, &at);

	ck_assert_uint_eq(get_be64(image + at + REQUEST_LIST), LIST);
	ck_assert_uint_eq(image[at + requests[_i].offset], requests[_i].is);
	image[at + requests[_i].offset] = requests[_i].value;
	state_sign(image, len);
	if (requests[_i].loads)
		fx_load(image, len);
	else
		ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* Interruptions that the guest has not taken: none, one or two, if no request waits. */
TEST_LOOP(interruptions_in_an_image, 0, 4)
{
	size_t len, at;
	uint8_t *image = request_image(&len, &at);

	image[at + REQUEST_WAITS] = 0;
	image[at + REQUEST_PENDING + 3] = (uint8_t)_i;
	state_sign(image, len);
	if (_i > 2) {
		ck_refused(image, len, err, sizeof(err));
	} else {
		fx_load(image, len);
		for (int i = 0; i < _i; i++)
			ck_told(OK);
		ck_untold();
	}
	free(image);
}

/* Two files of 4 bytes each: which places of them are possible? */
static const struct {
	uint8_t first, second;
	bool loads;
} places[] = {
	{ 0, 4, true }, { 4, 0, true }, { 0, 0, false }, { 4, 4, false }, { 0, 3, false },
	{ 0, 5, false }, { 1, 4, false }, { 2, 2, false },
};

TEST_EACH(places_of_files_in_an_image, places)
{
	size_t len, at;
	uint8_t *image = request_image(&len, &at);
	const size_t first = state_find(image, len, "HMC ") + 226;

	ck_assert_uint_eq(image[first + 7], 0);
	ck_assert_uint_eq(image[first + 216 + 7], 4);
	image[first + 7] = places[_i].first;
	image[first + 216 + 7] = places[_i].second;
	state_sign(image, len);
	if (!places[_i].loads) {
		ck_refused(image, len, err, sizeof(err));
	} else {
		fx_load(image, len);
		ck_file("a", places[_i].first ? "more" : "text");
		ck_file("b", places[_i].first ? "text" : "more");
	}
	free(image);
}

/* Files without bytes are anywhere; a drive may be full, or there may be none. */
TEST_LOOP(drives_in_an_image, 0, 3)
{
	const uint64_t size = _i == 0 ? 0 : _i == 1 ? 8 : HMC_MAX_BYTES;
	uint8_t *image;
	size_t len, at;

	ck_assert_int_eq(hmc_drive(fx.cp, size, true, err, sizeof(err)), 0);
	if (size > 0) {
		put_file("a", "text");
		put_file("b", "more");
		put_file("c", "");
	}
	image = fx_save(&len);
	ck_assert_int_eq(hmc_drive(fx.cp, 5, false, err, sizeof(err)), 0);
	fx_load(image, len);
	ck_assert_uint_eq(hmc_info(fx.cp).bytes, size);
	ck_assert_uint_eq(hmc_info(fx.cp).used, size > 0 ? 8 : 0);
	ck_assert(hmc_info(fx.cp).read_only);
	if (size > 0) {
		ck_file("a", "text");
		ck_file("b", "more");
		ck_file("c", "");
	}
	at = state_find(image, len, "HMC ");
	/* One byte more than a drive can have, or than is used of it. */
	put_be64(image + at + 4, size == HMC_MAX_BYTES ? size + 1 : size - 1);
	if (size > 0) {
		state_sign(image, len);
		ck_refused(image, len, err, sizeof(err));
	}
	free(image);
}

/* Behind the tag: room, used, two flags, number of files, then each file. */
enum { IMAGE_ROOM = 4, IMAGE_USED = 12, IMAGE_FILES = 22, IMAGE_NAME = 26, IMAGE_AT = 226 };

static const struct {
	unsigned int offset;
	uint8_t value;
} damage[] = {
	{ IMAGE_ROOM, 1 }, { IMAGE_USED + 7, 9 }, { IMAGE_FILES + 3, 65 },
	{ IMAGE_NAME, '/' }, { IMAGE_NAME, 'z' }, { IMAGE_NAME, 0 }, { IMAGE_NAME + 1, 0x80 },
	{ IMAGE_AT + 7, 1 }, { IMAGE_AT, 0x80 },
	{ IMAGE_ROOM + 4, 0x80 }, { IMAGE_AT + 15, 9 },
};

TEST_EACH(damaged_image, damage)
{
	uint8_t *image;
	size_t len, at;

	put_file("a", "text");
	put_file("b", "more");
	image = fx_save(&len);
	at = state_find(image, len, "HMC ");
	ck_assert_uint_eq(get_be64(image + at + IMAGE_ROOM), ROOM);
	ck_assert_str_eq((char *)image + at + IMAGE_NAME, "a");
	ck_assert_uint_eq(get_be64(image + at + IMAGE_AT), 0);
	image[at + damage[_i].offset] = damage[_i].value;
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* A name that does not end. */
TEST(name_without_an_end)
{
	uint8_t *image;
	size_t len, at;

	put_file("a", "text");
	image = fx_save(&len);
	at = state_find(image, len, "HMC ");
	memset(image + at + IMAGE_NAME, 'x', HMC_MAX_NAME + 1);
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

static void *plain_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)cpu;
	return len <= FX_STORAGE && addr <= FX_STORAGE - len ? (uint8_t *)opaque + addr : NULL;
}

static void plain_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	ck_assert_ptr_nonnull(plain_map(opaque, cpu, addr, len));
}

static uint64_t plain_tod(void *opaque)
{
	(void)opaque;
	return 1;
}

static void plain_cpu(void *opaque, unsigned int cpu)
{
	(void)opaque;
	(void)cpu;
}

static void plain_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	(void)tod;
}

static void plain_changed(void *opaque)
{
	(void)opaque;
}

static void plain_page(void *opaque, uint64_t addr, bool out)
{
	(void)opaque;
	(void)addr;
	(void)out;
}

/* A host that writes no trace, and can or cannot present the interruption. */
static struct cp *plain_cp(bool external)
{
	const struct cp_host host = {
		.opaque = fx.storage, .map = plain_map, .dirty = plain_dirty, .tod = plain_tod,
		.kick = plain_cpu, .set_timer = plain_timer, .storage_changed = plain_changed,
		.external = external ? plain_cpu : NULL,
		.page_changed = external ? plain_page : NULL,
	};
	struct cp *cp = cp_create(NULL, &fx.config, &host, err, sizeof(err));

	ck_assert_msg(cp != NULL, "%s", err);
	return cp;
}

static struct cp_result plain_diag(struct cp *cp, uint64_t gr[16])
{
	struct cp_insn insn = { .cpu = 0, .gr = gr, .amode = 64 };

	return cp_diagnose(cp, &insn, 2, 4, 0x2c4);
}

/* A request has the same effect without a trace; without the interruption there is no drive. */
TEST(emulators_without_trace_and_without_interruption)
{
	uint64_t gr[16] = { [2] = LIST, [4] = GET };
	struct cp *able = plain_cp(true), *unable = plain_cp(false);
	struct cp_external external;
	uint8_t *image;
	size_t len;

	ck_assert_int_eq(hmc_drive(able, ROOM, false, err, sizeof(err)), 0);
	ck_assert_int_eq(hmc_write(able, "a", "text", 4, err, sizeof(err)), 0);
	ck_assert_int_eq(hmc_write(able, "b", "", 0, err, sizeof(err)), 0);
	ck_assert(hmc_remove(able, "b"));
	hmc_hold(able, true);
	put_list("a", 10, 0);
	ck_assert_int_eq(plain_diag(able, gr).how, CP_DONE);
	image = cp_save(able, &len);
	ck_assert_ptr_nonnull(image);
	/* A request waits of whose end this emulator could not tell. */
	ck_assert_int_eq(cp_load(unable, image, len, err, sizeof(err)), -1);
	free(image);
	ck_assert(hmc_complete(able));
	ck_list(4, 4);
	ck_assert(cp_external_take(able, 0, &external));
	ck_assert_uint_eq(external.subcode, 0x0800);
	ck_assert_int_eq(hmc_drive(unable, ROOM, false, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "this emulator cannot present external interruption X'2603', by which "
			      "CP tells of transfers");
	ck_assert_uint_eq(hmc_info(unable).bytes, 0);
	gr[4] = NOOP;
	ck_pgm(plain_diag(unable, gr), PGM_SPECIFICATION);
	cp_destroy(able);
	cp_destroy(unable);
}

static const char *const no_names[] = { "", "/", ".", "a//b", "a\tb", "caf\xe9", "a\x7f" };

TEST_EACH(names_that_are_none, no_names)
{
	char longest[HMC_MAX_NAME + 2];

	ck_assert_int_eq(hmc_write(fx.cp, no_names[_i], "x", 1, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "cannot be the name of a file"));
	memset(longest, 'x', sizeof(longest));
	longest[HMC_MAX_NAME + 1] = '\0';
	ck_assert_int_eq(hmc_write(fx.cp, longest, "x", 1, err, sizeof(err)), -1);
	longest[HMC_MAX_NAME] = '\0';
	put_file(longest, "x");
	ck_assert(!hmc_remove(fx.cp, no_names[_i]) && !hmc_remove(fx.cp, "x"));
	ck_assert(hmc_remove(fx.cp, longest));
	/* The first and the last of the characters that there may be. */
	put_file(" ~", "x");
	ck_assert(hmc_remove(fx.cp, " ~"));
	ck_assert_ptr_null(hmc_file(fx.cp, 0));
}
