// SPDX-License-Identifier: MIT
/* dmmon clear, delete and set-aux: what changes regions, and shows nothing. */
#include "commands.h"

#include "choice.h"
#include "command.h"
#include "one_argument.h"

struct arguments {
	const char *device;
	char *aux;
	struct choice choice;
};

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = &arguments->choice;
		return 0;
	}
	return one_argument(key, word, state, &arguments->device, "device", true);
}

static error_t parse_aux(int key, char *word, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key == ARGP_KEY_ARG && arguments->device && !arguments->aux) {
		arguments->aux = word;
		return 0;
	}
	if (key == ARGP_KEY_END && !arguments->aux)
		argp_error(state, "the auxiliary data are missing");
	return parse(key, word, state);
}

static const struct argp_child children[] = { { &choice_argp, 0, NULL, 3 }, { 0 } };

static int set_aux(const struct device *device, const struct dms_region *r, char *aux)
{
	struct dms_region changed = *r;

	changed.aux = aux;
	if (dms_region_readable(&changed) == 1)
		return regions_set_aux(device, r->id, aux);
	complain("auxiliary data '%s' cannot be given to region %d of %s: the kernel's list would "
		 "not show where they begin and end; they have a character, and look like neither "
		 "options nor regions", aux, r->id, device->name);
	return EXIT_USAGE;
}

enum change { CLEAR, DELETE, SET_AUX };

static int change(const struct arguments *arguments, enum change what)
{
	struct dms_regions list;
	struct device device;
	int code = device_open(&device, arguments->device);

	if (code != EXIT_PASS)
		return code;
	code = choice_regions(&arguments->choice, &device, true, &list);
	if (code == EXIT_PASS) {
		for (size_t i = 0; code == EXIT_PASS && i < list.count; i++) {
			const struct dms_region *r = &list.region[i];

			if (what == CLEAR)
				code = regions_clear(&device, r->id);
			else if (what == DELETE)
				code = regions_delete(&device, r->id);
			else
				code = set_aux(&device, r, arguments->aux);
		}
		dms_regions_free(&list);
	}
	device_close(&device);
	return code;
}

int cmd_clear(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "DEVICE",
		.doc = "Has the counters of regions begin at 0 again; I/Os under way stay counted.",
		.children = children,
	};
	struct arguments arguments = { .choice = CHOICE_NONE };

	command_parse(&argp, argc, argv, &arguments);
	return change(&arguments, CLEAR);
}

int cmd_delete(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "DEVICE",
		.doc = "Deletes regions.",
		.children = children,
	};
	struct arguments arguments = { .choice = CHOICE_NONE };

	command_parse(&argp, argc, argv, &arguments);
	return change(&arguments, DELETE);
}

int cmd_set_aux(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_aux,
		.args_doc = "DEVICE TEXT",
		.doc = "Gives regions other auxiliary data, any characters.",
		.children = children,
	};
	struct arguments arguments = { .choice = CHOICE_NONE };

	command_parse(&argp, argc, argv, &arguments);
	return change(&arguments, SET_AUX);
}
