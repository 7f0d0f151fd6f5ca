/* SPDX-License-Identifier: MIT */
/* The control socket: commands for virtual disks. */
#include <stdlib.h>

#include "control_client.h"
#include "disk_check.h"

#define QUERY "{\"execute\":\"query-disks\"}"
#define NOTHING "{\"return\":{}}"
#define RUN(command, arguments) \
	"{\"execute\":\"" command "\",\"arguments\":{" arguments "}}"

static int fd;

static void begin(void)
{
	start_with((const char *const[]){ "directory", DISK_DIRECTORY, "cpus", "2", NULL });
	fd = new_client();
}

static void end(void)
{
	close(fd);
	stop();
}

CASE("disk", begin, end);

#define DISK_IS(device, blocks, read_only, rest) \
	"{\"device\":" device ",\"blocks\":" blocks ",\"read-only\":" read_only "," rest "}"
#define NEW "\"established\":false,\"block-size\":0,\"offset\":0,\"reads\":0,\"writes\":0"
#define READ_ONLY_IS DISK_IS("513", "16", "true", NEW)
#define QUERIED(first, requests, hold) \
	"{\"return\":{\"disks\":[" first "," READ_ONLY_IS "],\"requests\":[" requests \
	"],\"hold\":" hold "}}"
#define REQUEST_IS(request, blocks, waits, status) \
	"{\"request\":" request ",\"device\":512,\"blocks\":" blocks ",\"waits\":" waits \
	",\"status\":" status "}"

/* A block of 512 bytes, each of them X'A5', in base64 (RFC 4648): 170 times 3 bytes, and 2. */
static const char *block_text(void)
{
	static char text[700];

	for (unsigned int i = 0; i < 170; i++)
		memcpy(text + 4 * i, "paWl", 4);
	memcpy(text + 680, "paU=", 5);
	return text;
}

TEST(disks_of_the_directory)
{
	ask_is(fd, QUERY, QUERIED(DISK_IS("512", "64", "false", NEW), "", "false"));
	set_up(DISK, 1024, -5);
	ck_250(INIT_BIO, 0, 0);
	put_entry(0, WRITE_BLOCK, 6);
	put_entry(1, READ_BLOCK, 6);
	put_entry(2, READ_BLOCK, 7);
	put_request(DISK, 3, false);
	ck_250(RW_BIO, 0, 0);
	ask_is(fd, QUERY, QUERIED(DISK_IS("512", "64", "false",
					  "\"established\":true,\"block-size\":1024,\"offset\":-5,"
					  "\"reads\":2,\"writes\":1"), "", "false"));
}

TEST(blocks_written_and_read)
{
	char request[1024], answer[1024];

	snprintf(request, sizeof(request),
		 RUN("disk-write", "\"device\":513,\"block\":15,\"data\":\"%s\""), block_text());
	ask_is(fd, request, NOTHING);
	ck_blocks(READ_ONLY, 15, 1, 0xa5);
	ck_blocks(READ_ONLY, 0, 15, 0);
	snprintf(answer, sizeof(answer), "{\"return\":{\"data\":\"%s\"}}", block_text());
	ask_is(fd, RUN("disk-read", "\"device\":513,\"block\":15"), answer);
	ask_is(fd, RUN("disk-read", "\"device\":513,\"block\":15,\"blocks\":1"), answer);
	ask_is(fd, RUN("disk-read", "\"device\":513,\"block\":16,\"blocks\":0"),
	       "{\"return\":{\"data\":\"\"}}");
}

static const struct {
	const char *request, *answer;
} refusals[] = {
	{ RUN("disk-read", "\"device\":514,\"block\":0"),
	  failed("the guest has no disk 0202; MDISK and LINK statements in the directory give it disks") },
	{ RUN("disk-read", "\"device\":513,\"block\":15,\"blocks\":2"),
	  failed("disk 0201 has 16 blocks, and not 2 from block 15 on") },
	{ RUN("disk-read", "\"device\":513,\"block\":0,\"blocks\":8193"),
	  wrong("argument \\\"blocks\\\" is not an integer from 0 to 8192") },
	{ RUN("disk-write", "\"device\":514,\"block\":0,\"data\":\"\""),
	  failed("the guest has no disk 0202; MDISK and LINK statements in the directory give it disks") },
	{ RUN("disk-write", "\"device\":512,\"block\":0,\"data\":\"paWl\""),
	  failed("3 bytes are not a multiple of 512, the length of a block") },
	{ RUN("disk-write", "\"device\":512,\"block\":131073,\"data\":\"\""),
	  wrong("argument \\\"block\\\" is not an integer from 0 to 131072") },
	{ RUN("disk-hold", "\"hold\":1"), wrong("argument \\\"hold\\\" is neither true nor false") },
	{ RUN("disk-complete", ""),
	  failed("no request of the guest's waits; disk-hold makes them wait") },
	{ RUN("disk-complete", "\"request\":7"),
	  failed("no request 7 waits; query-disks lists requests") },
	{ RUN("disk-complete", "\"request\":0"),
	  wrong("argument \\\"request\\\" is not an integer from 1 to 2147483647") },
};

TEST_EACH(refused, refusals)
{
	ask_is(fd, refusals[_i].request, refusals[_i].answer);
	ask_is(fd, QUERY, QUERIED(DISK_IS("512", "64", "false", NEW), "", "false"));
}

#define IN_USE(writes) \
	DISK_IS("512", "64", "false", "\"established\":true,\"block-size\":512,\"offset\":0," \
		"\"reads\":0,\"writes\":" writes)

TEST(requests_that_wait)
{
	established(DISK, 512);
	put_entry(0, WRITE_BLOCK, 1);
	put_entry(1, WRITE_BLOCK, 99);
	ask_is(fd, RUN("disk-hold", "\"hold\":true"), NOTHING);
	put_request(DISK, 1, true);
	ck_250(RW_BIO, 0, 8);
	put_request(DISK, 2, true);
	ck_250(RW_BIO, 0, 8);
	ask_is(fd, QUERY, QUERIED(IN_USE("0"), REQUEST_IS("1", "1", "true", "0") ","
				  REQUEST_IS("2", "2", "true", "0"), "true"));
	ask_is(fd, RUN("disk-complete", "\"request\":2"), NOTHING);
	ask_is(fd, QUERY, QUERIED(IN_USE("1"), REQUEST_IS("1", "1", "true", "0") ","
				  REQUEST_IS("2", "2", "false", "1"), "true"));
	ask_is(fd, RUN("disk-complete", ""), NOTHING);
	ck_told(1);
	ask_is(fd, QUERY, QUERIED(IN_USE("2"), REQUEST_IS("1", "1", "false", "0"), "true"));
	ck_told(0);
	ask_is(fd, RUN("disk-hold", "\"hold\":false"), NOTHING);
	ask_is(fd, QUERY, QUERIED(IN_USE("2"), "", "false"));
}
