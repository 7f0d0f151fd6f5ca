// SPDX-License-Identifier: MIT
/* Requests about programs: RUN, SPAWN, WAIT, SIGNAL. */
#include <stdlib.h>

#include "agent.h"

static void free_strings(char **list)
{
	for (char **at = list; at && *at; at++)
		free(*at);
	free(list);
}

static char **rd_strings(struct rd *in)
{
	unsigned int count = rd_u16(in);
	char **list;

	if (count > STRINGS_MAX) {
		in->bad = true;
		return NULL;
	}
	list = calloc(count + 1, sizeof(*list));
	for (unsigned int i = 0; list && i < count; i++) {
		list[i] = rd_string(in);
		if (!list[i])
			break;
	}
	return list;
}

/* Read what to start, and start it.  *@status is ST_OK if the result is a handle or -errno. */
static int64_t start(struct agent *agent, struct rd *in, struct wr *out, enum status *status)
{
	struct start how = { 0 };
	int64_t result = 0;

	how.argv = rd_strings(in);
	how.envp = rd_strings(in);
	how.cwd = rd_string(in);
	how.input = rd_bytes(in, &how.input_len);
	how.inherit = rd_u8(in) & PROC_INHERIT;
	if (!rd_done(in) || !how.argv || !how.argv[0] || !how.envp || !how.cwd) {
		*status = refuse(out, ST_MALFORMED,
				 "a program needs arguments, environment, folder, input and flags");
	} else {
		*status = ST_OK;
		result = process_start(agent->processes, &how);
	}
	free_strings(how.argv);
	free_strings(how.envp);
	free(how.cwd);
	return result;
}

enum status handle_run(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	uint32_t limit = rd_u32(in);
	enum status status;
	int64_t handle;

	(void)worker;
	if (!limit || limit > LIMIT_MAX_MS)
		return refuse(out, ST_MALFORMED, "RUN needs a time limit of 1 to 3600000 ms");
	handle = start(agent, in, out, &status);
	if (status != ST_OK)
		return status;
	wr_u32(out, handle < 0 ? (uint32_t)-handle : 0);
	if (handle >= 0)
		process_wait(agent->processes, (uint32_t)handle, limit, true, out);
	return ST_OK;
}

enum status handle_spawn(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	enum status status;
	int64_t handle = start(agent, in, out, &status);

	(void)worker;
	if (status != ST_OK)
		return status;
	wr_u32(out, handle < 0 ? (uint32_t)-handle : 0);
	wr_u32(out, handle < 0 ? 0 : (uint32_t)handle);
	return ST_OK;
}

enum status handle_wait(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	uint32_t handle = rd_u32(in), limit = rd_u32(in);
	bool end = rd_u8(in);

	(void)worker;
	if (!rd_done(in) || limit > LIMIT_MAX_MS)
		return refuse(out, ST_MALFORMED, "WAIT needs a handle, a time limit and a flag");
	wr_u32(out, 0);
	if (!process_wait(agent->processes, handle, limit, end, out))
		return refuse(out, ST_NO_PROCESS, "no such program");
	return ST_OK;
}

enum status handle_signal(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	uint32_t handle = rd_u32(in), signal = rd_u32(in);
	bool group = rd_u8(in);
	int error;

	(void)worker;
	if (!rd_done(in) || signal > 64)
		return refuse(out, ST_MALFORMED, "SIGNAL needs a handle, a signal and a flag");
	if (!process_signal(agent->processes, handle, (int)signal, group, &error))
		return refuse(out, ST_NO_PROCESS, "no such program");
	wr_u32(out, (uint32_t)error);
	return ST_OK;
}
