// SPDX-License-Identifier: MIT
/*
 * Invariants of the core: tables that say the same thing twice say the same.  The one file of the
 * targets that knows how the core is made.
 */
#include <stdio.h>
#include <string.h>

#include "segment/dcss_private.h"
#include "iucv/iucv_private.h"
#include "monitor/monitor_private.h"
#include "world.h"

#define REQUIRE(condition) \
	do { \
		if (!(condition)) \
			world_fail("%s:%d: %s", __func__, __LINE__, #condition); \
	} while (0)

/* Walks a list and says how long it is. */
static uint32_t length(const struct iucv_list *list, uint32_t most)
{
	const struct iucv_link *prev = NULL;
	uint32_t n = 0;

	for (const struct iucv_link *link = list->first; link; link = link->next) {
		REQUIRE(link->list == list && link->prev == prev);
		REQUIRE(++n <= most);
		prev = link;
	}
	REQUIRE(list->last == prev);
	return n;
}

static void check_path(const struct iucv *iucv, const struct iucv_path *path)
{
	const uint32_t sent =
		length(&path->sent[0], iucv->messages) + length(&path->sent[1], iucv->messages);
	const uint32_t rest = length(&path->rest, iucv->messages),
		       gone = length(&path->gone, iucv->messages);
	const struct iucv_path *partner = path->partner;

	REQUIRE(sent + rest == path->outstanding && gone == path->purged);
	REQUIRE(path->outstanding <= path->msglim && path->purged <= IUCV_PURGED_MAX);
	REQUIRE((path->state == IUCV_PATH_SEVERED) == !partner);
	if (!partner)
		return;
	REQUIRE(partner->partner == path && partner != path);
	REQUIRE(path->state == IUCV_PATH_OPEN
			? partner->state == IUCV_PATH_OPEN
			: path->state + partner->state == IUCV_PATH_CONNECTING + IUCV_PATH_PENDING);
	REQUIRE(strcmp(iucv_path_cold(path)->partner, partner->user->name) == 0);
}

static void check_ids(const struct iucv_user *user)
{
	uint32_t paths = 0;

	for (uint32_t id = 0; id < user->max_paths; id++) {
		const bool is_free = user->path[id].state == IUCV_PATH_FREE;

		paths += !is_free;
		REQUIRE(is_free == (user->free_id[id / 64] >> id % 64 & 1));
		if (is_free)
			continue;
		REQUIRE(user->path[id].user == user && user->path[id].id == id);
		check_path(user->iucv, &user->path[id]);
	}
	REQUIRE(paths == user->paths);
	for (uint32_t word = 0; word < IUCV_ID_WORDS; word++)
		REQUIRE(!user->free_id[word] == !(user->summary[word / 64] >> word % 64 & 1));
}

static void check_queues(const struct iucv_user *user)
{
	const uint32_t most = user->iucv->messages + user->max_paths * IUCV_SLOTS + IUCV_DUPLICATES;
	uint32_t waiting = length(&user->held, most);

	for (unsigned int t = 0; t < IUCV_TYPES; t++) {
		waiting += length(&user->queue[t], most);
		REQUIRE(!user->queue[t].first == !(user->ready >> t & 1));
	}
	REQUIRE(waiting == user->waiting);
	REQUIRE(!user->held.first || !iucv_user_is_service(user));
	/* Between entry points nothing waits for somebody who could take it. */
	if (!iucv_is_machine(user) && user->ops && !user->iucv->dispatching)
		REQUIRE(!user->ready == !user->turn.list);
}

static uint32_t check_messages(const struct iucv *iucv)
{
	uint32_t in_use = 0;

	for (uint32_t i = 0; i < iucv->messages; i++) {
		const struct iucv_message *m = &iucv->message[i];

		if (m->state == IUCV_MSG_FREE) {
			REQUIRE(!m->by_user.list && !m->event.link.list && !m->owned[0] &&
				!m->owned[1]);
			REQUIRE((i < iucv->used) == (m->by_path.list == &iucv->free));
			continue;
		}
		in_use++;
		REQUIRE(i < iucv->used && m->from->state != IUCV_PATH_FREE);
		REQUIRE(m->by_path.list == iucv_message_path_list(m));
		REQUIRE(m->by_user.list == iucv_message_user_list(m));
		REQUIRE(m->to ? m->to == m->from->partner : m->state == IUCV_MSG_DONE);
		REQUIRE(m->state == IUCV_MSG_PURGED || m->received <= m->buffer.len);
		REQUIRE(iucv_message_find(iucv, m->id) == m);
		REQUIRE(!m->event.link.list || m->state == IUCV_MSG_SENT ||
			m->state == IUCV_MSG_DONE);
	}
	return in_use;
}

static void check_cpus(const struct iucv_machine *machine)
{
	for (unsigned int cpu = 0; cpu < machine->cp->config.cpus; cpu++) {
		const struct iucv_cpu *c = &machine->cpu[cpu];

		REQUIRE(c->declared == (machine->declared >> cpu & 1) && (c->declared || !c->types));
		REQUIRE(((c->mask | c->control_mask) & ~IUCV_ALL_MASKS) == 0);
		for (unsigned int t = 0; t < IUCV_TYPES; t++)
			REQUIRE((c->types >> t & 1) == (machine->enabled[t] >> cpu & 1));
	}
}

static void check_iucv(const struct iucv *iucv)
{
	uint32_t outstanding = 0;

	REQUIRE(iucv->users <= IUCV_MAX_USERS && iucv->machines <= iucv->users &&
		!iucv->dispatching);
	for (unsigned int i = 0; i < iucv->users; i++) {
		const struct iucv_user *user = iucv->user[i];

		check_queues(user);
		/* All of a service's paths are partners of others': those are looked at there. */
		if (user->paths > 0 || i == 0)
			check_ids(user);
		for (uint32_t id = 0; user->paths > 0 && id < user->max_paths; id++)
			if (user->path[id].state != IUCV_PATH_FREE)
				outstanding += user->path[id].outstanding + user->path[id].purged;
	}
	REQUIRE(check_messages(iucv) == outstanding);
	REQUIRE(length(&iucv->free, iucv->messages) + outstanding == iucv->used);
	for (unsigned int i = 0; i < iucv->machines; i++)
		check_cpus(iucv->user[i]->machine);
}

static void check_faults(const struct cp *cp)
{
	struct fault_status status;
	unsigned int count = 0;
	int last = 0;

	while (fault_status(cp, count, &status)) {
		REQUIRE(++count <= FAULT_MAX_RULES && status.id > last &&
			status.fired <= status.matched);
		REQUIRE(!status.rule.times || status.fired <= status.rule.times);
		REQUIRE(fault_point_info[status.rule.point].kinds & FAULT_BIT(status.rule.kind));
		last = status.id;
	}
}

static void check_segments(const struct cp *cp)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		const struct dcss *s = &cp->system->dcss->slot[i];
		unsigned int loaders = 0;

		for (unsigned int m = 0; m < cp->system->machines; m++)
			loaders += cp->system->machine[m]->loaded >> i & 1;
		REQUIRE(s->loaders == loaders);

		if (!s->defined) {
			REQUIRE(s->loaders == 0);
			continue;
		}
		REQUIRE(s->config.ranges >= 1 && s->config.ranges <= CP_MAX_RANGES &&
			s->users >= s->loaders);
		REQUIRE(s->cls != DCSS_PENDING_PURGE || s->users > 0);
		REQUIRE(s->cls != DCSS_SKELETON || s->users == 0);
		if (!(cp->loaded >> i & 1))
			continue;
		low = dcss_start(s) < low ? dcss_start(s) : low;
		high = dcss_end(s) > high ? dcss_end(s) : high;
	}
	REQUIRE(storage_overlay_last(cp) == high);
	REQUIRE(high == 0 || cp->overlay_first * CP_PAGE_SIZE == low);
}

/* No buffer of application data is declared twice; each is one that X'DC' accepts. */
static void check_appldata(const struct cp *cp)
{
	struct appldata_info one, other;

	for (unsigned int i = 0; appldata_at(cp, i, &one); i++) {
		REQUIRE(i < APPLDATA_MAX_BUFFERS && one.kind < APPLDATA_KINDS);
		REQUIRE(one.buffer.length > 0 && one.buffer.length <= APPLDATA_MAX_LENGTH);
		for (unsigned int j = 0; j < i; j++) {
			appldata_at(cp, j, &other);
			REQUIRE(memcmp(one.buffer.product, other.buffer.product,
				       sizeof(one.buffer.product)) != 0 ||
				one.buffer.address != other.buffer.address ||
				one.buffer.length != other.buffer.length);
		}
	}
}

/* What is outstanding is the same by users and by sets; pieces fill their rings as told. */
static void check_sets(const struct monitor *m)
{
	uint32_t by_user[MON_MAX_USERS] = { 0 }, used[MON_KINDS][MON_RINGS] = { { 0 } };

	for (unsigned int i = 0; i < MON_MAX_SETS; i++) {
		const struct mon_set *set = &m->set[i];
		uint32_t pending = 0;

		if (set->number == 0)
			continue;
		for (unsigned int u = 0; u < MON_MAX_USERS; u++) {
			pending += set->unanswered[u];
			by_user[u] += set->unanswered[u];
		}
		REQUIRE(pending == set->pending && set->number <= m->last_number);
		REQUIRE(set->pending > 0 || set->held);
		for (unsigned int r = 0; r < MON_RINGS; r++) {
			const struct mon_ring *ring = &m->area[set->kind].ring[r];

			used[set->kind][r] += set->piece[r].len;
			REQUIRE(set->piece[r].start + set->piece[r].len <= ring->size);
		}
	}
	for (unsigned int u = 0; u < MON_MAX_USERS; u++)
		REQUIRE(!m->user[u].used || (by_user[u] == m->user[u].outstanding &&
					     m->user[u].outstanding <= m->user[u].limit));
	for (unsigned int k = 0; k < MON_KINDS; k++)
		for (unsigned int r = 0; r < MON_RINGS; r++)
			REQUIRE(used[k][r] == m->area[k].ring[r].used);
}

void check_tables(struct cp *cp, bool deep)
{
	check_iucv(cp->system->iucv);
	check_faults(cp);
	check_segments(cp);
	check_appldata(cp);
	REQUIRE(!cp->system->recording);
	if (deep)
		check_sets(cp->system->monitor);
}
