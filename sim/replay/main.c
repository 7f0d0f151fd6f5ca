/* SPDX-License-Identifier: MIT */
/* zvmlab-replay FILE: does the core write the same trace again? */
#include <errno.h>
#include <string.h>

#include "replay.h"

/* Exit codes as in zvmlab(1). */
enum { EXIT_SAME = 0, EXIT_DIFFERS = 1, EXIT_USAGE = 2 };

int main(int argc, char **argv)
{
	enum replay_result result;
	uint64_t records;
	FILE *in;

	if (argc != 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: %s FILE\nReplay a CP trace that was recorded with "
				"trace-data=full.\n", argc > 0 ? argv[0] : "zvmlab-replay");
		return EXIT_USAGE;
	}
	in = fopen(argv[1], "rbe");
	if (!in) {
		fprintf(stderr, "trace %s cannot be read: %s\n", argv[1], strerror(errno));
		return EXIT_USAGE;
	}
	result = replay_run(in, stdout, &records);
	fclose(in);
	if (result == REPLAY_SAME)
		printf("%s: %llu records; the core writes the same again\n", argv[1],
		       (unsigned long long)records);
	else
		printf("%s: %llu records were the same before that\n", argv[1],
		       (unsigned long long)records);
	return result == REPLAY_SAME ? EXIT_SAME :
	       result == REPLAY_DIFFERS ? EXIT_DIFFERS : EXIT_USAGE;
}
