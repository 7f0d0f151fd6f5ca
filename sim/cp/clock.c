/* SPDX-License-Identifier: MIT */
/* Dates and times as CP writes them, and since when it runs. */
#include "clock.h"

#include "cp_private.h"

static bool leap(unsigned int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

struct clock_time clock_time(uint64_t tod)
{
	static const uint8_t lengths[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	/* TOD bit 51 is a microsecond (PoP, "Time-of-Day Clock"). */
	const uint64_t seconds = (tod >> 12) / 1000000u;
	unsigned int days = (unsigned int)(seconds / 86400u);
	struct clock_time t = {
		.year = 1900, .month = 1,
		.hour = (unsigned int)(seconds / 3600u % 24u),
		.minute = (unsigned int)(seconds / 60u % 60u),
		.second = (unsigned int)(seconds % 60u),
		.weekday = (days + 1) % 7,	/* 1 January 1900 was a Monday */
	};

	while (days >= 365u + leap(t.year))
		days -= 365u + leap(t.year++);
	for (;; t.month++) {
		const bool longer = t.month == 2 && leap(t.year);
		const unsigned int length = lengths[t.month - 1] + (longer ? 1u : 0u);

		if (days < length)
			break;
		days -= length;
	}
	t.day = days + 1;
	assert(t.day >= 1 && t.day <= 31);
	assert(t.year <= 2042 && t.month <= 12);
	return t;
}

void clock_note_ipl(struct cp *cp)
{
	if (cp->logon_tod == 0)
		cp->logon_tod = cp_system_tod(cp);
	if (cp->system->ipl_tod == 0)
		cp->system->ipl_tod = cp->logon_tod;
}

uint64_t clock_connected(struct cp *cp)
{
	const uint64_t now = cp_system_tod(cp);

	clock_note_ipl(cp);
	/* A state that was loaded may be from a later time. */
	return now > cp->logon_tod ? (now - cp->logon_tod) >> 12 : 0;
}
