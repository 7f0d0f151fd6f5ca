/* SPDX-License-Identifier: MIT */
/*
 * Threads that touch a page each, whenever they are told to.
 *
 *   pages FILE THREADS CPUS
 *
 * FILE is made, and holds doublewords: 1 as soon as all threads run, 2 if something could not be had; then
 * 1 if they are to end; then
 * for each thread its number (tid), the virtual and the absolute address of its page, how often it
 * is to touch the page in all (0 at first), and how often it has.  Thread i runs on CPU i modulo CPUS
 * only.  Exit status 0, or 1 and a message if something could not be had.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 256
#define PAGE 4096u

struct task {
	_Atomic uint64_t tid, virtual, address, wanted, done;
};

struct shared {
	_Atomic uint64_t ready, end;
	struct task task[MOST];
};

static struct shared *shared;
static uint8_t *pages;
static unsigned long cpus;
static atomic_ulong running;

static void fail(const char *what)
{
	perror(what);
	if (shared && shared != MAP_FAILED)
		shared->ready = 2;
	exit(EXIT_FAILURE);
}

/* /proc/self/pagemap: bit 63 is "present", bits 0 to 54 are the page's number. */
static uint64_t absolute(const uint8_t *page)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	if (fd < 0 || pread(fd, &entry, sizeof(entry),
			    (off_t)((uintptr_t)page / PAGE * sizeof(entry))) != sizeof(entry) ||
	    !(entry >> 63))
		fail("the page's address");
	close(fd);
	return (entry & ((UINT64_C(1) << 55) - 1)) * PAGE;
}

static void *touch(void *argument)
{
	const unsigned long number = (unsigned long)(uintptr_t)argument;
	volatile uint8_t *page = pages + number * PAGE;
	struct task *task = &shared->task[number];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number % cpus, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fail("the thread's CPU");
	task->tid = (uint64_t)syscall(SYS_gettid);
	task->virtual = (uint64_t)(uintptr_t)page;
	task->address = absolute((const uint8_t *)page);
	atomic_fetch_add(&running, 1);
	while (!shared->end) {
		if (task->done >= task->wanted) {
			usleep(1000);
			continue;
		}
		page[0] = (uint8_t)(page[0] + 1);
		task->done++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned long threads = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	const int fd = argc == 4 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	pthread_t thread[MOST];

	cpus = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	if (threads < 1 || threads > MOST || cpus < 1 || fd < 0 ||
	    ftruncate(fd, sizeof(*shared)) != 0)
		fail("the file, or the words");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pages = mmap(NULL, threads * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || pages == MAP_FAILED)
		fail("mapped memory");
	/* EINVAL: this kernel has no huge pages at all. */
	if (madvise(pages, threads * PAGE, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)
		fail("small pages");
	if (mlock(pages, threads * PAGE) != 0)
		fail("locked pages");
	for (unsigned long i = 0; i < threads; i++) {
		pages[i * PAGE] = 1;
		if (pthread_create(&thread[i], NULL, touch, (void *)(uintptr_t)i) != 0)
			fail("a thread");
	}
	while (running < threads)
		usleep(1000);
	shared->ready = 1;
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return EXIT_SUCCESS;
}
