/* SPDX-License-Identifier: MIT */
/*
 * A CP with its control socket and no emulator, for tests of the harness:
 *
 *   ctl_server SOCKET [TRACE [KEY=VALUE...]]
 *
 * Storage is an array, the TOD clock steps with every look at it, nobody
 * executes instructions.  The server ends when its standard input does, so
 * that none is left behind.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control.h"
#include "trace_file.h"
#include "zvmlab/cp.h"
#include "zvmlab/event.h"

#define STORAGE_SIZE (32u << 20)
/* One microsecond in units of the TOD clock. */
#define TOD_STEP 4096u

struct server {
	uint8_t *storage;
	uint64_t tod;
	struct ctl *ctl;
	struct trace_file *trace;
};

static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct server *server = opaque;

	(void)cpu;
	if (addr >= STORAGE_SIZE || len > STORAGE_SIZE - addr)
		return NULL;
	return server->storage + addr;
}

static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)opaque, (void)cpu, (void)addr, (void)len;
}

static uint64_t host_tod(void *opaque)
{
	return ((struct server *)opaque)->tod += TOD_STEP;
}

static void host_kick(void *opaque, unsigned int cpu)
{
	(void)opaque, (void)cpu;
}

static void host_set_timer(void *opaque, uint64_t tod)
{
	(void)opaque, (void)tod;
}

static bool host_window(void *opaque, const struct cp_window *window)
{
	(void)opaque;
	(void)window;
	return true;
}

static void host_storage_changed(void *opaque)
{
	(void)opaque;
}

static void host_page_changed(void *opaque, uint64_t addr, bool out)
{
	(void)opaque, (void)addr, (void)out;
}

static void host_trace(void *opaque, const char *line, size_t len)
{
	const struct server *server = opaque;

	ctl_trace_line(server->ctl, server->trace, line, len);
}

static void host_event(void *opaque, const struct cp_event *event)
{
	ctl_event(((struct server *)opaque)->ctl, event);
}

static int fail(const char *text)
{
	fprintf(stderr, "ctl_server: %s\n", text);
	return EXIT_FAILURE;
}

static int configure(struct cp_config *config, char **options, char *err, size_t errlen)
{
	int result = cp_config_set(config, "storage", "0.8M", err, errlen);

	if (result == 0)
		result = cp_config_set(config, "segment",
				       "MONDCSS 1000-17FF SC RSTD;DATA 1800-18FF SW", err, errlen);
	for (; *options && result == 0; options++) {
		char *value = strchr(*options, '=');

		if (!value) {
			snprintf(err, errlen, "%s is not KEY=VALUE", *options);
			return -1;
		}
		*value = '\0';
		result = cp_config_set(config, *options, value + 1, err, errlen);
	}
	return result;
}

static void serve(struct ctl *ctl)
{
	struct pollfd fds[2] = {
		{ .fd = ctl_fd(ctl), .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};

	do {
		if (poll(fds, 2, -1) < 0)
			return;
		ctl_dispatch(ctl);
	} while (!(fds[1].revents & (POLLIN | POLLHUP)));
}

int main(int argc, char **argv)
{
	struct server server = { .tod = UINT64_C(0xd000000000000000) };
	struct cp_host host = {
		.opaque = &server,
		.map = host_map,
		.window = host_window,
		.dirty = host_dirty,
		.tod = host_tod,
		.kick = host_kick,
		.set_timer = host_set_timer,
		.storage_changed = host_storage_changed,
		.page_changed = host_page_changed,
		.external = host_kick,
		.event = host_event,
	};
	struct cp_config config;
	struct cp *cp;
	char err[512];

	if (argc < 2)
		return fail("usage: ctl_server SOCKET [TRACE [KEY=VALUE...]]");
	cp_config_init(&config);
	if (configure(&config, argv + (argc > 2 ? 3 : 2), err, sizeof(err)) != 0)
		return fail(err);
	/* Not by malloc(): AddressSanitizer would mark all of it, twice in each run. */
	server.storage = mmap(NULL, STORAGE_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc > 2) {
		server.trace = trace_file_open(argv[2], TRACE_LIMIT_DEFAULT, err, sizeof(err));
		if (!server.trace)
			return fail(err);
		host.trace = host_trace;
	}
	server.ctl = ctl_open(argv[1], err, sizeof(err));
	if (server.storage == MAP_FAILED || !server.ctl)
		return fail(server.storage == MAP_FAILED ? "not enough memory" : err);
	cp = cp_create(NULL, &config, &host, err, sizeof(err));
	if (!cp)
		return fail(err);
	cp_config_fini(&config);
	ctl_attach(server.ctl, cp);
	serve(server.ctl);
	ctl_close(server.ctl);
	server.ctl = NULL;
	cp_destroy(cp);
	trace_file_close(server.trace);
	munmap(server.storage, STORAGE_SIZE);
	return EXIT_SUCCESS;
}
