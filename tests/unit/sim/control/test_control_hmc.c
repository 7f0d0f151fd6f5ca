/* SPDX-License-Identifier: MIT */
/* The control socket: commands for the HMC's drive. */
#include "control_client.h"
#include "zvmlab/hmc.h"

#define LIST 0x3000u
#define BUFFER 0x8000u
#define QUERY "{\"execute\":\"query-hmc\"}"
#define NOTHING "{\"return\":{}}"
#define RUN(command, arguments) \
	"{\"execute\":\"" command "\",\"arguments\":{" arguments "}}"
/* "0123456789" and no bytes, in base64 (RFC 4648). */
#define DIGITS "\"data\":\"MDEyMzQ1Njc4OQ==\""
#define EMPTY "\"data\":\"\""
#define QUERIED(bytes, used, read_only, hold, waits, pending, status, requests, files) \
	"{\"return\":{\"bytes\":" bytes ",\"used\":" used ",\"read-only\":" read_only \
	",\"hold\":" hold ",\"waits\":" waits ",\"pending\":" pending ",\"status\":" status \
	",\"requests\":" requests ",\"files\":[" files "]}}"
#define FILE_IS(name, bytes) "{\"name\":\"" name "\",\"bytes\":" bytes "}"

static int fd;

static void begin(void)
{
	start();
	fd = new_client();
}

static void end(void)
{
	close(fd);
	stop();
}

CASE("hmc", begin, end);

/* The guest asks for a file: function 1 of DIAGNOSE X'2C4'.  Return: Ry. */
static uint64_t guest_gets(const char *name)
{
	uint8_t *list = fx_at(LIST, 256);

	memset(list, 0, 256);
	put_be64(list, BUFFER);
	put_be64(list + 8, 100);
	memcpy(list + 64, name, strlen(name));
	fx.gr[2] = LIST;
	fx.gr[4] = 1;
	ck_assert_int_eq(fx_diag(2, 4, 0x2c4).how, CP_DONE);
	return fx.gr[4];
}

TEST(no_drive_at_first)
{
	ask_is(fd, QUERY, QUERIED("0", "0", "false", "false", "false", "false", "0", "0", ""));
	ask_is(fd, RUN("hmc-write", "\"name\":\"a\"," DIGITS),
	       failed("no drive is assigned; hmc-drive assigns one"));
	ask_is(fd, RUN("hmc-read", "\"name\":\"a\""),
	       failed("the drive has no file \\\"a\\\"; query-hmc lists its files"));
	ask_is(fd, RUN("hmc-remove", "\"name\":\"a\""),
	       failed("the drive has no file \\\"a\\\"; query-hmc lists its files"));
	ask_is(fd, RUN("hmc-complete", ""),
	       failed("no request of the guest's waits; hmc-hold makes them wait"));
}

TEST(a_drive_assigned_and_taken_away)
{
	ask_is(fd, RUN("hmc-drive", "\"bytes\":4096,\"read-only\":true"), NOTHING);
	/* It is read-only for the guest, not for a test. */
	ask_is(fd, RUN("hmc-write", "\"name\":\"a\"," DIGITS), NOTHING);
	ask_is(fd, QUERY, QUERIED("4096", "10", "true", "false", "false", "false", "0", "0",
				  FILE_IS("a", "10")));
	/* Writable by default, and empty again. */
	ask_is(fd, RUN("hmc-drive", "\"bytes\":67108864"), NOTHING);
	ask_is(fd, QUERY, QUERIED("67108864", "0", "false", "false", "false", "false", "0", "0",
				  ""));
	ask_is(fd, RUN("hmc-drive", "\"bytes\":67108865"),
	       wrong("argument \\\"bytes\\\" is not an integer from 0 to 67108864"));
	ck_assert_uint_eq(hmc_info(fx.cp).bytes, 67108864);
	ask_is(fd, RUN("hmc-drive", "\"bytes\":0"), NOTHING);
	ask_is(fd, QUERY, QUERIED("0", "0", "false", "false", "false", "false", "0", "0", ""));
}

TEST(files_written_read_and_removed)
{
	ask_is(fd, RUN("hmc-drive", "\"bytes\":12"), NOTHING);
	ask_is(fd, RUN("hmc-write", "\"name\":\"/dir/b/\"," DIGITS), NOTHING);
	ask_is(fd, RUN("hmc-write", "\"name\":\"a\"," EMPTY), NOTHING);
	ask_is(fd, QUERY, QUERIED("12", "10", "false", "false", "false", "false", "0", "0",
				  FILE_IS("a", "0") "," FILE_IS("dir/b", "10")));
	ask_is(fd, RUN("hmc-read", "\"name\":\"dir/b\""), "{\"return\":{" DIGITS "}}");
	ask_is(fd, RUN("hmc-read", "\"name\":\"a\""), "{\"return\":{" EMPTY "}}");
	ask_is(fd, RUN("hmc-write", "\"name\":\"c\"," DIGITS),
	       failed("c does not fit: the drive has 12 bytes, of which 10 are used, room for 64 "
		      "files, and no directory of a file's name"));
	ask_is(fd, RUN("hmc-remove", "\"name\":\"dir\""),
	       failed("the drive has no file \\\"dir\\\"; query-hmc lists its files"));
	ask_is(fd, RUN("hmc-remove", "\"name\":\"dir/b/\""), NOTHING);
	ask_is(fd, QUERY, QUERIED("12", "0", "false", "false", "false", "false", "0", "0",
				  FILE_IS("a", "0")));
	ck_assert_ptr_null(hmc_find(fx.cp, "dir/b"));
}

static const struct {
	const char *request, *answer;
} parts[] = {
	{ RUN("hmc-read", "\"name\":\"a\",\"offset\":3,\"length\":4"), "MzQ1Ng==" },
	{ RUN("hmc-read", "\"name\":\"a\",\"offset\":8"), "ODk=" },
	{ RUN("hmc-read", "\"name\":\"a\",\"offset\":8,\"length\":2"), "ODk=" },
	{ RUN("hmc-read", "\"name\":\"a\",\"offset\":8,\"length\":3"), "ODk=" },
	{ RUN("hmc-read", "\"name\":\"a\",\"length\":0"), "" },
	{ RUN("hmc-read", "\"name\":\"a\",\"offset\":10"), "" },
	{ RUN("hmc-read", "\"name\":\"a\",\"offset\":11,\"length\":5"), "" },
	{ RUN("hmc-read", "\"name\":\"a\",\"offset\":9223372036854775807"), "" },
};

TEST_EACH(parts_of_a_file, parts)
{
	char wanted[64];

	ask_is(fd, RUN("hmc-drive", "\"bytes\":4096"), NOTHING);
	ask_is(fd, RUN("hmc-write", "\"name\":\"a\"," DIGITS), NOTHING);
	snprintf(wanted, sizeof(wanted), "{\"return\":{\"data\":\"%s\"}}", parts[_i].answer);
	ask_is(fd, parts[_i].request, wanted);
}

static const struct {
	const char *request, *answer;
} refusals[] = {
	{ RUN("hmc-write", "\"name\":\"/\"," DIGITS),
	  failed("\\\"/\\\" cannot be the name of a file: it has 1 to 191 characters from blank "
		 "to ~") },
	{ RUN("hmc-write", "\"name\":\"a/b\"," DIGITS),
	  failed("a/b does not fit: the drive has 4096 bytes, of which 10 are used, room for 64 "
		 "files, and no directory of a file's name") },
	{ RUN("hmc-write", "\"name\":\"\"," DIGITS),
	  wrong("argument \\\"name\\\" is not a string of 1 to 191 bytes") },
	{ RUN("hmc-write", "\"name\":\"b\",\"data\":\"MDE\""),
	  wrong("argument \\\"data\\\" is not base64 of 0 to 6291456 bytes") },
	{ RUN("hmc-read", "\"name\":\"a//b\""),
	  failed("the drive has no file \\\"a//b\\\"; query-hmc lists its files") },
	{ RUN("hmc-read", "\"name\":\"/\""),
	  failed("the drive has no file \\\"/\\\"; query-hmc lists its files") },
	{ RUN("hmc-read", "\"name\":\"a\",\"offset\":-1"),
	  wrong("argument \\\"offset\\\" is not an integer from 0 to 9223372036854775807") },
	{ RUN("hmc-read", "\"name\":\"a\",\"length\":6291457"),
	  wrong("argument \\\"length\\\" is not an integer from 0 to 6291456") },
	{ RUN("hmc-remove", "\"name\":\"a//b\""),
	  failed("the drive has no file \\\"a//b\\\"; query-hmc lists its files") },
	{ RUN("hmc-hold", "\"hold\":1"), wrong("argument \\\"hold\\\" is neither true nor false") },
};

TEST_EACH(refused, refusals)
{
	ask_is(fd, RUN("hmc-drive", "\"bytes\":4096"), NOTHING);
	ask_is(fd, RUN("hmc-write", "\"name\":\"a\"," DIGITS), NOTHING);
	ask_is(fd, refusals[_i].request, refusals[_i].answer);
	ask_is(fd, QUERY, QUERIED("4096", "10", "false", "false", "false", "false", "0", "0",
				  FILE_IS("a", "10")));
}

#define QUERIED_HELD(hold, waits, pending, status, requests) \
	QUERIED("4096", "10", "false", hold, waits, pending, status, requests, FILE_IS("a", "10"))

static void ck_event(const char *file, const char *what, uint64_t value)
{
	ck_assert_int_eq(fx.last_event.kind, CP_EVENT_HMC);
	ck_assert_str_eq(fx.last_name, file);
	ck_assert_str_eq(fx.last_text, what);
	ck_assert_uint_eq(fx.last_event.value, value);
}

TEST(a_request_that_waits)
{
	struct cp_external external;

	ask_is(fd, RUN("hmc-drive", "\"bytes\":4096"), NOTHING);
	ask_is(fd, RUN("hmc-write", "\"name\":\"a\"," DIGITS), NOTHING);
	ask_is(fd, RUN("hmc-hold", "\"hold\":true"), NOTHING);
	ck_assert_uint_eq(guest_gets("a"), 0);
	ck_event("a", "held", 1);
	ask_is(fd, QUERY, QUERIED_HELD("true", "true", "false", "0", "1"));
	ck_assert(!cp_external_pending(fx.cp, 0));
	ask_is(fd, RUN("hmc-complete", ""), NOTHING);
	ck_event("a", "get", 0);
	ck_assert_mem_eq(fx_at(BUFFER, 10), "0123456789", 10);
	ask_is(fd, QUERY, QUERIED_HELD("true", "false", "true", "0", "1"));
	ask_is(fd, RUN("hmc-complete", ""),
	       failed("no request of the guest's waits; hmc-hold makes them wait"));
	ck_assert(cp_external_take(fx.cp, 0, &external));
	ask_is(fd, QUERY, QUERIED_HELD("true", "false", "false", "0", "1"));
	/* Without it they are carried out at once. */
	ask_is(fd, RUN("hmc-hold", "\"hold\":false"), NOTHING);
	ck_assert_uint_eq(guest_gets("b"), 0);
	ck_event("b", "get", 17);
	ask_is(fd, QUERY, QUERIED_HELD("false", "false", "true", "17", "2"));
}
