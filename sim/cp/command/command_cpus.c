/* SPDX-License-Identifier: MIT */
/* QUERY CPUID, QUERY VIRTUAL CPUS, and CPU, which gives a command for some virtual CPUs. */
#include <inttypes.h>
#include <string.h>

#include "command_private.h"

int cpcmd_query_cpuid(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, "CQV");

	if (rc == 0)
		cpcmd_line(args->cp, "CPUID= %016" PRIX64, cp_cpu_id(args->cp, 0));
	return rc;
}

/* The core does not see which of them are stopped. */
int cpcmd_query_cpus(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, "CQV");

	if (rc != 0)
		return rc;
	assert(args->cp->config.cpus > 0 && args->cp->config.cpus <= CP_MAX_CPUS);
	for (unsigned int cpu = 0; cpu < args->cp->config.cpus; cpu++)
		cpcmd_line(args->cp, "CPU %02X  ID  %016" PRIX64 " %sCP  CPUAFF ON", cpu,
			   cp_cpu_id(args->cp, cpu), cpu == 0 ? "(BASE) " : "");
	return 0;
}

/* CPU ALL|address command: once for each of them; 0, or the number of the last that failed. */
int cpcmd_cpu(struct cpcmd_args *args)
{
	struct cpcmd_args each = *args;
	uint64_t address;
	unsigned int times = 1;
	int rc = 0;

	/* Nested ones would run it 64 times 64 times. */
	if (args->directed)
		return cpcmd_invalid(args, "CPU");
	if (!cpcmd_next(args))
		return cpcmd_missing(args, "CPU");
	if (strcmp(args->word, "ALL") == 0)
		times = args->cp->config.cpus;
	else if (!cpcmd_number(args->word, 16, 0, args->cp->config.cpus - 1, &address))
		return cpcmd_invalid(args, "CPU");
	if (*cpcmd_rest(args) == '\0')
		return cpcmd_missing(args, "CPU");
	each.directed = true;
	for (unsigned int i = 0; i < times; i++) {
		const int one = cpcmd_run_line(&each, args->next);

		assert(one >= 0);
		if (one != 0)
			rc = one;
	}
	return rc;
}
