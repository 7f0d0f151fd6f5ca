/* SPDX-License-Identifier: MIT */
/* The same work for every port; see cp_port.h. */
#include "cp_port.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "zvmlab/event.h"

void cp_port_init(struct cp_port *port, const struct cp_port_words *words,
		  uint64_t (*absolute)(const struct cp_port *port, int cpu, uint64_t addr))
{
	*port = (struct cp_port){
		.calls = &cp_calls_local, .words = words, .absolute = absolute,
		.trace_limit = TRACE_LIMIT_DEFAULT, .ram_fd = -1,
	};
	cp_config_init(&port->config);
}

static int set_path(char **path, const char *value, char *err, size_t errlen)
{
	free(*path);
	*path = strdup(value);
	if (*path)
		return 0;
	snprintf(err, errlen, "not enough memory for the options");
	return -1;
}

int cp_port_set(struct cp_port *port, const char *key, const char *value, char *err,
		size_t errlen)
{
	if (strcmp(key, "control") == 0)
		return set_path(&port->control_path, value, err, errlen);
	if (strcmp(key, "trace") == 0)
		return set_path(&port->trace_path, value, err, errlen);
	if (strcmp(key, "system") == 0)
		return set_path(&port->system_path, value, err, errlen);
	if (strcmp(key, "trace-limit") == 0)
		return trace_file_limit(value, &port->trace_limit, err, errlen);
	port->cpus_given |= strcmp(key, "cpus") == 0;
	return cp_config_set(&port->config, key, value, err, errlen);
}

int cp_port_open(struct cp_port *port, char *err, size_t errlen)
{
	assert(!port->ctl && !port->trace && !port->remote);
	/* It serves the socket, and writes the trace. */
	if (port->system_path) {
		port->calls = &cp_calls_remote;
		return cp_remote_open(port, err, errlen);
	}
	if (port->control_path) {
		port->ctl = ctl_open(port->control_path, err, errlen);
		if (!port->ctl)
			return -1;
	}
	if (port->trace_path) {
		port->trace = trace_file_open(port->trace_path, port->trace_limit, err, errlen);
		if (!port->trace)
			return -1;
	}
	return 0;
}

int cp_port_set_cpus(struct cp_port *port, unsigned int cpus, char *err, size_t errlen)
{
	const char *option = port->words->cpus;
	char number[16], reason[256];

	if (port->cpus_given && port->config.cpus != cpus) {
		snprintf(err, errlen, "cpus %u differs from %s %u; leave out cpus",
			 port->config.cpus, option, cpus);
		return -1;
	}
	snprintf(number, sizeof(number), "%u", cpus);
	if (cp_config_set(&port->config, "cpus", number, reason, sizeof(reason)) == 0)
		return 0;
	snprintf(err, errlen, "%s %u: %s", option, cpus, reason);
	return -1;
}

int cp_port_check_most_cpus(const struct cp_port *port, unsigned int most, char *err,
			    size_t errlen)
{
	if (most == port->config.cpus)
		return 0;
	snprintf(err, errlen, "CPUs cannot be added later; give %s %u %s", port->words->most_cpus,
		 port->config.cpus, port->words->no_more);
	return -1;
}

uint64_t cp_port_stored(const struct cp_port *port, int cpu, uint64_t addr, uint64_t len)
{
	const uint64_t at = port->absolute(port, cpu, addr);

	assert(len > 0 && len <= port->ram_size && at <= port->ram_size - len);
	return at;
}

bool cp_port_window(const struct cp_port *port, const struct cp_window *window)
{
	const bool shown = window->fd >= 0;
	const int fd = shown ? window->fd : port->ram_fd;
	const uint64_t offset = shown ? window->offset : fd >= 0 ? window->addr : 0;
	/* Stores where the guest makes none, of a channel program say, are the machine's own. */
	const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS :
			  shown && !window->stored ? MAP_PRIVATE : MAP_SHARED;

	assert(window->addr < port->ram_size && window->len <= port->ram_size - window->addr);
	return mmap(port->ram + window->addr, window->len, PROT_READ | PROT_WRITE,
		    flags | MAP_FIXED | MAP_NORESERVE, fd, (off_t)offset) != MAP_FAILED;
}

/* Real addresses that prefixing has moved are no longer what the core has checked. */
static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	const struct cp_port *port = opaque;
	const uint64_t at = port->absolute(port, cpu, addr);

	if (len > port->ram_size || at > port->ram_size - len)
		return NULL;
	if (at != addr && cp_page_access(port->cp, at) != CP_ACCESS_WRITE)
		return NULL;
	return port->ram + at;
}

static void host_trace(void *opaque, const char *line, size_t len)
{
	const struct cp_port *port = opaque;

	ctl_trace_line(port->ctl, port->trace, line, len);
}

static void host_event(void *opaque, const struct cp_event *event)
{
	const struct cp_port *port = opaque;

	/* Whoever watches the emulator's log takes it for a crash of the guest's kernel. */
	if (event->kind == CP_EVENT_KASAN)
		fprintf(stderr, "zvmlab-cp: KASAN: %s at real X'%" PRIx64 "' %s\n", event->name,
			event->value, event->text);
	ctl_event(port->ctl, event);
}

void cp_port_host(struct cp_port *port, struct cp_host *host)
{
	*host = (struct cp_host){
		.opaque = port, .map = host_map, .trace = port->trace ? host_trace : NULL,
		.event = host_event,
	};
}

int cp_port_create(struct cp_port *port, const struct cp_host *host, char *err, size_t errlen)
{
	const struct cp_port_words *words = port->words;
	uint64_t highest;

	assert(!port->cp && host->opaque == port);
	assert(port->ram && port->ram_size % CP_PAGE_SIZE == 0);
	if (port->system_path) {
		if (cp_remote_join(port, host, &highest, err, errlen) != 0)
			return -1;
	} else {
		port->cp = cp_create(NULL, &port->config, host, err, errlen);
		if (!port->cp)
			return -1;
		highest = cp_highest_address(port->cp);
	}
	if (highest + 1 <= port->ram_size)
		return 0;
	snprintf(err, errlen, "storage and segments end at 0x%" PRIx64 ", but the machine has %"
		 PRIu64 "M; give at least %s%" PRIu64 "%s", highest, port->ram_size >> 20,
		 words->storage, (highest >> 20) + 1, words->megabytes);
	return -1;
}

void cp_port_pause(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void cp_port_fini(struct cp_port *port)
{
	cp_remote_close(port);
	ctl_close(port->ctl);
	/* What happens at a log-off is nobody's to be told there. */
	port->ctl = NULL;
	cp_destroy(port->cp);
	trace_file_close(port->trace);
	cp_config_fini(&port->config);
	free(port->control_path);
	free(port->trace_path);
	free(port->system_path);
	*port = (struct cp_port){ .cp = NULL };
}

struct cp_result cp_port_stsi(struct cp_port *port, const struct cp_insn *insn, uint64_t addr,
			      uint8_t sysib[CP_PAGE_SIZE], bool *stores)
{
	const bool wants = cp_stsi_stores(insn->gr[0]);
	struct cp_result result = { .how = CP_PASS };

	*stores = false;
	if (insn->problem || (wants && addr % CP_PAGE_SIZE != 0))
		return result;
	result = port->calls->stsi(port, insn, sysib);
	*stores = wants && result.how == CP_CC && result.cc == 0;
	return result;
}
