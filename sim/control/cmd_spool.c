/* SPDX-License-Identifier: MIT */
/* Requests about the spool: the files of users whom a test plays. */
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"
#include "zvmlab/spool.h"

static enum spool_queue queue_of(const struct ctl_call *call)
{
	return (enum spool_queue)ctl_index(ctl_spool_queues,
					   ctl_string(call->args, "queue"));
}

json_t *ctl_spool_put(struct ctl_call *call)
{
	const char *class = ctl_string(call->args, "class");
	char user[9], origin[9], err[256];
	struct spool_put put = {
		.user = user, .queue = queue_of(call), .spool_class = class ? class[0] : 'A',
		.hold = ctl_bool_or(call->args, "hold", false),
		.system_hold = ctl_bool_or(call->args, "system-hold", false),
		.record_length = (uint32_t)ctl_int_or(call->args, "record-length", SPOOL_CARD),
		.len = ctl_data_len(call->args, "data"),
	};
	uint8_t *data;
	int id;

	ctl_name(call->args, "user", user);
	ctl_name(call->args, "origin", origin);
	put.origin = origin[0] ? origin : NULL;
	put.name = ctl_string(call->args, "name");
	put.type = ctl_string(call->args, "type");
	data = malloc(put.len + 1);
	if (!data)
		return ctl_fail(call, "Failed", "not enough memory for the file");
	ctl_data(call->args, "data", data, put.len);
	put.data = data;
	id = spool_put(call->cp, &put, err, sizeof(err));
	free(data);
	if (id < 0)
		return ctl_fail(call, "Failed", "%s", err);
	return json_pack("{s:i}", "id", id);
}

json_t *ctl_spool_limits(struct ctl_call *call)
{
	spool_limits(call->cp, (uint32_t)ctl_int_or(call->args, "pages", SPOOL_PAGES),
		     (uint32_t)ctl_int_or(call->args, "files", SPOOL_MAX_ID));
	return json_object();
}

json_t *ctl_spool_read(struct ctl_call *call)
{
	const size_t room = CTL_MAX_DATA / 2;
	struct spool_file_info info;
	uint8_t *data = malloc(room);
	json_t *answer = NULL;
	char user[9];
	uint32_t length = 0;
	int count;

	if (!data)
		return ctl_fail(call, "Failed", "not enough memory for the file");
	ctl_name(call->args, "user", user);
	count = spool_records(call->cp, user, queue_of(call),
			      (uint16_t)ctl_int(call->args, "id"),
			      (uint32_t)ctl_int_or(call->args, "first", 0), data, room);
	for (unsigned int i = 0; spool_file(call->cp, i, &info); i++)
		if (info.id == ctl_int(call->args, "id") && strcmp(info.owner, user) == 0 &&
		    info.queue == queue_of(call))
			length = info.record_length;
	if (count < 0)
		ctl_fail(call, "Failed", "%s has no file %d on this queue", user,
			 (int)ctl_int(call->args, "id"));
	else
		answer = json_pack("{s:i, s:o}", "records", count, "data",
				   ctl_json_data(data, (size_t)count * length));
	free(data);
	return answer;
}

json_t *ctl_query_spool(struct ctl_call *call)
{
	const struct spool_use use = spool_use(call->cp);
	json_t *files = json_array();
	struct spool_file_info f;

	for (unsigned int i = 0; spool_file(call->cp, i, &f); i++) {
		const char class[2] = { f.spool_class, '\0' };

		json_array_append_new(
			files,
			json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:b, "
				  "s:b, s:b, s:I, s:i, s:i, s:i}",
				  "user", f.owner, "queue", spool_queue_name[f.queue], "device",
				  spool_queue_name[f.device], "origin", f.origin, "id", f.id,
				  "class", class, "name", f.name, "type", f.type, "form", f.form,
				  "dist", f.dist, "tag", f.tag, "open", f.open, "hold", f.user_hold,
				  "system-hold", f.system_hold, "records", (json_int_t)f.records,
				  "record-length", (int)f.record_length, "pages", (int)f.pages,
				  "copies", (int)f.copies));
	}
	return json_pack("{s:o, s:i, s:i, s:i}", "files", files, "pages", (int)use.pages,
			 "page-limit", (int)use.page_limit, "file-limit", (int)use.file_limit);
}
