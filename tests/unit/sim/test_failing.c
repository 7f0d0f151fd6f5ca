/* SPDX-License-Identifier: MIT */
/*
 * Storage runs out, a system call fails or is interrupted: at the first place where it can, then
 * at the second, and so on until a run passes none that fails.  Nothing may crash or leak, whoever
 * fails says why, and afterwards all goes on as before.
 *
 * Linked with --wrap for every function below (module.mk).
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl_private.h"
#include "model_check.h"
#include "scratch.h"
#include "spool_check.h"
#include "state_check.h"
#include "trace_file.h"
#include "zvmlab/dcss.h"
#include "zvmlab/hmc.h"

/* More places than any run has. */
#define MOST_PLACES 5000
#define MOST_TURNS 200

enum failing { STORAGE, CALL, INTERRUPTED, SENDING };

static bool armed;
static enum failing failing;
static unsigned int left;	/* places until the one that fails */
static int spared = -1;		/* a descriptor that never fails: ctl_wake() has said so */

static bool fails(enum failing kind, int error)
{
	if (!armed || kind != failing || left == 0 || --left > 0)
		return false;
	errno = error;
	return true;
}

#define WRAP(type, name, parameters, arguments, kind, error, failed) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return fails(kind, error) ? failed : __real_##name arguments; \
	}
/* A call that can also be interrupted before it has done anything. */
#define WRAP_IO(name, parameters, arguments) \
	ssize_t __real_##name parameters; \
	ssize_t __wrap_##name parameters; \
	ssize_t __wrap_##name parameters \
	{ \
		if (fd != spared && (fails(CALL, EIO) || fails(INTERRUPTED, EINTR))) \
			return -1; \
		return __real_##name arguments; \
	}

WRAP(void *, malloc, (size_t size), (size), STORAGE, ENOMEM, NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), STORAGE, ENOMEM, NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), STORAGE, ENOMEM, NULL)
WRAP(char *, strdup, (const char *text), (text), STORAGE, ENOMEM, NULL)
WRAP(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t offset),
     (at, len, prot, flags, fd, offset), STORAGE, ENOMEM, MAP_FAILED)
WRAP(int, fstat, (int fd, struct stat *st), (fd, st), CALL, EIO, -1)
WRAP(int, lstat, (const char *path, struct stat *st), (path, st), CALL, EACCES, -1)
WRAP(int, chmod, (const char *path, mode_t mode), (path, mode), CALL, EPERM, -1)
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), CALL, EMFILE, -1)
WRAP(int, bind, (int fd, const struct sockaddr *a, socklen_t len), (fd, a, len), CALL, EACCES, -1)
WRAP(int, listen, (int fd, int backlog), (fd, backlog), CALL, EIO, -1)
WRAP(int, epoll_create1, (int flags), (flags), CALL, EMFILE, -1)
WRAP(int, epoll_ctl, (int on, int how, int fd, struct epoll_event *event), (on, how, fd, event),
     CALL, ENOSPC, -1)
WRAP(int, eventfd, (unsigned int count, int flags), (count, flags), CALL, EMFILE, -1)
WRAP(size_t, fread, (void *to, size_t size, size_t count, FILE *file), (to, size, count, file),
     CALL, EIO, 0)
WRAP(size_t, fwrite, (const void *from, size_t size, size_t count, FILE *file),
     (from, size, count, file), CALL, ENOSPC, 0)
WRAP_IO(read, (int fd, void *to, size_t len), (fd, to, len))
WRAP_IO(write, (int fd, const void *from, size_t len), (fd, from, len))
WRAP_IO(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRAP_IO(recv, (int fd, void *to, size_t len, int flags), (fd, to, len, flags))

ssize_t __real_send(int fd, const void *from, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *from, size_t len, int flags)
{
	if (fails(CALL, EIO) || fails(INTERRUPTED, EINTR) || fails(SENDING, EPIPE))
		return -1;
	return __real_send(fd, from, len, flags);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return fails(CALL, EACCES) ? -1 : __real_open(path, flags, mode);
}

/* Functions that end something have ended it even when they fail. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	const int result = __real_close(fd);

	ck_assert_int_ge(fd, 0);
	return fails(CALL, EIO) ? -1 : result;
}

int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
	const int result = __real_fclose(file);

	return fails(CALL, ENOSPC) ? EOF : result;
}

static char path[96], err[512];

static void *test_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)cpu;
	return addr >= FX_STORAGE || len > FX_STORAGE - addr ? NULL : (uint8_t *)opaque + addr;
}

static void test_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	ck_assert_ptr_nonnull(test_map(opaque, cpu, addr, len));
}

static uint64_t test_tod(void *opaque)
{
	(void)opaque;
	return UINT64_C(0xd000000000000000);
}

static void test_cpu(void *opaque, unsigned int cpu)
{
	(void)opaque;
	(void)cpu;
}

static void test_page(void *opaque, uint64_t addr, bool out)
{
	(void)opaque;
	(void)addr;
	(void)out;
}

static void test_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	(void)tod;
}

static bool test_window(void *opaque, const struct cp_window *window)
{
	(void)opaque;
	(void)window;
	return true;
}

static void test_changed(void *opaque)
{
	(void)opaque;
}

static void test_trace(void *opaque, const char *line, size_t len)
{
	(void)opaque;
	ck_assert_uint_eq(strlen(line), len);
}

static struct cp *create(void)
{
	const struct cp_host host = {
		.opaque = fx.storage, .map = test_map, .window = test_window,
		.dirty = test_dirty, .tod = test_tod,
		.kick = test_cpu, .set_timer = test_timer, .storage_changed = test_changed,
		.page_changed = test_page, .external = test_cpu, .trace = test_trace,
	};

	return cp_create(NULL, &fx.config, &host, err, sizeof(err));
}

static void start_with(const char *const *options)
{
	fx_messages = 16;
	fx_setup_with(options);
	folder_make();
	snprintf(path, sizeof(path), "%s/control", folder);
}

static void start(void)
{
	start_with(NULL);
}

static void start_with_spool(void)
{
	start_with((const char *const[]){
		"directory", SPOOL_DIRECTORY ";MDISK 200 FB-512 V-DISK 8;MDISK 201 FB-512 V-DISK 8",
		NULL });
}

static void stop(void)
{
	char name[128];
	static const char *const files[] = { "state", "set", "set.idx", "segment", "trace" };

	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(name, sizeof(name), "%s/%s", folder, files[i]);
		unlink(name);
	}
	ck_assert_int_eq(rmdir(folder), 0);
	fx_teardown();
}

CASE("core", start, stop);

static unsigned int descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 200; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Lets @run pass every place of @kind, each failing in turn. */
static void at_every_place(enum failing kind, void (*run)(void))
{
	const unsigned int open_before = descriptors();
	unsigned int places = 0;

	failing = kind;
	do {
		left = ++places;
		err[0] = '\0';
		run();
		armed = false;
		/* Of one that cannot be closed nothing more can be done. */
		if (kind != CALL)
			ck_assert_uint_eq(descriptors(), open_before);
		ck_assert_uint_lt(places, MOST_PLACES);
	} while (left == 0);
	ck_assert_uint_gt(places, 1);
}

static void create_once(void)
{
	struct cp *cp;

	armed = true;
	cp = create();
	armed = false;
	ck_assert_msg(cp || (left == 0 && err[0]), "refused without a sentence");
	cp_destroy(cp);
}

/* A file of the spool, and one on a drive of the HMC. */
static void put_files(struct cp *cp)
{
	static const uint8_t bytes[] = { 0x81, 0x82, 0x83 };
	const struct spool_put put = {
		.user = "BOB", .queue = SPOOL_PUN, .spool_class = 'A', .record_length = 80,
		.data = bytes, .len = sizeof(bytes),
	};

	ck_assert_int_eq(spool_put(cp, &put, err, sizeof(err)), 1);
	ck_assert_uint_eq(spool_use(cp).pages, 1);
	ck_assert_int_eq(hmc_drive(cp, 100, false, err, sizeof(err)), 0);
	ck_assert_int_eq(hmc_write(cp, "file", bytes, sizeof(bytes), err, sizeof(err)), 0);
}

static void create_with_spool_once(void)
{
	struct cp *cp;

	armed = true;
	cp = create();
	armed = false;
	ck_assert_msg(cp || (left == 0 && err[0]), "refused without a sentence");
	if (cp)
		put_files(cp);
	cp_destroy(cp);
}

/* Another drive is assigned, or the one there is stays as it is. */
static void drive_once(void)
{
	struct cp *cp = create();
	int rc;

	put_files(cp);
	armed = true;
	rc = hmc_drive(cp, 50, true, err, sizeof(err));
	armed = false;
	ck_assert(rc == 0 || left == 0);
	if (rc != 0)
		ck_assert_str_eq(err, "there is not enough memory for a drive of 50 bytes");
	ck_assert_uint_eq(hmc_info(cp).bytes, rc == 0 ? 50 : 100);
	ck_assert_uint_eq(hmc_info(cp).used, rc == 0 ? 0 : 3);
	ck_assert_int_eq(hmc_info(cp).read_only, rc == 0);
	cp_destroy(cp);
}

static unsigned int reset_by_load;

/* The CP is what @image says, but for the number of trace records. */
static void ck_is(struct cp *cp, const uint8_t *image, size_t len)
{
	const size_t trace = state_find(image, len, "TRAC") + 4;
	size_t now_len;
	uint8_t *now = cp_save(cp, &now_len);

	ck_assert_uint_eq(now_len, len);
	memcpy(now + trace, image + trace, 8);
	ck_assert_mem_eq(now, image, len - STATE_CHECKSUM);
	free(now);
}

/* Nothing has changed, or, half-way, all has been reset: a reset then changes nothing. */
static void ck_not_loaded(struct cp *cp, int rc, const uint8_t *image, size_t len)
{
	uint8_t *now;

	if (rc == -1) {
		ck_is(cp, image, len);
		return;
	}
	ck_assert_int_eq(rc, -2);
	ck_assert_ptr_nonnull(strstr(err, "there is not enough memory, and the CP has been reset"));
	now = cp_save(cp, &len);
	cp_reset(cp);
	ck_is(cp, now, len);
	free(now);
	reset_by_load++;
}

/* Save the CP, and load that while something may fail. */
static uint8_t *load_failing(struct cp *cp, size_t *len)
{
	uint8_t *image = cp_save(cp, len);
	int rc;

	ck_assert_ptr_nonnull(image);
	armed = true;
	rc = cp_load(cp, image, *len, err, sizeof(err));
	armed = false;
	ck_assert_msg(rc == 0 || (left == 0 && err[0]), "refused without a sentence");
	if (rc != 0)
		ck_not_loaded(cp, rc, image, *len);
	return image;
}

static void load_files_once(void)
{
	struct cp *cp = create();
	uint8_t *image;
	size_t len;

	put_files(cp);
	image = load_failing(cp, &len);
	/* A file of the drive is there, or no drive. */
	ck_assert_uint_eq(hmc_info(cp).used, hmc_find(cp, "file") ? 3 : 0);
	ck_assert_uint_eq(hmc_info(cp).bytes, hmc_find(cp, "file") ? 100 : 0);
	ck_assert_int_eq(cp_load(cp, image, len, err, sizeof(err)), 0);
	ck_assert_ptr_nonnull(hmc_find(cp, "file"));
	ck_assert_uint_eq(spool_use(cp).files, 1);
	free(image);
	cp_destroy(cp);
}

TEST(creating_a_cp)
{
	at_every_place(STORAGE, create_once);
}

static void ignore_event(struct cp *cp, struct iucv_user *user, void *opaque,
			 const struct iucv_event *event)
{
	(void)cp;
	(void)user;
	(void)opaque;
	(void)event;
}

static const struct iucv_user_ops ops = { .event = ignore_event };

/* A message with an answer area between two peers, so that there is something to keep. */
static void send_something(struct cp *cp)
{
	struct iucv_user *one = iucv_user_create(cp, "ONE", 4, &ops, NULL);
	struct iucv_user *two = iucv_user_create(cp, "TWO", 4, &ops, NULL);
	static uint8_t data[64];
	struct iucv_parm parm = { .vmid = "TWO" };

	ck_assert_uint_eq(iucv_call(cp, one, IUCV_CONNECT, &parm).cc, 0);
	parm = (struct iucv_parm){ .path = 0 };
	ck_assert_uint_eq(iucv_call(cp, two, IUCV_ACCEPT, &parm).cc, 0);
	parm = (struct iucv_parm){
		.buffer = { .host = true, .ptr = data, .len = 32 },
		.answer = { .host = true, .ptr = data + 32, .len = 32 },
	};
	ck_assert_uint_eq(iucv_call(cp, one, IUCV_SEND, &parm).cc, 0);
}

static void load_once(void)
{
	struct cp *cp = create();
	uint8_t *image;
	size_t len;

	send_something(cp);
	image = load_failing(cp, &len);
	/* Whatever has happened: it can be loaded now. */
	ck_assert_int_eq(cp_load(cp, image, len, err, sizeof(err)), 0);
	free(image);
	cp_destroy(cp);
}

TEST(loading_a_state)
{
	at_every_place(STORAGE, load_once);
	ck_assert_uint_gt(reset_by_load, 0);
}

/* More than storage is first taken for: an image that grows within the paths. */
static void open_many(struct cp *cp)
{
	struct iucv_user *one = iucv_user_create(cp, "MANY", 1000, &ops, NULL);

	for (unsigned int i = 0; i < 500; i++) {
		struct iucv_parm parm = { .vmid = "MANY" };

		ck_assert_uint_eq(iucv_call(cp, one, IUCV_CONNECT, &parm).cc, 0);
	}
}

static void save_once(void)
{
	struct cp *cp = create();
	uint8_t *images[3];
	size_t len[3];

	send_something(cp);
	open_many(cp);
	images[0] = cp_save(cp, &len[0]);
	armed = true;
	images[1] = cp_save(cp, &len[1]);
	armed = false;
	ck_assert(images[1] || left == 0);
	/* Whatever has happened: it changes nothing. */
	images[2] = cp_save(cp, &len[2]);
	ck_assert(images[0] && images[2] && len[0] == len[2]);
	ck_assert_mem_eq(images[0], images[2], len[0]);
	for (unsigned int i = 0; i < 3; i++)
		free(images[i]);
	cp_destroy(cp);
}

static void logon_once(void)
{
	struct cp *cp = create();
	struct iucv_user *user;

	armed = true;
	user = iucv_user_create(cp, "BOB", 4, &ops, NULL);
	armed = false;
	ck_assert(user || left == 0);
	ck_assert_ptr_eq(iucv_user_find(cp, "BOB"), user);
	cp_destroy(cp);
}

TEST(saving_and_logging_on)
{
	at_every_place(STORAGE, save_once);
	at_every_place(STORAGE, logon_once);
}

static void segment_once(void)
{
	char file[128];
	int rc;

	snprintf(file, sizeof(file), "%s/segment", folder);
	armed = true;
	rc = dcss_to_file(fx.cp, "MONDCSS", file, err, sizeof(err));
	if (rc == 0)
		rc = dcss_from_file(fx.cp, "MONDCSS", file, err, sizeof(err));
	armed = false;
	ck_assert_msg(rc == 0 || (left == 0 && err[0]), "failed without a sentence");
}

TEST(files_of_a_segment)
{
	at_every_place(CALL, segment_once);
}

static void trace_once(void)
{
	char file[128], text[64] = "";
	struct trace_file *trace;
	FILE *in;

	snprintf(file, sizeof(file), "%s/trace", folder);
	armed = true;
	trace = trace_file_open(file, TRACE_LIMIT_DEFAULT, err, sizeof(err));
	if (trace) {
		trace_file_line(trace, "{\"seq\":1}", 9);
		trace_file_line(trace, "{\"seq\":2}", 9);
	}
	trace_file_close(trace);
	armed = false;
	ck_assert_msg(trace || (left == 0 && err[0]), "refused without a sentence");
	if (failing == CALL || !trace)
		return;
	in = fopen(file, "r");
	ck_assert_uint_eq(fread(text, 1, sizeof(text) - 1, in), 20);
	ck_assert_str_eq(text, "{\"seq\":1}\n{\"seq\":2}\n");
	fclose(in);
}

TEST(the_trace_in_a_file)
{
	at_every_place(STORAGE, trace_once);
	at_every_place(CALL, trace_once);
	at_every_place(INTERRUPTED, trace_once);
}

/* The control socket. */

static struct ctl *ctl;

static int call_up(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* As an event loop would; returns how many lines have come back. */
static unsigned int serve(int fd)
{
	struct pollfd ready = { .fd = ctl_fd(ctl), .events = POLLIN };
	static char text[65536];
	unsigned int lines = 0, turns = 0;
	ssize_t len;

	do {
		const bool was = armed;

		armed = false;
		while ((len = recv(fd, text, sizeof(text), MSG_DONTWAIT)) > 0)
			for (ssize_t i = 0; i < len; i++)
				lines += text[i] == '\n';
		if (poll(&ready, 1, 0) != 1 && turns > 2)
			break;
		armed = was;
		ctl_dispatch(ctl);
	} while (++turns < MOST_TURNS);
	ck_assert_uint_lt(turns, MOST_TURNS);
	return lines;
}

static const char *const requests[] = {
	"{\"execute\":\"query-cp\"}",
	"{\"execute\":\"peer-create\",\"arguments\":{\"name\":\"BOB\",\"persistent\":true}}",
	"{\"execute\":\"peer-call\",\"arguments\":{\"peer\":\"BOB\",\"function\":\"connect\",\"vmid\":\"BOB\"}}",
	"{\"execute\":\"peer-call\",\"arguments\":{\"peer\":\"BOB\",\"function\":\"accept\",\"path\":1}}",
	"{\"execute\":\"peer-call\",\"arguments\":{\"peer\":\"BOB\",\"function\":\"send\",\"data\":\"AAAA\"}}",
	"{\"execute\":\"cp-command\",\"arguments\":{\"command\":\"QUERY NSS\"}}",
	"{\"execute\":\"storage-read\",\"arguments\":{\"address\":0,\"length\":40}}",
	"{\"execute\":\"segment-write\",\"arguments\":{\"name\":\"MONDCSS\",\"offset\":0,\"data\":\"AAAA\"}}",
	"{\"execute\":\"monitor-deliver\",\"arguments\":{\"kind\":\"sample\",\"elements\":[{\"domains\":1,"
	"\"fill\":{\"length\":100,\"seed\":1}}]}}",
	"{\"execute\":\"monitor-capture\",\"arguments\":{\"file\":\"@/set\"}}",
	"{\"execute\":\"state-save\",\"arguments\":{\"file\":\"@/state\"}}",
	"{\"execute\":\"state-load\",\"arguments\":{\"file\":\"@/state\"}}",
	"{\"execute\":\"segment-save\",\"arguments\":{\"name\":\"MONDCSS\",\"file\":\"@/segment\"}}",
	"{\"execute\":\"segment-read\",\"arguments\":{\"name\":\"MONDCSS\",\"offset\":0,\"length\":9,"
	"\"file\":\"@/segment\"}}",
};

/* Requests for files of the spool and of the HMC, and for disks. */
static const char *const file_requests[] = {
	"{\"execute\":\"hmc-drive\",\"arguments\":{\"bytes\":64}}",
	"{\"execute\":\"hmc-write\",\"arguments\":{\"name\":\"a\",\"data\":\"AAAA\"}}",
	"{\"execute\":\"hmc-read\",\"arguments\":{\"name\":\"a\"}}",
	"{\"execute\":\"query-hmc\"}",
	"{\"execute\":\"spool-put\",\"arguments\":{\"user\":\"BOB\",\"queue\":\"RDR\",\"data\":\"+A==\"}}",
	"{\"execute\":\"spool-read\",\"arguments\":{\"user\":\"BOB\",\"queue\":\"RDR\",\"id\":1}}",
	"{\"execute\":\"query-spool\"}",
	"{\"execute\":\"disk-read\",\"arguments\":{\"device\":512,\"block\":0}}",
	"{\"execute\":\"disk-write\",\"arguments\":{\"device\":512,\"block\":0,\"data\":\"\"}}",
	"{\"execute\":\"query-disks\"}",
};

static const char *const *session = requests;
static size_t session_len = sizeof(requests) / sizeof(requests[0]);

/* @: the folder. */
static void request(int fd, const char *line)
{
	const size_t head = strcspn(line, "@");
	char text[512];
	int len = snprintf(text, sizeof(text), "%.*s%s%s\n", (int)head, line,
			   line[head] ? folder : "", line + head + (line[head] ? 1 : 0));

	ck_assert_int_lt(len, (int)sizeof(text));
	(void)!send(fd, text, (size_t)len, MSG_NOSIGNAL);
}

/* A session, during which something fails; then another client is served as ever. */
static void session_once(void)
{
	struct cp *cp = create();
	int fd;

	armed = true;
	ctl = ctl_open(path, err, sizeof(err));
	armed = false;
	ck_assert_msg(ctl || (left == 0 && err[0]), "refused without a sentence");
	if (!ctl) {
		cp_destroy(cp);
		unlink(path);
		return;
	}
	spared = ctl->wake_fd;
	ctl_attach(ctl, cp);
	fd = call_up();
	for (size_t i = 0; i < session_len; i++) {
		unsigned int answers;

		request(fd, session[i]);
		armed = true;
		answers = serve(fd);
		armed = false;
		/* To be interrupted is nothing that a client hears of. */
		if (failing == INTERRUPTED)
			ck_assert_uint_ge(answers, 1);
	}
	close(fd);
	fd = call_up();
	serve(fd);
	request(fd, requests[0]);
	ck_assert_uint_ge(serve(fd), 1);
	armed = true;
	close(fd);
	serve(fd);
	ctl_close(ctl);
	armed = false;
	spared = -1;
	cp_destroy(cp);
	unlink(path);
}

TEST(the_control_socket)
{
	at_every_place(STORAGE, session_once);
	at_every_place(CALL, session_once);
	at_every_place(INTERRUPTED, session_once);
}

TEST(a_client_that_cannot_be_sent_to)
{
	struct cp *cp = create();
	char byte;
	int fd;

	ctl = ctl_open(path, err, sizeof(err));
	ck_assert_msg(ctl != NULL, "%s", err);
	ctl_attach(ctl, cp);
	fd = call_up();
	ck_assert_uint_eq(serve(fd), 1);
	failing = SENDING;
	left = 1;
	request(fd, requests[0]);
	armed = true;
	ck_assert_uint_eq(serve(fd), 0);
	armed = false;
	ck_assert_uint_eq(left, 0);
	/* What it would get from here on has a gap: it gets nothing more. */
	ck_assert_int_eq(recv(fd, &byte, 1, 0), 0);
	close(fd);
	ctl_close(ctl);
	cp_destroy(cp);
}

static void model_once(void)
{
	struct mc_system system;
	struct model *model;

	mc_fill(&system);
	/* Of some things there is nothing to be copied. */
	system.config.action = NULL;
	armed = true;
	model = model_open(&system.config, err, sizeof(err));
	armed = false;
	ck_assert_msg(model || (left == 0 && strstr(err, "there is no storage for a ")), "%s", err);
	model_close(model);
}

TEST(opening_a_model)
{
	at_every_place(STORAGE, model_once);
}

CASE("files", start_with_spool, stop);

TEST(creating_a_cp_with_a_spool)
{
	at_every_place(STORAGE, create_with_spool_once);
	at_every_place(STORAGE, drive_once);
}

TEST(loading_a_spool_and_a_drive)
{
	at_every_place(STORAGE, load_files_once);
}

TEST(requests_for_files)
{
	session = file_requests;
	session_len = sizeof(file_requests) / sizeof(file_requests[0]);
	at_every_place(STORAGE, session_once);
}
