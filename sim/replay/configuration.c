/* SPDX-License-Identifier: MIT */
/* The first record: it makes the CP. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"

/* Return: false with the sentence given. */
static bool configure(struct replay *r, const json_t *record, struct cp_config *config)
{
	char text[CP_CONFIG_TEXT_MAX], err[256];

	for (unsigned int i = 0; cp_config_keys[i]; i++) {
		replay_text(r, record, cp_config_keys[i], text, sizeof(text));
		if (!r->stopped && cp_config_set(config, cp_config_keys[i], text, err,
						 sizeof(err)) != 0)
			replay_unusable(r, "%s", err);
	}
	config->max_messages = (uint32_t)replay_number(r, record, "messages", UINT32_MAX);
	/* What files contained follows in the trace. */
	for (unsigned int i = 0; i < config->segments; i++) {
		free(config->segment[i].file);
		config->segment[i].file = NULL;
	}
	if (!r->stopped && !config->trace_full)
		replay_unusable(r, "the trace was made with trace-data=short and has not all that a "
				"replay needs; record it with trace-data=full");
	return !r->stopped;
}

void replay_configuration(struct replay *r, const json_t *record)
{
	const char *call = json_string_value(json_object_get(record, "call"));
	struct cp_config config;
	struct cp_host host;
	char err[256];

	if (strcmp(call, "configuration") != 0) {
		replay_unusable(r, "a trace begins with the configuration, not with \"%.64s\"", call);
		return;
	}
	if (replay_number(r, record, "version", UINT32_MAX) != TRACE_VERSION) {
		replay_unusable(r, "the trace has another version than %u", TRACE_VERSION);
		return;
	}
	if (json_object_get(record, "order")) {
		replay_unusable(r, "the trace is of one machine of a system; only that of a guest "
				"that is alone can be replayed");
		return;
	}
	cp_config_init(&config);
	if (configure(r, record, &config)) {
		if (!replay_host(r, &host)) {
			replay_unusable(r, "this machine has no room for the guest's addresses");
		} else if (!(r->cp = cp_create(NULL, &config, &host, err, sizeof(err)))) {
			replay_unusable(r, "%s", err);
			/* A CP that is refused late has written its record already. */
			r->matched = 0;
		}
	}
	cp_config_fini(&config);
}
