/* SPDX-License-Identifier: MIT */
#include "spin.h"

#include <sched.h>
#include <time.h>

uint64_t spin_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Where the processors have other work, looking takes their time, and waiting takes none. */
static void failed(struct spin *spin)
{
	if (spin->fails < SPIN_FAILS)
		spin->fails++;
	spin->skips = (1u << spin->fails) - 1;
	spin->begun = 0;
}

static bool took_too_long(const struct spin *spin)
{
	return spin_now_ns() - spin->begun > spin->limit;
}

bool spin_on(struct spin *spin)
{
	if (spin->begun == 0) {
		if (spin->skips > 0) {
			spin->skips--;
			return false;
		}
		spin->begun = spin_now_ns();
	} else if (took_too_long(spin)) {
		failed(spin);
		return false;
	}
	sched_yield();
	return true;
}

void spin_found(struct spin *spin)
{
	if (spin->begun == 0)
		return;
	/* It has come, but others had the processor for so long that waiting was no worse. */
	if (took_too_long(spin))
		failed(spin);
	else
		spin->fails = 0;
	spin->begun = 0;
}
