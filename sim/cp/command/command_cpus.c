/* SPDX-License-Identifier: MIT */
/*
 * QUERY CPUID, QUERY VIRTUAL CPUS, DEFINE CPU, DETACH CPU, and CPU, which gives a command for
 * some virtual CPUs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command_private.h"

#define MODULE "CPU"

static bool has(const struct cp *cp, unsigned int cpu)
{
	return cp->cpus >> cpu & 1;
}

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
		if (has(args->cp, cpu))
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
	if (cpcmd_is(args->word, KEYWORD_ALL))
		times = cp_cpu_count(args->cp);
	else if (!cpcmd_number(args->word, 16, 0, args->cp->config.cpus - 1, &address) ||
		 !has(args->cp, (unsigned int)address))
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

/* CPUs of the word: an address, or two with a hyphen between them. */
static bool take_range(const char *word, uint64_t *cpus)
{
	const char *hyphen = strchr(word, '-');
	char first[CPCMD_MAX_COMMAND + 1];
	uint64_t from, to;

	snprintf(first, sizeof(first), "%.*s", hyphen ? (int)(hyphen - word) : (int)strlen(word),
		 word);
	if (!cpcmd_number(first, 16, 0, CP_MAX_CPUS - 1, &from) ||
	    !cpcmd_number(hyphen ? hyphen + 1 : first, 16, from, CP_MAX_CPUS - 1, &to))
		return false;
	for (uint64_t cpu = from; cpu <= to; cpu++)
		*cpus |= UINT64_C(1) << cpu;
	return true;
}

static int conflict(struct cp *cp, unsigned int cpu, const char *why)
{
	return cpcmd_message(cp, MODULE, CPCMD_CONFLICT, 'E', "Conflicting option - CPU %02X %s",
			     cpu, why);
}

/* The operands up to TYPE; nothing has changed yet. */
static int take_cpus(struct cpcmd_args *args, uint64_t *cpus)
{
	if (args->cp->config.logon_cpus == 0)
		return cpcmd_message(args->cp, MODULE, CPCMD_CONFLICT, 'E',
				     "Conflicting option - CPUs come and go only if the directory "
				     "entry has CPU statements");
	*cpus = 0;
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	do {
		if (cpcmd_is(args->word, KEYWORD_TYPE) && *cpus != 0)
			return 0;
		if (!take_range(args->word, cpus))
			return cpcmd_invalid(args, MODULE);
	} while (cpcmd_next(args));
	return 0;
}

static void show_each(struct cp *cp, uint64_t cpus, const char *what)
{
	for (unsigned int cpu = 0; cpu < CP_MAX_CPUS; cpu++)
		if (cpus >> cpu & 1)
			cpcmd_line(cp, "CPU %02X %s", cpu, what);
}

/* DEFINE CPU address|first-last … [TYPE CP]: all of them, or none. */
int cpcmd_define_cpu(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	uint64_t cpus;
	int rc = take_cpus(args, &cpus);

	if (rc != 0)
		return rc;
	if (cpcmd_is(args->word, KEYWORD_TYPE)) {
		if (!cpcmd_next(args))
			return cpcmd_missing(args, MODULE);
		if (!cpcmd_is(args->word, KEYWORD_CP))
			return cpcmd_invalid(args, MODULE);
		rc = cpcmd_end(args, MODULE);
		if (rc != 0)
			return rc;
	}
	for (unsigned int cpu = 0; cpu < CP_MAX_CPUS; cpu++) {
		if (!(cpus >> cpu & 1))
			continue;
		if (cpu >= cp->config.cpus)
			return conflict(cp, cpu, "is more than the emulator's machine has");
		if (has(cp, cpu))
			return conflict(cp, cpu, "is defined");
	}
	cp_set_cpus(cp, cp->cpus | cpus);
	show_each(cp, cpus, "defined");
	return 0;
}

/* DETACH CPU address|first-last …: of CPUs that stand still; all of them, or none. */
int cpcmd_detach_cpu(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	uint64_t cpus;
	const int rc = take_cpus(args, &cpus);

	if (rc != 0)
		return rc;
	if (cpcmd_is(args->word, KEYWORD_TYPE))
		return cpcmd_invalid(args, MODULE);
	for (unsigned int cpu = 0; cpu < CP_MAX_CPUS; cpu++) {
		if (!(cpus >> cpu & 1))
			continue;
		if (cpu == 0)
			return conflict(cp, cpu, "is the base");
		if (!has(cp, cpu))
			return conflict(cp, cpu, "is not defined");
		if (cp->started >> cpu & 1)
			return conflict(cp, cpu, "runs; stop it first");
	}
	cp_set_cpus(cp, cp->cpus & ~cpus);
	show_each(cp, cpus, "detached");
	return 0;
}
