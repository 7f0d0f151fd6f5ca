/* SPDX-License-Identifier: MIT */
/*
 * Real storage and paging.
 *
 * Each pageable frame is available or holds a page of a user.  What a user works
 * with grows and shrinks with its load; when frames run short, all give some, and
 * pages go to the slots of the paging volumes until they are wanted again.
 */
#include "model_private.h"
#include "smaller.h"

/* Frames that are to be available: the 50th part. */
#define RESERVE 50u
/* Pages that one START SUBCHANNEL of a paging volume moves. */
#define PAGES_A_START 8u
/* The time that the channel subsystem measures for such a start, in units of 128 us. */
#define PENDING 1u
#define CONNECT 16u
#define DISCONNECT 8u

/* A fifth of its storage at rest, all of it at 100 % and beyond. */
static uint64_t working_set(const struct model *m, const struct user *user)
{
	const uint64_t load = user->s.flags & IS_RUNAWAY ? LOAD_ONE :
							  smaller(user->load, LOAD_ONE);
	const uint64_t pages = m->config.user[user->index].pages;

	return pages / 5 + (pages - pages / 5) * load / LOAD_ONE;
}

static void page_in(struct model *m, struct user *user, uint64_t pages)
{
	const uint64_t from_slots = smaller(pages, user->slots);

	user->resident += pages;
	user->slots -= from_slots;
	user->page_reads += from_slots;
	user->step_reads += from_slots;
	m->system.available -= pages;
	m->system.slots_used -= from_slots;
	m->step_reads += from_slots;
}

/* A sixteenth of the way each step; what shrinks is released, not written. */
static void resize(struct model *m, struct user *user)
{
	const uint64_t wanted = working_set(m, user);

	if (wanted > user->resident) {
		page_in(m, user, smaller((wanted - user->resident + 15) / 16, m->system.available));
	} else {
		const uint64_t released = (user->resident - wanted) / 16;

		user->resident -= released;
		m->system.available += released;
	}
}

static void steal(struct model *m, uint64_t frames, uint64_t resident)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < m->config.users; i++) {
		struct user *user = &m->user[i];
		const uint64_t with = before + user->resident;
		const uint64_t taken = portion(frames, before, with, resident);

		user->resident -= taken;
		user->slots += taken;
		user->page_writes += taken;
		m->system.available += taken;
		m->system.slots_used += taken;
		m->system.slots_free -= taken;
		m->step_writes += taken;
		before = with;
	}
}

/* Pages that come and go all the time, storage being short or not. */
static void churn(struct model *m, struct user *user, uint64_t ms)
{
	const uint64_t pages =
		amount(m->config.user[user->index].paging, user->load, ms, &user->rest_paging);

	user->page_reads += pages;
	user->page_writes += pages;
	user->step_reads += pages;
	m->step_reads += pages;
	m->step_writes += pages;
}

/* Reads, writes and slots in use, volume by volume, each the same part. */
static void spread(struct model *m, uint32_t volumes)
{
	const uint64_t used = m->system.slots_used;
	uint64_t slots = 0, before = 0, done = 0;

	/* Others than paging volumes have none. */
	for (uint32_t i = 0; i < m->config.devices; i++)
		slots += m->device[i].slots;
	for (uint32_t i = 0; i < m->config.devices; i++) {
		struct device *device = &m->device[i];
		uint64_t moved, starts;

		if (!(device->s.flags & IS_PAGING))
			continue;
		device->page_reads += portion(m->step_reads, done, done + 1, volumes);
		device->page_writes += portion(m->step_writes, done, done + 1, volumes);
		moved = portion(m->step_reads, done, done + 1, volumes) +
			portion(m->step_writes, done, done + 1, volumes);
		starts = (moved + PAGES_A_START - 1) / PAGES_A_START;
		device->starts += starts;
		device->pending += starts * PENDING;
		device->connect += starts * CONNECT;
		device->disconnect += starts * DISCONNECT;
		m->step_starts += starts;
		device->slots_used = portion(used, before, before + device->slots, slots);
		before += device->slots;
		done++;
	}
}

static uint32_t paging_volumes(const struct model *m)
{
	uint32_t volumes = 0;

	for (uint32_t i = 0; i < m->config.devices; i++)
		if (m->device[i].s.flags & IS_PAGING)
			volumes++;
	return volumes;
}

void model_storage(struct model *m, uint64_t ms)
{
	const uint32_t volumes = paging_volumes(m);
	const uint64_t reserve = m->system.pageable / RESERVE;
	uint64_t resident = 0, slots = 0, missing;

	m->step_reads = 0;
	m->step_writes = 0;
	for (uint32_t i = 0; i < m->config.devices; i++)
		slots += m->device[i].slots;
	m->system.slots_free = slots - m->system.slots_used;
	for (uint32_t i = 0; i < m->config.users; i++) {
		struct user *user = &m->user[i];

		user->step_reads = 0;
		if (!(user->s.flags & IS_ON))
			continue;
		resize(m, user);
		if (volumes > 0)
			churn(m, user, ms);
		resident += user->resident;
	}
	/* What is not available is resident: more than is ever missing. */
	missing = reserve - smaller(m->system.available, reserve);
	steal(m, smaller(missing, m->system.slots_free), resident);
	m->system.slots_free = slots - m->system.slots_used;
	m->system.used_frames = m->system.pageable - m->system.available;
	spread(m, volumes);
}
