// SPDX-License-Identifier: MIT
/*
 * two_readers FD [interrupt|both] - two threads read 12 bytes each from one open file.
 *
 * The first reads into a page that is not there and sleeps in the middle of the
 * read until userfaultfd supplies the page; meanwhile the second reads, and is
 * interrupted by signals if that is asked for.  Prints what each got, and the
 * rest of the data set unless only both are asked for, as lines of hex digits,
 * or the error's number.
 */
#define _GNU_SOURCE /* gettid */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PART 12
#define WAIT_MS 60000
/* Until the next signal: one that comes before the read is without effect. */
#define SIGNAL_MS 10

struct reader {
	int fd, done[2];
	unsigned char *to;
	ssize_t got;
	int error;
	volatile pid_t tid;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *run(void *opaque)
{
	struct reader *r = opaque;

	r->tid = gettid();
	r->got = read(r->fd, r->to, PART);
	r->error = r->got < 0 ? errno : 0;
	if (write(r->done[1], "", 1) != 1)
		die("pipe");
	return NULL;
}

static pthread_t begin(struct reader *r)
{
	pthread_t thread;

	if (pipe(r->done) || pthread_create(&thread, NULL, run, r))
		die("thread");
	return thread;
}

static int readable(int fd, int ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, ms) == 1 && poll_fd.revents & POLLIN;
}

/* Until the reader has what it has asked for, or sleeps in its read.  Return: has it? */
static int has_ended(const struct reader *r)
{
	char path[64], call[16];

	for (int ms = 0; ms < WAIT_MS; ms++) {
		ssize_t len = 0;
		int fd;

		if (readable(r->done[0], 1))
			return 1;
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", r->tid);
		fd = open(path, O_RDONLY);
		if (fd >= 0) {
			len = read(fd, call, sizeof(call) - 1);
			close(fd);
		}
		call[len > 0 ? len : 0] = '\0';
		/* A word instead of a number: it runs. */
		if (atoi(call) == __NR_read)
			return 0;
	}
	fprintf(stderr, "the second reader neither ends nor sleeps\n");
	exit(1);
}

static void nothing(int number)
{
	(void)number;
}

/* Without SA_RESTART, as many as it takes to end the read. */
static void interrupt(pthread_t thread, int done)
{
	const struct sigaction action = { .sa_handler = nothing };

	if (sigaction(SIGUSR1, &action, NULL))
		die("sigaction");
	for (int ms = 0; ms < WAIT_MS; ms += SIGNAL_MS) {
		pthread_kill(thread, SIGUSR1);
		if (readable(done, SIGNAL_MS))
			return;
	}
	fprintf(stderr, "signals do not end the second read\n");
	exit(1);
}

static void print(const unsigned char *data, ssize_t len, int error)
{
	if (error)
		printf("%d", error);
	for (ssize_t i = 0; i < len; i++)
		printf("%02x", data[i]);
	putchar('\n');
}

static int missing_page(void *page, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register where = {
		.range = { .start = (unsigned long)page, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	/* Without O_NONBLOCK poll() does not wait for a fault but reports an error. */
	const int fd = (int)syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &where))
		die("userfaultfd");
	return fd;
}

int main(int argc, char **argv)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	const int signals = argc == 3 && strcmp(argv[2], "interrupt") == 0;
	const int both = argc == 3 && strcmp(argv[2], "both") == 0;
	unsigned char beside[PART], rest[4096];
	struct reader first = { 0 }, second = { .to = beside };
	struct uffdio_zeropage fill = { 0 };
	pthread_t threads[2];
	ssize_t got;
	int fault;

	first.fd = second.fd = argc == 2 || signals || both ? atoi(argv[1]) : -1;
	if (first.fd < 0 || !readable(first.fd, WAIT_MS)) {
		fprintf(stderr, "usage: two_readers FD [interrupt|both], FD has something to read\n");
		return 2;
	}
	first.to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (first.to == MAP_FAILED)
		die("mmap");
	fault = missing_page(first.to, size);
	threads[0] = begin(&first);
	if (!readable(fault, WAIT_MS)) {
		fprintf(stderr, "the first reader did not touch its page\n");
		return 1;
	}
	threads[1] = begin(&second);
	if (!has_ended(&second) && signals)
		interrupt(threads[1], second.done[0]);
	fill.range.start = (unsigned long)first.to;
	fill.range.len = size;
	if (ioctl(fault, UFFDIO_ZEROPAGE, &fill))
		die("UFFDIO_ZEROPAGE");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	print(first.to, first.got, first.error);
	print(beside, second.got, second.error);
	if (both)
		return 0;
	got = 0;
	for (ssize_t n; (n = read(first.fd, rest + got, sizeof(rest) - (size_t)got)) > 0;)
		got += n;
	print(rest, got, 0);
	return 0;
}
