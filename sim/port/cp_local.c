/* SPDX-License-Identifier: MIT */
/* CP in the emulator's own process: each call is one of the core's. */
#include "cp_port.h"

#include "zvmlab/console.h"
#include "zvmlab/state.h"

static struct cp_result iucv(struct cp_port *port, const struct cp_insn *insn)
{
	return cp_iucv(port->cp, insn);
}

static struct cp_result diagnose(struct cp_port *port, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3, uint16_t code)
{
	return cp_diagnose(port->cp, insn, r1, r3, code);
}

static struct cp_result stsi(struct cp_port *port, const struct cp_insn *insn,
			     uint8_t sysib[CP_PAGE_SIZE])
{
	return cp_stsi(port->cp, insn, sysib);
}

static struct cp_result sthyi(struct cp_port *port, const struct cp_insn *insn, unsigned int r1,
			      unsigned int r2, uint8_t response[CP_PAGE_SIZE])
{
	return cp_sthyi(port->cp, insn, r1, r2, response);
}

static uint64_t cpu_id(struct cp_port *port, unsigned int cpu)
{
	return cp_cpu_id(port->cp, cpu);
}

static struct cp_increments increments(struct cp_port *port)
{
	return cp_increments(port->cp);
}

static void sclp(struct cp_port *port, unsigned int cpu, uint32_t command,
		 uint8_t sccb[CP_PAGE_SIZE])
{
	cp_sclp(port->cp, cpu, command, sccb);
}

static bool interrupt_pending(struct cp_port *port, unsigned int cpu)
{
	return cp_interrupt_pending(port->cp, cpu);
}

static bool interrupt_take(struct cp_port *port, unsigned int cpu, bool *more)
{
	const bool taken = cp_interrupt_take(port->cp, cpu);

	*more = taken && cp_interrupt_pending(port->cp, cpu);
	return taken;
}

static bool external_take(struct cp_port *port, unsigned int cpu, struct cp_external *external,
			  bool *more)
{
	const bool taken = cp_external_take(port->cp, cpu, external);

	*more = taken && cp_external_pending(port->cp, cpu);
	return taken;
}

static struct cp_port_page page(struct cp_port *port, uint64_t addr)
{
	return (struct cp_port_page){
		.access = cp_page_access(port->cp, addr),
		.out = cp_page_is_out(port->cp, addr),
		.end = addr / CP_PAGE_SIZE * CP_PAGE_SIZE + CP_PAGE_SIZE,
	};
}

static enum cp_paging page_fault(struct cp_port *port, unsigned int cpu, uint64_t addr,
				 uint64_t psw, bool enabled)
{
	return cp_page_fault(port->cp, cpu, addr, psw, enabled);
}

static bool page_held(struct cp_port *port, unsigned int cpu)
{
	return cp_page_held(port->cp, cpu);
}

static void reset(struct cp_port *port)
{
	cp_reset(port->cp);
}

static void reset_cpu(struct cp_port *port, unsigned int cpu)
{
	cp_reset_cpu(port->cp, cpu);
}

static void cpu_ordered(struct cp_port *port, unsigned int cpu, unsigned int from,
			enum cp_order order)
{
	cp_cpu_ordered(port->cp, cpu, from, order);
}

static void cpu_waits(struct cp_port *port, unsigned int cpu, uint64_t mask, uint64_t address)
{
	cp_cpu_waits(port->cp, cpu, mask, address);
}

static void ipl(struct cp_port *port)
{
	cp_ipl(port->cp);
}

static void timer(struct cp_port *port)
{
	cp_timer(port->cp);
}

static bool has_device(struct cp_port *port, uint16_t device)
{
	return cp_has_device(port->cp, device);
}

static enum cp_unit_way unit_way(struct cp_port *port, uint16_t device, uint8_t command)
{
	return cp_unit_way(port->cp, device, command);
}

static uint32_t unit_length(struct cp_port *port, uint16_t device, uint8_t command)
{
	return cp_unit_length(port->cp, device, command);
}

static void unit(struct cp_port *port, struct cp_unit_io *io)
{
	cp_unit(port->cp, io);
}

static size_t type(struct cp_port *port, const char *keys, size_t len)
{
	return console_type(port->cp, keys, len);
}

static bool has_line(struct cp_port *port)
{
	return console_has_line(port->cp);
}

static uint8_t *save(struct cp_port *port, size_t *len)
{
	return cp_save(port->cp, len);
}

static int load(struct cp_port *port, const uint8_t *image, size_t len, char *err, size_t errlen)
{
	const int result = cp_load(port->cp, image, len, err, errlen);

	/* An image that was refused has changed nothing. */
	if (result != -1)
		ctl_reattach(port->ctl);
	return result;
}

/* The core asks for the time whenever it wants to know it. */
static void running(struct cp_port *port, bool runs)
{
	(void)port;
	(void)runs;
}

static void ends(struct cp_port *port)
{
	(void)port;
}

/* It is alone. */
static uint64_t turn(struct cp_port *port)
{
	return port->turn_ns;
}

static void attach(struct cp_port *port)
{
	if (port->ctl)
		ctl_attach(port->ctl, port->cp);
}

static int fd(const struct cp_port *port)
{
	return port->ctl ? ctl_fd(port->ctl) : -1;
}

static void dispatch(struct cp_port *port)
{
	ctl_dispatch(port->ctl);
}

/* Whatever CP has to tell it does at once. */
static bool look(struct cp_port *port, bool (*idle)(const void *cpu), const void *cpu)
{
	(void)port;
	(void)idle;
	(void)cpu;
	return false;
}

static bool needs_pause(struct cp_port *port)
{
	return ctl_needs_pause(port->ctl);
}

const struct cp_calls cp_calls_local = {
	.iucv = iucv, .diagnose = diagnose, .stsi = stsi, .sthyi = sthyi, .cpu_id = cpu_id,
	.increments = increments, .sclp = sclp,
	.interrupt_pending = interrupt_pending, .interrupt_take = interrupt_take,
	.external_take = external_take, .page = page, .page_fault = page_fault,
	.page_held = page_held, .reset = reset, .reset_cpu = reset_cpu,
	.cpu_ordered = cpu_ordered, .cpu_waits = cpu_waits, .ipl = ipl,
	.timer = timer, .has_device = has_device,
	.unit_way = unit_way, .unit_length = unit_length, .unit = unit,
	.console_type = type, .console_has_line = has_line, .save = save, .load = load,
	.running = running, .ends = ends, .turn = turn, .attach = attach, .fd = fd,
	.dispatch = dispatch, .look = look,
	.needs_pause = needs_pause,
};
