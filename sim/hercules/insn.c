/* SPDX-License-Identifier: MIT */
/*
 * The instructions that CP executes for its guest: registers in, condition code
 * or program interruption out.
 */
#include "insn.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "ebcdic.h"

/* Facility bit of STHYI. */
#define FACILITY_STHYI 74
#define EBCDIC_ZERO 0xf0

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
	const bool pause = cp_port_needs_pause(&port->own);

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
	result = cp_iucv(port->own.cp, &insn);
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
		result = cp_diagnose(port->own.cp, &insn, r1, r3, code);
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

/* What Hercules' STSI says of levels 1 and 2, as the operator has configured it. */
static struct cp_machine machine_now(void)
{
	const uint16_t cpus = (uint16_t)sysblk.cpus;
	struct cp_machine machine = { .partition = { 0, 1 } };
	char number[7];

	get_manufacturer(machine.manufacturer);
	get_plant(machine.plant);
	get_lparname(machine.name);
	/* The CPU's version, its serial number, the machine's type. */
	snprintf(number, sizeof(number), "%04X", (unsigned int)(sysblk.cpuid >> 16 & 0xffff));
	ebcdic_encode(machine.type, number, sizeof(machine.type));
	memset(machine.sequence, EBCDIC_ZERO, sizeof(machine.sequence));
	snprintf(number, sizeof(number), "%06X", (unsigned int)(sysblk.cpuid >> 32 & 0xffffff));
	ebcdic_encode(machine.sequence + sizeof(machine.sequence) - 6, number, 6);
	put_be16(machine.shared, cpus);
	return machine;
}

DEF_INST(zvmlab_store_hypervisor_information)
{
	const unsigned int r1 = inst[3] >> 4, r2 = inst[3] & 0xf;
	struct cp_insn insn = insn_of(regs);
	uint8_t response[CP_PAGE_SIZE];
	struct cp_machine machine;
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
	machine = machine_now();
	result = cp_sthyi(port->own.cp, &insn, r1, r2, &machine, response);
	port_unlock();
	if (result.how == CP_CC && result.cc == 0)
		memcpy(MADDR(addr, r2, regs, ACCTYPE_WRITE, regs->psw.pkey), response,
		       sizeof(response));
	if (result.how == CP_CC)
		memcpy(regs->gr, gr, sizeof(gr));
	finish(regs, result);
}

bool insn_add_facilities(void)
{
	int len;
	BYTE *list = get_stfl_data(ARCH_900, &len);

	if (len <= FACILITY_STHYI / 8)
		return false;
	list[FACILITY_STHYI / 8] |= 0x80 >> FACILITY_STHYI % 8;
	return true;
}
