/* SPDX-License-Identifier: MIT */
/* Requests about *LOGREC, *ACCOUNT and *SYMPTOM. */
#include <string.h>

#include "ctl_private.h"
#include "zvmlab/recording.h"

static enum rec_service service_of(const struct ctl_call *call)
{
	return (enum rec_service)ctl_index(ctl_recordings, ctl_string(call->args, "service"));
}

json_t *ctl_recording_record(struct ctl_call *call)
{
	const size_t len = ctl_data_len(call->args, "record");
	uint8_t record[REC_MAX_RECORD];

	ctl_data(call->args, "record", record, sizeof(record));
	return json_pack("{s:i}", "queues",
			 (int)recording_add(call->cp, service_of(call), record, len));
}

json_t *ctl_recording_sever(struct ctl_call *call)
{
	char user[9];

	ctl_name(call->args, "user", user);
	return json_pack("{s:i}", "severed",
			 (int)recording_sever(call->cp, service_of(call), user[0] ? user : NULL,
					      (uint8_t)ctl_int(call->args, "code")));
}

json_t *ctl_recording_quiesce(struct ctl_call *call)
{
	char user[9];

	ctl_name(call->args, "user", user);
	return json_pack("{s:i}", "paths",
			 (int)recording_quiesce(call->cp, service_of(call),
						user[0] ? user : NULL,
						ctl_bool(call->args, "quiesced")));
}

json_t *ctl_query_recording(struct ctl_call *call)
{
	json_t *queues = json_array();
	struct rec_queue_info q;

	for (unsigned int i = 0; recording_queue(call->cp, i, &q); i++)
		json_array_append_new(
			queues, json_pack("{s:s, s:s, s:b, s:I, s:I, s:o, s:s, s:i}", "service",
					  ctl_recordings[q.service], "user", q.userid, "on", q.on,
					  "count", (json_int_t)q.count, "limit",
					  (json_int_t)q.limit, "lost", ctl_json_u64(q.lost),
					  "state", ctl_rec_states[q.state], "path", q.path));
	return json_pack("{s:o}", "queues", queues);
}
