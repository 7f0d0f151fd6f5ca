/* SPDX-License-Identifier: MIT */
/* Files that come for a reader: which of its owner's devices may take them, and who is told. */
#include "spool_private.h"

bool spool_may_read(const struct spool_device *device, const struct spool_file *file)
{
	return !file->open && !file->user_hold && !file->system_hold &&
	       (device->spool_class == '*' || device->spool_class == file->spool_class);
}

void spool_arrived(struct cp *cp, const struct spool_file *file)
{
	const struct cp *to = cp_machine_of(cp->system, file->owner);

	for (unsigned int i = 0; to && i < to->config.units; i++) {
		const struct spool_device *device = &to->unit[i];

		if (device->gone || device->file || to->config.unit[i].kind != CP_UNIT_READER ||
		    !spool_may_read(device, file))
			continue;
		if (to->host.reader_ready)
			to->host.reader_ready(to->host.opaque);
		return;
	}
}
