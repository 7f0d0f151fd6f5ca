/* SPDX-License-Identifier: MIT */
/* The control socket: requests for the machine, which the port carries out. */
#include "control_client.h"
#include "ctl_machine.h"

#define NOTHING "{\"return\":{}}"
#define RUN(command, arguments) \
	"{\"execute\":\"" command "\",\"arguments\":{" arguments "}}"

/* A port: what it was asked for, and whether it refuses. */
static struct {
	char said[256];
	bool runs, refuses;
	uint64_t left;
} port;

static int do_it(const char *what, bool runs, char *text, size_t len)
{
	if (port.refuses) {
		snprintf(text, len, "it cannot %s", what);
		return -1;
	}
	strcat(port.said, what);
	strcat(port.said, ";");
	port.runs = runs;
	return 0;
}

static int do_pause(void *opaque, char *text, size_t len)
{
	ck_assert_ptr_eq(opaque, &port);
	return do_it("pause", false, text, len);
}

static int do_go_on(void *opaque, char *text, size_t len)
{
	ck_assert_ptr_eq(opaque, &port);
	return do_it("go on", true, text, len);
}

static int do_restore(void *opaque, const char *file, char *text, size_t len)
{
	ck_assert_ptr_eq(opaque, &port);
	return do_it(file, false, text, len);
}

static int do_pass(void *opaque, uint64_t ns, char *text, size_t len)
{
	ck_assert_ptr_eq(opaque, &port);
	port.left = ns;
	return do_it("pass", port.runs, text, len);
}

static bool do_run(void *opaque)
{
	ck_assert_ptr_eq(opaque, &port);
	return port.runs;
}

static uint64_t time_left(void *opaque)
{
	ck_assert_ptr_eq(opaque, &port);
	return port.left;
}

static const struct ctl_machine machine = {
	.pause = do_pause, .go_on = do_go_on, .restore = do_restore, .pass = do_pass,
	.runs = do_run, .left = time_left,
};

static int fd;

static void begin(void)
{
	start();
	memset(&port, 0, sizeof(port));
	fd = new_client();
}

static void end(void)
{
	close(fd);
	stop();
}

CASE("machine", begin, end);

TEST(without_a_port)
{
	static const char *const requests[] = {
		RUN("machine-pause", ""), RUN("machine-continue", ""),
		RUN("machine-restore", "\"file\":\"/a\""), RUN("machine-pass", "\"ns\":1"),
	};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		ask_is(fd, requests[i], failed("this control socket is not the emulator's own: ask "
					       "the emulator by its monitor"));
	ask_is(fd, RUN("query-machine", ""), "{\"return\":{\"asked\":false}}");
}

TEST(the_port_does_what_is_asked_for)
{
	ctl_set_machine(ctl, &machine, &port);
	ask_is(fd, RUN("query-machine", ""), "{\"return\":{\"asked\":true,\"runs\":false,\"pass\":0}}");
	ask_is(fd, RUN("machine-continue", ""), NOTHING);
	ask_is(fd, RUN("machine-pass", "\"ns\":9223372036854775807"), NOTHING);
	ask_is(fd, RUN("query-machine", ""),
	       "{\"return\":{\"asked\":true,\"runs\":true,\"pass\":9223372036854775807}}");
	ask_is(fd, RUN("machine-pause", ""), NOTHING);
	ask_is(fd, RUN("machine-restore", "\"file\":\"/a\""), NOTHING);
	ck_assert_str_eq(port.said, "go on;pass;pause;/a;");
	ck_assert(!port.runs);
}

TEST(a_machine_that_is_restored_goes_on_if_asked_to)
{
	ctl_set_machine(ctl, &machine, &port);
	ask_is(fd, RUN("machine-restore", "\"file\":\"/a\",\"continue\":true"), NOTHING);
	ask_is(fd, RUN("machine-restore", "\"file\":\"/b\",\"continue\":false"), NOTHING);
	ck_assert_str_eq(port.said, "/a;go on;/b;");
	port.refuses = true;
	ask_is(fd, RUN("machine-restore", "\"file\":\"/c\",\"continue\":true"), failed("it cannot /c"));
	ck_assert_str_eq(port.said, "/a;go on;/b;");
}

TEST(reasons_are_told)
{
	ctl_set_machine(ctl, &machine, &port);
	port.refuses = true;
	ask_is(fd, RUN("machine-pause", ""), failed("it cannot pause"));
	ask_is(fd, RUN("machine-continue", ""), failed("it cannot go on"));
	ask_is(fd, RUN("machine-pass", "\"ns\":1"), failed("it cannot pass"));
	ask_is(fd, RUN("machine-pass", "\"ns\":-1"),
	       wrong("argument \\\"ns\\\" is not an integer from 0 to 9223372036854775807"));
	ask_is(fd, RUN("machine-restore", ""), wrong("argument \\\"file\\\" is missing"));
}
