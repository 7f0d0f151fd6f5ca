/* SPDX-License-Identifier: MIT */
/* Commands about the machine as a whole. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"
#include "zvmlab/command.h"
#include "zvmlab/kasan.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"

json_t *ctl_query_version(struct ctl_call *call)
{
	json_t *greeting = ctl_greeting();
	json_t *version = json_incref(json_object_get(greeting, "zvmlab"));

	(void)call;
	json_decref(greeting);
	return version;
}

json_t *ctl_query_schema(struct ctl_call *call)
{
	return ctl_schema(call->commands, call->command_count);
}

static json_t *storage_json(const struct cp_config *config)
{
	json_t *extents = json_array();

	for (unsigned int i = 0; i < config->extents; i++)
		json_array_append_new(extents,
				      json_pack("{s:o, s:o}", "start",
						ctl_json_u64(config->extent[i].start), "size",
						ctl_json_u64(config->extent[i].size)));
	return extents;
}

static json_t *iucv_json(const struct cp_config *config)
{
	json_t *statements = json_array();

	for (unsigned int i = 0; i < config->iucv_statements; i++)
		json_array_append_new(statements,
				      json_pack("{s:s, s:i, s:b}", "name", config->iucv[i].name,
						"msglimit", config->iucv[i].msglimit, "priority",
						config->iucv[i].priority));
	return statements;
}

json_t *ctl_query_cp(struct ctl_call *call)
{
	const struct cp_config *config = cp_config_of(call->cp);
	json_t *namesave = json_array();
	char seed[17];

	for (unsigned int i = 0; i < config->namesaves; i++)
		json_array_append_new(namesave, json_string(config->namesave[i]));
	snprintf(seed, sizeof(seed), "%016" PRIx64, config->seed);
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:b, s:i, s:s, s:o, s:o, s:o, s:o}",
			 "userid", config->userid, "classes", config->classes, "level",
			 config->level, "account", config->account, "cpus", (int)config->cpus,
			 "max-paths", (json_int_t)config->max_paths, "applmon", config->applmon,
			 "console", config->console, "seed", seed, "storage", storage_json(config),
			 "iucv", iucv_json(config), "namesave", namesave, "highest-address",
			 ctl_json_u64(cp_highest_address(call->cp)));
}

bool ctl_command_text(struct ctl_call *call, char text[CPCMD_MAX_COMMAND], size_t *len)
{
	const char *given = ctl_string(call->args, "command");

	*len = strlen(given);
	assert(*len <= CPCMD_MAX_COMMAND);
	memcpy(text, given, *len);
	if (!ctl_latin1(text, len))
		ctl_fail(call, "BadArgument",
			 "argument \"command\" has characters that CP's code page lacks");
	return !call->error_class;
}

json_t *ctl_command_json(const struct cpcmd_response *response)
{
	return json_pack("{s:o, s:i}", "response", ctl_json_text(response->text, response->len),
			 "rc", response->rc);
}

json_t *ctl_cp_command(struct ctl_call *call)
{
	const char *as = ctl_string(call->args, "as");
	char text[CPCMD_MAX_COMMAND];
	size_t len;

	if (!ctl_command_text(call, text, &len))
		return NULL;
	return ctl_command_json(cpcmd_run(call->cp, as && strcmp(as, "guest") == 0 ?
					  CPCMD_GUEST : CPCMD_OPERATOR, text, len));
}

json_t *ctl_storage_read(struct ctl_call *call)
{
	const uint64_t addr = (uint64_t)ctl_int(call->args, "address");
	const size_t len = (size_t)ctl_int(call->args, "length");
	uint8_t *bytes = malloc(len);
	json_t *data = NULL;
	uint16_t pgm;

	if (!bytes)
		return NULL;
	pgm = storage_read(call->cp, CP_ABSOLUTE, addr, bytes, len);
	if (pgm == 0)
		data = ctl_json_data(bytes, len);
	free(bytes);
	if (pgm != 0)
		return ctl_fail(call, "Failed", "%zu bytes at guest absolute X'%" PRIx64 "' are not "
				"all storage of the guest", len, addr);
	return json_pack("{s:o}", "data", data);
}

json_t *ctl_kasan_watch(struct ctl_call *call)
{
	const bool on = json_object_get(call->args, "offset") != NULL;
	struct kasan_shadow shadow = { 0 };

	if (on)
		shadow.offset = (uint64_t)ctl_int(call->args, "offset");
	if (json_object_get(call->args, "identity"))
		shadow.identity = (uint64_t)ctl_int(call->args, "identity");
	if (kasan_watch(call->cp, on ? &shadow : NULL))
		return json_object();
	return ctl_fail(call, "Failed", "this emulator cannot read the shadow of the guest's kernel");
}

json_t *ctl_state_save(struct ctl_call *call)
{
	size_t len;
	uint8_t *image = cp_save(call->cp, &len);
	int result;

	if (!image)
		return NULL;
	result = ctl_file_write(ctl_string(call->args, "file"), image, len, call->err,
				sizeof(call->err));
	free(image);
	if (result == 0)
		return json_pack("{s:o}", "bytes", ctl_json_u64(len));
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_state_load(struct ctl_call *call)
{
	uint8_t *image;
	size_t len;
	int result;

	call->error_class = "Failed";
	if (ctl_file_read(ctl_string(call->args, "file"), &image, &len, call->err,
			  sizeof(call->err)) != 0)
		return NULL;
	result = cp_load(call->cp, image, len, call->err, sizeof(call->err));
	free(image);
	/* A refused image has changed nothing: messages still point to what the peers hold. */
	if (result != -1)
		ctl_reattach(call->ctl);
	return result == 0 ? json_object() : NULL;
}

json_t *ctl_query_counters(struct ctl_call *call)
{
	const struct mallinfo2 heap = mallinfo2();
	unsigned int clients = 0, peers = 0;
	enum iucv_function last;
	const uint64_t strays = iucv_stray_calls(call->cp, &last);

	for (unsigned int slot = 0; slot < CTL_MAX_CLIENTS; slot++)
		clients += call->ctl->client[slot] != NULL;
	for (unsigned int i = 0; iucv_user_at(call->cp, i); i++)
		peers += !iucv_user_is_own(iucv_user_at(call->cp, i));
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:s*, s:s*}", "clients", (int)clients, "peers",
			 (int)peers - 1, "requests", ctl_json_u64(call->ctl->requests), "events",
			 ctl_json_u64(call->ctl->events), "heap",
			 ctl_json_u64(heap.uordblks + heap.hblkhd), "heap-free",
			 ctl_json_u64(heap.fordblks), "stray-calls", ctl_json_u64(strays),
			 "last-stray", strays ? iucv_function_name(last) : NULL, "trace-ended",
			 call->ctl->trace_ended[0] ? call->ctl->trace_ended : NULL);
}
