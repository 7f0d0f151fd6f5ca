/* SPDX-License-Identifier: MIT */
/* Commands for the HMC's drive. */
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"
#include "zvmlab/hmc.h"

static json_t *refused(struct ctl_call *call, int rc)
{
	if (rc == 0)
		return json_object();
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_hmc_drive(struct ctl_call *call)
{
	return refused(call, hmc_drive(call->cp, (uint64_t)ctl_int(call->args, "bytes"),
				       ctl_bool_or(call->args, "read-only", false), call->err,
				       sizeof(call->err)));
}

json_t *ctl_hmc_write(struct ctl_call *call)
{
	const size_t len = ctl_data_len(call->args, "data");
	uint8_t *data = malloc(len + 1);
	int rc;

	if (!data)
		return ctl_fail(call, "Failed", "there is no memory for %zu bytes", len);
	ctl_data(call->args, "data", data, len);
	rc = hmc_write(call->cp, ctl_string(call->args, "name"), data, len, call->err,
		       sizeof(call->err));
	free(data);
	return refused(call, rc);
}

static json_t *no_file(struct ctl_call *call)
{
	return ctl_fail(call, "Failed", "the drive has no file \"%.64s\"; query-hmc lists its files",
			ctl_string(call->args, "name"));
}

json_t *ctl_hmc_read(struct ctl_call *call)
{
	const struct hmc_file *file = hmc_find(call->cp, ctl_string(call->args, "name"));
	uint64_t offset = (uint64_t)ctl_int_or(call->args, "offset", 0);
	uint64_t len = (uint64_t)ctl_int_or(call->args, "length", CTL_MAX_DATA);

	if (!file)
		return no_file(call);
	if (offset > file->len)
		offset = file->len;
	if (len > file->len - offset)
		len = file->len - offset;
	return json_pack("{s:o}", "data",
			 ctl_json_data(hmc_bytes(call->cp, file) + offset, len));
}

json_t *ctl_hmc_remove(struct ctl_call *call)
{
	return hmc_remove(call->cp, ctl_string(call->args, "name")) ? json_object() : no_file(call);
}

json_t *ctl_hmc_hold(struct ctl_call *call)
{
	hmc_hold(call->cp, ctl_bool(call->args, "hold"));
	return json_object();
}

json_t *ctl_hmc_complete(struct ctl_call *call)
{
	if (hmc_complete(call->cp))
		return json_object();
	return ctl_fail(call, "Failed", "no request of the guest's waits; hmc-hold makes them wait");
}

json_t *ctl_query_hmc(struct ctl_call *call)
{
	const struct hmc_info info = hmc_info(call->cp);
	const struct hmc_file *file;
	json_t *files = json_array();

	for (unsigned int i = 0; (file = hmc_file(call->cp, i)); i++)
		json_array_append_new(files, json_pack("{s:s, s:o}", "name", file->name, "bytes",
						       ctl_json_u64(file->len)));
	return json_pack("{s:o, s:o, s:b, s:b, s:b, s:b, s:i, s:o, s:o}", "bytes",
			 ctl_json_u64(info.bytes), "used", ctl_json_u64(info.used), "read-only",
			 info.read_only, "hold", info.hold, "waits", info.waits, "pending",
			 info.pending, "status", (int)info.status, "requests",
			 ctl_json_u64(info.requests), "files", files);
}
