// SPDX-License-Identifier: MIT
/* Which request goes where: the table of all handlers. */
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent.h"

static enum status handle_hello(struct agent *agent, struct worker *worker, struct rd *in,
				struct wr *out)
{
	struct utsname name;

	(void)worker;
	if (!rd_done(in))
		return refuse(out, ST_MALFORMED, "HELLO has no operands");
	uname(&name);
	wr_u16(out, PROTO_VERSION);
	wr_u8(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	wr_u8(out, agent->machine);
	wr_u32(out, (uint32_t)getpid());
	wr_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	wr_u32(out, REQUEST_MAX);
	wr_u32(out, REPLY_MAX);
	wr_u32(out, workers_busy(agent));
	wr_bytes(out, name.release, (uint32_t)strlen(name.release));
	wr_bytes(out, name.machine, (uint32_t)strlen(name.machine));
	return ST_OK;
}

static enum status handle_interrupt(struct agent *agent, struct worker *worker, struct rd *in,
				    struct wr *out)
{
	unsigned int which = rd_u16(in);
	bool restart = rd_u8(in), sent;
	unsigned int executed;

	(void)worker;
	if (!rd_done(in) || which >= WORKERS)
		return refuse(out, ST_MALFORMED, "INTERRUPT needs a worker and a flag");
	sent = worker_interrupt(agent, which, restart ? SIG_RESTART : SIG_INTERRUPT, &executed);
	wr_u8(out, sent);
	wr_u16(out, (uint16_t)executed);
	return ST_OK;
}

struct route {
	handler *handle;
	bool at_once;		/* by the thread that reads: must not sleep */
};

static const struct route *route_of(uint16_t type)
{
	static const struct route table[] = {
		[REQ_HELLO] = { handle_hello, true },
		[REQ_BATCH] = { handle_batch, false },
		[REQ_RUN] = { handle_run, false },
		[REQ_SPAWN] = { handle_spawn, false },
		[REQ_WAIT] = { handle_wait, false },
		[REQ_SIGNAL] = { handle_signal, true },
		[REQ_DRAIN] = { handle_drain, false },
		[REQ_INSMOD] = { handle_insmod, false },
		[REQ_RMMOD] = { handle_rmmod, false },
		[REQ_READ_FILE] = { handle_read_file, false },
		[REQ_WRITE_FILE] = { handle_write_file, false },
		[REQ_KLOG] = { handle_klog, false },
		[REQ_INTERRUPT] = { handle_interrupt, true },
		[REQ_SETTLE] = { handle_settle, false },
	};

	if (type >= sizeof(table) / sizeof(table[0]) || !table[type].handle)
		return NULL;
	return &table[type];
}

bool agent_at_once(uint16_t type)
{
	const struct route *route = route_of(type);

	return !route || route->at_once;
}

void agent_execute(struct agent *agent, struct worker *worker, const struct request *req,
		   struct wr *out)
{
	const struct route *route = route_of(req->type);
	/* Handlers may change the payload in place; it is theirs alone. */
	uint8_t *payload = (uint8_t *)(uintptr_t)req->payload;
	struct rd in = { payload, payload + req->len, false };
	enum status status;

	out->len = FRAME_HEADER;
	status = route ? route->handle(agent, worker, &in, out)
		       : refuse(out, ST_UNKNOWN, "no such request");
	if (out->full)
		status = refuse(out, ST_LIMIT, "the reply exceeds its limit");
	if (worker)
		worker_done(worker);
	link_reply(&agent->link, req, status, out);
}
