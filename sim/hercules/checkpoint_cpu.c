/* SPDX-License-Identifier: MIT */
/* A CPU of a checkpoint. */
#include "checkpoint.h"

#include <string.h>

#include "hold.h"

/* Found anew by Hercules' clock, or when a CPU begins to look for interruptions. */
#define FOUND_ANEW (BIT(IC_INTERRUPT) | BIT(IC_IO) | BIT(IC_CLKC) | BIT(IC_PTIMER))

/* Two pages, aligned to their size (z/Architecture PoP, ch. 3). */
#define PREFIX_AREA_SIZE 8192u

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

static void numbers_state(struct state *s, struct saved_cpu *c)
{
	uint64_t *const u64s[] = { &c->px, &c->mc, &c->ea, &c->clkc, &c->cpu_timer, &c->bear,
				   &c->peradr };
	uint32_t *const u32s[] = { &c->fpc, &c->dxc, &c->todpr, &c->ints_state, &c->ints_mask };
	uint16_t *const u16s[] = { &c->monclass, &c->extccpu, &c->perc };
	uint8_t *const u8s[] = { &c->excarid, &c->opndrid, &c->peraid };

	for (size_t i = 0; i < ARRAY_LEN(u64s); i++)
		state_u64(s, u64s[i]);
	for (size_t i = 0; i < ARRAY_LEN(u32s); i++)
		state_u32(s, u32s[i]);
	for (size_t i = 0; i < ARRAY_LEN(u16s); i++)
		state_u16(s, u16s[i]);
	for (size_t i = 0; i < ARRAY_LEN(u8s); i++)
		state_u8(s, u8s[i]);
}

void saved_cpu_state(struct state *s, struct saved_cpu *c)
{
	state_tag(s, "CPU.");
	state_bool(s, &c->started);
	state_bool(s, &c->cr0_shadow);
	state_bool(s, &c->permode);
	numbers_state(s, c);
	for (size_t i = 0; i < ARRAY_LEN(c->gr); i++)
		state_u64(s, &c->gr[i]);
	for (size_t i = 0; i < ARRAY_LEN(c->cr); i++)
		state_u64(s, &c->cr[i]);
	for (size_t i = 0; i < ARRAY_LEN(c->ar); i++)
		state_u32(s, &c->ar[i]);
	for (size_t i = 0; i < ARRAY_LEN(c->fpr); i++)
		state_u32(s, &c->fpr[i]);
	state_bytes(s, c->psw, sizeof(c->psw));
	state_bytes(s, c->malfcpu, sizeof(c->malfcpu));
	state_bytes(s, c->emercpu, sizeof(c->emercpu));
}

void saved_cpu_take(struct saved_cpu *c, REGS *regs)
{
	*c = (struct saved_cpu){
		.started = hold_has(regs),
		.cr0_shadow = port->cpu[regs->cpuad].cr0_shadow,
		.permode = regs->permode,
		.px = regs->PX_G,
		.mc = regs->MC_G,
		.ea = regs->EA_G,
		.clkc = regs->clkc,
		.cpu_timer = (uint64_t)(hold_has(regs) ? *hold_cpu_timer(regs) : cpu_timer(regs)),
		.bear = regs->bear,
		.peradr = regs->peradr,
		.fpc = regs->fpc,
		.dxc = regs->dxc,
		.todpr = regs->todpr,
		.ints_state = regs->ints_state & ~FOUND_ANEW,
		.ints_mask = regs->ints_mask,
		.monclass = regs->monclass,
		.extccpu = regs->extccpu,
		.perc = regs->perc,
		.excarid = regs->excarid,
		.opndrid = regs->opndrid,
		.peraid = regs->peraid,
	};
	for (unsigned int i = 0; i < 16; i++) {
		c->gr[i] = regs->GR_G(i);
		c->cr[i] = regs->CR_G(i);
		c->ar[i] = regs->AR(i);
	}
	memcpy(c->fpr, regs->fpr, sizeof(c->fpr));
	copy_psw(regs, c->psw);
	memcpy(c->malfcpu, regs->malfcpu, sizeof(c->malfcpu));
	memcpy(c->emercpu, regs->emercpu, sizeof(c->emercpu));
}

static void set_registers(const struct saved_cpu *c, REGS *regs)
{
	for (unsigned int i = 0; i < 16; i++) {
		regs->GR_G(i) = c->gr[i];
		regs->CR_G(i) = c->cr[i];
		regs->AR(i) = c->ar[i];
	}
	memcpy(regs->fpr, c->fpr, sizeof(c->fpr));
}

/* Hercules looks for the CPU that has sent a signal until it finds one. */
static bool senders_valid(const struct saved_cpu *c)
{
	static const uint8_t none[MAX_CPUS];

	return !((c->ints_state & BIT(IC_EMERSIG)) && memcmp(c->emercpu, none, MAX_CPUS) == 0) &&
	       !((c->ints_state & BIT(IC_MALFALT)) && memcmp(c->malfcpu, none, MAX_CPUS) == 0);
}

bool saved_cpu_valid(const struct saved_cpu *c, const REGS *regs)
{
	BYTE psw[sizeof(c->psw)];
	REGS probe;

	if (!senders_valid(c) || c->px % PREFIX_AREA_SIZE != 0 || c->px > regs->mainlim - (PREFIX_AREA_SIZE - 1))
		return false;
	/* What Hercules itself copies when it looks at a PSW. */
	memcpy(&probe, regs, (size_t)sysblk.regs_copy_len);
	set_registers(c, &probe);
	memcpy(psw, c->psw, sizeof(psw));
	return z900_load_psw(&probe, psw) == 0;
}

/* Nothing has run here yet: there are no lookaside buffers to purge. */
void saved_cpu_apply(const struct saved_cpu *c, REGS *regs)
{
	BYTE psw[sizeof(c->psw)];

	regs->PX_G = c->px;
	regs->psa = (PSA_3XX *)(regs->mainstor + c->px);
	set_registers(c, regs);
	SET_AEA_COMMON(regs);
	/* No mode at all: loading the PSW finds out which one it asks for. */
	regs->aea_mode = 0xff;
	memcpy(psw, c->psw, sizeof(psw));
	z900_load_psw(regs, psw);
	regs->permode = c->permode;
	regs->ints_mask = c->ints_mask;
	regs->ints_state = c->ints_state | sysblk.ints_state | BIT(IC_INTERRUPT);
	regs->MC_G = c->mc;
	regs->EA_G = c->ea;
	regs->clkc = c->clkc;
	regs->bear = c->bear;
	regs->peradr = c->peradr;
	regs->fpc = c->fpc;
	regs->dxc = c->dxc;
	regs->todpr = c->todpr;
	regs->monclass = c->monclass;
	regs->extccpu = c->extccpu;
	regs->perc = c->perc;
	regs->excarid = c->excarid;
	regs->opndrid = c->opndrid;
	regs->peraid = c->peraid;
	memcpy(regs->malfcpu, c->malfcpu, sizeof(c->malfcpu));
	memcpy(regs->emercpu, c->emercpu, sizeof(c->emercpu));
	*hold_cpu_timer(regs) = (S64)c->cpu_timer;
	port->cpu[regs->cpuad].cr0_shadow = c->cr0_shadow;
	if (!c->started) {
		regs->cpustate = CPUSTATE_STOPPING;
		WAKEUP_CPU(regs);
	}
}
