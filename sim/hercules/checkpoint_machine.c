/* SPDX-License-Identifier: MIT */
/* The machine's state beside its CPUs: clock, service processor, console. */
#include "checkpoint.h"

#include <string.h>

#include "hold.h"

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* Pending for whichever CPU comes first; that an I/O interruption is, cannot be saved. */
#define PENDING_FOR_ALL (BIT(IC_SERVSIG) | BIT(IC_INTKEY) | BIT(IC_ETR))

void saved_machine_state(struct state *s, struct saved_machine *m)
{
	uint64_t *const u64s[] = { &m->tod, &m->program_parameter, &m->addrlimval };
	uint32_t *const u32s[] = { &m->servparm, &m->ints_state, &m->iplcpu, &m->topology,
				   &m->topchnge, &m->sclp_receive, &m->sclp_send, &m->load_cpu };

	state_tag(s, "MACH");
	for (size_t i = 0; i < ARRAY_LEN(u64s); i++)
		state_u64(s, u64s[i]);
	for (size_t i = 0; i < ARRAY_LEN(u32s); i++)
		state_u32(s, u32s[i]);
	state_bytes(s, m->load_path, sizeof(m->load_path));
}

/* Hercules keeps what SET CHANNEL MONITOR says for each zone; guests are in one of them. */
static bool channels_measured(void)
{
	bool measured = sysblk.mbm != 0 || sysblk.mbd != 0;

	for (size_t i = 0; i < ARRAY_LEN(sysblk.zpb); i++)
		measured |= sysblk.zpb[i].mbm != 0 || sysblk.zpb[i].mbd != 0;
	return measured;
}

const char *saved_machine_take(struct saved_machine *m)
{
	const char *path;
	int cpu;

	*m = (struct saved_machine){
		.tod = hold_tod(),
		.program_parameter = sysblk.program_parameter,
		.addrlimval = sysblk.addrlimval,
		.servparm = sysblk.servparm,
		.ints_state = sysblk.ints_state & PENDING_FOR_ALL,
		.iplcpu = (uint32_t)sysblk.iplcpu,
		.topology = (uint32_t)sysblk.topology,
		.topchnge = (uint32_t)sysblk.topchnge,
	};
	if (get_tod_steering() != 0.0)
		return "the guest steers its TOD clock";
	if (channels_measured())
		return "the guest measures its channels";
	if (IS_IC_CHANRPT)
		return "a channel report is pending";
	if (sysblk.ioq || sysblk.iointq)
		return "I/O is under way";
	path = reload_path(&cpu);
	if (path && strlen(path) >= sizeof(m->load_path))
		return "the path that the guest was loaded from is too long";
	if (path) {
		strcpy(m->load_path, path);
		m->load_cpu = (uint32_t)cpu;
	}
	return sclp_masks_take(&m->sclp_receive, &m->sclp_send);
}

bool saved_machine_valid(const struct saved_machine *m)
{
	return (m->ints_state & ~PENDING_FOR_ALL) == 0 && m->iplcpu < port->own.config.cpus &&
	       m->load_cpu < port->own.config.cpus && m->topology <= TOPOLOGY_VERT &&
	       memchr(m->load_path, '\0', sizeof(m->load_path)) != NULL;
}

void saved_machine_apply_clock(const struct saved_machine *m)
{
	hold_set_tod(m->tod);
}

void saved_machine_apply(const struct saved_machine *m)
{
	sysblk.program_parameter = m->program_parameter;
	sysblk.addrlimval = m->addrlimval;
	sysblk.servparm = m->servparm;
	sysblk.ints_state |= m->ints_state;
	sysblk.iplcpu = (int)m->iplcpu;
	sysblk.topology = (int)m->topology;
	sysblk.topchnge = (int)m->topchnge;
	/* Hercules clears storage only if it does not know it to be clear. */
	sysblk.main_clear = 0;
	reload_set_path(m->load_path, (int)m->load_cpu);
}

void saved_console_state(struct state *s, struct saved_console *c)
{
	state_tag(s, "CONS");
	state_u16(s, &c->devnum);
	state_bytes(s, &c->orb, sizeof(c->orb));
	state_bytes(s, &c->pmcw, sizeof(c->pmcw));
	state_bytes(s, &c->scsw, sizeof(c->scsw));
	state_bytes(s, &c->pciscsw, sizeof(c->pciscsw));
	state_bytes(s, &c->attnscsw, sizeof(c->attnscsw));
	state_bytes(s, &c->esw, sizeof(c->esw));
	state_bytes(s, c->ecw, sizeof(c->ecw));
	state_bytes(s, c->sense, sizeof(c->sense));
	state_bytes(s, c->pgid, sizeof(c->pgid));
	state_u8(s, &c->pgstat);
}

static void copy_console(struct saved_console *c, const DEVBLK *dev)
{
	_Static_assert(sizeof(c->ecw) == sizeof(dev->ecw) && sizeof(c->sense) == sizeof(dev->sense) &&
		       sizeof(c->pgid) == sizeof(dev->pgid), "as long as Hercules' own");
	c->devnum = dev->devnum;
	c->orb = dev->orb;
	c->pmcw = dev->pmcw;
	c->scsw = dev->scsw;
	c->pciscsw = dev->pciscsw;
	c->attnscsw = dev->attnscsw;
	c->esw = dev->esw;
	memcpy(c->ecw, dev->ecw, sizeof(c->ecw));
	memcpy(c->sense, dev->sense, sizeof(c->sense));
	memcpy(c->pgid, dev->pgid, sizeof(c->pgid));
	c->pgstat = dev->pgstat;
}

const char *saved_console_take(struct saved_console *c)
{
	DEVBLK *console = console_device();
	bool idle;

	memset(c, 0, sizeof(*c));
	for (DEVBLK *dev = sysblk.firstdev; dev; dev = dev->nextdev)
		if ((dev->pmcw.flag5 & PMCW5_V) && dev != console)
			return "the machine has a device beside the console";
	/* The channel takes the device's lock first, then the one that is held here. */
	if (try_obtain_lock(&console->lock) != 0)
		return "the console is in use";
	idle = !console->busy && !IOPENDING(console) && !console->startpending &&
	       !console->suspended && !console->crwpending && !console_waits();
	if (idle)
		copy_console(c, console);
	release_lock(&console->lock);
	return idle ? NULL : "the console is in use";
}

bool saved_console_valid(const struct saved_console *c)
{
	const DEVBLK *dev = console_device();

	return c->devnum == dev->devnum &&
	       memcmp(c->pmcw.devnum, dev->pmcw.devnum, sizeof(c->pmcw.devnum)) == 0;
}

void saved_console_apply(const struct saved_console *c)
{
	DEVBLK *dev = console_device();

	dev->orb = c->orb;
	dev->pmcw = c->pmcw;
	dev->scsw = c->scsw;
	dev->pciscsw = c->pciscsw;
	dev->attnscsw = c->attnscsw;
	dev->esw = c->esw;
	memcpy(dev->ecw, c->ecw, sizeof(dev->ecw));
	memcpy(dev->sense, c->sense, sizeof(dev->sense));
	memcpy(dev->pgid, c->pgid, sizeof(dev->pgid));
	dev->pgstat = c->pgstat;
	dev->priority = (dev->pmcw.flag4 & PMCW4_ISC) >> 3;
	/* That the device is new was reported to this guest long ago. */
	dev->crwpending = 0;
	OFF_IC_CHANRPT;
}
