/* SPDX-License-Identifier: MIT */
/*
 * Interruptions that machines take without a call (cp_member.h).
 *
 * To take one a machine would have to ask, and to wait for the reply, twice for each message.  So
 * what CP would answer lies in its page.  CP knows nothing of offers: before anything else happens
 * in the system those that have been taken are taken from CP as by a call, and the others do not
 * count any more.  Between two events CP does not change, so each interruption is what it would have
 * been, and stands where it would have stood in the trace.
 *
 * Machines that take turns are made no offers: when one takes it is a matter of the host's time.
 */
#include "system_private.h"

#include <string.h>

#include "zvmlab/fault.h"

/* What a machine stores by itself, for CP to store it once more. */
static uint8_t nowhere[CP_INTERRUPTION_SIZE];

void member_hopes(struct member *member)
{
	struct sys *sys = member->sys;

	if (member->hopes || sys->turn_ns)
		return;
	member->hopes = true;
	sys->hope[sys->hopes++] = member;
}

static uint32_t state_of(const struct member *member, uint32_t state)
{
	return member->offer * MEMBER_OFFER_STATES + state;
}

/* Whatever the machine has made of it, other than to leave it as it was, it has taken it. */
static bool has_taken(const struct member *member)
{
	return member->offered && __atomic_load_n(&member->page->offer.state, __ATOMIC_ACQUIRE) !=
					  state_of(member, MEMBER_OFFERED);
}

bool sys_has_taken(const struct sys *sys)
{
	for (unsigned int i = 0; i < sys->hopes; i++)
		if (has_taken(sys->hope[i]))
			return true;
	return false;
}

/* Return: was it still there? */
static bool withdraw(struct member *member)
{
	uint32_t state = state_of(member, MEMBER_OFFERED);

	return __atomic_compare_exchange_n(&member->page->offer.state, &state,
					   state_of(member, MEMBER_NO_OFFER), false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void *member_stored(struct member *member, int cpu, uint64_t addr)
{
	if (!member->taking || cpu != (int)member->offer_cpu || addr != member->offer_address)
		return NULL;
	return nowhere;
}

/* A call like others: a fault may cut the link here. */
static void take(struct member *member)
{
	const uint64_t tod = __atomic_load_n(&member->page->offer.tod, __ATOMIC_RELAXED);
	bool more;

	member_set_clock(member, tod, member->runs);
	member->taking = true;
	member->port.calls->interrupt_take(&member->port, member->offer_cpu, &more);
	member->taking = false;
	if (fault_cuts_link(member->port.cp))
		member_break(member);
}

void sys_settle(struct sys *sys)
{
	for (unsigned int i = 0; i < sys->hopes; i++) {
		struct member *member = sys->hope[i];

		if (!member->offered)
			continue;
		member->offered = false;
		if (!withdraw(member))
			take(member);
	}
}

/* The only CPU that could take one; -1: none, or whichever comes first. */
static int taker_of(const struct member *member)
{
	int taker = -1;

	for (unsigned int cpu = 0; cpu < member->port.config.cpus; cpu++) {
		if (!cp_interrupt_pending(member->port.cp, cpu))
			continue;
		if (taker >= 0)
			return -1;
		taker = (int)cpu;
	}
	return taker;
}

/* Of what lies in the prefix area, or at the address of one, the machine knows more: it has to ask. */
static bool find_offer(const struct member *member, int *cpu, struct cp_interruption *first)
{
	if (member->sock < 0 || !member->port.cp)
		return false;
	*cpu = taker_of(member);
	return *cpu >= 0 && cp_interrupt_first(member->port.cp, (unsigned int)*cpu, first) &&
	       member->port.absolute(&member->port, *cpu, first->address) == first->address;
}

static bool make_offer(struct member *member)
{
	struct cp_interruption first;
	struct member_offer *offer;
	int cpu;

	if (!find_offer(member, &cpu, &first))
		return false;
	offer = &member->page->offer;
	member->offered = true;
	member->offer++;
	member->offer_cpu = offer->cpu = (unsigned int)cpu;
	member->offer_address = offer->address = first.address;
	offer->more = first.more;
	memcpy(offer->image, first.image, sizeof(offer->image));
	__atomic_store_n(&offer->state, state_of(member, MEMBER_OFFERED), __ATOMIC_RELEASE);
	return true;
}

void sys_offer(struct sys *sys)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < sys->hopes; i++) {
		struct member *member = sys->hope[i];

		member->hopes = member->offered || make_offer(member);
		if (member->hopes)
			sys->hope[left++] = member;
	}
	sys->hopes = left;
}
