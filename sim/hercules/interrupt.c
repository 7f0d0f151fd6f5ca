/* SPDX-License-Identifier: MIT */
/*
 * External interruption X'4000': made pending, and presented.
 *
 * Hercules has no bit for it in its words of pending and enabled interruptions.
 * The port uses that of a subclass which z/Architecture no longer has, and keeps
 * the subclass mask of that one, CR0 bit 51, equal to IUCV's, bit 62 (control.c).
 * So all of Hercules that looks for enabled interruptions, waits included, knows
 * of this one.
 */
#include "hold.h"

void (*hercules_external)(REGS *regs);
void (*hercules_process)(REGS *regs);

/* Subclasses that come before IUCV's; service signal comes after it. */
#define AHEAD (BIT(IC_INTKEY) | BIT(IC_MALFALT) | BIT(IC_EMERSIG) | BIT(IC_EXTCALL) | \
	       BIT(IC_CLKC) | BIT(IC_PTIMER))

void interrupt_kick(unsigned int cpu)
{
	REGS *regs = sysblk.regs[cpu];

	if (!regs)
		return;
	regs->ints_state |= BIT(IC_IUCV);
	if (regs->ints_mask & BIT(IC_IUCV)) {
		regs->ints_state |= BIT(IC_INTERRUPT);
		WAKEUP_CPU(regs);
	}
}

/* Exchange PSWs; does not return.  The lock is released on the way. */
static void present(REGS *regs)
{
	PSA *psa = (PSA *)(regs->mainstor + regs->PX);
	int pgm;

	STORAGE_KEY(regs->PX, regs) |= STORKEY_REF | STORKEY_CHANGE;
	regs->psw.intcode = EXT_IUCV;
	STORE_HW(psa->extcpad, 0);
	STORE_HW(psa->extint, EXT_IUCV);
	z900_store_psw(regs, psa->extold);
	pgm = z900_load_psw(regs, psa->extnew);
	port_unlock();
	if (pgm != 0)
		regs->program_interrupt(regs, pgm);
	longjmp(regs->progjmp, SIE_NO_INTERCEPT);
}

/* Return only if there is nothing (any more) that this CPU is enabled for. */
static void take(REGS *regs)
{
	bool taken, more;

	if (!(regs->ints_state & regs->ints_mask & BIT(IC_IUCV)))
		return;
	taken = port->own.calls->interrupt_take(&port->own, regs->cpuad, &more);
	if (!more)
		regs->ints_state &= ~BIT(IC_IUCV);
	if (taken)
		present(regs);
}

/* The lock is held, the PSW allows external interruptions. */
void interrupt_external(REGS *regs)
{
	if (port_has_cp() && !(regs->ints_state & regs->ints_mask & AHEAD))
		take(regs);
	/* Does not come back if it had an interruption to present. */
	hercules_external(regs);
	if (port_has_cp())
		take(regs);
}

/*
 * A CPU that stops loses what Hercules has noted as pending for it alone.  The
 * first time it comes here afterwards, the CP is asked whether there was something.
 */
void interrupt_process(REGS *regs)
{
	struct port_cpu *cpu;

	if (port_has_cp()) {
		hold_here(regs);
		cpu = &port->cpu[regs->cpuad];
		if (regs->cpustate != CPUSTATE_STARTED) {
			cpu->stopped = true;
		} else if (cpu->stopped) {
			cpu->stopped = false;
			port_lock(regs);
			if (port->own.calls->interrupt_pending(&port->own, regs->cpuad))
				interrupt_kick(regs->cpuad);
			port_unlock();
		}
	}
	hercules_process(regs);
}
