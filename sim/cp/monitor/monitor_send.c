/* SPDX-License-Identifier: MIT */
/*
 * Messages about sets: who can be told, sending, replies, repetition; and the end of a user,
 * as a fault can sever one while it is sent to.
 */
#include "monitor_private.h"
#include "bytes.h"
#include "zvmlab/event.h"

/* IPTRGCLS: two EBCDIC letters, 'S' or 'E', then 'C' or 'D'. */
static const uint32_t trigger_class[MON_KINDS] = {
	[MON_SAMPLE_CONFIG] = 0xe2c30000, [MON_SAMPLE] = 0xe2c40000,
	[MON_EVENT_CONFIG] = 0xc5c30000, [MON_EVENT] = 0xc5c40000,
};

static void tell(struct cp *cp, enum cp_event_kind kind, const struct mon_user *user,
		 uint64_t value)
{
	cp_notify(cp, &(struct cp_event){ .kind = kind, .name = user->name, .text = "",
					  .path = user->user_path, .value = value });
}

static void worse_to_better(enum mon_fate *fate, enum mon_fate here)
{
	if (here < *fate)
		*fate = here;
}

void mon_lose(struct cp *cp, struct mon_user *user)
{
	assert(user->used);
	user->lost++;
	tell(cp, CP_EVENT_MONITOR_LOST, user, user->lost);
}

uint16_t mon_ready(struct cp *cp, enum mon_kind kind, uint16_t mask, bool count,
		   enum mon_fate *fate)
{
	struct monitor *m = cp->system->monitor;
	uint16_t ready = 0;

	assert((unsigned int)kind < MON_KINDS);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++) {
		struct mon_user *user = &m->user[i];

		if (!user->used || !(mask & (1u << i)) || !user->wants[mon_is_event(kind)])
			continue;
		if (!user->quiesced && user->outstanding < user->limit) {
			ready |= (uint16_t)(1u << i);
			continue;
		}
		worse_to_better(fate, user->quiesced ? MON_LOST_QUIESCED : MON_LOST_LIMIT);
		if (count)
			mon_lose(cp, user);
	}
	return ready;
}

static bool is_repeated(const struct monitor *m, const struct mon_set *set)
{
	return m->repeat.set == mon_set_index(m, set);
}

static bool send_message(struct cp *cp, struct mon_set *set, struct mon_user *user,
			 const struct fault_action *fault, enum mon_fate *fate)
{
	struct monitor *m = cp->system->monitor;
	struct iucv_parm parm = {
		.path = user->path, .flags = IPRMDATA, .trgcls = trigger_class[set->kind],
		.msgtag = mon_set_index(m, set),
	};
	struct iucv_result result;

	assert(set->number != 0 && user->used && user->outstanding < MON_MAX_MSGLIM);
	put_be32(parm.rmmsg, set->mca_start);
	put_be32(parm.rmmsg + 4, set->mca_end);
	if (fault->kind == FAULT_CORRUPT && set->piece[MON_CONTROL].len == 0)
		parm.rmmsg[fault->offset % sizeof(parm.rmmsg)] ^= (uint8_t)fault->value;
	result = iucv_call(cp, m->service, IUCV_SEND, &parm);
	if (result.cc != 0) {
		if (result.code == IUCV_QUIESCED)
			user->quiesced = true;
		worse_to_better(fate, user->quiesced ? MON_LOST_QUIESCED : MON_LOST_LIMIT);
		mon_lose(cp, user);
		return false;
	}
	if (fault->kind == FAULT_DELAY || fault->kind == FAULT_REORDER)
		(void)iucv_message_hold(cp, parm.msgid,
					fault->kind == FAULT_DELAY ? fault->value : 1);
	set->pending++;
	set->unanswered[user - m->user]++;
	user->outstanding++;
	return true;
}

/* Exclusive-or a byte of the control area; the set's other users see it too. */
static void corrupt_control(struct cp *cp, const struct mon_set *set,
			    const struct fault_action *fault)
{
	const struct dcss *segment = cp->system->monitor->segment;
	const uint32_t len = set->mca_end - set->mca_start + 1;
	const uint64_t at = set->mca_start - dcss_start(segment) + fault->offset % len;
	uint8_t *byte = dcss_map(cp, segment, at, 1);

	assert(set->mca_start <= set->mca_end);
	if (!byte)
		return;
	*byte ^= (uint8_t)fault->value;
	dcss_dirty(cp, segment, at, 1);
}

bool mon_send_one(struct cp *cp, struct mon_set *set, struct mon_user *user, enum mon_fate *fate)
{
	struct monitor *m = cp->system->monitor;
	const struct fault_action fault = mon_fault(cp, FAULT_MONITOR_MESSAGE, user);

	assert(user->used && user->outstanding < user->limit);
	if (fault.kind == FAULT_SEVER) {
		mon_drop_user(cp, user, true, (uint8_t)fault.value);
		return false;
	}
	if (fault.kind == FAULT_CORRUPT && set->piece[MON_CONTROL].len > 0)
		corrupt_control(cp, set, &fault);
	/* A dropped message is one the user never hears of and cannot reply to. */
	if (fault.kind != FAULT_DROP && !send_message(cp, set, user, &fault, fate))
		return false;
	if (fault.kind == FAULT_DUPLICATE && user->outstanding < user->limit)
		send_message(cp, set, user, &fault, fate);
	user->delivered++;
	worse_to_better(fate, MON_DELIVERED);
	if (!is_repeated(m, set))
		tell(cp, CP_EVENT_MONITOR_MESSAGE, user, set->number);
	return true;
}

void mon_announce(struct cp *cp, struct mon_set *set, uint16_t mask, enum mon_fate *fate)
{
	struct monitor *m = cp->system->monitor;

	assert(set->number != 0 && set->held);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if ((mask & (1u << i)) && m->user[i].used)
			mon_send_one(cp, set, &m->user[i], fate);
	set->held = false;
	if (set->pending == 0)
		mon_set_release(cp, set);
}

bool mon_deliver_records(struct cp *cp, enum mon_kind kind, const struct record_writer *w,
			 uint16_t mask)
{
	const struct mon_element element = {
		.type = mon_is_event(kind) ? MCE_EVENT : MCE_SAMPLE,
		.domains = w->domains, .data = w->buffer, .len = w->pos,
	};
	enum mon_fate fate = MON_NO_USER;
	struct mon_set *set;

	assert(w->pos > 0 && mask != 0);
	set = mon_set_reserve(cp->system->monitor, kind, (uint32_t)mon_set_frames(&element, 1), 1);
	if (!set)
		return false;
	if (!mon_set_store(cp, set, &element, 1)) {
		set->held = false;
		mon_set_release(cp, set);
		return false;
	}
	mon_announce(cp, set, mask, &fate);
	return true;
}

void mon_replied(struct cp *cp, struct mon_user *user, uint32_t tag)
{
	struct monitor *m = cp->system->monitor;
	const unsigned int index = (unsigned int)(user - m->user);
	struct mon_set *set;

	if (tag >= MON_MAX_SETS)
		return;
	set = &m->set[tag];
	if (set->number == 0 || set->unanswered[index] == 0)
		return;
	assert(user->outstanding > 0 && set->pending > 0);
	set->unanswered[index]--;
	set->pending--;
	user->outstanding--;
	user->replied++;
	if (!is_repeated(m, set))
		tell(cp, CP_EVENT_MONITOR_REPLIED, user, set->number);
	if (set->pending == 0 && !set->held)
		mon_set_release(cp, set);
}

static void forget_messages(struct cp *cp, struct mon_user *user)
{
	struct monitor *m = cp->system->monitor;
	const unsigned int index = (unsigned int)(user - m->user);

	for (unsigned int i = 0; i < MON_MAX_SETS; i++) {
		struct mon_set *set = &m->set[i];

		if (set->number == 0 || set->unanswered[index] == 0)
			continue;
		assert(set->pending >= set->unanswered[index]);
		set->pending -= set->unanswered[index];
		user->outstanding -= set->unanswered[index];
		set->unanswered[index] = 0;
		if (set->pending == 0 && !set->held)
			mon_set_release(cp, set);
	}
	assert(user->outstanding == 0);
}

void mon_sever_path(struct cp *cp, uint16_t path, uint8_t code)
{
	struct iucv_parm parm = { .path = path, .ipuser = { code } };

	/* The path may be gone already: then there is nothing left to do. */
	(void)iucv_call(cp, cp->system->monitor->service, IUCV_SEVER, &parm);
}

void mon_tell_severed(struct cp *cp, const char *name, uint16_t path, uint8_t code)
{
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_MONITOR_SEVERED, .name = name,
					  .text = "", .path = path, .value = code });
}

static void release_segment(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;

	if (!m->segment || mon_has_user(m, false) || mon_has_user(m, true))
		return;
	assert(m->repeat.set == MON_NO_SET && m->events.set == MON_NO_SET);
	dcss_use(cp, m->segment, -1);
	m->segment = NULL;
}

void mon_repeat_end(struct cp *cp)
{
	struct monitor *m = cp->system->monitor;
	struct mon_set *set;

	assert(m->repeat.set < MON_MAX_SETS);
	set = &m->set[m->repeat.set];
	assert(set->number != 0 && set->held);
	m->repeat = (struct mon_repeat){ .set = MON_NO_SET };
	set->held = false;
	if (set->pending == 0)
		mon_set_release(cp, set);
}

void mon_repeat_go_on(struct cp *cp, struct mon_user *user)
{
	struct monitor *m = cp->system->monitor;
	enum mon_fate fate = MON_NO_USER;
	struct mon_set *set;

	if (m->repeat.set == MON_NO_SET)
		return;
	set = &m->set[m->repeat.set];
	assert(set->number != 0 && set->held && user->used);
	if (user->quiesced || !user->wants[mon_is_event(set->kind)])
		return;
	for (unsigned int i = 0; i < MON_MAX_MSGLIM && m->repeat.left > 0; i++) {
		if (user->outstanding >= user->limit ||
		    user->outstanding >= m->repeat.outstanding)
			return;
		m->repeat.left--;
		if (!mon_send_one(cp, set, user, &fate))
			break;
	}
	if (m->repeat.set != MON_NO_SET && m->repeat.left == 0)
		mon_repeat_end(cp);
}

/* The repetition ends when nobody is left that wants it. */
static void repeat_user_gone(struct cp *cp)
{
	const struct monitor *m = cp->system->monitor;

	if (m->repeat.set != MON_NO_SET &&
	    !mon_has_user(m, mon_is_event(m->set[m->repeat.set].kind)))
		mon_repeat_end(cp);
}

void mon_drop_user(struct cp *cp, struct mon_user *user, bool severing, uint8_t code)
{
	struct monitor *m = cp->system->monitor;
	const struct mon_user gone = *user;

	assert(user->used);
	if (severing)
		mon_sever_path(cp, user->path, code);
	forget_messages(cp, user);
	*user = (struct mon_user){ .used = false };
	mon_tell_severed(cp, gone.name, gone.user_path, code);
	repeat_user_gone(cp);
	if (!mon_has_user(m, true))
		mon_events_end(cp);
	else
		mon_events_resume(cp);
	release_segment(cp);
}

void mon_drop_users(struct cp *cp, bool event, uint8_t code)
{
	struct monitor *m = cp->system->monitor;

	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		if (m->user[i].used && m->user[i].wants[event])
			mon_drop_user(cp, &m->user[i], true, code);
	assert(!mon_has_user(m, event));
}
