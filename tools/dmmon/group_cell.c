// SPDX-License-Identifier: MIT
#include "group_cell.h"

#include <stdio.h>

struct cell group_cell(const struct dms_region *leader, char name[GROUP_NAME_SIZE])
{
	const char *alias;
	size_t len;

	if (!leader)
		return cell_absent();
	alias = dms_group_alias(leader, &len);
	if (len)
		return cell_text(alias, len);
	len = (size_t)snprintf(name, GROUP_NAME_SIZE, "%d", leader->id);
	return cell_text(name, len);
}
