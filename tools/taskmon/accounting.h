/* SPDX-License-Identifier: MIT */
/*
 * Which fields of struct taskstats the kernel counts.  It sends 0 for those that it does not count,
 * so that a 0 means something only together with what is known here.
 *
 * Waits other than for a CPU are counted for tasks that began while kernel.task_delayacct was on, and
 * only as long as it is on.  Since when it has been on the kernel does not tell, but tasks that begin after
 * it was seen to be on are counted, and so is who has waits.
 * If it was on, off, and on again before anybody looked, nothing shows that the latter lacks some.
 *
 * Pure.  Times are in any unit, the same for all calls.
 */
#ifndef TASKMON_ACCOUNTING_H
#define TASKMON_ACCOUNTING_H

#include "delayacct.h"
#include "stats.h"

/* The kernel's gaps, as bits; stored in recordings, so values stay. */
enum accounting_lack {
	ACCOUNTING_NO_DELAYS = 1,	/* without CONFIG_TASK_DELAY_ACCT not even CPU time */
	ACCOUNTING_NO_EXTENDED = 2,	/* CONFIG_TASK_XACCT: storage, characters, calls */
	ACCOUNTING_NO_IO = 4,		/* CONFIG_TASK_IO_ACCOUNTING */
};

struct accounting {
	enum stats_order order;		/* of the kernel's machine */
	unsigned int lacks;		/* enum accounting_lack */
	enum delayacct_state state;	/* when somebody looked last */
	bool looked;
	uint64_t since;			/* waits of what began then or later are counted */
	uint64_t off;			/* when they were last seen to be off; 0: never */
	unsigned int changes;		/* between on and off that were seen */
};

/* Nobody has looked yet. */
#define ACCOUNTING_NONE { .order = STATS_OWN_ORDER, .since = UINT64_MAX }

/* What the kernel lacks, by what it tells of a running task of a program; @has_io: of /proc/PID/io. */
unsigned int accounting_lacks(const struct stats *own, bool has_io);

/* Somebody has looked, at this time. */
void accounting_look(struct accounting *accounting, enum delayacct_state state, uint64_t now);

/* Makes absent what is not counted of a task that began then. */
void accounting_apply(const struct accounting *accounting, struct stats *stats, uint64_t begin);

/*
 * The same of a record of a message about an exit that was read then, in ns since 1970, which is the
 * unit of all times.
 */
void accounting_message(const struct accounting *accounting, struct stats_record *record,
			uint64_t time_ns);

/* Makes the waits absent of which something was counted, and something not. */
void accounting_forget_waits(struct stats *stats);

#endif
