/* SPDX-License-Identifier: MIT */
/* The control socket: commands for files of the spool. */
#include "spool_check.h"

#include "control_client.h"

#define QUERY "{\"execute\":\"query-spool\"}"
#define NOTHING "{\"return\":{}}"
#define RUN(command, arguments) \
	"{\"execute\":\"" command "\",\"arguments\":{" arguments "}}"
/* "abcdefgh" and no bytes, in base64 (RFC 4648). */
#define LETTERS "\"data\":\"YWJjZGVmZ2g=\""
#define EMPTY "\"data\":\"\""
#define PUT(rest) RUN("spool-put", "\"user\":\"BOB\",\"queue\":" rest)
#define READ(rest) RUN("spool-read", rest)
#define QUERIED(files, pages, page_limit, file_limit) \
	"{\"return\":{\"files\":[" files "],\"pages\":" pages ",\"page-limit\":" page_limit \
	",\"file-limit\":" file_limit "}}"
/* A file that nobody has changed: form, destination and copies are those of the directory. */
#define FILE_IS(user, queue, device, origin, id, class, name, type, dist, open, holds, records) \
	"{\"user\":\"" user "\",\"queue\":\"" queue "\",\"device\":\"" device "\",\"origin\":\"" \
	origin "\",\"id\":" id ",\"class\":\"" class "\",\"name\":\"" name "\",\"type\":\"" type \
	"\",\"form\":\"STANDARD\",\"dist\":\"" dist "\",\"tag\":\"\",\"open\":" open "," holds \
	"," records ",\"copies\":1}"
#define HOLDS(user, system) "\"hold\":" user ",\"system-hold\":" system
#define RECORDS(count, length, pages) \
	"\"records\":" count ",\"record-length\":" length ",\"pages\":" pages

static int fd;

static void begin(void)
{
	start_with((const char *const[]){ "directory", SPOOL_DIRECTORY, NULL });
	fd = new_client();
}

static void begin_without(void)
{
	start();
	fd = new_client();
}

static void end(void)
{
	close(fd);
	stop();
}

CASE("spool", begin, end);

#define DEFAULT_FILE \
	FILE_IS("BOB", "RDR", "PUN", "BOB", "1", "A", "", "", "BOB", "false", \
		HOLDS("false", "false"), RECORDS("1", "80", "1"))

TEST(a_file_with_what_is_given)
{
	ask_is(fd, QUERY, QUERIED("", "0", "61440", "9999"));
	ask_is(fd, PUT("\"RDR\"," LETTERS), "{\"return\":{\"id\":1}}");
	ask_is(fd, QUERY, QUERIED(DEFAULT_FILE, "1", "61440", "9999"));
	ck_assert_int_eq(fx.last_event.kind, CP_EVENT_SPOOL);
	ck_assert_str_eq(fx.last_name, "BOB");
	ck_assert_str_eq(fx.last_text, "RDR");
	ck_assert_uint_eq(fx.last_event.value, 1);
	/* User IDs are folded, names and types of files are not. */
	ask_is(fd, RUN("spool-put",
		       "\"user\":\"bob\",\"queue\":\"PRT\",\"origin\":\"alice\",\"name\":\"Plan\","
		       "\"type\":\"txt\",\"class\":\"7\",\"hold\":true,\"system-hold\":true,"
		       "\"record-length\":3," LETTERS), "{\"return\":{\"id\":2}}");
	ask_is(fd, QUERY,
	       QUERIED(DEFAULT_FILE "," FILE_IS("BOB", "PRT", "PRT", "ALICE", "2", "7", "Plan",
						"txt", "BOB", "false", HOLDS("true", "true"),
						RECORDS("3", "3", "1")),
		       "2", "61440", "9999"));
	/* Another user's numbers are its own. */
	ask_is(fd, RUN("spool-put", "\"user\":\"EVE\",\"queue\":\"PUN\"," EMPTY),
	       "{\"return\":{\"id\":1}}");
	ck_assert_uint_eq(spool_info("EVE", SPOOL_PUN, 1).records, 0);
}

/* A file that the guest's punch has not closed is behind those on queues, and on none. */
TEST(a_file_being_written)
{
	ck_assert_uint_eq(punch("x"), 0x0c);
	ask_is(fd, PUT("\"RDR\"," LETTERS), "{\"return\":{\"id\":1}}");
	ask_is(fd, QUERY,
	       QUERIED(DEFAULT_FILE "," FILE_IS("LINUX001", "PUN", "PUN", "LINUX001", "1", "A",
						"", "", "LINUX001", "true",
						HOLDS("false", "false"), RECORDS("1", "80", "1")),
		       "2", "61440", "9999"));
	ask_is(fd, READ("\"user\":\"LINUX001\",\"queue\":\"PUN\",\"id\":1"),
	       failed("LINUX001 has no file 1 on this queue"));
}

/* An answer has 3 MiB of records at most; the next one goes on behind them. */
TEST(as_many_records_as_an_answer_holds)
{
	/* 39,321 records of 80 bytes, and one of 48 that is filled. */
	uint8_t *const data = unit_large(SPOOL_MAX_PUT);
	const struct spool_put put = {
		.user = "BOB", .queue = SPOOL_RDR, .spool_class = 'A', .record_length = 80,
		.data = data, .len = SPOOL_MAX_PUT,
	};
	static const char first[] = "{\"return\":{\"records\":39321,\"data\":\"QEBA";
	static const char rest[] = "{\"return\":{\"records\":1,\"data\":\"QEBA";
	const char *line;

	memset(data, 0x40, SPOOL_MAX_PUT);
	ck_assert_int_eq(spool_put(fx.cp, &put, err, sizeof(err)), 1);
	line = ask(fd, READ("\"user\":\"BOB\",\"queue\":\"RDR\",\"id\":1"));
	ck_assert_int_eq(strncmp(line, first, strlen(first)), 0);
	line = ask(fd, READ("\"user\":\"BOB\",\"queue\":\"RDR\",\"id\":1,\"first\":39321"));
	ck_assert_int_eq(strncmp(line, rest, strlen(rest)), 0);
}

static const struct {
	const char *request, *records;
} reads[] = {
	/* "abcdef", and "gh" with a blank of EBCDIC, X'40', that fills the record. */
	{ READ("\"user\":\"BOB\",\"queue\":\"PUN\",\"id\":2"),
	  "\"records\":3,\"data\":\"YWJjZGVmZ2hA\"" },
	{ READ("\"user\":\"bob\",\"queue\":\"PUN\",\"id\":2,\"first\":1"),
	  "\"records\":2,\"data\":\"ZGVmZ2hA\"" },
	{ READ("\"user\":\"BOB\",\"queue\":\"PUN\",\"id\":2,\"first\":3"),
	  "\"records\":0,\"data\":\"\"" },
	{ READ("\"user\":\"BOB\",\"queue\":\"PUN\",\"id\":2,\"first\":4294967295"),
	  "\"records\":0,\"data\":\"\"" },
	{ READ("\"user\":\"EVE\",\"queue\":\"PUN\",\"id\":2"),
	  "\"records\":2,\"data\":\"YWJjZGVmZ2g=\"" },
	{ READ("\"user\":\"BOB\",\"queue\":\"RDR\",\"id\":1"), "\"records\":0,\"data\":\"\"" },
};

TEST_EACH(records_read, reads)
{
	char wanted[128];

	ask_is(fd, PUT("\"RDR\",\"record-length\":1," EMPTY), "{\"return\":{\"id\":1}}");
	ask_is(fd, PUT("\"PUN\",\"record-length\":3," LETTERS), "{\"return\":{\"id\":2}}");
	ask_is(fd, RUN("spool-put", "\"user\":\"EVE\",\"queue\":\"RDR\",\"record-length\":7,"
				    LETTERS), "{\"return\":{\"id\":1}}");
	ask_is(fd, RUN("spool-put", "\"user\":\"EVE\",\"queue\":\"PUN\",\"record-length\":4,"
				    LETTERS), "{\"return\":{\"id\":2}}");
	snprintf(wanted, sizeof(wanted), "{\"return\":{%s}}", reads[_i].records);
	ask_is(fd, reads[_i].request, wanted);
	ck_assert_uint_eq(spool_files(), 4);
}

static const struct {
	const char *request, *answer;
} refusals[] = {
	{ PUT("\"RDR\",\"class\":\"a\"," LETTERS),
	  failed("the class of a spool file is a letter A to Z or a digit") },
	{ PUT("\"RDR\",\"class\":\"*\"," LETTERS),
	  failed("the class of a spool file is a letter A to Z or a digit") },
	{ PUT("\"RDR\",\"name\":\"a b\"," LETTERS),
	  failed("users, names and types of spool files have up to 8 printable characters "
		 "without blanks") },
	{ PUT("\"RDR\",\"type\":\"\\u007f\"," LETTERS),
	  failed("users, names and types of spool files have up to 8 printable characters "
		 "without blanks") },
	{ PUT("\"RDR\",\"class\":\"AB\"," LETTERS),
	  wrong("argument \\\"class\\\" is not a string of 1 to 1 bytes") },
	{ PUT("\"RDR\",\"record-length\":0," LETTERS),
	  wrong("argument \\\"record-length\\\" is not an integer from 1 to 132") },
	{ PUT("\"RDR\",\"record-length\":133," LETTERS),
	  wrong("argument \\\"record-length\\\" is not an integer from 1 to 132") },
	{ PUT("\"XXX\"," LETTERS), wrong("argument \\\"queue\\\" is none of RDR PUN PRT") },
	{ READ("\"user\":\"BOB\",\"queue\":\"PUN\",\"id\":1"),
	  failed("BOB has no file 1 on this queue") },
	{ READ("\"user\":\"bob\",\"queue\":\"RDR\",\"id\":2"),
	  failed("BOB has no file 2 on this queue") },
	{ READ("\"user\":\"EVE\",\"queue\":\"RDR\",\"id\":1"),
	  failed("EVE has no file 1 on this queue") },
	{ READ("\"user\":\"BOB\",\"queue\":\"RDR\",\"id\":0"),
	  wrong("argument \\\"id\\\" is not an integer from 1 to 9999") },
	{ READ("\"user\":\"BOB\",\"queue\":\"RDR\",\"id\":10000"),
	  wrong("argument \\\"id\\\" is not an integer from 1 to 9999") },
};

TEST_EACH(refused, refusals)
{
	ask_is(fd, PUT("\"RDR\"," LETTERS), "{\"return\":{\"id\":1}}");
	ask_is(fd, refusals[_i].request, refusals[_i].answer);
	ask_is(fd, QUERY, QUERIED(DEFAULT_FILE, "1", "61440", "9999"));
	ck_assert_uint_eq(fx.events[CP_EVENT_SPOOL], 1);
}

TEST(limits)
{
	ask_is(fd, RUN("spool-limits", "\"pages\":0,\"files\":1"), NOTHING);
	ask_is(fd, QUERY, QUERIED("", "0", "0", "1"));
	ask_is(fd, PUT("\"RDR\"," LETTERS),
	       failed("the spool is full: it has no room for 8 bytes"));
	/* What is not given is as large as it can be. */
	ask_is(fd, RUN("spool-limits", "\"files\":1"), NOTHING);
	ask_is(fd, QUERY, QUERIED("", "0", "61440", "1"));
	ask_is(fd, PUT("\"RDR\"," LETTERS), "{\"return\":{\"id\":1}}");
	ask_is(fd, PUT("\"PUN\"," LETTERS), failed("BOB cannot have more files"));
	ask_is(fd, RUN("spool-limits", "\"pages\":1"), NOTHING);
	ask_is(fd, QUERY, QUERIED(DEFAULT_FILE, "1", "1", "9999"));
	ask_is(fd, PUT("\"PUN\"," LETTERS),
	       failed("the spool is full: it has no room for 8 bytes"));
	ask_is(fd, RUN("spool-limits", "\"pages\":61441"),
	       wrong("argument \\\"pages\\\" is not an integer from 0 to 61440"));
	ask_is(fd, RUN("spool-limits", ""), NOTHING);
	ask_is(fd, QUERY, QUERIED(DEFAULT_FILE, "1", "61440", "9999"));
}

CASE("no spool", begin_without, end);

/* The guest's directory entry has no SPOOL statement. */
TEST(without_a_spool)
{
	ask_is(fd, QUERY, QUERIED("", "0", "0", "0"));
	ask_is(fd, PUT("\"RDR\"," LETTERS),
	       failed("there is no spool; the guest's directory entry has no SPOOL statement"));
	ask_is(fd, READ("\"user\":\"BOB\",\"queue\":\"RDR\",\"id\":1"),
	       failed("BOB has no file 1 on this queue"));
	ask_is(fd, QUERY, QUERIED("", "0", "0", "0"));
}
