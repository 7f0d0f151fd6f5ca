/* SPDX-License-Identifier: MIT */
/* Inputs of the core as a whole: what was called from outside, called again. */
#include <string.h>

#include "bytes.h"
#include "replay_private.h"
#include "zvmlab/command.h"
#include "zvmlab/console.h"
#include "zvmlab/dcss.h"
#include "zvmlab/disk.h"
#include "zvmlab/fault.h"
#include "zvmlab/guests.h"
#include "zvmlab/hmc.h"
#include "zvmlab/monitor.h"
#include "zvmlab/page.h"
#include "zvmlab/recording.h"
#include "zvmlab/spool.h"
#include "zvmlab/state.h"
#include "zvmlab/watchdog.h"

static struct cp_insn insn_of(struct replay *r, unsigned int cpu, uint8_t amode, bool problem,
			      uint64_t *gr)
{
	if (amode != 24 && amode != 31 && amode != 64)
		replay_unusable(r, "\"amode\" is not 24, 31 or 64");
	return (struct cp_insn){ .cpu = cpu, .gr = gr, .problem = problem, .amode = amode };
}

static void iucv(struct replay *r, const json_t *record, const union input_args *in)
{
	uint64_t gr[16] = { in->iucv.gr0, in->iucv.gr1 };
	const struct cp_insn insn = insn_of(r, in->iucv.cpu, in->iucv.amode, in->iucv.problem, gr);

	(void)record;
	if (!r->all->stopped)
		cp_iucv(r->cp, &insn);
}

static void diagnose(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_diagnose *given = &in->diagnose;
	const char *code = replay_call_name(record) + strlen("diag.");
	uint64_t gr[16], number = 0;
	struct cp_insn insn = insn_of(r, given->cpu, given->amode, given->problem, gr);

	memcpy(gr, given->gr, sizeof(gr));
	insn.dat = given->has_asce;
	insn.asce = given->asce;
	if (!replay_parse_hex(code, UINT16_MAX, &number))
		replay_unusable(r, "\"%.16s\" is not a code of DIAGNOSE", code);
	if (!r->all->stopped)
		cp_diagnose(r->cp, &insn, given->r1, given->r3, (uint16_t)number);
}

static void stsi(struct replay *r, const json_t *record, const union input_args *in)
{
	uint64_t gr[16] = { in->stsi.gr[0], in->stsi.gr[1] };
	const struct cp_insn insn = { .cpu = in->stsi.cpu, .gr = gr, .amode = 64 };
	uint8_t sysib[CP_PAGE_SIZE] = { 0 };

	(void)record;
	cp_stsi(r->cp, &insn, sysib);
}

static void sthyi(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_sthyi *given = &in->sthyi;
	uint8_t response[CP_PAGE_SIZE];
	uint64_t gr[16];
	const struct cp_insn insn = { .cpu = given->cpu, .gr = gr, .amode = 64 };

	(void)record;
	memcpy(gr, given->gr, sizeof(gr));
	cp_sthyi(r->cp, &insn, given->r1, given->r2, response);
}

static void sclp(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_sclp *given = &in->sclp;
	uint8_t sccb[CP_PAGE_SIZE] = { 0 };

	if (!cp_sclp_knows(given->command) || cp_increments(r->cp).count == 0) {
		replay_unusable(r, "it has a command of SCLP's that is none for this guest's storage");
		return;
	}
	(void)record;
	put_be16(sccb, (uint16_t)given->length);
	put_be16(sccb + 8, (uint16_t)given->increment);
	cp_sclp(r->cp, given->cpu, given->command, sccb);
}

static void interrupt(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	cp_interrupt_take(r->cp, in->interrupt.cpu);
}

static void reset(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	cp_reset(r->cp);
}

static void reset_cpu(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	cp_reset_cpu(r->cp, in->reset_cpu.cpu);
}

static void cpu_ordered(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_cpu_ordered *given = &in->cpu_ordered;

	(void)record;
	if (given->from >= cp_config_of(r->cp)->cpus)
		replay_unusable(r, "\"from\" is no CPU of the machine");
	else
		cp_cpu_ordered(r->cp, given->cpu, given->from, given->sigp);
}

static void cpu_waits(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	cp_cpu_waits(r->cp, in->cpu_waits.cpu, in->cpu_waits.mask, in->cpu_waits.address);
}

static void ipl(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	cp_ipl(r->cp);
}

static void dispatch(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	iucv_dispatch_rest(r->cp);
}

/* Members that only a peer's command has. */
static void peer_command(struct replay *r, const struct input_command *given)
{
	char classes[CP_CLASSES + 1];

	if (!given->user || !given->classes)
		replay_unusable(r, "it lacks \"%s\", which a replay needs",
				given->user ? "classes" : "user");
	else if (given->user[0] == '*' || !cp_config_classes(given->classes, classes))
		replay_unusable(r, "\"user\" or \"classes\" cannot be those of a peer");
	else
		cpcmd_run_peer(r->cp, given->user, classes, given->text, given->length);
}

/* The record has the beginning of a command that is too long for CP, which looks at no more. */
static void command(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_command *given = &in->command;
	const bool guest = strcmp(given->issuer, "guest") == 0;

	(void)record;
	if (strcmp(given->issuer, "peer") == 0)
		peer_command(r, given);
	else
		cpcmd_run(r->cp, guest ? CPCMD_GUEST : CPCMD_OPERATOR, given->text, given->length);
}

static void segment_write(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_segment_write *given = &in->segment_write;
	const struct dcss *segment = dcss_find(r->cp, given->name);

	(void)record;
	if (segment)
		dcss_write(r->cp, segment, given->offset, given->data.at, given->data.len);
}

static void state_load(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_bytes *image = &in->state_load.image;
	char err[256];

	(void)record;
	/* A refused image has changed nothing: messages still point to what the peers hold. */
	if (cp_load(r->cp, image->at, image->len, err, sizeof(err)) != -1)
		replay_peers_loaded(r->all);
}

static void machine_load(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_bytes *image = &in->machine_load.image;
	char err[256];

	(void)record;
	(void)cp_load_machine(r->cp, image->at, image->len, err, sizeof(err));
}

static void recording_record(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_recording_record *given = &in->recording_record;

	(void)record;
	if (given->record.len == 0 || given->record.len > REC_MAX_RECORD)
		replay_unusable(r, "its record has not 1 to %u bytes", REC_MAX_RECORD);
	else
		recording_add(r->cp, (enum rec_service)given->service, given->record.at,
			      given->record.len);
}

static void recording_severed(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_recording_sever *given = &in->recording_sever;

	(void)record;
	recording_sever(r->cp, (enum rec_service)given->service, given->user, given->code);
}

static void recording_quiesced(struct replay *r, const json_t *record,
			       const union input_args *in)
{
	const struct input_recording_quiesce *given = &in->recording_quiesce;

	(void)record;
	recording_quiesce(r->cp, (enum rec_service)given->service, given->user, given->quiesce);
}

static void unit(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_unit *given = &in->unit;
	struct cp_unit_io io = {
		.device = given->device, .command = given->command, .chained = given->chained,
		.again = given->again, .more = given->more, .room = given->room,
	};
	const enum cp_unit_way way = cp_unit_way(r->cp, given->device, given->command);

	(void)record;
	if (way == CP_UNIT_REJECT || given->data.len > sizeof(io.data) ||
	    (way != CP_UNIT_TAKES && given->data.len > 0)) {
		replay_unusable(r, "the device has no such command, or not with this data");
		return;
	}
	io.length = (uint32_t)given->data.len;
	if (io.length > 0)
		memcpy(io.data, given->data.at, io.length);
	cp_unit(r->cp, &io);
}

static void type(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_bytes *keys = &in->console_type.data;

	(void)record;
	if (!cp_config_of(r->cp)->conmode_3215) {
		replay_unusable(r, "the guest's console is no 3215 of CP's");
		return;
	}
	console_type(r->cp, (const char *)keys->at, keys->len);
}

static void put(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_spool_put *given = &in->spool_put;
	const struct spool_put file = {
		.user = given->user, .queue = (enum spool_queue)given->queue,
		.origin = given->origin, .name = given->name, .type = given->type,
		.spool_class = given->spool_class[0], .hold = given->hold,
		.system_hold = given->system_hold, .record_length = given->record_length,
		.data = given->data.at, .len = given->data.len,
	};
	char err[256];

	(void)record;
	if (file.len > SPOOL_MAX_PUT)
		replay_unusable(r, "its data has more than %u bytes", SPOOL_MAX_PUT);
	else
		spool_put(r->cp, &file, err, sizeof(err));
}

static void limits(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	spool_limits(r->cp, in->spool_limits.pages, in->spool_limits.files);
}

static void timer(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	cp_timer(r->cp);
}

/* Its fault; what the call does is a record of its own. */
static void make_call(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	(void)fault_cuts_link(r->cp);
}

static void expire(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	watchdog_expire(r->cp);
}

static void arm(struct replay *r, const json_t *record, const union input_args *in)
{
	char err[256];

	(void)record;
	fault_arm(r->cp, in->fault_arm.rule, err, sizeof(err));
}

static void disarm(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	fault_disarm(r->cp, (int)in->fault_disarm.rule);
}

static void describe(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_guest_describe *given = &in->guest_describe;
	const struct guest_description description = {
		.name = given->user, .cpu_us = given->cpu_us, .online_us = given->online_us,
		.cpu_percent = given->cpu_percent, .storage_min = given->storage_min,
		.storage_max = given->storage_max, .storage_share = given->storage_share,
		.storage_used = given->storage_used, .cpus = given->cpus,
		.operating = given->operating, .share_max = given->share_max,
		.share = given->share, .capped = given->capped, .dedicated = given->dedicated,
		.cpu_use = given->cpu_use, .cpu_delay = given->cpu_delay,
		.page_wait = given->page_wait, .idle = given->idle, .other = given->other,
		.logged_off = given->logged_off, .group = given->group,
	};
	char err[256];

	(void)record;
	guests_describe(r->cp, &description, err, sizeof(err));
}

static void forget(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	guests_forget(r->cp, in->guest_forget.user);
}

static void out(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_page_out *given = &in->page_out;
	char err[256];

	(void)record;
	page_out(r->cp, given->address, given->pages, given->hold, err, sizeof(err));
}

static void come_in(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_page_in *given = &in->page_in;

	(void)record;
	if (given->to != PAGE_ANY_CPU && given->to >= cp_config_of(r->cp)->cpus)
		replay_unusable(r, "\"to\" is a CPU that the guest does not have");
	else
		page_in(r->cp, given->address, given->pages, given->to);
}

static void release(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	page_release(r->cp, in->page_release.fault);
}

static void thrash(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	page_thrash(r->cp, in->page_thrash.faults, in->page_thrash.depth);
}

static void fault(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_page_fault *given = &in->page_fault;

	(void)record;
	cp_page_fault(r->cp, given->cpu, given->address, given->psw, given->enabled);
}

static void external(struct replay *r, const json_t *record, const union input_args *in)
{
	struct cp_external taken;

	(void)record;
	cp_external_take(r->cp, in->external.cpu, &taken);
}

static void drive(struct replay *r, const json_t *record, const union input_args *in)
{
	char err[256];

	(void)record;
	hmc_drive(r->cp, in->hmc_drive.bytes, in->hmc_drive.read_only, err, sizeof(err));
}

static void drive_write(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_hmc_write *given = &in->hmc_write;
	char err[512];

	(void)record;
	hmc_write(r->cp, given->name, given->data.at, given->data.len, err, sizeof(err));
}

static void drive_remove(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	hmc_remove(r->cp, in->hmc_remove.name);
}

static void drive_hold(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	hmc_hold(r->cp, in->hmc_hold.hold);
}

static void drive_complete(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	hmc_complete(r->cp);
}

static void disk_blocks(struct replay *r, const json_t *record, const union input_args *in)
{
	const struct input_disk_write *given = &in->disk_write;
	char err[256];

	(void)record;
	disk_write(r->cp, given->device, given->block, given->data.at, given->data.len, err,
		   sizeof(err));
}

static void disk_holds(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	disk_hold(r->cp, in->disk_hold.hold);
}

static void disk_completes(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	disk_complete(r->cp, in->disk_complete.number);
}

static void log_on(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	if (!r->member) {
		replay_unusable(r, "a guest that is alone does not log on");
		return;
	}
	if (r->phase != REPLAY_CREATED) {
		replay_unusable(r, "the machine has logged on already");
		return;
	}
	r->phase = REPLAY_LOGGED_ON;
	cp_logon(r->cp);
}

/* Its peers go with it. */
static void log_off(struct replay *r, const json_t *record, const union input_args *in)
{
	(void)record;
	(void)in;
	if (!r->member) {
		replay_unusable(r, "a guest that is alone does not log off");
		return;
	}
	if (r->all->reset != r) {
		replay_unusable(r, "the machine logs off, and has not been reset just before");
		return;
	}
	cp_logoff(r->cp);
	cp_destroy(r->cp);
	r->cp = NULL;
	replay_peers_gone(r);
	r->phase = REPLAY_LOGGED_OFF;
}

/* The functions that give the core its inputs.  The members have been read and checked. */
static replay_give *const gives[INPUTS] = {
	[INPUT_reset] = reset,
	[INPUT_reset_cpu] = reset_cpu,
	[INPUT_cpu_ordered] = cpu_ordered,
	[INPUT_cpu_waits] = cpu_waits,
	[INPUT_ipl] = ipl,
	[INPUT_machine_logon] = log_on,
	[INPUT_machine_link] = make_call,
	[INPUT_machine_logoff] = log_off,
	[INPUT_interrupt] = interrupt,
	[INPUT_dispatch] = dispatch,
	[INPUT_iucv] = iucv,
	[INPUT_diagnose] = diagnose,
	[INPUT_stsi] = stsi,
	[INPUT_sthyi] = sthyi,
	[INPUT_sclp] = sclp,
	[INPUT_guest_describe] = describe,
	[INPUT_guest_forget] = forget,
	[INPUT_page_out] = out,
	[INPUT_page_in] = come_in,
	[INPUT_page_release] = release,
	[INPUT_page_thrash] = thrash,
	[INPUT_page_fault] = fault,
	[INPUT_external] = external,
	[INPUT_hmc_drive] = drive,
	[INPUT_hmc_write] = drive_write,
	[INPUT_hmc_remove] = drive_remove,
	[INPUT_hmc_hold] = drive_hold,
	[INPUT_hmc_complete] = drive_complete,
	[INPUT_logon] = replay_logon,
	[INPUT_logoff] = replay_logoff,
	[INPUT_attach] = replay_attach,
	[INPUT_iucv_call] = replay_call,
	[INPUT_command] = command,
	[INPUT_monitor_timer] = replay_timer,
	[INPUT_monitor_tick] = replay_tick,
	[INPUT_monitor_manual] = replay_manual,
	[INPUT_monitor_deliver] = replay_deliver,
	[INPUT_monitor_repeat] = replay_repeat,
	[INPUT_monitor_message] = replay_message,
	[INPUT_monitor_event] = replay_event,
	[INPUT_monitor_sever] = replay_sever,
	[INPUT_monitor_quiesce] = replay_quiesce,
	[INPUT_recording_record] = recording_record,
	[INPUT_recording_sever] = recording_severed,
	[INPUT_recording_quiesce] = recording_quiesced,
	[INPUT_unit] = unit,
	[INPUT_console_type] = type,
	[INPUT_spool_put] = put,
	[INPUT_spool_limits] = limits,
	[INPUT_disk_write] = disk_blocks,
	[INPUT_disk_hold] = disk_holds,
	[INPUT_disk_complete] = disk_completes,
	[INPUT_watchdog_timer] = timer,
	[INPUT_shutdown_timer] = replay_timer,
	[INPUT_watchdog_expire] = expire,
	[INPUT_fault_arm] = arm,
	[INPUT_fault_disarm] = disarm,
	[INPUT_segment_write] = segment_write,
	[INPUT_state_load] = state_load,
	[INPUT_machine_load] = machine_load,
};

void replay_input(struct replay *r, const json_t *record)
{
	const enum input input = replay_input_of(record);
	const char *call = replay_call_name(record);

	if (input == INPUTS) {
		replay_differs(r, "the core does not write the record \"%.64s\" now, and no "
			       "input has that name", call);
	} else if (r->member && r->phase == REPLAY_CREATED && input != INPUT_machine_logon &&
		   input != INPUT_segment_write) {
		replay_unusable(r, "a machine of a system logs on before it does anything");
	} else {
		replay_read(r, record, input, gives[input]);
		r->all->reset = input == INPUT_reset ? r : NULL;
	}
}
