/* SPDX-License-Identifier: MIT */
/* The first record: it makes the machine, and the first of them the system. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"

/* Return: false with the sentence given. */
static bool configure(struct replay *r, const json_t *record, struct cp_config *config)
{
	char text[CP_CONFIG_TEXT_MAX], err[256];

	for (unsigned int i = 0; cp_config_keys[i]; i++) {
		replay_text(r, record, cp_config_keys[i], text, sizeof(text));
		if (!r->all->stopped && cp_config_set(config, cp_config_keys[i], text, err,
						 sizeof(err)) != 0)
			replay_unusable(r, "%s", err);
	}
	config->max_messages = (uint32_t)replay_number(r, record, "messages", UINT32_MAX);
	/* What files contained follows in the trace. */
	for (unsigned int i = 0; i < config->segments; i++) {
		free(config->segment[i].file);
		config->segment[i].file = NULL;
	}
	if (!r->all->stopped && !config->trace_full)
		replay_unusable(r, "the trace was made with trace-data=short and has not all that a "
				"replay needs; record it with trace-data=full");
	return !r->all->stopped;
}

/* Return: false with the sentence given. */
static bool valid(struct replay *r, const json_t *record)
{
	const char *call = replay_call_name(record);

	if (strcmp(call, "configuration") != 0)
		replay_unusable(r, "a trace begins with the configuration, not with \"%.64s\"", call);
	else if (replay_number(r, record, "version", UINT32_MAX) != TRACE_VERSION)
		replay_unusable(r, "the trace has another version than %u", TRACE_VERSION);
	return !r->all->stopped;
}

/* Of the system a machine's configuration has all but these.  Return: false with the sentence given. */
static bool make_system(struct replay *r, const json_t *record, const struct cp_config *machine)
{
	struct cp_config config = *machine;
	struct cp_system_host host;
	char err[256];

	if (r->all->system || !r->member)
		return true;
	config.cpus = (unsigned int)replay_number(r, record, "system_cpus", CP_MAX_CPUS);
	config.console = (uint16_t)replay_hex(r, record, "system_console", UINT16_MAX);
	config.seed = replay_number(r, record, "system_seed", UINT64_MAX);
	if (config.cpus == 0)
		replay_unusable(r, "\"system_cpus\" is not a number from 1 to %u", CP_MAX_CPUS);
	if (r->all->stopped)
		return false;
	replay_system_host(r->all, &host);
	r->all->system = cp_system_create(&config, &host, err, sizeof(err));
	if (!r->all->system)
		replay_unusable(r, "%s", err);
	return !r->all->stopped;
}

/* A machine that its system has refused has this record only: it comes and goes. */
static bool refused(struct replay *r)
{
	if (!r->member || replay_need(r) || r->all->stopped)
		return false;
	cp_destroy(r->cp);
	r->cp = NULL;
	r->phase = REPLAY_LOGGED_OFF;
	return true;
}

static void make_machine(struct replay *r, const struct cp_config *config)
{
	const uint64_t matched = r->all->matched;
	struct cp_host host;
	char err[256];

	snprintf(r->userid, sizeof(r->userid), "%s", config->userid);
	replay_host(r, &host);
	r->cp = cp_create(r->all->system, config, &host, err, sizeof(err));
	r->phase = REPLAY_CREATED;
	if (!refused(r) && !r->cp) {
		replay_unusable(r, "%s", err);
		/* A CP that is refused late has written its record already. */
		r->all->matched = matched;
	}
}

void replay_configuration(struct replay *r, const json_t *record)
{
	struct cp_config config;

	if (!valid(r, record))
		return;
	cp_config_init(&config);
	if (configure(r, record, &config) && make_system(r, record, &config)) {
		if (replay_storage(r->all))
			make_machine(r, &config);
		else
			replay_unusable(r, "this machine has no room for the guest's addresses");
	}
	cp_config_fini(&config);
}
