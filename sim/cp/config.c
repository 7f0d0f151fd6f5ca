/* SPDX-License-Identifier: MIT */
/* Configuration of a CP: defaults, copies, and the keys a port hands over. */
#include "zvmlab/config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_parse.h"
#include "zvmlab/cp.h"

/* Blocks in all; enough for 255 messages on each of 256 paths. */
#define DEFAULT_MESSAGES 65536

/* The values of defaults, as a user would write them. */
static const char *const defaults[][2] = {
	{ "userid", "LINUX001" },
	{ "class", "EG" },
	{ "level", "7.3.0" },
	{ "machine", "8561 T01" },
	{ "cpus", "1" },
	{ "storage", "0.128M" },
	{ "directory", "IUCV ALLOW;IUCV ANY;IUCV *MONITOR MSGLIMIT 255;IUCV *MSG;NAMESAVE MONDCSS;"
		       "OPTION APPLMON" },
	{ "segment", "MONDCSS 9000-97FF SC RSTD" },
	{ "console", "0009" },
	{ "conmode", "none" },
	{ "seed", "0" },
	{ "trace-data", "short" },
};

static bool set_userid(struct cp_config *config, struct config_span text,
		       struct config_problem *problem)
{
	if (!config_name(text, false, config->userid))
		return false;
	problem->expected = "another user ID: this one is the harness' own";
	return strcmp(config->userid, CP_AGENT_USERID) != 0;
}

static bool parse_classes(struct config_span text, char classes[CP_CLASSES + 1])
{
	static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ123456";
	struct config_span c = { text.at, text.at + 1 };
	size_t count = 0;

	memset(classes, 0, CP_CLASSES + 1);
	for (; c.at < text.end; c.at++, c.end++) {
		char name[CP_NAME_LEN + 1];

		if (!config_name(c, false, name) || !strchr(known, name[0]))
			return false;
		if (!strchr(classes, name[0]))
			classes[count++] = name[0];
	}
	assert(count <= CP_CLASSES);
	return count > 0;
}

bool cp_config_classes(const char *text, char classes[CP_CLASSES + 1])
{
	return parse_classes((struct config_span){ text, text + strlen(text) }, classes);
}

static bool set_class(struct cp_config *config, struct config_span text,
		      struct config_problem *problem)
{
	(void)problem;
	return parse_classes(text, config->classes);
}

static bool set_level(struct cp_config *config, struct config_span text,
		      struct config_problem *problem)
{
	char level[9];
	uint64_t part[3];

	(void)problem;
	for (unsigned int i = 0; i < 3; i++) {
		struct config_span number = { text.at, text.at };

		while (number.end < text.end && *number.end != '.')
			number.end++;
		if (number.end - number.at > 2 || !config_number(number, 10, 99, &part[i]))
			return false;
		if ((number.end == text.end) != (i == 2))
			return false;
		text.at = number.end + 1;
	}
	snprintf(level, sizeof(level), "%u.%u.%u", (unsigned int)part[0] % 100,
		 (unsigned int)part[1] % 100, (unsigned int)part[2] % 100);
	/* As in the control-program identifier of SYSIB 3.2.2. */
	snprintf(config->level, sizeof(config->level), "%-8s%-8s", "z/VM", level);
	assert(strlen(config->level) == 16);
	return true;
}

static bool set_cpus(struct cp_config *config, struct config_span text,
		     struct config_problem *problem)
{
	uint64_t n;

	(void)problem;
	if (!config_number(text, 10, CP_MAX_CPUS, &n) || n == 0)
		return false;
	assert(n > 0 && n <= CP_MAX_CPUS);
	config->cpus = (unsigned int)n;
	return true;
}

static bool set_console(struct cp_config *config, struct config_span text,
			struct config_problem *problem)
{
	uint64_t n;

	(void)problem;
	if (!config_number(text, 16, UINT16_MAX, &n))
		return false;
	config->console = (uint16_t)n;
	return true;
}

static bool set_conmode(struct cp_config *config, struct config_span text,
			struct config_problem *problem)
{
	(void)problem;
	config->conmode_3215 = config_is(text, "3215");
	return config->conmode_3215 || config_is(text, "NONE");
}

static bool set_seed(struct cp_config *config, struct config_span text,
		     struct config_problem *problem)
{
	(void)problem;
	return config_number(text, 10, UINT64_MAX, &config->seed);
}

static bool set_trace_data(struct cp_config *config, struct config_span text,
			   struct config_problem *problem)
{
	(void)problem;
	config->trace_full = config_is(text, "FULL");
	return config->trace_full || config_is(text, "SHORT");
}

#define KEYS 12
static const struct {
	const char *name;
	bool (*set)(struct cp_config *config, struct config_span text,
		    struct config_problem *problem);
	const char *expected;
} keys[KEYS] = {
	{ "userid", set_userid, "1 to 8 characters A to Z, 0 to 9, @ # $ _ - + :" },
	{ "class", set_class, "privilege classes A to Z and 1 to 6, such as EG" },
	{ "level", set_level, "version.release.modification, such as 7.3.0" },
	{ "machine", config_machine, "a machine type and model, such as 8561 T01" },
	{ "cpus", set_cpus, "a number from 1 to 64" },
	{ "storage", config_storage, "at least one extent, such as 0.128M" },
	{ "directory", config_directory, "directory statements" },
	{ "segment", config_segments, "segment definitions" },
	{ "console", set_console, "a hexadecimal device number up to FFFF" },
	{ "conmode", set_conmode, "3215 or none" },
	{ "seed", set_seed, "a number from 0 to 18446744073709551615" },
	{ "trace-data", set_trace_data, "short or full" },
};

const char *const cp_config_keys[KEYS + 1] = {
	"userid", "class", "level", "machine", "cpus", "storage", "directory", "segment", "console",
	"conmode", "seed", "trace-data",
};

static int report(const char *key, const struct config_problem *problem, char *err, size_t errlen)
{
	int len = (int)(problem->value.end - problem->value.at);

	assert(len >= 0 && problem->expected);
	snprintf(err, errlen, "%s \"%.*s%s\": expected %s", key, len > 80 ? 80 : len,
		 problem->value.at, len > 80 ? "..." : "", problem->expected);
	return -1;
}

int cp_config_set(struct cp_config *config, const char *key, const char *value, char *err,
		  size_t errlen)
{
	struct config_span text = { value, value + strlen(value) };

	for (size_t i = 0; i < KEYS; i++) {
		struct config_problem problem = { text, keys[i].expected };
		struct cp_config next = *config;

		if (strcmp(key, keys[i].name) != 0)
			continue;
		if (!keys[i].set(&next, text, &problem))
			return report(key, &problem, err, errlen);
		*config = next;
		return 0;
	}
	snprintf(err, errlen, "option \"%.80s\" is not known: expected userid, class, level, "
		 "machine, cpus, storage, directory, segment, console, conmode, seed or trace-data", key);
	return -1;
}

int cp_config_parse_storage(struct cp_config *config, const char *text, char *err, size_t errlen)
{
	return cp_config_set(config, "storage", text, err, errlen);
}

void cp_config_init(struct cp_config *config)
{
	char err[1];

	memset(config, 0, sizeof(*config));
	config->max_messages = DEFAULT_MESSAGES;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		int rc = cp_config_set(config, defaults[i][0], defaults[i][1], err, sizeof(err));

		assert(rc == 0);
		(void)rc;
	}
}

int cp_config_copy(struct cp_config *to, const struct cp_config *from)
{
	assert(from->segments <= CP_MAX_SEGMENTS);
	*to = *from;
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++)
		to->segment[i].file = NULL;
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		if (!from->segment[i].file)
			continue;
		to->segment[i].file = strdup(from->segment[i].file);
		if (!to->segment[i].file) {
			cp_config_fini(to);
			return -1;
		}
	}
	return 0;
}

void cp_config_fini(struct cp_config *config)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		free(config->segment[i].file);
		config->segment[i].file = NULL;
	}
}
