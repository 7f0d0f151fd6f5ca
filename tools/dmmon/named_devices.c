// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* reallocarray() */
#include "named_devices.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

static const struct option_row option_rows[] = {
	{ "all-devices", '\0', NULL, "all device-mapper devices that there are now",
	  TO_FLAG(struct device_words, all), .group = 2 },
	{ 0 }
};

static void check(const void *target, const struct argp_state *state)
{
	const struct device_words *named = target;

	if (named->all && named->names.count)
		argp_error(state, "--all-devices and a device cannot be used together");
}

static void check_need(const void *target, const struct argp_state *state)
{
	const struct device_words *named = target;

	if (!named->all && !named->names.count)
		argp_error(state, "a device is missing");
	check(target, state);
}

const struct option_table device_words_options = { .rows = option_rows, .check = check };
const struct option_table device_words_need = { .rows = option_rows, .check = check_need };

static bool has(const struct named_devices *devices, const struct device *device)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->device[i].major == device->major &&
		    devices->device[i].minor == device->minor)
			return true;
	return false;
}

static int no_memory(void)
{
	complain("not enough memory");
	return EXIT_FAILED;
}

/* Adds a copy; device_each() has this called. */
static int add(const struct device *device, void *context)
{
	struct named_devices *devices = context;
	struct device *more;

	if (has(devices, device))
		return EXIT_PASS;
	more = reallocarray(devices->device, devices->count + 1, sizeof(*more));
	if (!more)
		return no_memory();
	devices->device = more;
	if (!device_copy(&more[devices->count], device))
		return no_memory();
	devices->count++;
	return EXIT_PASS;
}

int named_devices_open(struct named_devices *devices, const struct device_words *named)
{
	int code = EXIT_PASS;

	*devices = (struct named_devices){ 0 };
	if (named->all || !named->names.count)
		code = device_each(add, devices);
	for (unsigned int i = 0; code == EXIT_PASS && i < named->names.count; i++) {
		struct device device;

		code = device_open(&device, named->names.word[i]);
		if (code != EXIT_PASS)
			break;
		code = add(&device, devices);
		device_close(&device);
	}
	if (code != EXIT_PASS)
		named_devices_close(devices);
	return code;
}

void named_devices_close(struct named_devices *devices)
{
	for (size_t i = 0; i < devices->count; i++)
		device_close(&devices->device[i]);
	free(devices->device);
	*devices = (struct named_devices){ 0 };
}
