/* SPDX-License-Identifier: MIT */
/*
 * The instructions that CP executes for its guest: registers in, condition code
 * or program interruption out.
 */
#include "insn.h"

#include <string.h>

#include "bytes.h"

/* Facility bit of STHYI. */
#define FACILITY_STHYI 74
/* The code of the CPUs' topology, which CP does not give to a guest. */
#define FACILITY_TOPOLOGY 11

/* Hercules' headers do not declare it. */
BYTE *get_stfl_data(int mode, int *len);

/* The space of logical addresses; without access registers, that is their ALET 0. */
static uint64_t asce_of(REGS *regs)
{
	unsigned int cr = SECONDARY_SPACE_MODE(&regs->psw) ? 7 : HOME_SPACE_MODE(&regs->psw) ? 13 : 1;

	return regs->CR_G(cr);
}

static struct cp_insn insn_of(REGS *regs)
{
	return (struct cp_insn){
		.cpu = regs->cpuad,
		.gr = (uint64_t *)regs->gr,
		.problem = PROBSTATE(&regs->psw),
		.amode = regs->psw.amode64 ? 64 : regs->psw.amode ? 31 : 24,
		.dat = !REAL_MODE(&regs->psw),
		.asce = asce_of(regs),
	};
}

uint64_t insn_operand(const BYTE inst[], const REGS *regs)
{
	unsigned int base = inst[2] >> 4;
	uint64_t addr = (uint64_t)(inst[2] & 0xf) << 8 | inst[3];

	if (base != 0)
		addr += regs->GR_G(base);
	return addr;
}

static void program_interrupt(REGS *regs, uint16_t pgm)
{
	/* The CP's operands have no virtual address that could be reported. */
	if (pgm == PGM_PROTECTION)
		regs->TEA = 0;
	regs->program_interrupt(regs, pgm);
}

/*
 * All of them have four bytes.  The address has to be the next one's before the lock
 * is asked for, as with Hercules' own: while a CPU waits for it, another one that
 * purges may turn the address into the PSW's, and the instruction would be executed again.
 */
static void begin(REGS *regs)
{
	INST_UPDATE_PSW(regs, 4, 4);
}

/* Return: false if it is Hercules', which begins anew. */
static bool finish(REGS *regs, struct cp_result result)
{
	if (result.how == CP_PASS) {
		UPD_PSW_IA(regs, PSW_IA(regs, -4));
		return false;
	}
	if (result.how == CP_CC)
		regs->psw.cc = result.cc;
	if (result.how == CP_PROGRAM)
		program_interrupt(regs, result.pgm);
	return true;
}

/* Lets the control socket's clients read what the guest has made. */
static void end_call(void)
{
	const bool pause = port->own.calls->needs_pause(&port->own);

	port_unlock();
	if (pause)
		cp_port_pause();
}

DEF_INST(zvmlab_iucv)
{
	struct cp_insn insn = insn_of(regs);
	struct cp_result result;

	if (!port) {
		z900_inter_user_communication_vehicle(inst, regs);
		return;
	}
	begin(regs);
	port_lock(regs);
	result = port->own.calls->iucv(&port->own, &insn);
	end_call();
	finish(regs, result);
}

DEF_INST(zvmlab_diagnose)
{
	struct cp_insn insn = insn_of(regs);
	uint16_t code = (uint16_t)insn_operand(inst, regs);
	struct cp_result result = { .how = CP_PASS };
	unsigned int r1 = inst[1] >> 4, r3 = inst[1] & 0xf;

	begin(regs);
	if (port && code == DIAG_IPL && !insn.problem) {
		if (reload_request(regs, insn.gr[r3])) {
			finish(regs, (struct cp_result){ .how = CP_DONE });
			longjmp(regs->progjmp, SIE_NO_INTERCEPT);
		}
		if (reload_parameters(insn.gr, r1, insn.gr[r3])) {
			finish(regs, (struct cp_result){ .how = CP_DONE });
			return;
		}
	}
	if (port) {
		port_lock(regs);
		result = port->own.calls->diagnose(&port->own, &insn, r1, r3, code);
		end_call();
	}
	if (!finish(regs, result))
		z900_diagnose(inst, regs);
}

DEF_INST(zvmlab_store_system_information)
{
	struct cp_insn insn = insn_of(regs);
	struct cp_result result = { .how = CP_PASS };
	uint64_t addr = insn_operand(inst, regs) & ADDRESS_MAXWRAP(regs);
	uint8_t sysib[CP_PAGE_SIZE] = { 0 };
	bool stores = false;

	begin(regs);
	if (port) {
		port_lock(regs);
		result = cp_port_stsi(&port->own, &insn, addr, sysib, &stores);
		port_unlock();
	}
	if (!finish(regs, result)) {
		z900_store_system_information(inst, regs);
		return;
	}
	if (stores)
		memcpy(MADDR(addr, inst[2] >> 4, regs, ACCTYPE_WRITE, regs->psw.pkey), sysib,
		       sizeof(sysib));
}

/* Hercules has one number for all CPUs, which its operator configures. */
DEF_INST(zvmlab_store_cpu_id)
{
	const uint64_t addr = insn_operand(inst, regs) & ADDRESS_MAXWRAP(regs);
	uint8_t id[8];

	if (!port || PROBSTATE(&regs->psw) || addr % sizeof(id) != 0) {
		z900_store_cpu_id(inst, regs);
		return;
	}
	INST_UPDATE_PSW(regs, 4, 4);
	put_be64(id, port->own.calls->cpu_id(&port->own, regs->cpuad));
	memcpy(MADDR(addr, inst[2] >> 4, regs, ACCTYPE_WRITE, regs->psw.pkey), id, sizeof(id));
}

DEF_INST(zvmlab_store_hypervisor_information)
{
	const unsigned int r1 = inst[3] >> 4, r2 = inst[3] & 0xf;
	struct cp_insn insn = insn_of(regs);
	uint8_t response[CP_PAGE_SIZE];
	struct cp_result result;
	uint64_t gr[16], addr;

	if (!port) {
		z900_operation_exception(inst, regs);
		return;
	}
	addr = insn.gr[r2] & ADDRESS_MAXWRAP(regs);
	memcpy(gr, insn.gr, sizeof(gr));
	insn.gr = gr;
	begin(regs);
	port_lock(regs);
	result = port->own.calls->sthyi(&port->own, &insn, r1, r2, response);
	port_unlock();
	if (result.how == CP_CC && result.cc == 0)
		memcpy(MADDR(addr, r2, regs, ACCTYPE_WRITE, regs->psw.pkey), response,
		       sizeof(response));
	if (result.how == CP_CC)
		memcpy(regs->gr, gr, sizeof(gr));
	finish(regs, result);
}

bool insn_set_facilities(void)
{
	int len;
	BYTE *list = get_stfl_data(ARCH_900, &len);

	if (len <= FACILITY_STHYI / 8)
		return false;
	list[FACILITY_STHYI / 8] |= 0x80 >> FACILITY_STHYI % 8;
	list[FACILITY_TOPOLOGY / 8] &= (BYTE)~(0x80 >> FACILITY_TOPOLOGY % 8);
	return true;
}
