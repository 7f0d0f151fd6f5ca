/* SPDX-License-Identifier: MIT */
/*
 * What a machine asks of CP.  The machine can change the page at any time, so a call is copied
 * before it is looked at, and checked as the emulators' own port would have it.
 */
#include "system_private.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "smaller.h"
#include "zvmlab/console.h"
#include "zvmlab/fault.h"
#include "zvmlab/state.h"

/* A page's rights are looked up for so many pages at once: most calls are the last for a while. */
#define RIGHTS_PAGES 65536u

struct request {
	struct member_call asked;
	struct member_reply reply;
	uint8_t block[CP_PAGE_SIZE];
	size_t block_len;	/* of the reply */
	struct cp_insn insn;
};

typedef void perform(struct cp_port *port, struct request *r);

static void set_result(struct request *r, struct cp_result result)
{
	r->reply.how = result.how;
	r->reply.cc = result.cc;
	r->reply.pgm = result.pgm;
}

static void do_iucv(struct cp_port *port, struct request *r)
{
	set_result(r, cp_iucv(port->cp, &r->insn));
}

static void do_diagnose(struct cp_port *port, struct request *r)
{
	set_result(r, cp_diagnose(port->cp, &r->insn, r->asked.r1, r->asked.r3,
				  (uint16_t)r->asked.code));
}

static void do_stsi(struct cp_port *port, struct request *r)
{
	set_result(r, cp_stsi(port->cp, &r->insn, r->block));
	r->block_len = sizeof(r->block);
}

static void do_sthyi(struct cp_port *port, struct request *r)
{
	set_result(r, cp_sthyi(port->cp, &r->insn, r->asked.r1, r->asked.r3, r->block));
	r->block_len = sizeof(r->block);
}

static void do_cpu_id(struct cp_port *port, struct request *r)
{
	r->reply.value = cp_cpu_id(port->cp, r->asked.cpu);
}

static void do_increments(struct cp_port *port, struct request *r)
{
	const struct cp_increments increments = cp_increments(port->cp);

	r->reply.value = increments.count;
	r->reply.end = increments.megabytes;
}

/* As the emulators' own port would have it; else the block stays as it is. */
static void do_sclp(struct cp_port *port, struct request *r)
{
	const uint16_t len = get_be16(r->block);

	if (cp_increments(port->cp).count > 0 && cp_sclp_knows(r->asked.code) && len >= 8 &&
	    len <= sizeof(r->block))
		cp_sclp(port->cp, r->asked.cpu, r->asked.code, r->block);
	r->block_len = sizeof(r->block);
}

static void do_pending(struct cp_port *port, struct request *r)
{
	r->reply.value = cp_interrupt_pending(port->cp, r->asked.cpu);
}

static void do_take(struct cp_port *port, struct request *r)
{
	bool more;

	r->reply.value = port->calls->interrupt_take(port, r->asked.cpu, &more);
	r->reply.more = more;
}

static void do_external(struct cp_port *port, struct request *r)
{
	struct cp_external external = { .code = 0 };
	bool more;

	r->reply.value = port->calls->external_take(port, r->asked.cpu, &external, &more);
	r->reply.more = more;
	r->reply.external_code = external.code;
	r->reply.external_subcode = external.subcode;
	r->reply.external_parameter32 = external.parameter32;
	r->reply.external_parameter = external.parameter;
}

static bool same(struct cp_port_page a, struct cp_port_page b)
{
	return a.access == b.access && a.out == b.out;
}

static void do_page_access(struct cp_port *port, struct request *r)
{
	const struct cp_port_page page = port->calls->page(port, r->asked.address);
	uint64_t end = page.end, last = smaller(end + RIGHTS_PAGES * (uint64_t)CP_PAGE_SIZE,
						port->ram_size);

	while (end < last && same(page, port->calls->page(port, end)))
		end += CP_PAGE_SIZE;
	r->reply.value = page.access;
	r->reply.more = page.out;
	r->reply.end = end;
}

static void do_page_fault(struct cp_port *port, struct request *r)
{
	r->reply.value = cp_page_fault(port->cp, r->asked.cpu, r->asked.address, r->asked.psw,
				       r->asked.enabled);
}

static void do_page_held(struct cp_port *port, struct request *r)
{
	r->reply.value = cp_page_held(port->cp, r->asked.cpu);
}

static void do_reset(struct cp_port *port, struct request *r)
{
	(void)r;
	cp_reset(port->cp);
}

static void do_reset_cpu(struct cp_port *port, struct request *r)
{
	cp_reset_cpu(port->cp, r->asked.cpu);
}

static void do_cpu_ordered(struct cp_port *port, struct request *r)
{
	const struct member_call *asked = &r->asked;

	if (asked->r1 < CP_ORDERS && asked->device < port->config.cpus)
		cp_cpu_ordered(port->cp, asked->cpu, asked->device, asked->r1);
}

static void do_cpu_waits(struct cp_port *port, struct request *r)
{
	cp_cpu_waits(port->cp, r->asked.cpu, r->asked.gr[0], r->asked.gr[1]);
}

static void do_ipl(struct cp_port *port, struct request *r)
{
	(void)r;
	cp_ipl(port->cp);
}

static void do_timer(struct cp_port *port, struct request *r)
{
	(void)r;
	cp_timer(port->cp);
}

static enum cp_unit_way way_of(const struct cp_port *port, const struct request *r)
{
	return cp_unit_way(port->cp, (uint16_t)r->asked.device, (uint8_t)r->asked.code);
}

static void do_unit_way(struct cp_port *port, struct request *r)
{
	r->reply.value = way_of(port, r);
}

static void do_unit_length(struct cp_port *port, struct request *r)
{
	r->reply.value = cp_unit_length(port->cp, (uint16_t)r->asked.device,
					(uint8_t)r->asked.code);
}

static void do_unit(struct cp_port *port, struct request *r)
{
	struct cp_unit_io io = {
		.device = (uint16_t)r->asked.device, .command = (uint8_t)r->asked.code,
		.chained = r->asked.enabled & MEMBER_UNIT_CHAINED,
		.again = r->asked.enabled & MEMBER_UNIT_AGAIN,
		.more = r->asked.enabled & MEMBER_UNIT_MORE,
	};
	const enum cp_unit_way way = way_of(port, r);

	*(way == CP_UNIT_GIVES ? &io.room : &io.length) = r->asked.length;
	if (way == CP_UNIT_REJECT || io.length > sizeof(io.data) || io.room > CP_UNIT_DATA ||
	    (way != CP_UNIT_TAKES && io.length > 0)) {
		r->reply.value = CP_UNIT_ENDED | CP_UNIT_CHECK;
		r->reply.sense = CP_SENSE_REJECT << 8;
		return;
	}
	memcpy(io.data, r->block, sizeof(io.data));
	cp_unit(port->cp, &io);
	r->reply.value = io.status;
	r->reply.sense = (uint32_t)io.sense[0] << 8 | io.sense[1];
	r->reply.more = io.left;
	r->reply.length = io.length;
	memcpy(r->block, io.data, sizeof(io.data));
	r->block_len = sizeof(io.data);
}

static void do_type(struct cp_port *port, struct request *r)
{
	const size_t len = smaller(r->asked.length, CP_PAGE_SIZE);

	if (cp_config_of(port->cp)->conmode_3215)
		r->reply.value = console_type(port->cp, (const char *)r->block, len);
}

static void do_has_device(struct cp_port *port, struct request *r)
{
	r->reply.value = cp_has_device(port->cp, (uint16_t)r->asked.device);
}

static void do_has_line(struct cp_port *port, struct request *r)
{
	r->reply.value = console_has_line(port->cp);
}

static void do_shown(struct cp_port *port, struct request *r)
{
	r->reply.length = (uint32_t)member_shown(port, r->block, CP_PAGE_SIZE, &r->reply.value);
	r->block_len = r->reply.length;
}

/* The time came with the call. */
static void do_clock(struct cp_port *port, struct request *r)
{
	if (!r->asked.enabled)
		member_stands(member_of(port));
}

static void do_ends(struct cp_port *port, struct request *r)
{
	(void)r;
	member_of(port)->ends = true;
}

/* Where nobody takes turns it is always one's turn. */
static void do_turn(struct cp_port *port, struct request *r)
{
	(void)port;
	(void)r;
}

/* Room for so many bytes of an image; twice as much each time, since blocks come by the thousand. */
static bool image_room(struct member *member, size_t len)
{
	size_t size = member->image_size ? member->image_size : CP_PAGE_SIZE;
	uint8_t *image;

	if (len > SYS_IMAGE_MAX)
		return false;
	while (size < len)
		size *= 2;
	if (size == member->image_size)
		return true;
	image = realloc(member->image, size);
	if (!image)
		return false;
	member->image = image;
	member->image_size = size;
	return true;
}

/* Whoever has no end, or asks for more than there is memory for, cannot go on. */
static void do_image(struct cp_port *port, struct request *r)
{
	struct member *member = member_of(port);
	const size_t more = smaller(r->asked.length, sizeof(r->block));

	if (!image_room(member, member->image_len + more)) {
		member_break(member);
		return;
	}
	memcpy(member->image + member->image_len, r->block, more);
	member->image_len += more;
}

static void do_load(struct cp_port *port, struct request *r)
{
	struct member *member = member_of(port);
	char why[MEMBER_SENTENCE_MAX] = "";

	r->reply.value = (uint64_t)-cp_load_machine(port->cp, member->image, member->image_len, why,
						    sizeof(why));
	member_drop_image(member);
	memcpy(r->block, why, sizeof(why));
	r->block_len = sizeof(why);
}

static perform *const performs[MEMBER_FUNCTIONS] = {
	[MEMBER_IUCV] = do_iucv, [MEMBER_DIAGNOSE] = do_diagnose, [MEMBER_STSI] = do_stsi,
	[MEMBER_STHYI] = do_sthyi, [MEMBER_CPU_ID] = do_cpu_id, [MEMBER_PENDING] = do_pending,
	[MEMBER_INCREMENTS] = do_increments, [MEMBER_SCLP] = do_sclp,
	[MEMBER_TAKE] = do_take, [MEMBER_EXTERNAL] = do_external,
	[MEMBER_PAGE_ACCESS] = do_page_access, [MEMBER_PAGE_FAULT] = do_page_fault,
	[MEMBER_PAGE_HELD] = do_page_held, [MEMBER_RESET] = do_reset,
	[MEMBER_RESET_CPU] = do_reset_cpu, [MEMBER_CPU_ORDERED] = do_cpu_ordered,
	[MEMBER_CPU_WAITS] = do_cpu_waits, [MEMBER_IPL] = do_ipl, [MEMBER_TIMER] = do_timer,
	[MEMBER_TYPE] = do_type, [MEMBER_HAS_LINE] = do_has_line, [MEMBER_SHOWN] = do_shown,
	[MEMBER_HAS_DEVICE] = do_has_device, [MEMBER_UNIT_WAY] = do_unit_way, [MEMBER_UNIT_LENGTH] = do_unit_length,
	[MEMBER_UNIT] = do_unit, [MEMBER_CLOCK] = do_clock, [MEMBER_ENDS] = do_ends,
	[MEMBER_TURN] = do_turn,
	[MEMBER_IMAGE] = do_image, [MEMBER_LOAD] = do_load,
};

/* What no emulator of ours says. */
static bool is_valid(const struct cp_port *port, const struct member_call *asked)
{
	return asked->function < MEMBER_FUNCTIONS && asked->cpu < port->config.cpus &&
	       asked->r1 < 16 && asked->r3 < 16 && asked->address < port->ram_size &&
	       (asked->function > MEMBER_STHYI || asked->amode == 24 || asked->amode == 31 ||
		asked->amode == 64);
}

/*
 * When a machine calls, by its own clock.  If machines take turns, it is over for one whose emulator
 * ends: whether the clock has jumped to the end of the turn by then is a matter of the host's time.
 */
static uint64_t time_of(const struct member *member, const struct member_call *asked)
{
	const bool ends = member->ends || asked->function == MEMBER_ENDS;

	return ends && member->sys->turn_ns ? member->tod : asked->tod;
}

static void prepare(struct member *member, struct request *r)
{
	const struct member_call *asked = &r->asked;

	r->insn = (struct cp_insn){
		.cpu = asked->cpu, .gr = r->reply.gr, .problem = asked->problem,
		.amode = asked->amode, .dat = asked->dat, .asce = asked->asce,
	};
	memcpy(r->reply.gr, asked->gr, sizeof(r->reply.gr));
	memcpy(member->prefix, asked->prefix, sizeof(member->prefix));
	member_set_clock(member, time_of(member, asked),
			 asked->function == MEMBER_CLOCK ? asked->enabled : member->runs);
}

void member_called(struct member *member)
{
	struct member_page *page = member->page;
	struct request r = { .block_len = 0 };

	if (member->broken)
		return;
	member->served = __atomic_load_n(&page->sides.called, __ATOMIC_ACQUIRE);
	memcpy(&r.asked, &page->call, sizeof(r.asked));
	if (!is_valid(&member->port, &r.asked) || fault_cuts_link(member->port.cp)) {
		member_break(member);
		return;
	}
	memcpy(r.block, page->block, sizeof(r.block));
	prepare(member, &r);
	member->calling = true;
	if (r.asked.function == MEMBER_TURN && member->sys->turn_ns) {
		member_asks(member);
		return;
	}
	performs[r.asked.function](&member->port, &r);
	r.reply.pause = member->port.calls->needs_pause(&member->port);
	memcpy(page->block, r.block, r.block_len);
	/* Whoever sees what it is told of should see the offer as well. */
	sys_offer(member->sys);
	member_reply(member, &r.reply);
}
