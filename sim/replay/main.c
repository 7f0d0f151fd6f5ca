/* SPDX-License-Identifier: MIT */
/* zvmlab-replay FILE...: does the core write the same traces again? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

/* Exit codes as in zvmlab(1). */
enum { EXIT_SAME = 0, EXIT_DIFFERS = 1, EXIT_USAGE = 2 };

static void close_all(struct replay_trace *traces, size_t count)
{
	while (count-- > 0)
		fclose(traces[count].in);
	free(traces);
}

/* NULL has been explained. */
static struct replay_trace *open_all(char **names, size_t count)
{
	struct replay_trace *traces = calloc(count, sizeof(*traces));

	for (size_t i = 0; traces && i < count; i++) {
		traces[i].name = names[i];
		traces[i].in = fopen(names[i], "rbe");
		if (traces[i].in)
			continue;
		fprintf(stderr, "trace %s cannot be read: %s\n", names[i], strerror(errno));
		close_all(traces, i);
		return NULL;
	}
	if (!traces)
		fprintf(stderr, "not enough memory for %zu traces\n", count);
	return traces;
}

int main(int argc, char **argv)
{
	const size_t count = argc > 1 ? (size_t)argc - 1 : 0;
	struct replay_trace *traces;
	enum replay_result result;
	uint64_t records;

	if (count == 0 || argv[1][0] == '-') {
		fprintf(stderr, "usage: %s FILE...\nReplay a CP trace that was recorded with "
				"trace-data=full, or those of all machines of a system.\n",
			argc > 0 ? argv[0] : "zvmlab-replay");
		return EXIT_USAGE;
	}
	traces = open_all(argv + 1, count);
	if (!traces)
		return EXIT_USAGE;
	result = replay_run(traces, count, stdout, &records);
	close_all(traces, count);
	if (count == 1)
		printf("%s: ", argv[1]);
	else
		printf("%zu traces: ", count);
	if (result == REPLAY_SAME)
		printf("%llu records; the core writes the same again\n",
		       (unsigned long long)records);
	else
		printf("%llu records were the same before that\n", (unsigned long long)records);
	return result == REPLAY_SAME ? EXIT_SAME :
	       result == REPLAY_DIFFERS ? EXIT_DIFFERS : EXIT_USAGE;
}
