// SPDX-License-Identifier: MIT
#include "regions.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dms_message.h"
#include "scale.h"

/* @gone: whether a device that has gone is one without regions. */
static int ask(const struct device *device, const char *program, bool gone,
	       struct dms_regions *list)
{
	struct text message = { 0 };
	char *answer = NULL;
	int error;

	memset(list, 0, sizeof(*list));
	dms_message_list(&message, program);
	error = device_send(device, &message, &answer);
	if (error == -ENXIO && gone)
		return EXIT_PASS;
	if (error)
		return device_failed(device, "list its regions", error);
	error = dms_regions_read(list, program, answer, strlen(answer));
	free(answer);
	if (!error)
		return EXIT_PASS;
	complain("the regions of %s cannot be read: %s", device->name, dms_error_text(error));
	return EXIT_FAILED;
}

int regions_list(const struct device *device, const char *program, struct dms_regions *list)
{
	return ask(device, program, false, list);
}

int regions_left(const struct device *device, const char *program, struct dms_regions *list)
{
	return ask(device, program, true, list);
}

/* Bytes as people read them. */
static void amount(uint64_t bytes, char *out, size_t size)
{
	static const struct column column = { .type = COLUMN_UNSIGNED, .unit = UNIT_BYTES };
	struct cell cell = cell_unsigned(bytes);

	scale_value(&column, &cell, out, size);
}

static int check_memory(const struct dms_region *regions, size_t count)
{
	uint64_t areas = 0, bytes = 0;
	char needed[32], limit[32], taken[32];
	struct dms_machine machine;
	bool known = machine_read(&machine);

	for (size_t i = 0; i < count; i++) {
		uint64_t more = dms_area_count(regions[i].length, regions[i].step), needs;

		needs = known ? dms_memory(&machine, more, regions[i].bound_count) : 0;
		areas = more > UINT64_MAX - areas ? UINT64_MAX : areas + more;
		bytes = needs > UINT64_MAX - bytes ? UINT64_MAX : bytes + needs;
	}
	if (!known) {
		complain("%" PRIu64 " areas; the memory that they need is unknown: /sys or /proc "
			 "lack information about this machine", areas);
		return EXIT_PASS;
	}
	amount(bytes, needed, sizeof(needed));
	amount(dms_memory_limit(&machine), limit, sizeof(limit));
	amount(machine.allocated, taken, sizeof(taken));
	complain("%" PRIu64 " %s %s of kernel memory; all statistics may take %s, a quarter of the "
		 "machine's, and have taken %s", areas, areas == 1 ? "area takes" : "areas take",
		 needed, limit, taken);
	if (!dms_memory_exceeded(&machine, bytes))
		return EXIT_PASS;
	complain("that is too much for %s; make areas larger or fewer, or the histogram shorter",
		 count == 1 ? "a region" : "these regions");
	return EXIT_FAILED;
}

int regions_check(const struct device *device, const struct dms_region *regions, size_t count)
{
	const struct dms_region *region = &regions[0];
	int readable = dms_region_readable(region);

	if (readable < 0) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	if (!readable) {
		complain("program '%s' and auxiliary data '%s' cannot be given to a region of %s: "
			 "the kernel's list would not show where they begin and end; give a "
			 "program without blanks, at least one character for both, and auxiliary "
			 "data that do not look like an option or a region", region->program,
			 region->aux, device->name);
		return EXIT_USAGE;
	}
	return check_memory(regions, count);
}

int regions_create(const struct device *device, struct dms_region *region)
{
	struct text message = { 0 };
	const char *at, *end;
	char *answer = NULL;
	uint64_t id;
	int error;

	dms_message_create(&message, region);
	error = device_send(device, &message, &answer);
	if (error == -ENOMEM || error == -EOVERFLOW) {
		complain("%s: the kernel refuses a region of so many areas: %s", device->name,
			 strerror(-error));
		return EXIT_FAILED;
	}
	if (error)
		return device_failed(device, "make a region", error);
	at = answer;
	end = answer + strlen(answer);
	if (!dms_number(&at, end, &id) || id > INT_MAX || at != end) {
		complain("%s: the kernel made a region, but its ID '%s' is not a number",
			 device->name, answer);
		free(answer);
		return EXIT_FAILED;
	}
	free(answer);
	region->id = (int)id;
	return EXIT_PASS;
}

int regions_delete(const struct device *device, int id)
{
	struct text message = { 0 };
	int error;

	dms_message_delete(&message, id);
	error = device_send(device, &message, NULL);
	return error ? device_failed(device, "delete a region", error) : EXIT_PASS;
}

int regions_clear(const struct device *device, int id)
{
	struct text message = { 0 };
	int error;

	dms_message_clear(&message, id);
	error = device_send(device, &message, NULL);
	return error ? device_failed(device, "clear a region", error) : EXIT_PASS;
}

int regions_set_aux(const struct device *device, int id, const char *aux)
{
	struct text message = { 0 };
	int error;

	dms_message_set_aux(&message, id, aux);
	error = device_send(device, &message, NULL);
	return error ? device_failed(device, "set auxiliary data", error) : EXIT_PASS;
}

int regions_remove_own(const struct device *device, const struct dms_region *own)
{
	const struct dms_region *found;
	struct dms_regions list;
	bool mine;
	int code = regions_left(device, own->program, &list);

	if (code != EXIT_PASS)
		return code;
	found = dms_regions_find(&list, own->id);
	mine = found && dms_region_same(found, own);
	dms_regions_free(&list);
	return mine ? regions_delete(device, own->id) : EXIT_PASS;
}
