/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'0C': pseudo timer: date, time and CPU times. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bytes.h"
#include "clock.h"
#include "diag_private.h"
#include "ebcdic.h"
#include "zvmlab/storage.h"

/* Bit 51 of the TOD clock is a microsecond; its epoch is 1900-01-01. */
#define TOD_MICROSECOND_SHIFT 12
#define SECONDS_1900_TO_1970 INT64_C(2208988800)

enum {
	TIMER_DATE = 0,		/* 8: MM/DD/YY */
	TIMER_TIME = 8,		/* 8: HH:MM:SS */
	TIMER_VIRTUAL = 16,	/* 8: microseconds */
	TIMER_TOTAL = 24,	/* 8: microseconds */
	TIMER_SIZE = 32,
};

struct cp_result diag_0c_timer(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			       unsigned int r3)
{
	uint64_t addr = diag_address(insn, r1);
	uint64_t now = cp_tod(cp) >> TOD_MICROSECOND_SHIFT;
	time_t seconds = (time_t)(now / 1000000) - SECONDS_1900_TO_1970;
	uint8_t block[TIMER_SIZE];
	char text[80];
	struct fault_action action;
	struct tm tm;
	uint16_t pgm;

	(void)r3;
	if (addr % 8 != 0)
		return cp_program(PGM_SPECIFICATION);
	action = diag_fault(cp, FAULT_DIAG0C);
	if (action.kind == FAULT_PGM)
		return cp_program((uint16_t)action.value);
	if (action.kind == FAULT_DROP)
		return cp_done();
	/* The 64 bits of the TOD clock end in 2042, so that this cannot fail. */
	gmtime_r(&seconds, &tm);
	snprintf(text, sizeof(text), "%02d/%02d/%02d%02d:%02d:%02d", tm.tm_mon + 1, tm.tm_mday,
		 tm.tm_year % 100, tm.tm_hour, tm.tm_min, tm.tm_sec);
	assert(strlen(text) == TIMER_VIRTUAL - TIMER_DATE);
	ebcdic_encode(block + TIMER_DATE, text, 16);
	/* The core has one clock; a CPU that is always running has used all of it since log-on. */
	put_be64(block + TIMER_VIRTUAL, clock_connected(cp));
	put_be64(block + TIMER_TOTAL, clock_connected(cp));
	pgm = storage_write(cp, (int)insn->cpu, addr, block, sizeof(block));
	return pgm != 0 ? cp_program(pgm) : cp_done();
}
