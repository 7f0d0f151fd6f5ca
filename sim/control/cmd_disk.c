/* SPDX-License-Identifier: MIT */
/* Commands for virtual disks. */
#include <stdlib.h>

#include "ctl_private.h"
#include "zvmlab/disk.h"

static uint16_t device_of(const struct ctl_call *call)
{
	return (uint16_t)ctl_int(call->args, "device");
}

json_t *ctl_disk_read(struct ctl_call *call)
{
	const uint32_t blocks = (uint32_t)ctl_int_or(call->args, "blocks", 1);
	uint8_t *data = malloc(blocks * DISK_BLOCK + 1);
	json_t *answer = NULL;

	if (!data)
		return ctl_fail(call, "Failed", "there is no memory for %u blocks", blocks);
	if (disk_read(call->cp, device_of(call), (uint32_t)ctl_int(call->args, "block"), blocks,
		      data, call->err, sizeof(call->err)) == 0)
		answer = json_pack("{s:o}", "data", ctl_json_data(data, blocks * DISK_BLOCK));
	else
		call->error_class = "Failed";
	free(data);
	return answer;
}

json_t *ctl_disk_write(struct ctl_call *call)
{
	const size_t len = ctl_data_len(call->args, "data");
	uint8_t *data = malloc(len + 1);
	int rc;

	if (!data)
		return ctl_fail(call, "Failed", "there is no memory for %zu bytes", len);
	ctl_data(call->args, "data", data, len);
	rc = disk_write(call->cp, device_of(call), (uint32_t)ctl_int(call->args, "block"), data,
			len, call->err, sizeof(call->err));
	free(data);
	if (rc == 0)
		return json_object();
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_disk_hold(struct ctl_call *call)
{
	disk_hold(call->cp, ctl_bool(call->args, "hold"));
	return json_object();
}

json_t *ctl_disk_complete(struct ctl_call *call)
{
	const uint32_t number = (uint32_t)ctl_int_or(call->args, "request", 0);

	if (disk_complete(call->cp, number))
		return json_object();
	if (number != 0)
		return ctl_fail(call, "Failed", "no request %u waits; query-disks lists requests",
				number);
	return ctl_fail(call, "Failed", "no request of the guest's waits; disk-hold makes them wait");
}

json_t *ctl_query_disks(struct ctl_call *call)
{
	json_t *disks = json_array(), *requests = json_array();
	struct disk_pending p;
	struct disk_info d;

	for (unsigned int i = 0; disk_info(call->cp, i, &d); i++)
		json_array_append_new(
			disks, json_pack("{s:i, s:I, s:b, s:b, s:i, s:I, s:o, s:o}", "device",
					 (int)d.device, "blocks", (json_int_t)d.blocks, "read-only",
					 d.read_only, "established", d.established, "block-size",
					 (int)d.block_size, "offset", (json_int_t)d.offset, "reads",
					 ctl_json_u64(d.reads), "writes", ctl_json_u64(d.writes)));
	for (unsigned int i = 0; disk_pending(call->cp, i, &p); i++)
		json_array_append_new(requests,
				      json_pack("{s:i, s:i, s:i, s:b, s:i}", "request",
						(int)p.number, "device", (int)p.device, "blocks",
						(int)p.count, "waits", p.waits, "status",
						(int)p.end));
	return json_pack("{s:o, s:o, s:b}", "disks", disks, "requests", requests, "hold",
			 disk_held(call->cp));
}
