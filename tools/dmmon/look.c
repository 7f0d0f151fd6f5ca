// SPDX-License-Identifier: MIT
#include "look.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dms_message.h"
#include "machine.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int look_part(struct dms_counts *counts, const struct device *device, const struct dms_region *r,
	      bool clear)
{
	uint64_t first = counts->first + counts->count;
	uint64_t left = dms_area_count(r->length, r->step) - first;
	size_t wanted = (size_t)least(least(left, counts->room - counts->count), LOOK_AREAS);
	size_t before = counts->count;
	struct text message = { 0 };
	char *answer = NULL;
	int error;

	dms_message_print(&message, r->id, first, wanted, clear);
	error = device_send(device, &message, &answer);
	if (error)
		return device_failed(device, "print a region", error);
	error = dms_counts_read(counts, r, answer, strlen(answer));
	free(answer);
	if (error) {
		complain("area %" PRIu64 " of region %d of %s cannot be read: %s",
			 counts->first + counts->count, r->id, device->name,
			 dms_error_text(error));
		return EXIT_FAILED;
	}
	if (counts->count - before == wanted)
		return EXIT_PASS;
	complain("the kernel printed %zu areas of region %d of %s instead of %zu",
		 counts->count - before, r->id, device->name, wanted);
	return EXIT_FAILED;
}

int look_init(struct look *look, const struct dms_region *r)
{
	uint64_t areas = dms_area_count(r->length, r->step);

	memset(look, 0, sizeof(*look));
	if (areas <= SIZE_MAX && dms_counts_init(&look->counts, r, (size_t)areas) == 0)
		return EXIT_PASS;
	complain("there is not enough memory for the counters of %" PRIu64 " areas", areas);
	return EXIT_FAILED;
}

void look_free(struct look *look)
{
	dms_counts_free(&look->counts);
}

int look_take(struct look *look, const struct device *device, const struct dms_region *r)
{
	int code = EXIT_PASS;

	look->counts.count = 0;
	look->begin = machine_now();
	while (code == EXIT_PASS && look->counts.count < look->counts.room)
		code = look_part(&look->counts, device, r, false);
	look->end = machine_now();
	return code;
}
