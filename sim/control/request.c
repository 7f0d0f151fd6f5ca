/* SPDX-License-Identifier: MIT */
/* One request: parse, check, run, answer. */
#include <string.h>

#include "ctl_private.h"

static json_t *parse(struct ctl_call *call, const char *line, size_t len)
{
	json_error_t error;
	json_t *request;

	if (!ctl_modest(line, len, CTL_MAX_VALUES, CTL_MAX_DEPTH))
		return ctl_fail(call, "BadRequest", "the request has more than %u values or more "
				"than %u levels", CTL_MAX_VALUES, CTL_MAX_DEPTH);
	request = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!request)
		return ctl_fail(call, "BadRequest", "the request is not JSON: %.200s", error.text);
	if (json_is_object(request))
		return request;
	json_decref(request);
	return ctl_fail(call, "BadRequest", "the request is not a JSON object");
}

static const struct ctl_command *find_command(const char *name)
{
	for (size_t i = 0; i < ctl_command_count; i++)
		if (strcmp(ctl_commands[i].name, name) == 0)
			return &ctl_commands[i];
	return NULL;
}

static const struct ctl_command *look_up(struct ctl_call *call, json_t *request)
{
	const json_t *name = json_object_get(request, "execute");
	const struct ctl_command *command;
	const json_t *later = json_object_get(request, "later");
	const char *key;
	json_t *value;

	json_object_foreach(request, key, value) {
		if (strcmp(key, "execute") && strcmp(key, "arguments") && strcmp(key, "id") &&
		    strcmp(key, "later")) {
			ctl_fail(call, "BadRequest", "\"%.60s\" is not a member of a request; "
				 "those are execute, arguments, id and later", key);
			return NULL;
		}
	}
	if (later && !json_is_boolean(later)) {
		ctl_fail(call, "BadRequest", "\"later\" is neither true nor false");
		return NULL;
	}
	call->later = json_is_true(later);
	if (!json_is_string(name)) {
		ctl_fail(call, "BadRequest", "the request has no \"execute\" with a command's name");
		return NULL;
	}
	command = find_command(json_string_value(name));
	if (!command)
		ctl_fail(call, "CommandNotFound", "there is no command \"%.60s\"; query-schema "
			 "lists them", json_string_value(name));
	return command;
}

static json_t *run(struct ctl_call *call, json_t *request)
{
	const struct ctl_command *command = look_up(call, request);
	json_t *args, *result;

	if (!command)
		return NULL;
	args = json_object_get(request, "arguments");
	args = args ? json_incref(args) : json_object();
	if (!ctl_check(command->args, args, call->err, sizeof(call->err))) {
		call->error_class = "BadArgument";
		json_decref(args);
		return NULL;
	}
	call->args = args;
	result = command->run(call);
	if (!result && !call->error_class)
		ctl_fail(call, "Failed", "not enough memory to carry out %s", command->name);
	json_decref(args);
	return result;
}

/* Parts of the request may be cut in the middle of a character, and file names be of any bytes. */
static json_t *sentence(char *text)
{
	json_t *value = json_string(text);

	if (value)
		return value;
	for (char *c = text; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(text);
}

/* Fail for lack of memory: jansson may have left out parts of the request or the answer. */
static json_t *no_memory(struct ctl_call *call, json_t *part, const char *what)
{
	json_decref(part);
	return ctl_fail(call, "Failed", "not enough memory for the %s", what);
}

void ctl_request(struct ctl *ctl, struct ctl_client *client, const char *line, size_t len)
{
	struct ctl_call call = {
		.ctl = ctl, .cp = ctl->cp, .client = client, .commands = ctl_commands,
		.command_count = ctl_command_count,
	};
	const uint64_t failures = ctl_memory_failures();
	json_t *request = parse(&call, line, len);
	json_t *result = NULL, *id = NULL;

	ctl->requests++;
	if (ctl_memory_failures() != failures)
		request = no_memory(&call, request, "request");
	if (request) {
		id = json_incref(json_object_get(request, "id"));
		result = run(&call, request);
		json_decref(request);
		if (ctl_memory_failures() != failures)
			result = no_memory(&call, result, "answer; what was asked for may have been "
					   "done");
	}
	assert(result || call.error_class);
	if (result)
		result = json_pack("{s:o, s:o*}", "return", result, "id", id);
	else
		result = json_pack("{s:{s:s, s:o}, s:o}", "error", "class", call.error_class,
				   "desc", sentence(call.err), "id", id ? id : json_null());
	ctl_client_send(ctl, client, result, call.later && !call.error_class);
	iucv_dispatch_rest(ctl->cp);
}
