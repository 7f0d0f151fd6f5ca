/* SPDX-License-Identifier: MIT */
/* Functions that all ports share, in a machine of a few pages. */
#include "iucv_check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cp_port.h"

#define RAM (4u << 20)

/* The parameter list of DECLARE BUFFER. */
#define LIST 0x2100u

/* Linked with --wrap (module.mk). */
static bool no_storage;

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return no_storage ? NULL : __real_strdup(text);
}

static const struct cp_port_words words = {
	.cpus = "--cpus", .most_cpus = "--most", .no_more = "and no more", .storage = "--ram=",
	.megabytes = "MB",
};

static struct cp_port port;
static struct cp_host host;
static uint8_t *ram;
static unsigned int kicked;
static char err[512];
static char folder[] = "/tmp/zvmlab-port-XXXXXX";

/* For every CPU, its prefix pages and the first two pages are swapped. */
static uint64_t prefix;

static uint64_t absolute(const struct cp_port *of, int cpu, uint64_t addr)
{
	ck_assert_ptr_eq(of, &port);
	if (cpu == CP_ABSOLUTE)
		return addr;
	if (addr < 0x2000)
		return addr + prefix;
	return addr >= prefix && addr < prefix + 0x2000 ? addr - prefix : addr;
}

static void dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)cpu;
	(void)addr;
	(void)len;
	ck_assert_ptr_eq(opaque, &port);
}

static uint64_t tod(void *opaque)
{
	ck_assert_ptr_eq(opaque, &port);
	return 1;
}

static void kick(void *opaque, unsigned int cpu)
{
	ck_assert_ptr_eq(opaque, &port);
	ck_assert_uint_eq(cpu, 0);
	kicked++;
}

static void set_timer(void *opaque, uint64_t at)
{
	(void)opaque;
	(void)at;
}

static bool window(void *opaque, const struct cp_window *window)
{
	(void)opaque;
	(void)window;
	return true;
}

static void storage_changed(void *opaque)
{
	(void)opaque;
}

static void set(const char *key, const char *value)
{
	ck_assert_msg(cp_port_set(&port, key, value, err, sizeof(err)) == 0, "%s", err);
}

static void setup(void)
{
	kicked = 0;
	prefix = 0x4000;
	cp_port_init(&port, &words, absolute);
	ram = calloc(1, RAM);
	port.ram = ram;
	port.ram_size = RAM;
	set("storage", "0.4M");
	set("segment", "");
}

static void teardown(void)
{
	cp_port_fini(&port);
	ck_assert_ptr_null(port.cp);
	free(ram);
}

CASE("machine", setup, teardown);

static int create(void)
{
	cp_port_host(&port, &host);
	host.window = window;
	host.dirty = dirty;
	host.tod = tod;
	host.kick = kick;
	host.set_timer = set_timer;
	host.storage_changed = storage_changed;
	return cp_port_create(&port, &host, err, sizeof(err));
}

TEST(as_many_cpus_as_the_machine)
{
	ck_assert_int_eq(cp_port_set_cpus(&port, 3, err, sizeof(err)), 0);
	ck_assert_uint_eq(port.config.cpus, 3);
	ck_assert_int_eq(cp_port_check_most_cpus(&port, 3, err, sizeof(err)), 0);
	ck_assert_int_eq(cp_port_check_most_cpus(&port, 4, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "CPUs cannot be added later; give --most 3 and no more");
	ck_assert_int_eq(cp_port_set_cpus(&port, 65, err, sizeof(err)), -1);
	ck_assert_ptr_eq(strstr(err, "--cpus 65: "), err);
	ck_assert_ptr_nonnull(strstr(err, "1 to 64"));
}

TEST(cpus_given_twice)
{
	set("cpus", "2");
	ck_assert_int_eq(cp_port_set_cpus(&port, 2, err, sizeof(err)), 0);
	ck_assert_int_eq(cp_port_set_cpus(&port, 3, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "cpus 2 differs from --cpus 3; leave out cpus");
}

TEST(enough_storage)
{
	ck_assert_int_eq(create(), 0);
	ck_assert_ptr_nonnull(port.cp);
}

TEST(too_little_storage)
{
	set("storage", "0.5M");
	ck_assert_int_eq(create(), -1);
	ck_assert_str_eq(err, "storage and segments end at 0x4fffff, but the machine has 4M; give "
			      "at least --ram=5MB");
}

TEST(no_cp)
{
	set("storage", "0.1M");
	set("segment", "X 200-2FF SW FILE=/nowhere/at/all");
	ck_assert_int_eq(create(), -1);
	ck_assert_ptr_null(port.cp);
	ck_assert_msg(strstr(err, "/nowhere/at/all") != NULL, "%s", err);
}

TEST(bad_options)
{
	ck_assert_int_eq(cp_port_set(&port, "nonsense", "1", err, sizeof(err)), -1);
	ck_assert_int_eq(cp_port_set(&port, "trace-limit", "x", err, sizeof(err)), -1);
	ck_assert_int_eq(cp_port_set(&port, "trace-limit", "3", err, sizeof(err)), 0);
	ck_assert_uint_eq(port.trace_limit, 3u << 20);
	ck_assert(!port.cpus_given);
}

/* Storage for a path is the only thing of an option that can be missing. */
TEST(no_storage_for_options)
{
	static const char *const keys[] = { "control", "trace" };

	for (unsigned int i = 0; i < 2; i++) {
		set(keys[i], "/some/path");
		no_storage = true;
		ck_assert_int_eq(cp_port_set(&port, keys[i], "/a/path", err, sizeof(err)), -1);
		no_storage = false;
		ck_assert_str_eq(err, "not enough memory for the options");
	}
	ck_assert_ptr_null(port.control_path);
	ck_assert_ptr_null(port.trace_path);
}

/* Defaults. */
TEST(defaults)
{
	ck_assert_uint_eq(port.trace_limit, UINT64_C(1) << 30);
	ck_assert_uint_eq(port.config.cpus, 1);
	ck_assert(!port.cpus_given);
	set("userid", "LINUX001");
	ck_assert(!port.cpus_given);
	set("cpus", "3");
	ck_assert(port.cpus_given);
	set("userid", "LINUX002");
	ck_assert(port.cpus_given);
}

/* The last option of a name counts. */
TEST(files)
{
	char path[64], trace[64];
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/control", folder);
	snprintf(trace, sizeof(trace), "%s/trace", folder);
	set("trace", folder);
	set("control", path);
	ck_assert_int_eq(cp_port_open(&port, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, folder));
	ctl_close(port.ctl);
	port.ctl = NULL;
	set("trace", trace);
	ck_assert_int_eq(cp_port_open(&port, err, sizeof(err)), 0);
	ck_assert_int_eq(create(), 0);
	ctl_attach(port.ctl, port.cp);
	cp_reset(port.cp);
	trace_file_flush(port.trace);
	ck_assert_int_eq(stat(trace, &st), 0);
	ck_assert_int_gt(st.st_size, 100);
	ck_assert_int_eq(stat(path, &st), 0);
	unlink(trace);
	cp_port_fini(&port);
	ck_assert_int_ne(stat(path, &st), 0);
	rmdir(folder);
}

/* Neither a socket nor a trace need be. */
TEST(no_files)
{
	ck_assert_int_eq(cp_port_open(&port, err, sizeof(err)), 0);
	ck_assert_ptr_null(port.ctl);
	ck_assert_ptr_null(port.trace);
	ck_assert_int_eq(create(), 0);
}

TEST(no_socket)
{
	set("control", "/nowhere/at/all");
	ck_assert_int_eq(cp_port_open(&port, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "/nowhere/at/all"));
	ck_assert_ptr_null(port.ctl);
}

TEST(storage)
{
	ck_assert_int_eq(create(), 0);
	ck_assert_ptr_eq(host.map(host.opaque, CP_ABSOLUTE, 0, RAM), port.ram);
	ck_assert_ptr_eq(host.map(host.opaque, CP_ABSOLUTE, RAM - 1, 1), port.ram + RAM - 1);
	ck_assert_ptr_null(host.map(host.opaque, CP_ABSOLUTE, RAM, 1));
	ck_assert_ptr_null(host.map(host.opaque, CP_ABSOLUTE, 1, RAM));
	ck_assert_ptr_null(host.map(host.opaque, CP_ABSOLUTE, UINT64_MAX, 2));
	ck_assert_ptr_null(host.map(host.opaque, CP_ABSOLUTE, 0, RAM + 1));
	ck_assert_ptr_eq(host.map(host.opaque, 0, 0x100, 8), port.ram + prefix + 0x100);
	ck_assert_ptr_eq(host.map(host.opaque, 0, prefix, 8), port.ram);
}

/* An address beyond storage must never become one of the emulator's memory. */
TEST(stored_within_storage)
{
	static const struct { int cpu; uint64_t addr, len; } beyond[] = {
		{ CP_ABSOLUTE, RAM, 1 }, { CP_ABSOLUTE, RAM - 1, 2 }, { CP_ABSOLUTE, UINT64_MAX, 1 },
		{ CP_ABSOLUTE, 0, RAM + 1 }, { 0, RAM, CP_PAGE_SIZE }, { CP_ABSOLUTE, 0, 0 },
	};
	int status;
	pid_t child;

	ck_assert_uint_eq(cp_port_stored(&port, CP_ABSOLUTE, RAM - 1, 1), RAM - 1);
	ck_assert_uint_eq(cp_port_stored(&port, 0, 0x100, 8), prefix + 0x100);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			close(STDERR_FILENO);
			cp_port_stored(&port, beyond[i].cpu, beyond[i].addr, beyond[i].len);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

/* Prefixing leads to an address without storage. */
TEST(storage_behind_the_prefix)
{
	set("storage", "0.1M 2M.1M");
	ck_assert_int_eq(create(), 0);
	prefix = 0x100000;
	ck_assert_ptr_null(host.map(host.opaque, 0, 0x100, 8));
	prefix = 0x200000;
	ck_assert_ptr_eq(host.map(host.opaque, 0, 0x100, 8), port.ram + 0x200100);
}

static struct cp_result stsi(uint64_t gr0, uint64_t gr1, uint64_t addr, bool problem, bool *stores)
{
	static uint8_t sysib[CP_PAGE_SIZE];
	uint64_t gr[16] = { gr0, gr1 };
	const struct cp_insn insn = { .gr = gr, .problem = problem, .amode = 64 };

	return cp_port_stsi(&port, &insn, addr, sysib, stores);
}

TEST(stsi_stores)
{
	bool stores = true;

	ck_assert_int_eq(create(), 0);
	/* The level: nothing is stored, so the operand does not matter. */
	ck_cc(stsi(0, 0, 8, false, &stores), 0);
	ck_assert(!stores);
	ck_cc(stsi(0x30000002, 2, 0x1000, false, &stores), 0);
	ck_assert(stores);
	/* Exceptions that the emulator's own raises. */
	ck_assert_int_eq(stsi(0x30000002, 2, 0x1008, false, &stores).how, CP_PASS);
	ck_assert(!stores);
	ck_assert_int_eq(stsi(0x30000002, 2, 0x1000, true, &stores).how, CP_PASS);
	ck_assert(!stores);
	/* The machine's; a block that is none. */
	ck_cc(stsi(0x10000001, 1, 0x1000, false, &stores), 0);
	ck_assert(stores);
	ck_cc(stsi(0x10000001, 2, 0x1000, false, &stores), 3);
	ck_assert(!stores);
	/* Reserved bits. */
	ck_pgm(stsi(0x30000102, 2, 0x1000, false, &stores), PGM_SPECIFICATION);
	ck_assert(!stores);
}

/* Each time a user connects, the guest gets an interruption. */
TEST(interruptions)
{
	uint64_t gr[16] = { IUCV_DECLARE_BUFFER, LIST };
	struct cp_insn insn = { .gr = gr, .amode = 64 };
	static struct iucv_user_ops ops;
	struct iucv_user *user;
	bool more = true;

	set("userid", "LINUX001");
	ck_assert_int_eq(create(), 0);
	put_be32(port.ram + LIST + IPBFADR1, 0x3000);
	ck_cc(cp_iucv(port.cp, &insn), 0);
	ck_assert(!port.calls->interrupt_take(&port, 0, &more));
	ck_assert(!more);
	user = iucv_user_create(port.cp, "ALPHA", 2, &ops, NULL);
	ck_assert_ptr_nonnull(user);
	for (unsigned int i = 0; i < 2; i++) {
		struct iucv_parm parm = { .vmid = "LINUX001", .msglim = 1 };

		ck_assert_int_eq(iucv_call(port.cp, user, IUCV_CONNECT, &parm).cc, 0);
	}
	ck_assert_uint_ge(kicked, 1);
	ck_assert(port.calls->interrupt_take(&port, 0, &more));
	ck_assert(more);
	ck_assert(port.calls->interrupt_take(&port, 0, &more));
	ck_assert(!more);
	ck_assert(!port.calls->interrupt_take(&port, 0, &more));
}

/* Nobody reads events: nothing is waited for.  A pause is as long as it says. */
TEST(no_pause_without_clients)
{
	const struct cp_event event = { .kind = CP_EVENT_RESET };
	struct timespec before, after;

	ck_assert_int_eq(create(), 0);
	host.event(&port, &event);
	ck_assert(!port.calls->needs_pause(&port));
	clock_gettime(CLOCK_MONOTONIC, &before);
	cp_port_pause();
	clock_gettime(CLOCK_MONOTONIC, &after);
	ck_assert_int_ge((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
			 before.tv_nsec, 1000000);
}
