/* SPDX-License-Identifier: MIT */
/* monread: bytes of a file, a pipe or the device. */
#define _GNU_SOURCE /* ppoll() */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/major.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "foreign.h"
#include "signals.h"

#define LONGEST_WAIT_MS 60000u

static struct timespec timespec_of(unsigned int ms)
{
	return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
}

/* A file that has an index is read like the device. */
static int open_index(struct input *input)
{
	char *name = index_name(input->name);

	if (!name)
		return -ENOMEM;
	input->index = fopen(name, "re");
	free(name);
	if (!input->index)
		return errno == ENOENT ? 0 : -errno;
	input->format = MONREC_DEVICE;
	return 0;
}

int input_open(struct input *input, bool monwrite)
{
	const bool standard = strcmp(input->name, "-") == 0;
	struct stat status;

	input->fd = standard ? STDIN_FILENO : open(input->name, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0 || fstat(input->fd, &status))
		return -errno;
	input->format = monwrite ? MONREC_MONWRITE : MONREC_SAVED;
	if (monwrite || standard)
		return 0;
	if (S_ISCHR(status.st_mode)) {
		/* /dev/null and its like end a set with every read, forever. */
		if (major(status.st_rdev) == MEM_MAJOR)
			return -ENODEV;
		input->format = MONREC_DEVICE;
	}
	return S_ISREG(status.st_mode) ? open_index(input) : 0;
}

void input_close(struct input *input)
{
	if (input->index)
		fclose(input->index);
	close(input->fd);
}

/* Before the next try: twice as long as before the last one, but no longer than a minute. */
static struct timespec reopen_wait(const struct input *input)
{
	unsigned int ms = input->reopen_wait_ms;

	for (unsigned int i = 0; ms < LONGEST_WAIT_MS; i++) {
		if (i == input->tried)
			return timespec_of(ms);
		ms *= 2;
	}
	return timespec_of(LONGEST_WAIT_MS);
}

int input_reopen(struct input *input)
{
	sigset_t none;
	int ret = -EIO;

	sigemptyset(&none);
	close(input->fd);
	input->fd = -1;
	while (input->tried < input->reopen) {
		const struct timespec wait = reopen_wait(input);

		if (signals_count() > 0 || ppoll(NULL, 0, &wait, &none) < 0)
			return -EINTR;
		input->tried++;
		input->fd = open(input->name, O_RDONLY | O_CLOEXEC);
		if (input->fd >= 0)
			return 0;
		ret = -errno;
	}
	return ret;
}

void input_catch_signals(void)
{
	signals_catch();
}

int input_signal(void)
{
	return signals_first();
}

static ssize_t timed_out(struct input *input)
{
	input->timed_out = true;
	return -ETIMEDOUT;
}

static ssize_t blocking_read(struct input *input, void *buffer, size_t len)
{
	ssize_t got;
	bool late;

	signals_begin(input->timeout_ms);
	got = monrec_read_fd(&input->fd, buffer, len);
	late = signals_end();
	return got == -EINTR && late && !signals_first() ? timed_out(input) : got;
}

/*
 * With the signals blocked but for the wait, none is missed between looking for it
 * and waiting.  poll() tells of a severed device, too: read() then says how, or, if it
 * must not wait, only that there is nothing.
 */
static ssize_t polled_read(struct input *input, void *buffer, size_t len, bool stopping)
{
	struct pollfd poll_fd = { .fd = input->fd, .events = POLLIN };
	static const struct timespec at_once;
	const struct timespec limit = timespec_of((unsigned int)input->timeout_ms);
	const struct timespec *const longest = input->timeout_ms >= 0 ? &limit : NULL;
	sigset_t none;
	ssize_t got;
	int ready;

	sigemptyset(&none);
	ready = ppoll(&poll_fd, 1, stopping ? &at_once : longest, &none);
	if (ready < 0)
		return -errno;
	if (ready == 0)
		return stopping ? -EINTR : timed_out(input);
	got = monrec_read_fd(&input->fd, buffer, len);
	return got == -EAGAIN && poll_fd.revents & POLLERR ? -EIO : got;
}

/* Where the next set of a file with an index ends.  False: there is none. */
static bool next_set(struct input *input)
{
	const int ret = index_next(input->index, &input->entry);
	char more;

	if (ret == 1) {
		input->left = input->entry.length;
		input->within = true;
		return true;
	}
	input->ended = true;
	input->bad_index = ret < 0 || monrec_read_fd(&input->fd, &more, 1) != 0;
	return false;
}

/* Limits @len to the set.  False: none of it is left, *@got says what that means. */
static bool limit_to_set(struct input *input, size_t *len, ssize_t *got)
{
	if (input->left == 0 && input->within) {
		input->within = false;
		*got = 0;
		return false;
	}
	*got = -ENODATA;
	if (input->ended || (!input->within && !next_set(input)))
		return false;
	if (*len > input->left)
		*len = (size_t)input->left;
	return true;
}

static ssize_t read_on(struct input *input, void *buffer, size_t len)
{
	const unsigned int signals = signals_count();
	const bool stopping = signals == 1 && input->in_set;
	ssize_t got;

	if (signals > 0 && !stopping)
		return -EINTR;
	if (input->index && !limit_to_set(input, &len, &got))
		return got;
	got = input->blocking && !stopping ? blocking_read(input, buffer, len) :
					     polled_read(input, buffer, len, stopping);
	if (!input->index)
		return got;
	if (got > 0) {
		input->left -= (uint64_t)got;
	} else if (got == 0) {
		/* The file ends before its index does. */
		input->within = false;
		input->ended = true;
		input->bad_index = true;
	}
	return got;
}

/* False: there are fewer bytes, and ahead_ended says why. */
static bool look_ahead(struct input *input, unsigned int want)
{
	while (input->has_ahead < want && !input->ahead_ended) {
		const ssize_t got = read_on(input, input->ahead + input->has_ahead,
					    want - input->has_ahead);

		/* The end of a file comes again, an error or a signal does not. */
		if (got <= 0) {
			input->ahead_ended = got;
			return false;
		}
		input->has_ahead += (unsigned int)got;
	}
	return input->has_ahead >= want;
}

bool input_recognise(struct input *input)
{
	char what[FOREIGN_TEXT];

	if (input->format != MONREC_SAVED)
		return true;
	if (look_ahead(input, MONREC_LOOK_AHEAD) && monrec_is_monwrite(input->ahead))
		input->format = MONREC_MONWRITE;
	else if (input->has_ahead && input->ahead[0] != MONREC_TYPE_SAMPLE &&
		 input->ahead[0] != MONREC_TYPE_EVENT)
		look_ahead(input, INPUT_AHEAD);
	if (input->format == MONREC_MONWRITE || !foreign(input->ahead, input->has_ahead, what))
		return true;
	fprintf(stderr, "monread: %s: %s\n", input->name, what);
	return false;
}

ssize_t input_read(void *context, void *buffer, size_t len)
{
	struct input *input = context;
	const size_t left = input->has_ahead - input->given;
	const ssize_t ended = input->ahead_ended;

	if (left > 0) {
		len = len < left ? len : left;
		memcpy(buffer, input->ahead + input->given, len);
		input->given += (unsigned int)len;
		return (ssize_t)len;
	}
	input->ahead_ended = 0;
	return ended ? ended : read_on(input, buffer, len);
}
