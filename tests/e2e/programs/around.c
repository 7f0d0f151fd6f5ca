// SPDX-License-Identifier: MIT
/*
 * around FD ACTION [SIZE] - what other parts of the kernel do with an open file.
 *
 *   read SIZE, poll, accept   one call, which may sleep
 *   open FLAGS                of the file that FD names
 *   splice SIZE, feed         to a pipe; standard input from a pipe into the file
 *   sendfile SIZE, put        to a regular file; standard input from a regular file
 *   copy SIZE                 copy_file_range() to a regular file
 *   nothing                   hold it, until a signal comes
 *   traced SIZE               a child reads; a tracer stops it twice in its sleep
 *   ring OP SIZE              one operation of io_uring, by its number; it sends standard input
 *   cancel SIZE               io_uring's read, which is cancelled when it sleeps
 *   leave SIZE                io_uring's read, which the process leaves behind at its end
 *   map SIZE                  a shared mapping; each page gets its number
 *   eat                       allocate storage without end
 *
 * In the environment, CGROUP=FOLDER puts the process into that cgroup, CPU=NUMBER on that CPU.
 * The process' number is in /tmp/around.pid once it runs; for a tracer that of the child, once it
 * sleeps for the last time.
 * Prints what the call returned, its error number or 0, and the bytes in hexadecimal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT 300
#define MOST 65536
#define PID_FILE "/tmp/around.pid"
#define OTHER_FILE "/tmp/around.file"
#define ENTRIES 4
#define STOPS 2
#define PAGE 4096
#define BATCH 32

struct ring {
	int fd;
	unsigned char *submit, *complete;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
};

/* Direct I/O wants it so. */
static unsigned char bytes[MOST] __attribute__((aligned(PAGE)));

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void write_text(const char *path, const char *format, ...)
{
	va_list args;
	FILE *file = fopen(path, "w");

	if (!file)
		die(path);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	if (fclose(file))
		die(path);
}

/* The file appears with all of its contents. */
static void tell_pid(pid_t pid)
{
	write_text(PID_FILE ".new", "%d\n", pid);
	if (rename(PID_FILE ".new", PID_FILE))
		die(PID_FILE);
}

static int show(ssize_t ret, int error, size_t got)
{
	printf("%zd %d ", ret, error);
	for (size_t at = 0; at < got; at++)
		printf("%02x", bytes[at]);
	printf("\n");
	return 0;
}

/* Of a call that gave bytes. */
static int show_bytes(ssize_t ret)
{
	return show(ret, ret < 0 ? errno : 0, ret < 0 ? 0 : (size_t)ret);
}

static size_t take_input(void)
{
	size_t got = 0;
	ssize_t part;

	while (got < MOST && (part = read(STDIN_FILENO, bytes + got, MOST - got)) > 0)
		got += (size_t)part;
	return got;
}

static int other_file(void)
{
	int fd = open(OTHER_FILE, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		die(OTHER_FILE);
	return fd;
}

static int do_splice(int fd, size_t size)
{
	int ends[2], error;
	ssize_t ret, got = 0;

	if (pipe(ends))
		die("pipe");
	ret = splice(fd, NULL, ends[1], NULL, size, 0);
	error = ret < 0 ? errno : 0;
	if (ret > 0)
		got = read(ends[0], bytes, (size_t)ret);
	return show(ret, error, got < 0 ? 0 : (size_t)got);
}

static int do_feed(int fd)
{
	size_t size = take_input();
	ssize_t ret;
	int ends[2];

	if (pipe(ends))
		die("pipe");
	if (write(ends[1], bytes, size) != (ssize_t)size)
		die("write to the pipe");
	ret = splice(ends[0], NULL, fd, NULL, size, 0);
	return show(ret, ret < 0 ? errno : 0, 0);
}

static int do_sendfile(int fd, size_t size, int copy)
{
	int file = other_file(), error;
	ssize_t ret, got = 0;

	ret = copy ? copy_file_range(fd, NULL, file, NULL, size, 0)
		   : sendfile(file, fd, NULL, size);
	error = ret < 0 ? errno : 0;
	if (ret > 0)
		got = pread(file, bytes, (size_t)ret, 0);
	return show(ret, error, got < 0 ? 0 : (size_t)got);
}

static int do_put(int fd)
{
	int file = other_file();
	size_t size = take_input();
	off_t from = 0;
	ssize_t ret;

	if (write(file, bytes, size) != (ssize_t)size)
		die(OTHER_FILE);
	ret = sendfile(fd, file, &from, size);
	return show(ret, ret < 0 ? errno : 0, 0);
}

/* Wait until a process sleeps in that system call. */
static void await_sleep(pid_t pid, long call)
{
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	for (;;) {
		FILE *file = fopen(path, "r");

		if (!file)
			die(path);
		if (fgets(line, sizeof(line), file) && line[0] != 'r' && atol(line) == call) {
			fclose(file);
			return;
		}
		fclose(file);
		usleep(1000);
	}
}

static int do_traced(int fd, size_t size)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		die("fork");
	if (child == 0) {
		alarm(LIMIT);
		exit(show_bytes(read(fd, bytes, size)));
	}
	for (int stop = 0; stop < STOPS; stop++) {
		await_sleep(child, SYS_read);
		if (ptrace(PTRACE_SEIZE, child, 0, 0) || ptrace(PTRACE_INTERRUPT, child, 0, 0))
			die("ptrace");
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			die("the child did not stop");
		if (ptrace(PTRACE_DETACH, child, 0, 0))
			die("PTRACE_DETACH");
	}
	await_sleep(child, SYS_read);
	tell_pid(child);
	if (waitpid(child, &status, 0) != child)
		die("wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void *map_ring(const struct ring *ring, size_t size, off_t offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
			offset);

	if (at == MAP_FAILED)
		die("mmap of the ring");
	return at;
}

static void open_ring(struct ring *ring)
{
	struct io_uring_params *p = &ring->params;

	memset(ring, 0, sizeof(*ring));
	ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, p);
	if (ring->fd < 0)
		die("io_uring_setup");
	ring->submit = map_ring(ring, p->sq_off.array + p->sq_entries * sizeof(uint32_t),
				IORING_OFF_SQ_RING);
	ring->complete = map_ring(
		ring, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring->entries = map_ring(ring, p->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
}

static uint32_t *word(unsigned char *area, uint32_t offset)
{
	return (uint32_t *)(void *)(area + offset);
}

/* Give one operation; user_data is its number. */
static void submit(struct ring *ring, const struct io_uring_sqe *wanted)
{
	const struct io_sqring_offsets *off = &ring->params.sq_off;
	uint32_t tail = *word(ring->submit, off->tail);
	uint32_t at = tail & *word(ring->submit, off->ring_mask);

	ring->entries[at] = *wanted;
	word(ring->submit, off->array)[at] = at;
	__atomic_store_n(word(ring->submit, off->tail), tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) != 1)
		die("io_uring_enter");
}

/* Wait for the next result. */
static struct io_uring_cqe next(struct ring *ring)
{
	const struct io_cqring_offsets *off = &ring->params.cq_off;
	uint32_t head = *word(ring->complete, off->head);
	struct io_uring_cqe *all = (void *)(ring->complete + off->cqes);
	struct io_uring_cqe found;

	while (__atomic_load_n(word(ring->complete, off->tail), __ATOMIC_ACQUIRE) == head)
		if (syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 &&
		    errno != EINTR)
			die("io_uring_enter");
	found = all[head & *word(ring->complete, off->ring_mask)];
	__atomic_store_n(word(ring->complete, off->head), head + 1, __ATOMIC_RELEASE);
	return found;
}

static struct io_uring_sqe operation(unsigned char op, int fd, size_t size)
{
	struct io_uring_sqe sqe = { .opcode = op, .fd = fd, .user_data = op };

	switch (op) {
	case IORING_OP_POLL_ADD:
		sqe.poll32_events = POLLIN << 16;
		break;
	case IORING_OP_ACCEPT:
		break;
	case IORING_OP_READ:
	case IORING_OP_WRITE:
		sqe.off = (uint64_t)-1;
		/* fall through */
	default:
		sqe.addr = (uintptr_t)bytes;
		sqe.len = (uint32_t)size;
	}
	return sqe;
}

static int do_ring(int fd, unsigned char op, size_t size)
{
	const int sends = op == IORING_OP_WRITE || op == IORING_OP_SEND;
	const int receives = op == IORING_OP_READ || op == IORING_OP_RECV;
	struct io_uring_sqe sqe;
	struct ring ring;
	int ret;

	if (sends)
		size = take_input();
	open_ring(&ring);
	sqe = operation(op, fd, size);
	submit(&ring, &sqe);
	tell_pid(getpid());
	ret = next(&ring).res;
	return show(ret < 0 ? -1 : ret, ret < 0 ? -ret : 0, ret > 0 && receives ? (size_t)ret : 0);
}

static int do_cancel(int fd, size_t size)
{
	struct io_uring_sqe sqe = operation(IORING_OP_READ, fd, size);
	struct io_uring_cqe found;
	struct ring ring;
	int ret = 0;

	open_ring(&ring);
	submit(&ring, &sqe);
	sqe = (struct io_uring_sqe){ .opcode = IORING_OP_ASYNC_CANCEL,
				     .fd = -1,
				     .addr = IORING_OP_READ,
				     .user_data = IORING_OP_ASYNC_CANCEL };
	submit(&ring, &sqe);
	for (int count = 0; count < 2; count++) {
		found = next(&ring);
		if (found.user_data == IORING_OP_READ)
			ret = found.res;
	}
	return show(ret < 0 ? -1 : ret, ret < 0 ? -ret : 0, 0);
}

static int do_leave(int fd, size_t size)
{
	struct io_uring_sqe sqe = operation(IORING_OP_READ, fd, size);
	struct ring ring;

	open_ring(&ring);
	submit(&ring, &sqe);
	return show(0, 0, 0);
}

static int do_map(int fd, size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int ret = 0;

	if (at == MAP_FAILED)
		return show(-1, errno, 0);
	/* Pages that are not written yet could not be given up for others. */
	for (size_t page = 0; page < size / PAGE && ret == 0; page++) {
		memcpy(at + page * PAGE, &page, sizeof(page));
		if (page % BATCH == BATCH - 1)
			ret = msync(at + (page + 1 - BATCH) * PAGE, BATCH * PAGE, MS_SYNC);
	}
	return show(ret, ret ? errno : 0, 0);
}

static void eat(void)
{
	for (;;) {
		char *more = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				  0);

		if (more == MAP_FAILED)
			die("mmap");
		memset(more, 1, MOST);
	}
}

static int do_poll(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	int ret = poll(&one, 1, -1);

	return show(ret, ret < 0 ? errno : 0, 0);
}

static int do_accept(int fd)
{
	/* The libraries may take another way into the kernel. */
	long ret = syscall(SYS_accept4, fd, NULL, NULL, 0);

	return show(ret < 0 ? -1 : 0, ret < 0 ? errno : 0, 0);
}

static int do_open(const char *path, int flags)
{
	int ret = open(path, flags);

	return show(ret < 0 ? -1 : 0, ret < 0 ? errno : 0, 0);
}

static int act(int fd, const char *action, size_t size)
{
	if (!strcmp(action, "read"))
		return show_bytes(read(fd, bytes, size));
	if (!strcmp(action, "poll"))
		return do_poll(fd);
	if (!strcmp(action, "accept"))
		return do_accept(fd);
	if (!strcmp(action, "splice"))
		return do_splice(fd, size);
	if (!strcmp(action, "feed"))
		return do_feed(fd);
	if (!strcmp(action, "sendfile") || !strcmp(action, "copy"))
		return do_sendfile(fd, size, action[0] == 'c');
	if (!strcmp(action, "put"))
		return do_put(fd);
	if (!strcmp(action, "cancel"))
		return do_cancel(fd, size);
	if (!strcmp(action, "leave"))
		return do_leave(fd, size);
	if (!strcmp(action, "nothing"))
		return pause();
	if (!strcmp(action, "eat"))
		eat();
	return 2;
}

/* What the environment asks for. */
static void take_place(void)
{
	const char *cgroup = getenv("CGROUP"), *cpu = getenv("CPU");
	char path[256];
	cpu_set_t set;

	if (cgroup) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
		write_text(path, "%d\n", getpid());
	}
	if (cpu) {
		CPU_ZERO(&set);
		CPU_SET(strtoul(cpu, NULL, 0), &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			die("sched_setaffinity");
	}
}

int main(int argc, char **argv)
{
	const char *action = argc > 2 ? argv[2] : "";
	const size_t number = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	const size_t size = argc > 4 ? strtoul(argv[4], NULL, 0) : number;
	const int fd = argc > 2 ? atoi(argv[1]) : -1;

	alarm(LIMIT);
	take_place();
	if (!strcmp(action, "map"))
		return do_map(fd, size);
	if (argc < 3 || argc > 5 || size > MOST)
		return 2;
	if (!strcmp(action, "traced"))
		return do_traced(fd, size);
	if (!strcmp(action, "ring"))
		return do_ring(fd, (unsigned char)number, size);
	tell_pid(getpid());
	if (!strcmp(action, "open"))
		return do_open(argv[1], (int)number);
	return act(fd, action, size);
}
