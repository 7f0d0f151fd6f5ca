// SPDX-License-Identifier: MIT
/*
 * A fuzz target without libFuzzer: does what the inputs named on the command line say, files or
 * folders of them, so that a corpus is a test of every compiler.
 */
#include "fuzz_target.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest input that libFuzzer would make here. */
#define MOST_BYTES 65536
#define MOST_PATH 4096
/* An input that takes longer never ends. */
#define INPUT_SECONDS 60

/* The input that is being replayed, and a line break, for who dies of it. */
static char current[MOST_PATH + 1];

/* A sanitizer's finding is to end as a difference does, in the handler below. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1";
}

static void name_input(int number)
{
	static const char text[] = "replaying ";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	if (written > 0)
		written = write(STDERR_FILENO, current, strlen(current));
	signal(number, SIG_DFL);
	raise(number);
}

static void fail(const char *path, const char *why)
{
	fprintf(stderr, "%s: %s\n", path, why);
	exit(2);
}

static void replay_file(const char *path)
{
	static uint8_t buffer[MOST_BYTES + 1];
	FILE *file = fopen(path, "rb");
	uint8_t *exact;
	size_t size;

	if (!file)
		fail(path, strerror(errno));
	size = fread(buffer, 1, sizeof(buffer), file);
	if (ferror(file))
		fail(path, strerror(errno));
	fclose(file);
	if (size > MOST_BYTES)
		fail(path, "longer than an input can be, 65536 bytes");
	snprintf(current, sizeof(current), "%s\n", path);
	/* Just as long, for what is behind it to be noticed. */
	exact = malloc(size ? size : 1);
	if (!exact)
		fail(path, "no storage");
	memcpy(exact, buffer, size);
	alarm(INPUT_SECONDS);
	LLVMFuzzerTestOneInput(exact, size);
	alarm(0);
	free(exact);
}

static unsigned int replay_folder(const char *path)
{
	DIR *folder = opendir(path);
	unsigned int count = 0;
	struct dirent *entry;
	char name[MOST_PATH];

	if (!folder)
		fail(path, strerror(errno));
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >= MOST_PATH)
			fail(path, "the name is too long");
		replay_file(name);
		count++;
	}
	closedir(folder);
	return count;
}

int main(int argc, char **argv)
{
	unsigned int count = 0;
	struct stat status;

	signal(SIGABRT, name_input);
	signal(SIGALRM, name_input);
	for (int i = 1; i < argc; i++) {
		if (stat(argv[i], &status))
			fail(argv[i], strerror(errno));
		if (S_ISDIR(status.st_mode)) {
			count += replay_folder(argv[i]);
		} else {
			replay_file(argv[i]);
			count++;
		}
	}
	if (!count) {
		fprintf(stderr, "usage: %s FILE|FOLDER…, with one input at least\n", argv[0]);
		return 2;
	}
	printf("%s: %u inputs replayed\n", strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0],
	       count);
	return 0;
}
