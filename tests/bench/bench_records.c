/* SPDX-License-Identifier: MIT */
/*
 * How many bytes of monitor records a second the model makes on one core, and how
 * often it allocates meanwhile.  One JSON line per measurement; arguments: seconds
 * of CPU time, then how many users.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "allocations.h"
#include "model.h"

#define PROCESSORS 8u
#define DISKS 64u
#define MAX_USERS 10000u
#define NANOSECONDS 1000000000u

/* A year of a busy system, a sample a minute. */
static struct model *open_model(uint32_t users)
{
	static struct model_processor processor[PROCESSORS];
	static struct model_device device[DISKS + 2];
	static struct model_pattern pattern;
	struct model_user *user = calloc(users, sizeof(*user));
	struct model_config config = {
		.seed = 1, .start = UINT64_C(0xe250f8f200000000), .seconds = MODEL_MAX_SECONDS,
		.release = 530, .interval = 60, .rate = 200,
		.sample_domains = 0xdea0, .event_domains = 0x7fa0, .segment = 0x9000,
		.area = { 16384, 4096, 2000, 68, 241 }, .block = 4, .reader = MODEL_AT_ONCE,
		.frames = 1u << 24, .system = "BENCH", .partition = "LPAR1", .vswitch = "SWITCH",
		.processors = PROCESSORS, .devices = DISKS + 2, .users = users, .patterns = 1,
		.processor = processor, .device = device, .user = user, .pattern = &pattern,
	};
	struct model *model;
	char err[256];

	if (!user)
		return NULL;
	for (uint32_t i = 0; i < DISKS + 2; i++)
		device[i] = (struct model_device){
			0x1000 + i, i < DISKS ? MODEL_SCSI : i == DISKS ? MODEL_PAGING : MODEL_OSA,
			2, { 0x40, 0x41 }, "VOL001", 600000
		};
	for (unsigned int hour = 0; hour < 24; hour++)
		pattern.percent[hour] = 80;
	for (uint32_t i = 0; i < users; i++) {
		user[i] = (struct model_user){
			.processors = 1, .logged_on = 1, .application = 1, .network = 1,
			.share = 100, .pages = 4096, .cpu = 8, .io = 5000, .packets = 20000,
			.transactions = 20,
		};
		snprintf(user[i].name, sizeof(user[i].name), "U%u", i);
	}
	model = model_open(&config, err, sizeof(err));
	free(user);
	if (!model)
		fprintf(stderr, "%s\n", err);
	return model;
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NANOSECONDS + (uint64_t)t.tv_nsec;
}

static int measure(uint64_t limit, uint32_t users)
{
	struct model *model = open_model(users);
	struct model_totals totals;
	struct model_set set;
	uint64_t begin, before, time = 0;

	if (!model)
		return 1;
	begin = cpu_time();
	before = allocations;
	while (time < limit && model_next(model, &set))
		time = cpu_time() - begin;
	before = allocations - before;
	model_totals(model, &totals);
	model_close(model);
	if (time < limit) {
		fprintf(stderr, "the workload was over after %" PRIu64 " ns\n", time);
		return 1;
	}
	printf("{\"users\": %u, \"seconds\": %.6f, \"bytes\": %" PRIu64 ", \"records\": %" PRIu64
	       ", \"sets\": %" PRIu64 ", \"allocations\": %" PRIu64
	       ", \"bytes_per_second\": %.0f, \"records_per_second\": %.0f}\n", users,
	       (double)time / NANOSECONDS, totals.bytes, totals.records, totals.sets, before,
	       (double)totals.bytes / (double)time * NANOSECONDS,
	       (double)totals.records / (double)time * NANOSECONDS);
	return 0;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;

	if (argc < 3 || !(seconds > 0 && seconds < 1000)) {
		fprintf(stderr, "Usage: %s SECONDS USERS...\n", argv[0]);
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		const long users = strtol(argv[i], NULL, 10);

		if (users < 1 || users > (long)MAX_USERS) {
			fprintf(stderr, "%s is not a number of users up to %u\n", argv[i], MAX_USERS);
			return 2;
		}
		if (measure((uint64_t)(seconds * NANOSECONDS), (uint32_t)users))
			return 1;
	}
	return 0;
}
