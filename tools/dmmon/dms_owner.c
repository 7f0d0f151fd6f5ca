// SPDX-License-Identifier: MIT
#include "dms_owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

#define PREFIX "watch-"

void dms_owner_write(const struct dms_owner *owner, char *aux, size_t size)
{
	snprintf(aux, size, PREFIX "%" PRIu64 "-%" PRIu64 "-%" PRIu64, owner->pid, owner->made_ns,
		 owner->pid_namespace);
}

bool dms_owner_read(const char *aux, struct dms_owner *owner)
{
	const char *end = aux + strlen(aux);
	struct dms_owner found = { 0 };

	if (strncmp(aux, PREFIX, strlen(PREFIX)) != 0)
		return false;
	aux += strlen(PREFIX);
	if (!number_take(&aux, end, 10, UINT64_MAX, &found.pid) || !found.pid || *aux++ != '-' ||
	    !number_take(&aux, end, 10, UINT64_MAX, &found.made_ns))
		return false;
	/* Up to 0.1 there was no namespace. */
	if (aux != end && (*aux++ != '-' ||
			   !number_take(&aux, end, 10, UINT64_MAX, &found.pid_namespace)))
		return false;
	if (aux != end)
		return false;
	*owner = found;
	return true;
}

enum dms_owner_state dms_owner_judge(const struct dms_owner *owner,
				     const struct dms_process *process)
{
	if (!owner->pid_namespace || owner->pid_namespace != process->pid_namespace)
		return DMS_OWNER_UNKNOWN;
	if (!process->there || process->ended)
		return DMS_OWNER_GONE;
	/* Its clock may be another one: who is called so is left alone. */
	if (process->is_dmmon || process->begin_ns <= owner->made_ns)
		return DMS_OWNER_LIVES;
	return DMS_OWNER_GONE;
}
