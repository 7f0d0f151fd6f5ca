/* SPDX-License-Identifier: MIT */
/* Instructions of Hercules' that need something before or after. */
#include "insn.h"

#include <string.h>

#define SIGP_ORDER 0xff

#define PREFIX_MASK UINT64_C(0x7fffe000)
#define STATUS_MASK UINT64_C(0x7ffffe00)
#define STATUS_AREA 512u
#define BEYOND 0x7fffe000u	/* behind Hercules' storage, unless that has 2 GiB */

typedef void instruction(BYTE inst[], REGS *regs);

/*
 * Execute Hercules' own and come back also if it leaves by longjmp, as after a
 * program interruption and where it wants interruptions looked for.
 * Return: 0, or the value that leave() goes on with.
 */
static int enclosed(instruction *own, BYTE inst[], REGS *regs)
{
	jmp_buf outer;
	int how;

	memcpy(&outer, &regs->progjmp, sizeof(outer));
	how = setjmp(regs->progjmp);
	if (how == 0)
		own(inst, regs);
	memcpy(&regs->progjmp, &outer, sizeof(outer));
	return how;
}

static void leave(REGS *regs, int how)
{
	if (how != 0)
		longjmp(regs->progjmp, how);
}

/* Do the registers R1 to R3 include control register 0? */
static bool has_cr0(const BYTE inst[])
{
	unsigned int r1 = inst[1] >> 4, r3 = inst[1] & 0xf;

	return r1 == 0 || r3 < r1;
}

/* CR0 as the guest has loaded it. */
static void hide_shadow(REGS *regs)
{
	uint64_t own = port->cpu[regs->cpuad].cr0_shadow ? CR0_SHADOW : 0;

	regs->CR_G(0) = (regs->CR_G(0) & ~CR0_SHADOW) | own;
}

/* The mask of the subclass that stands for IUCV's follows IUCV's own. */
static void set_shadow(REGS *regs)
{
	struct port_cpu *cpu = &port->cpu[regs->cpuad];
	uint64_t cr0 = regs->CR_G(0);

	cpu->cr0_shadow = cr0 & CR0_SHADOW;
	cr0 &= ~CR0_SHADOW;
	regs->CR_G(0) = cr0 & CR0_IUCV ? cr0 | CR0_SHADOW : cr0;
	SET_IC_MASK(regs);
}

static void control(instruction *own, BYTE inst[], REGS *regs)
{
	int how;

	if (!port || !has_cr0(inst)) {
		own(inst, regs);
		return;
	}
	hide_shadow(regs);
	how = enclosed(own, inst, regs);
	set_shadow(regs);
	leave(regs, how);
}

DEF_INST(zvmlab_load_control)
{
	control(z900_load_control, inst, regs);
}

DEF_INST(zvmlab_load_control_long)
{
	control(z900_load_control_long, inst, regs);
}

DEF_INST(zvmlab_store_control)
{
	control(z900_store_control, inst, regs);
}

DEF_INST(zvmlab_store_control_long)
{
	control(z900_store_control_long, inst, regs);
}

/* Does the guest have storage at all of these absolute addresses, with this right to it? */
static bool reachable(uint64_t addr, uint64_t len, enum cp_access needed)
{
	for (uint64_t page = addr & -(uint64_t)CP_PAGE_SIZE; page < addr + len; page += CP_PAGE_SIZE)
		if (storage_access(page) < needed)
			return false;
	return true;
}

static bool names_no_place(uint64_t order, uint64_t at)
{
	if (order == SIGP_SETPREFIX)
		return !reachable(at & PREFIX_MASK, PREFIX_AREA, CP_ACCESS_READ);
	return order == SIGP_STORE &&
	       !reachable(at & STATUS_MASK, STATUS_AREA, CP_ACCESS_WRITE);
}

/*
 * Hercules looks at the end of its storage only.  It is given a place behind that, and
 * refuses it, if the CPU is there and has stopped.
 */
static void signal_without_place(BYTE inst[], REGS *regs)
{
	const unsigned int r1 = inst[1] >> 4, r = r1 | 1;
	const uint32_t given = regs->GR_L(r);
	int how;

	regs->GR_L(r) = BEYOND;
	how = enclosed(z900_signal_processor, inst, regs);
	/* An odd R1 has the status as well. */
	if (r1 != r || regs->psw.cc != 1)
		regs->GR_L(r) = given;
	leave(regs, how);
}

/* A guest that has stopped its last CPU has ended. */
DEF_INST(zvmlab_signal_processor)
{
	uint64_t order = insn_operand(inst, regs) & SIGP_ORDER;
	int how;

	if (port && regs->mainlim < BEYOND && names_no_place(order, regs->GR_L((inst[1] >> 4) | 1))) {
		signal_without_place(inst, regs);
		return;
	}
	if (!port || (order != SIGP_STOP && order != SIGP_STOPSTORE)) {
		z900_signal_processor(inst, regs);
		return;
	}
	how = enclosed(z900_signal_processor, inst, regs);
	service_cpu_stops();
	leave(regs, how);
}

/* Here, too, Hercules looks at the end of its storage only. */
DEF_INST(zvmlab_set_prefix)
{
	uint64_t addr = insn_operand(inst, regs) & ADDRESS_MAXWRAP(regs);

	if (port && !PROBSTATE(&regs->psw) && addr % 4 == 0 &&
	    !reachable(z900_vfetch4(addr, inst[2] >> 4, regs) & PREFIX_MASK, PREFIX_AREA,
		       CP_ACCESS_READ)) {
		INST_UPDATE_PSW(regs, 4, 4);
		regs->program_interrupt(regs, PGM_ADDRESSING_EXCEPTION);
	}
	z900_set_prefix(inst, regs);
}

/*
 * With both masks this is how a guest puts its stores before its fetches (z/Architecture
 * PoP, ch. 5).  Hercules lets this machine order them, which may fetch first: a guest of
 * two CPUs then loses a wake-up now and then.
 */
DEF_INST(zvmlab_branch_on_condition_register)
{
	if (inst[1] == 0xf0 || inst[1] == 0xe0)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	z900_branch_on_condition_register(inst, regs);
}

/* Hercules looks at keys and at translation tables only. */
DEF_INST(zvmlab_test_protection)
{
	enum cp_access access;

	z900_test_protection(inst, regs);
	if (!port || regs->psw.cc == 3)
		return;
	access = storage_access(APPLY_PREFIXING(regs->dat.raddr, regs->PX));
	if (access == CP_ACCESS_NONE)
		regs->program_interrupt(regs, PGM_ADDRESSING_EXCEPTION);
	if (access == CP_ACCESS_READ && regs->psw.cc == 0)
		regs->psw.cc = 1;
}

/* Hercules has keys for all of its storage, also where the guest has none. */
static void storage_key(instruction *own, BYTE inst[], REGS *regs)
{
	uint64_t addr = regs->GR_G(inst[3] & 0xf) & ADDRESS_MAXWRAP(regs);

	if (port && !PROBSTATE(&regs->psw) &&
	    storage_access(APPLY_PREFIXING(addr, regs->PX)) == CP_ACCESS_NONE) {
		INST_UPDATE_PSW(regs, 4, 4);
		regs->program_interrupt(regs, PGM_ADDRESSING_EXCEPTION);
	}
	own(inst, regs);
}

DEF_INST(zvmlab_insert_storage_key_extended)
{
	storage_key(z900_insert_storage_key_extended, inst, regs);
}

DEF_INST(zvmlab_set_storage_key_extended)
{
	storage_key(z900_set_storage_key_extended, inst, regs);
}

DEF_INST(zvmlab_reset_reference_bit_extended)
{
	storage_key(z900_reset_reference_bit_extended, inst, regs);
}
