/* SPDX-License-Identifier: MIT */
/* The control socket: data that goes to files and comes from them, and what is made up. */
#define _GNU_SOURCE
#include "monitor_peer.h"

#include "control_client.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "held.h"

static char file[128];

static void begin(void)
{
	start();
	snprintf(file, sizeof(file), "%s/file", folder);
}

CASE("files", begin, stop);

static size_t content(const char *name, uint8_t *to, size_t size)
{
	FILE *f = fopen(name, "rb");
	size_t len;

	ck_assert_msg(f != NULL, "%s", name);
	len = fread(to, 1, size, f);
	fclose(f);
	ck_assert_int_eq(unlink(name), 0);
	return len;
}

static const char *ask_with(int fd, const char *command, const char *arguments)
{
	char request[512];

	snprintf(request, sizeof(request), "{\"execute\":\"%s\",\"arguments\":{%s\"file\":\"%s\"}}",
		 command, arguments, file);
	return ask(fd, request);
}

static unsigned int descriptors(void)
{
	DIR *folder_of_them = opendir("/proc/self/fd");
	unsigned int count = 0;

	ck_assert_ptr_nonnull(folder_of_them);
	while (readdir(folder_of_them))
		count++;
	closedir(folder_of_them);
	return count;
}

TEST(segment_to_a_file)
{
	uint8_t found[64];
	int fd = new_client();

	for (unsigned int i = 0; i < 32; i++)
		fx_at(FX_SEGMENT_START + 100, 32)[i] = (uint8_t)(i + 1);
	ck_assert_str_eq(ask_with(fd, "segment-read",
				  "\"name\":\"MONDCSS\",\"offset\":100,\"length\":32,"),
			 "{\"return\":{}}");
	ck_assert_uint_eq(content(file, found, sizeof(found)), 32);
	ck_assert_mem_eq(found, fx_at(FX_SEGMENT_START + 100, 32), 32);
	strcpy(file, "/nowhere/file");
	ck_assert_ptr_nonnull(strstr(ask_with(fd, "segment-read",
					      "\"name\":\"MONDCSS\",\"offset\":0,\"length\":1,"),
				     "file /nowhere/file cannot be written: No such file"));
	close(fd);
}

/* The first numbers that SplitMix64's author and others publish for this seed. */
TEST(made_up_by_seed)
{
	static const uint64_t published[] = {
		UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),
	};
	struct peer *p = peer_user(0, WANT_BOTH, 5);
	const uint8_t *mce, *data;
	uint8_t expected[24];
	int fd = new_client();

	for (unsigned int i = 0; i < 3; i++)
		put_be64(expected + 8 * i, published[i]);
	ask_is(fd, "{\"execute\":\"monitor-deliver\",\"arguments\":{\"kind\":\"sample\",\"elements\":"
		   "[{\"domains\":32768,\"fill\":{\"length\":21,\"seed\":1234567}},"
		   "{\"domains\":16384,\"byte3\":9,\"fill\":{\"length\":3,\"pattern\":7}},"
		   "{\"domains\":8192,\"data\":\"AAEC\"}]}}",
	       "{\"return\":{\"set\":1,\"fate\":\"delivered\"}}");
	mce = peer_mce(peer_last(p), 0);
	ck_assert_mem_eq(mce, "\xe2\x80\x00\x00", 4);
	ck_assert_uint_eq(get_be32(mce + MCE_END) - get_be32(mce + MCE_START), 20);
	ck_assert_mem_eq(fx_at(get_be32(mce + MCE_START), 21), expected, 21);
	mce = peer_mce(peer_last(p), 1);
	ck_assert_mem_eq(mce, "\xe2\x40\x00\x09", 4);
	data = fx_at(get_be32(mce + MCE_START), 3);
	ck_assert_mem_eq(data, "\7\7\7", 3);
	mce = peer_mce(peer_last(p), 2);
	ck_assert_mem_eq(fx_at(get_be32(mce + MCE_START), 3), "\0\1\2", 3);
	close(fd);
}

/* Defaults of an element, and values given by the request. */
TEST(elements_of_each_kind)
{
	static const struct { const char *kind; uint8_t type; } kinds[] = {
		{ "sample-config", 0xe2 }, { "sample", 0xe2 }, { "event-config", 0xc5 },
		{ "event", 0xc5 },
	};
	struct peer *p = peer_user(0, WANT_BOTH, 50);
	int fd = new_client();
	char request[400];

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const uint8_t *mce;

		snprintf(request, sizeof(request), "{\"execute\":\"monitor-deliver\",\"arguments\":{"
			 "\"kind\":\"%s\",\"elements\":[{\"domains\":258,\"data\":\"AAEC\"},{\"type\":17,"
			 "\"domains\":1,\"byte3\":34,\"phase\":4095,\"data\":\"AA==\"}]}}", kinds[i].kind);
		ck_assert_ptr_nonnull(strstr(ask(fd, request), "\"fate\":\"delivered\""));
		mce = peer_mce(peer_last(p), 0);
		ck_assert_uint_eq(mce[0], kinds[i].type);
		ck_assert_mem_eq(mce + 1, "\1\2\0", 3);
		ck_assert_uint_eq(get_be32(mce + 4) % 4096, 0);
		ck_assert_uint_eq(get_be32(mce + 8) - get_be32(mce + 4), 2);
		mce = peer_mce(peer_last(p), 1);
		ck_assert_mem_eq(mce, "\x11\0\1\x22", 4);
		ck_assert_uint_eq(get_be32(mce + 4) % 4096, 4095);
		ck_assert_uint_eq(get_be32(mce + 8), get_be32(mce + 4));
	}
	close(fd);
}

TEST(repeated)
{
	struct peer *p = peer_user(0, WANT_BOTH, 5);
	int fd = new_client();

	ask_is(fd, "{\"execute\":\"monitor-repeat\",\"arguments\":{\"kind\":\"sample\",\"times\":3,"
		   "\"outstanding\":2,\"elements\":[{\"domains\":32768,\"data\":\"AAEC\"}]}}",
	       "{\"return\":{}}");
	ck_assert_uint_eq(p->messages, 2);
	close(fd);
}

/* The place of each kind of data in the segment: nowhere before somebody reads it. */
TEST(areas_of_the_segment)
{
	static const char query[] = "{\"execute\":\"query-monitor\"}";
	static const char *const kinds[] = { "sample-config", "sample", "event-config", "event" };
	char wanted[400] = "\"areas\":[", *end = wanted + strlen(wanted);
	int fd = new_client();

	ck_assert_ptr_nonnull(strstr(ask(fd, query), "\"areas\":[]"));
	peer_user(0, WANT_BOTH, 5);
	ask_is(fd, "{\"execute\":\"monitor-deliver\",\"arguments\":{\"kind\":\"event\",\"elements\":"
		   "[{\"domains\":32768,\"data\":\"AAEC\"}]}}",
	       "{\"return\":{\"set\":1,\"fate\":\"delivered\"}}");
	for (unsigned int kind = 0; kind < MON_KINDS; kind++) {
		struct mon_area_info area;

		ck_assert(monitor_area(fx.cp, kind, &area));
		end += sprintf(end, "%s{\"kind\":\"%s\",\"start\":%" PRIu64 ",\"size\":%" PRIu64
			       ",\"used\":%d}", kind > 0 ? "," : "", kinds[kind], area.start,
			       area.size, kind == MON_EVENT ? 4096 : 0);
	}
	strcpy(end, "]}}");
	ck_assert_str_eq(strstr(ask(fd, query), "\"areas\""), wanted);
	close(fd);
}

/* One way to say what is in an element, and not too much of it. */
TEST(elements_that_are_refused)
{
	static const struct { const char *elements, *answer; } cases[] = {
		{ "{\"domains\":1}",
		  wrong("argument \\\"elements[0]\\\" must have either \\\"data\\\" or \\\"fill\\\"") },
		{ "{\"domains\":1,\"data\":\"AA==\"},{\"domains\":1,\"data\":\"AA==\",\"fill\":"
		  "{\"length\":1,\"seed\":1}}",
		  wrong("argument \\\"elements[1]\\\" must have either \\\"data\\\" or \\\"fill\\\"") },
		{ "{\"domains\":1,\"fill\":{\"length\":1}}",
		  wrong("argument \\\"elements[0].fill\\\" must have either \\\"seed\\\" or "
			"\\\"pattern\\\"") },
		{ "{\"domains\":1,\"fill\":{\"length\":1,\"seed\":1,\"pattern\":1}}",
		  wrong("argument \\\"elements[0].fill\\\" must have either \\\"seed\\\" or "
			"\\\"pattern\\\"") },
		{ "{\"domains\":1,\"fill\":{\"length\":268435456,\"seed\":1}},{\"domains\":1,"
		  "\"data\":\"AA==\"}",
		  wrong("the elements have 268435457 bytes in all; 268435456 is the limit") },
	};
	int fd = new_client();
	char request[400];

	peer_user(0, WANT_BOTH, 50);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(request, sizeof(request), "{\"execute\":\"monitor-deliver\",\"arguments\":{"
			 "\"kind\":\"sample\",\"elements\":[%s]}}", cases[i].elements);
		ck_assert_str_eq(ask(fd, request), cases[i].answer);
	}
	close(fd);
}

/* A set is captured once, however many users it goes to; one that is gone is not. */
TEST(captured_once)
{
	char index[sizeof(file) + 4];
	uint8_t found[256];
	struct peer *p;
	uint64_t set;
	int fd = new_client();

	snprintf(index, sizeof(index), "%s.idx", file);
	peer_user(0, WANT_BOTH, 5);
	p = peer_user(1, WANT_BOTH, 5);
	set = deliver(MON_SAMPLE, 30, 0, 0x77, MON_DELIVERED);
	ctl_capture_set(ctl, set);
	ck_assert_str_eq(ask_with(fd, "monitor-capture", ""),
			 "{\"return\":{\"sets\":0,\"bytes\":0}}");
	set = deliver(MON_SAMPLE, 40, 0, 0x78, MON_DELIVERED);
	ctl_capture_set(ctl, set);
	ctl_capture_set(ctl, set);
	ctl_capture_set(ctl, set + 1);
	ask_is(fd, "{\"execute\":\"monitor-capture\"}", "{\"return\":{\"sets\":1,\"bytes\":52}}");
	ck_assert_uint_eq(content(file, found, sizeof(found)), 52);
	ck_assert_mem_eq(found, peer_mce(peer_last(p), 0), MCE_SIZE);
	for (unsigned int i = MCE_SIZE; i < 52; i++)
		ck_assert_uint_eq(found[i], 0x78);
	found[content(index, found, sizeof(found) - 1)] = '\0';
	ck_assert_str_eq((char *)found, "{\"set\":2,\"kind\":\"sample\",\"offset\":0,"
					"\"length\":52,\"mces\":1}\n");
	close(fd);
}

/* A disk that is full for one of the two files ends the capture, and nothing of it counts. */
TEST_LOOP(captured_to_a_full_disk, 0, 2)
{
	char index[sizeof(file) + 4];
	int fd = new_client();
	uint64_t set;

	snprintf(index, sizeof(index), "%s.idx", file);
	ck_assert_int_eq(symlink("/dev/full", _i == 0 ? file : index), 0);
	peer_user(0, WANT_BOTH, 5);
	ask_with(fd, "monitor-capture", "");
	set = deliver(MON_SAMPLE, 40, 0, 0x78, MON_DELIVERED);
	ctl_capture_set(ctl, set);
	ck_assert_ptr_nonnull(strstr(read_line(fd), "\"event\":\"capture-ended\",\"data\":"
						    "{\"reason\":\"No space left on device\"}"));
	/* Its end is told once. */
	set = deliver(MON_SAMPLE, 40, 0, 0x78, MON_DELIVERED);
	ctl_capture_set(ctl, set);
	ask_is(fd, "{\"execute\":\"monitor-capture\"}", "{\"return\":{\"sets\":0,\"bytes\":0}}");
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(unlink(index), 0);
	close(fd);
}

/* If an element points outside the segment, the set ends as it does for a reader. */
TEST_LOOP(captured_to_the_first_bad_element, 0, 2)
{
	static const struct mon_element none = { .type = MCE_SAMPLE, .domains = 1,
						 .data = (const uint8_t *)"data", .len = 4 };
	const struct mon_element elements[] = { none, none, none };
	enum mon_fate fate;
	uint8_t found[64], *mce;
	int fd = new_client();
	int64_t set;

	peer_user(0, WANT_BOTH, 5);
	ask_with(fd, "monitor-capture", "");
	set = monitor_deliver(fx.cp, MON_SAMPLE, elements, 3, &fate, err, sizeof(err));
	ck_assert_int_gt(set, 0);
	/* Its last byte lies behind the segment, or before its first. */
	mce = (uint8_t *)(uintptr_t)peer_mce(peer_last(&peers[0]), 1);
	put_be32(mce + MCE_END, _i == 0 ? FX_SEGMENT_END + 1 : get_be32(mce + MCE_START) - 1);
	ctl_capture_set(ctl, (uint64_t)set);
	ask_is(fd, "{\"execute\":\"monitor-capture\"}", "{\"return\":{\"sets\":1,\"bytes\":16}}");
	ck_assert_uint_eq(content(file, found, sizeof(found)), 16);
	strcat(file, ".idx");
	ck_assert_int_eq(unlink(file), 0);
	close(fd);
}

/* A message about a control area that is not in the segment, or not a whole one, has no content. */
TEST(captured_without_a_control_area)
{
	static const struct { uint32_t start, end; } areas[] = {
		{ 0x1000, 0x100b }, { FX_SEGMENT_END - 10, FX_SEGMENT_END + 1 },
		{ FX_SEGMENT_START + 11, FX_SEGMENT_START }, { FX_SEGMENT_START - 1, FX_SEGMENT_END },
	};
	struct peer *p = peer_user(0, WANT_BOTH, 50);
	int fd = new_client();

	ask_with(fd, "monitor-capture", "");
	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		const int64_t set = monitor_message_raw(fx.cp, MON_SAMPLE, areas[i].start,
							areas[i].end, NULL, err, sizeof(err));

		ck_assert_int_gt(set, 0);
		ck_assert_uint_eq(get_be32(peer_last(p)->rmmsg), areas[i].start);
		ctl_capture_set(ctl, (uint64_t)set);
	}
	ask_is(fd, "{\"execute\":\"monitor-capture\"}", "{\"return\":{\"sets\":0,\"bytes\":0}}");
	ck_assert_int_eq(unlink(file), 0);
	strcat(file, ".idx");
	ck_assert_int_eq(unlink(file), 0);
	close(fd);
}

/* Descriptor 0 is one like all others: it is used, and closed, whatever becomes of the request. */
TEST(the_first_descriptor)
{
	static const char *const commands[] = {
		"segment-save", "segment-load", "state-save", "state-load", "segment-save",
		"segment-load",
	};
	int fd = new_client();
	unsigned int before;

	close(0);
	before = descriptors();
	for (unsigned int i = 0; i < 6; i++) {
		const bool segment = strncmp(commands[i], "segment", 7) == 0;

		ck_assert_ptr_nonnull(strstr(ask_with(fd, commands[i],
						      segment ? "\"name\":\"MONDCSS\"," : ""),
					     "\"return\""));
		ck_assert_uint_eq(descriptors(), before);
	}
	ck_assert_int_eq(unlink(file), 0);
	ask_with(fd, "monitor-capture", "");
	ck_assert_uint_eq(descriptors(), before + 2);
	ask_is(fd, "{\"execute\":\"monitor-capture\"}", "{\"return\":{\"sets\":0,\"bytes\":0}}");
	ck_assert_uint_eq(descriptors(), before);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	for (unsigned int i = 0; i < 4; i++) {
		const bool segment = strncmp(commands[i], "segment", 7) == 0;

		ck_assert_ptr_nonnull(strstr(ask_with(fd, commands[i],
						      segment ? "\"name\":\"MONDCSS\"," : ""),
					     "it is not a regular file"));
		ck_assert_uint_eq(descriptors(), before);
	}
	ck_assert_int_eq(unlink(file), 0);
	strcat(file, ".idx");
	ck_assert_int_eq(unlink(file), 0);
	close(fd);
}

static int drained;

static void drain(int number)
{
	char bytes[65536];

	(void)number;
	while (read(drained, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes))
		;
}

CASE("alone", NULL, NULL);

TEST(nothing_stays_open)
{
	unsigned int before;
	int fd;

	fx_setup();
	fx_teardown();
	before = descriptors();
	begin();
	fd = new_client();
	ck_assert_str_eq(ask_with(fd, "monitor-capture", ""),
			 "{\"return\":{\"sets\":0,\"bytes\":0}}");
	ck_assert_uint_gt(descriptors(), before);
	ck_assert_int_eq(unlink(file), 0);
	strcat(file, ".idx");
	ck_assert_int_eq(unlink(file), 0);
	close(fd);
	stop();
	ck_assert_uint_eq(descriptors(), before);
}

/* Programs that the emulator starts get none of them. */
TEST(descriptors_are_not_inherited)
{
	bool before[64] = { false };
	int fd = -1, found = 0;

	for (int i = 0; i < 64; i++)
		before[i] = fcntl(i, F_GETFD) >= 0;
	begin();
	fd = new_client();
	ask_with(fd, "monitor-capture", "");
	for (int i = 0; i < 64; i++) {
		const int flags = fcntl(i, F_GETFD);

		if (before[i] || flags < 0 || i == fd)
			continue;
		ck_assert_msg(flags & FD_CLOEXEC, "%d", i);
		found++;
	}
	/* Watching, waking, listening, the client, two files, the segment's pages. */
	ck_assert_int_eq(found, 7);
	ck_assert_int_eq(unlink(file), 0);
	strcat(file, ".idx");
	ck_assert_int_eq(unlink(file), 0);
	close(fd);
	stop();
}

/* Messages and the room for their answers share one limit, and give back what they took. */
TEST(held_up_to_the_limit)
{
	struct ctl_held_list list = { .bytes = 0 };
	struct ctl_held *first = ctl_hold(&list, 1, CTL_MAX_HELD / 2, CTL_MAX_HELD / 4);
	struct ctl_held *second;

	ck_assert_ptr_nonnull(first);
	ck_assert_uint_eq(list.bytes, CTL_MAX_HELD / 2 + CTL_MAX_HELD / 4);
	ck_assert_ptr_null(ctl_hold(&list, 1, CTL_MAX_HELD / 4, 1));
	ck_assert_ptr_null(ctl_hold(&list, 1, CTL_MAX_HELD + 1, 0));
	ck_assert_ptr_null(ctl_hold(&list, 1, 0, CTL_MAX_HELD + 1));
	second = ctl_hold(&list, 1, 1, CTL_MAX_HELD / 4 - 1);
	ck_assert_ptr_nonnull(second);
	ck_assert_uint_eq(list.bytes, CTL_MAX_HELD);
	ctl_release(&list, NULL);
	ck_assert_uint_eq(list.bytes, 0);
	ck_assert_ptr_null(list.first);
}

/* It may be the socket's own, too. */
TEST(the_first_descriptor_watches)
{
	unsigned int before;

	fx_setup();
	fx_teardown();
	close(0);
	before = descriptors();
	begin();
	close(new_client());
	stop();
	ck_assert_uint_eq(descriptors(), before);
}

/* A signal that comes while nothing can be written ends nothing. */
TEST(writing_goes_on_after_a_signal)
{
	const struct sigaction action = { .sa_handler = drain };
	const struct itimerval soon = { { 0, 50000 }, { 0, 50000 } }, never = { { 0, 0 }, { 0, 0 } };
	static char bytes[65536];
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	drained = ends[0];
	ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(fcntl(ends[1], F_SETPIPE_SZ, (int)sizeof(bytes)), (int)sizeof(bytes));
	ck_assert_int_eq(ctl_write_all(ends[1], bytes, sizeof(bytes)), 0);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
	ck_assert_int_eq(ctl_write_all(ends[1], bytes, sizeof(bytes)), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	close(ends[0]);
	close(ends[1]);
}
