// SPDX-License-Identifier: MIT
/* The model of IUCV: model_iucv.h says what it is. */
#include "model_iucv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT 10
#define MOST_LENGTH 0x7fffffffu
#define AUDIT_SHORT 0x800000u
#define CONNECT_FLAGS (IPRMDATA | IPPRTY | IPQUSCE)
#define TYPE(type) (1u << (type))
#define CONTROL_TYPES 0x03e
#define PRIORITY_TYPES (TYPE(IUCV_PRIO_COMPLETE) | TYPE(IUCV_PRIO_PENDING))
#define ALL_MASKS 0xf8

static const uint8_t zeros[16];

static struct model_answer answer(uint8_t cc)
{
	return (struct model_answer){ .modelled = true, .cc = cc, .message = -1 };
}

/* Another code that would do as well: which check comes first is said of CONNECT only. */
static void may(struct model_answer *a, uint8_t code)
{
	a->cc = 1;
	a->codes[code / 64] |= UINT64_C(1) << code % 64;
}

static struct model_answer error(uint8_t code)
{
	struct model_answer a = answer(1);

	may(&a, code);
	return a;
}

static struct model_answer unknown(struct model *m)
{
	m->lost = true;
	return (struct model_answer){ .message = -1 };
}

void model_start(struct model *m, unsigned int cpus, unsigned int blocks,
		 const struct model_statement *directory)
{
	memset(m, 0, sizeof(*m));
	m->cpus = cpus;
	m->blocks = blocks;
	m->directory = directory;
}

static struct model_path *path_of(struct model *m, unsigned int user, unsigned int path)
{
	if (path >= m->user[user].max_paths || m->user[user].path[path].state == IUCV_PATH_FREE)
		return NULL;
	return &m->user[user].path[path];
}

static struct model_path *other_side(struct model *m, const struct model_path *p)
{
	return &m->user[p->partner_user].path[p->partner_path];
}

/* Events. */

static struct model_event *event_new(struct model *m)
{
	for (unsigned int i = 0; i < MODEL_EVENTS; i++) {
		if (m->event[i].here)
			continue;
		m->event[i] = (struct model_event){ .here = true, .stamp = ++m->clock };
		return &m->event[i];
	}
	abort();
}

static void forget_message_event(struct model *m, int message)
{
	for (unsigned int i = 0; i < MODEL_EVENTS; i++)
		if (m->event[i].here && m->event[i].message == message)
			m->event[i].here = false;
}

static bool is_connection(enum iucv_type type)
{
	return type == IUCV_PENDING || type == IUCV_COMPLETE || type == IUCV_SEVERED;
}

/* Of @type and those that exclude it; @type 0: all. */
static void forget_control(struct model *m, unsigned int user, unsigned int path, unsigned int type)
{
	for (unsigned int i = 0; i < MODEL_EVENTS; i++) {
		struct model_event *e = &m->event[i];

		if (e->here && e->message < 0 && e->user == user && e->path == path &&
		    (type == 0 || e->type == type ||
		     (is_connection(type) && is_connection(e->type))))
			e->here = false;
	}
}

static void tell_control(struct model *m, unsigned int user, unsigned int path, enum iucv_type type,
			 const uint8_t ipuser[16])
{
	struct model_event *e;

	forget_control(m, user, path, type);
	e = event_new(m);
	e->user = user;
	e->path = path;
	e->type = type;
	e->message = -1;
	memcpy(e->ipuser, ipuser, sizeof(e->ipuser));
}

static void tell_message(struct model *m, int message, unsigned int user, enum iucv_type type)
{
	struct model_event *e = event_new(m);

	e->user = user;
	e->type = type;
	e->message = message;
}

/* Messages. */

static void stage(struct model *m, struct model_message *msg, enum model_stage to)
{
	msg->stage = to;
	msg->stamp = ++m->clock;
}

static int index_of(const struct model *m, const struct model_message *msg)
{
	return (int)(msg - m->message);
}

static void end(struct model *m, struct model_message *msg)
{
	forget_message_event(m, index_of(m, msg));
	msg->stage = MODEL_NONE;
}

static bool counts(const struct model_message *msg)
{
	return msg->stage != MODEL_NONE && msg->stage != MODEL_PURGED;
}

unsigned int model_outstanding(const struct model *m, unsigned int user, unsigned int path)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < MODEL_MESSAGES; i++)
		n += counts(&m->message[i]) && m->message[i].user == user &&
		     m->message[i].path == path;
	return n;
}

static unsigned int blocks_used(const struct model *m)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < MODEL_MESSAGES; i++)
		n += m->message[i].stage != MODEL_NONE;
	return n;
}

/* The target is done with it: its sender is to be told, but for one-way data in the list. */
static void done(struct model *m, struct model_message *msg, uint32_t audit)
{
	forget_message_event(m, index_of(m, msg));
	msg->audit |= audit;
	if (!msg->audit && msg->flags & IPRMDATA && msg->flags & IPNORPY) {
		end(m, msg);
		return;
	}
	stage(m, msg, MODEL_DONE);
	tell_message(m, index_of(m, msg), msg->user,
		     msg->flags & IPPRTY ? IUCV_PRIO_COMPLETE : IUCV_MSG_COMPLETE);
}

/* Its target has been presented with it, or has described it. */
static void presented(struct model *m, struct model_message *msg)
{
	msg->told = true;
	if (!(msg->flags & IPRMDATA))
		return;
	if (msg->flags & IPNORPY)
		done(m, msg, 0);
	else
		stage(m, msg, MODEL_RECEIVED);
}

static void wrong_id(uint32_t id, const char *what)
{
	fprintf(stderr, "message %u %s\n", id, what);
	abort();
}

void model_identify(struct model *m, int message, uint32_t id)
{
	struct model_message *msg = &m->message[message];

	for (unsigned int i = 0; i < MODEL_MESSAGES; i++)
		if (m->message[i].stage != MODEL_NONE && m->message[i].known &&
		    m->message[i].id == id && (int)i != message)
			wrong_id(id, "comes where the model expects another, or has an id in use");
	if (msg->known && msg->id != id)
		wrong_id(id, "comes where the model expects another");
	msg->known = true;
	msg->id = id;
}

static struct model_message *by_id(struct model *m, uint32_t id)
{
	for (unsigned int i = 0; i < MODEL_MESSAGES; i++)
		if (m->message[i].stage != MODEL_NONE && m->message[i].known &&
		    m->message[i].id == id)
			return &m->message[i];
	return NULL;
}

/* Users and paths. */

void model_logon(struct model *m, unsigned int user, const char *name, unsigned int max_paths)
{
	m->user[user] = (struct model_user){ .here = true, .max_paths = max_paths };
	strcpy(m->user[user].name, name);
}

static int user_named(const struct model *m, const char *name)
{
	for (unsigned int i = 0; i < MODEL_USERS; i++)
		if (m->user[i].here && strcmp(m->user[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void drop_messages(struct model *m, unsigned int user, unsigned int path, bool own)
{
	for (unsigned int i = 0; i < MODEL_MESSAGES; i++) {
		struct model_message *msg = &m->message[i];

		if (msg->stage == MODEL_NONE || msg->user != user || msg->path != path)
			continue;
		if (own || msg->stage == MODEL_PURGED) {
			end(m, msg);
			continue;
		}
		forget_message_event(m, (int)i);
		msg->orphan = true;
	}
}

/* What was on its way ends when the target severs: first what had been received. */
static void orphans_end(struct model *m, unsigned int user, unsigned int path)
{
	for (int round = 0; round < 3; round++) {
		for (;;) {
			struct model_message *next = NULL;

			for (unsigned int i = 0; i < MODEL_MESSAGES; i++) {
				struct model_message *msg = &m->message[i];
				int turn = msg->stage != MODEL_SENT ? 0
					   : msg->flags & IPPRTY    ? 1
								    : 2;

				if (!counts(msg) || msg->stage == MODEL_DONE || msg->user != user ||
				    msg->path != path || turn != round)
					continue;
				if (!next || msg->stamp < next->stamp)
					next = msg;
			}
			if (!next)
				break;
			next->audit |= IUCV_AUDIT_SEVERED;
			next->residual = next->answer;
			stage(m, next, MODEL_DONE);
		}
	}
}

static void sever(struct model *m, unsigned int user, unsigned int path, const uint8_t ipuser[16])
{
	struct model_path *p = &m->user[user].path[path], *partner = NULL;
	unsigned int other = p->partner_user, there = p->partner_path;

	if (p->state != IUCV_PATH_SEVERED)
		partner = other_side(m, p);
	drop_messages(m, user, path, true);
	forget_control(m, user, path, 0);
	p->state = IUCV_PATH_FREE;
	if (!partner)
		return;
	drop_messages(m, other, there, false);
	orphans_end(m, other, there);
	forget_control(m, other, there, 0);
	if (partner->state == IUCV_PATH_PENDING && !partner->told) {
		partner->state = IUCV_PATH_FREE;
		return;
	}
	partner->state = IUCV_PATH_SEVERED;
	tell_control(m, other, there, IUCV_SEVERED, ipuser);
}

static void sever_all(struct model *m, unsigned int user, const uint8_t ipuser[16])
{
	for (unsigned int i = 0; i < m->user[user].max_paths; i++)
		if (m->user[user].path[i].state != IUCV_PATH_FREE)
			sever(m, user, i, ipuser);
}

void model_logoff(struct model *m, unsigned int user)
{
	sever_all(m, user, zeros);
	m->user[user].here = false;
}

void model_reset_cpu(struct model *m, unsigned int cpu)
{
	m->cpu[cpu] = (struct model_cpu){ 0 };
}

void model_reset(struct model *m)
{
	memset(m->cpu, 0, sizeof(m->cpu));
	sever_all(m, 0, zeros);
}

/* Buffers and masks. */

uint16_t model_types(const struct model *m, unsigned int cpu)
{
	static const struct {
		uint8_t bit;
		enum iucv_type type;
	} rows[] = {
		{ 0x80, IUCV_MSG_PENDING },
		{ 0x40, IUCV_PRIO_PENDING },
		{ 0x20, IUCV_MSG_COMPLETE },
		{ 0x10, IUCV_PRIO_COMPLETE },
	};
	const struct model_cpu *c = &m->cpu[cpu];
	unsigned int types = 0;

	if (!c->declared)
		return 0;
	for (unsigned int i = 0; i < 4; i++)
		types |= c->mask & rows[i].bit ? TYPE(rows[i].type) : 0;
	for (unsigned int t = IUCV_PENDING; t <= IUCV_PATH_RESUMED; t++)
		types |= c->mask & 0x08 && c->control & 0x100 >> t ? TYPE(t) : 0;
	return (uint16_t)types;
}

static bool any_buffer(const struct model *m)
{
	for (unsigned int i = 0; i < m->cpus; i++)
		if (m->cpu[i].declared)
			return true;
	return false;
}

static struct model_answer declare(struct model *m, unsigned int cpu, const struct iucv_parm *parm)
{
	struct model_cpu *c = &m->cpu[cpu];

	if (c->declared)
		return error(0x13);
	for (unsigned int i = 0; i < m->cpus; i++)
		if (m->cpu[i].declared && parm->buffer.addr < m->cpu[i].buffer + 40 &&
		    m->cpu[i].buffer < parm->buffer.addr + 40)
			return error(0x3e);
	*c = (struct model_cpu){ .declared = true,
				 .buffer = parm->buffer.addr,
				 .mask = ALL_MASKS,
				 .control = ALL_MASKS };
	return answer(0);
}

static struct model_answer retrieve(struct model *m, unsigned int cpu)
{
	m->cpu[cpu] = (struct model_cpu){ 0 };
	if (!any_buffer(m))
		sever_all(m, 0, zeros);
	return answer(0);
}

/* Connections. */

static const struct model_statement *statement(const struct model *m, const char *name)
{
	for (const struct model_statement *s = m->directory; s->name[0]; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static uint16_t lowest(uint16_t wanted, const struct model_statement *s)
{
	return s && s->msglimit && s->msglimit < wanted ? s->msglimit : wanted;
}

static int free_path(const struct model *m, unsigned int user, int but)
{
	for (unsigned int i = 0; i < m->user[user].max_paths; i++)
		if (m->user[user].path[i].state == IUCV_PATH_FREE && (int)i != but)
			return (int)i;
	return -1;
}

static void join(struct model *m, unsigned int user, int path, unsigned int other, int there)
{
	struct model_path *p = &m->user[user].path[path];

	*p = (struct model_path){ .partner_user = other, .partner_path = (unsigned int)there };
	strcpy(p->partner, m->user[other].name);
}

static struct model_answer connect_to(struct model *m, unsigned int user,
				      const struct iucv_parm *parm)
{
	const bool service = parm->vmid[0] == '*',
		   elsewhere = parm->target[0] && !(parm->flags & IPLOCAL);
	const struct model_statement *s = NULL;
	int target = user_named(m, parm->vmid), path, there;
	struct model_answer a = answer(0);
	struct model_path *p;

	if (target < 0)
		return error(service ? 0x10 : 0x0b);
	if (elsewhere)
		return error(service ? 0x30 : 0x0b);
	if (user == 0) {
		s = statement(m, parm->vmid);
		s = s ? s : statement(m, "ANY");
		s = s || target != 0 ? s : statement(m, "ALLOW");
		if (!s)
			return error(0x0f);
		if (parm->flags & IPPRTY && !s->priority)
			return error(0x04);
	}
	if (target == 0 && !any_buffer(m))
		return error(0x0c);
	path = free_path(m, user, -1);
	if (path < 0)
		return error(0x0d);
	there = free_path(m, (unsigned int)target, (int)user == target ? path : -1);
	if (there < 0)
		return error((int)user == target ? 0x0d : 0x0e);
	join(m, user, path, (unsigned int)target, there);
	join(m, (unsigned int)target, there, user, path);
	p = &m->user[user].path[path];
	p->state = IUCV_PATH_CONNECTING;
	p->flags = parm->flags & CONNECT_FLAGS;
	p->quiesced = parm->flags & IPQUSCE;
	p->limit = lowest(parm->msglim ? parm->msglim : DEFAULT_LIMIT, s);
	other_side(m, p)->state = IUCV_PATH_PENDING;
	other_side(m, p)->asked = true;
	a.parm.path = (uint16_t)path;
	a.parm.msglim = p->limit;
	a.parm.flags = parm->flags;
	tell_control(m, (unsigned int)target, (unsigned int)there, IUCV_PENDING, parm->ipuser);
	return a;
}

static struct model_answer accept_path(struct model *m, unsigned int user,
				       const struct iucv_parm *parm)
{
	struct model_path *p = path_of(m, user, parm->path), *partner;
	const struct model_statement *s = NULL;
	struct model_answer a = answer(0);
	uint16_t wanted = parm->msglim;

	if (p && p->state == IUCV_PATH_SEVERED && p->asked)
		return error(0x14);
	if (!p || p->state != IUCV_PATH_PENDING)
		return error(0x01);
	partner = other_side(m, p);
	if (parm->flags & IPPRTY && !(partner->flags & IPPRTY))
		return error(0x04);
	if (user == 0) {
		s = statement(m, p->partner);
		s = s ? s : statement(m, "ALLOW");
	}
	if (wanted == 0 || wanted > partner->limit)
		wanted = partner->limit;
	forget_control(m, user, parm->path, IUCV_PENDING);
	p->asked = false;
	p->state = partner->state = IUCV_PATH_OPEN;
	p->flags = parm->flags & CONNECT_FLAGS;
	p->quiesced = parm->flags & IPQUSCE;
	p->limit = lowest(wanted, s);
	a.parm.path = parm->path;
	a.parm.msglim = p->limit;
	a.parm.flags = parm->flags;
	tell_control(m, p->partner_user, p->partner_path, IUCV_COMPLETE, parm->ipuser);
	return a;
}

static void quiesce_path(struct model *m, struct model_path *p, bool on, const uint8_t ipuser[16])
{
	if (p->quiesced == on)
		return;
	p->quiesced = on;
	tell_control(m, p->partner_user, p->partner_path,
		     on ? IUCV_PATH_QUIESCED : IUCV_PATH_RESUMED, ipuser);
}

static struct model_answer quiesce(struct model *m, unsigned int user, const struct iucv_parm *parm,
				   bool on)
{
	struct model_path *p = path_of(m, user, parm->path);

	for (unsigned int i = 0; parm->flags & IPALL && i < m->user[user].max_paths; i++)
		if (m->user[user].path[i].state == IUCV_PATH_OPEN)
			quiesce_path(m, &m->user[user].path[i], on, parm->ipuser);
	if (parm->flags & IPALL)
		return answer(0);
	if (!p || p->state != IUCV_PATH_OPEN)
		return error(0x01);
	quiesce_path(m, p, on, parm->ipuser);
	return answer(0);
}

static struct model_answer sever_call(struct model *m, unsigned int user,
				      const struct iucv_parm *parm)
{
	if (parm->flags & IPALL)
		sever_all(m, user, parm->ipuser);
	else if (path_of(m, user, parm->path))
		sever(m, user, parm->path, parm->ipuser);
	else
		return error(0x01);
	return answer(0);
}

/* Messages: the sender. */

static struct model_answer send_call(struct model *m, unsigned int user,
				     const struct iucv_parm *parm)
{
	struct model_path *p = path_of(m, user, parm->path);
	struct model_answer a = answer(0);
	struct model_message *msg = m->message;

	if (!p || p->state != IUCV_PATH_OPEN)
		may(&a, 0x01);
	if (parm->buffer.len > MOST_LENGTH || parm->answer.len > MOST_LENGTH)
		may(&a, 0x0a);
	if (p && p->state == IUCV_PATH_OPEN) {
		if (other_side(m, p)->quiesced)
			may(&a, 0x02);
		if (parm->flags & IPPRTY && !(p->flags & IPPRTY))
			may(&a, 0x04);
		if (parm->flags & IPRMDATA && !(other_side(m, p)->flags & IPRMDATA))
			may(&a, 0x15);
		if (model_outstanding(m, user, parm->path) >= p->limit ||
		    blocks_used(m) >= m->blocks)
			may(&a, 0x03);
	}
	if (a.cc)
		return a;
	while (msg->stage != MODEL_NONE)
		msg++;
	*msg = (struct model_message){
		.trgcls = parm->trgcls,
		.srccls = parm->srccls,
		.msgtag = parm->msgtag,
		.user = user,
		.path = parm->path,
		.to_user = p->partner_user,
		.to_path = p->partner_path,
		.flags = parm->flags & (IPRMDATA | IPPRTY | IPNORPY),
		.length = parm->flags & IPRMDATA ? 0 : parm->buffer.len,
		.answer = parm->flags & IPNORPY ? 0 : parm->answer.len,
		.area = parm->buffer,
	};
	memcpy(msg->rmmsg, parm->rmmsg, sizeof(msg->rmmsg));
	stage(m, msg, MODEL_SENT);
	msg->born = a.born = msg->stamp;
	a.message = index_of(m, msg);
	tell_message(m, a.message, msg->to_user,
		     msg->flags & IPPRTY ? IUCV_PRIO_PENDING : IUCV_MSG_PENDING);
	return a;
}

/* Does the better of two come first: priority, then age? */
static bool before(const struct model_message *a, const struct model_message *b)
{
	if ((a->flags ^ b->flags) & IPPRTY)
		return a->flags & IPPRTY;
	return a->stamp < b->stamp;
}

/* The sender's message that the flags name, for TEST COMPLETION (@done) and PURGE. */
static struct model_message *own(struct model *m, unsigned int user, const struct iucv_parm *parm,
				 bool only_done)
{
	struct model_message *best = NULL;

	for (unsigned int i = 0; i < MODEL_MESSAGES; i++) {
		struct model_message *msg = &m->message[i];

		if (!counts(msg) || msg->user != user || (only_done && msg->stage != MODEL_DONE) ||
		    (parm->flags & IPFGPID && msg->path != parm->path) ||
		    (parm->flags & IPFGMCL && msg->srccls != parm->srccls))
			continue;
		if (!best) {
			best = msg;
		} else if (only_done) {
			best = before(msg, best) ? msg : best;
		} else if ((msg->stage == MODEL_SENT) != (best->stage == MODEL_SENT)) {
			best = msg->stage == MODEL_SENT ? msg : best;
		} else if (msg->stage == MODEL_SENT) {
			best = before(msg, best) ? msg : best;
		} else {
			best = msg->stamp < best->stamp ? msg : best;
		}
	}
	return best;
}

/* PURGE and TEST COMPLETION: which message?  Or an answer without one. */
static struct model_answer find_own(struct model *m, unsigned int user,
				    const struct iucv_parm *parm, bool completion)
{
	struct model_answer a = answer(0);
	struct model_message *msg;

	if (parm->flags & IPFGPID && !path_of(m, user, parm->path))
		return error(0x01);
	if (!completion && !(parm->flags & (IPFGPID | IPFGMID)))
		return error(0x01);
	if (parm->flags & IPFGMID) {
		msg = by_id(m, parm->msgid);
		if (!msg || msg->stage == MODEL_PURGED || msg->user != user)
			return answer(2);
		if ((parm->flags & IPFGPID && msg->path != parm->path) ||
		    (parm->flags & IPFGMCL && msg->srccls != parm->srccls))
			return error(0x08);
		if (completion && msg->stage != MODEL_DONE)
			return answer(2);
	} else {
		msg = own(m, user, parm, completion);
		if (!msg)
			return answer(2);
	}
	a.message = index_of(m, msg);
	a.parm.path = (uint16_t)msg->path;
	a.parm.msgid = msg->id;
	a.parm.srccls = msg->srccls;
	a.parm.msgtag = msg->msgtag;
	a.parm.audit = msg->audit;
	return a;
}

static struct model_answer purge(struct model *m, unsigned int user, const struct iucv_parm *parm)
{
	struct model_answer a = find_own(m, user, parm, false);
	struct model_message *msg;

	if (a.message < 0)
		return a;
	msg = &m->message[a.message];
	if (msg->stage != MODEL_DONE)
		a.parm.audit = IUCV_AUDIT_PURGED;
	if (msg->stage != MODEL_DONE && msg->told) {
		forget_message_event(m, a.message);
		stage(m, msg, MODEL_PURGED);
	} else {
		end(m, msg);
	}
	return a;
}

static struct model_answer test_completion(struct model *m, unsigned int user,
					   const struct iucv_parm *parm)
{
	struct model_answer a = find_own(m, user, parm, true);
	struct model_message *msg;

	if (a.message < 0)
		return a;
	msg = &m->message[a.message];
	a.cc = msg->audit ? 3 : 0;
	a.parm.answer.len = msg->residual;
	end(m, msg);
	return a;
}

/* Messages: the target. */

static struct model_message *first_for(struct model *m, unsigned int user,
				       const struct iucv_parm *parm)
{
	struct model_message *best = NULL;

	for (unsigned int i = 0; i < MODEL_MESSAGES; i++) {
		struct model_message *msg = &m->message[i];

		if (msg->stage == MODEL_SENT && msg->to_user == user &&
		    (!(parm->flags & IPFGPID) || msg->to_path == parm->path) &&
		    (!(parm->flags & IPFGMCL) || msg->trgcls == parm->trgcls) &&
		    (!best || before(msg, best)))
			best = msg;
	}
	return best;
}

/* Without an answer yet: cc 0 and a message. */
static struct model_answer find_for(struct model *m, unsigned int user,
				    const struct iucv_parm *parm)
{
	const struct model_path *p = path_of(m, user, parm->path);
	struct model_answer a = answer(0);
	struct model_message *msg;

	if (parm->flags & IPFGPID && (!p || p->state != IUCV_PATH_OPEN))
		return error(0x01);
	if (!(parm->flags & IPFGMID)) {
		msg = first_for(m, user, parm);
		if (!msg)
			return answer(2);
		a.message = index_of(m, msg);
		return a;
	}
	msg = by_id(m, parm->msgid);
	if (!msg || msg->stage == MODEL_DONE || msg->to_user != user)
		return answer(2);
	if ((parm->flags & IPFGPID && msg->to_path != parm->path) ||
	    (parm->flags & IPFGMCL && msg->trgcls != parm->trgcls))
		return error(0x08);
	if (msg->stage == MODEL_PURGED) {
		end(m, msg);
		return error(0x09);
	}
	a.message = index_of(m, msg);
	return a;
}

static struct model_answer receive(struct model *m, unsigned int user, const struct iucv_parm *parm)
{
	struct model_answer a = find_for(m, user, parm);
	struct model_message *msg;
	uint32_t left;

	if (a.message < 0)
		return a;
	msg = &m->message[a.message];
	if (msg->stage == MODEL_RECEIVED)
		return answer(2);
	a.parm.path = (uint16_t)msg->to_path;
	a.parm.msgid = msg->id;
	a.parm.trgcls = msg->trgcls;
	a.parm.answer.len = msg->answer;
	a.parm.flags = (uint8_t)(msg->flags | (parm->flags & (IPFGMID | IPFGPID | IPFGMCL)));
	forget_message_event(m, a.message);
	if (msg->flags & IPRMDATA) {
		presented(m, msg);
		return a;
	}
	left = msg->length - msg->received;
	msg->told = true;
	a.parm.received = left < parm->buffer.len ? left : parm->buffer.len;
	a.parm.residual = left - a.parm.received;
	msg->received += a.parm.received;
	if (a.parm.residual > 0) {
		may(&a, 0x05);
		stage(m, msg, MODEL_BEGUN);
	} else if (msg->flags & IPNORPY) {
		done(m, msg, 0);
	} else {
		stage(m, msg, MODEL_RECEIVED);
	}
	return a;
}

static struct model_answer reject(struct model *m, unsigned int user, const struct iucv_parm *parm)
{
	struct model_answer a = find_for(m, user, parm);

	if (a.message < 0)
		return a;
	m->message[a.message].residual = m->message[a.message].answer;
	done(m, &m->message[a.message], IUCV_AUDIT_REJECTED);
	return a;
}

static struct model_answer reply(struct model *m, unsigned int user, const struct iucv_parm *parm)
{
	struct iucv_parm wanted = *parm;
	struct model_answer a;
	struct model_message *msg;

	wanted.flags = IPFGPID | IPFGMID | IPFGMCL;
	a = find_for(m, user, &wanted);
	if (a.message < 0)
		return a;
	msg = &m->message[a.message];
	if (msg->stage == MODEL_SENT)
		return answer(2);
	if (parm->flags & IPRMDATA) {
		if (!(m->user[msg->user].path[msg->path].flags & IPRMDATA))
			return error(0x15);
		memcpy(msg->rmmsg, parm->rmmsg, sizeof(msg->rmmsg));
		msg->rmreply = true;
		msg->residual = msg->answer;
		done(m, msg, 0);
		return a;
	}
	msg->residual = msg->answer > parm->buffer.len ? msg->answer - parm->buffer.len : 0;
	a.parm.residual = parm->buffer.len > msg->answer ? parm->buffer.len - msg->answer : 0;
	if (a.parm.residual > 0)
		may(&a, 0x05);
	done(m, msg, a.parm.residual > 0 ? AUDIT_SHORT : 0);
	return a;
}

/* What waits to be told. */

static bool comes_first(const struct model_event *a, const struct model_event *b)
{
	const unsigned int kind_a = TYPE(a->type) & CONTROL_TYPES    ? 0
				    : TYPE(a->type) & PRIORITY_TYPES ? 1
								     : 2;
	const unsigned int kind_b = TYPE(b->type) & CONTROL_TYPES    ? 0
				    : TYPE(b->type) & PRIORITY_TYPES ? 1
								     : 2;

	return kind_a != kind_b ? kind_a < kind_b : a->stamp < b->stamp;
}

static struct model_event *next_event(const struct model *m, unsigned int user, unsigned int types)
{
	const struct model_event *best = NULL;

	for (unsigned int i = 0; i < MODEL_EVENTS; i++) {
		const struct model_event *e = &m->event[i];

		if (e->here && e->user == user && TYPE(e->type) & types &&
		    (!best || comes_first(e, best)))
			best = e;
	}
	return (struct model_event *)(uintptr_t)best;
}

bool model_pending(const struct model *m, unsigned int user, uint16_t types)
{
	return next_event(m, user, types) != NULL;
}

unsigned int model_waiting(const struct model *m, unsigned int user)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < MODEL_EVENTS; i++)
		n += m->event[i].here && m->event[i].user == user;
	return n;
}

static void describe_message(const struct model_message *msg, struct iucv_event *event)
{
	const bool complete = msg->stage == MODEL_DONE;

	event->path = (uint16_t)(complete ? msg->path : msg->to_path);
	event->flags = msg->flags;
	event->msgid = msg->id;
	if (complete) {
		event->flags = (uint8_t)((msg->flags & (IPPRTY | IPNORPY)) |
					 (msg->rmreply ? IPRMDATA : 0));
		event->audit = msg->audit;
		event->srccls = msg->srccls;
		event->msgtag = msg->msgtag;
		event->answer_length = msg->residual;
	} else {
		event->trgcls = msg->trgcls;
		event->length = msg->length;
		event->answer_length = msg->answer;
	}
	if (event->flags & IPRMDATA)
		memcpy(event->rmmsg, msg->rmmsg, sizeof(event->rmmsg));
}

static void describe_control(struct model *m, const struct model_event *e, struct iucv_event *event)
{
	struct model_path *p = &m->user[e->user].path[e->path];

	event->path = (uint16_t)e->path;
	memcpy(event->ipuser, e->ipuser, sizeof(event->ipuser));
	p->told = true;
	if (e->type != IUCV_PENDING && e->type != IUCV_COMPLETE)
		return;
	event->flags = other_side(m, p)->flags;
	event->msglim = other_side(m, p)->limit;
	if (e->type == IUCV_PENDING)
		strcpy(event->vmid, p->partner);
}

bool model_take(struct model *m, unsigned int user, uint16_t types, struct iucv_event *event,
		int *message)
{
	struct model_event *e = next_event(m, user, types);
	struct model_message *msg;

	if (!e)
		return false;
	*event = (struct iucv_event){ .type = e->type };
	*message = e->message;
	e->here = false;
	if (e->message < 0) {
		describe_control(m, e, event);
		return true;
	}
	msg = &m->message[e->message];
	describe_message(msg, event);
	if (msg->stage == MODEL_DONE)
		end(m, msg);
	else
		presented(m, msg);
	return true;
}

static struct model_answer describe(struct model *m, unsigned int user)
{
	struct model_answer a = answer(0);
	struct iucv_event event;

	if (!model_take(m, user, PRIORITY_TYPES & TYPE(IUCV_PRIO_PENDING), &event, &a.message) &&
	    !model_take(m, user, TYPE(IUCV_MSG_PENDING), &event, &a.message))
		return answer(2);
	a.parm.path = event.path;
	a.parm.flags = event.flags;
	a.parm.msgid = event.msgid;
	a.parm.trgcls = event.trgcls;
	a.parm.buffer.len = event.length;
	a.parm.answer.len = event.answer_length;
	memcpy(a.parm.rmmsg, event.rmmsg, sizeof(event.rmmsg));
	return a;
}

static struct model_answer test_message(const struct model *m, unsigned int user)
{
	unsigned int cc = 0;

	for (unsigned int i = 0; i < MODEL_MESSAGES; i++) {
		const struct model_message *msg = &m->message[i];

		cc |= msg->stage == MODEL_SENT && msg->to_user == user ? 1 : 0;
		cc |= msg->stage == MODEL_DONE && msg->user == user ? 2 : 0;
	}
	return answer((uint8_t)cc);
}

static bool needs_own_buffer(enum iucv_function function)
{
	return function == IUCV_RETRIEVE_BUFFER || function == IUCV_SET_MASK ||
	       function == IUCV_SET_CONTROL_MASK;
}

static bool has_areas(const struct iucv_parm *parm)
{
	return parm->buffer.list || parm->answer.list || parm->buffer.len > MOST_LENGTH ||
	       parm->answer.len > MOST_LENGTH;
}

static struct model_answer masks(struct model *m, unsigned int user, unsigned int cpu,
				 enum iucv_function function, const struct iucv_parm *parm)
{
	if (user != 0)
		return error(function == IUCV_DECLARE_BUFFER ? 0x13 : 0x30);
	if (function == IUCV_DECLARE_BUFFER)
		return declare(m, cpu, parm);
	if (function == IUCV_RETRIEVE_BUFFER)
		return retrieve(m, cpu);
	if (function == IUCV_SET_MASK)
		m->cpu[cpu].mask = parm->mask & ALL_MASKS;
	else
		m->cpu[cpu].control = parm->mask & ALL_MASKS;
	return answer(0);
}

struct model_answer model_call(struct model *m, unsigned int user, unsigned int cpu,
			       enum iucv_function function, const struct iucv_parm *parm)
{
	if (m->lost)
		return (struct model_answer){ .message = -1 };
	if (has_areas(parm))
		return unknown(m);
	if (user == 0 && needs_own_buffer(function) && !m->cpu[cpu].declared)
		return error(0x1c);
	if (user == 0 && function != IUCV_QUERY && function != IUCV_DECLARE_BUFFER &&
	    !any_buffer(m))
		return error(0x1c);
	switch (function) {
	case IUCV_QUERY:
		return answer(0);
	case IUCV_TEST_MESSAGE:
		return test_message(m, user);
	case IUCV_DESCRIBE:
		return describe(m, user);
	case IUCV_SEND:
		return send_call(m, user, parm);
	case IUCV_RECEIVE:
		return receive(m, user, parm);
	case IUCV_REPLY:
		return reply(m, user, parm);
	case IUCV_TEST_COMPLETION:
		return test_completion(m, user, parm);
	case IUCV_REJECT:
		return reject(m, user, parm);
	case IUCV_PURGE:
		return purge(m, user, parm);
	case IUCV_ACCEPT:
		return accept_path(m, user, parm);
	case IUCV_CONNECT:
		return connect_to(m, user, parm);
	case IUCV_QUIESCE:
	case IUCV_RESUME:
		return quiesce(m, user, parm, function == IUCV_QUIESCE);
	case IUCV_SEVER:
		return sever_call(m, user, parm);
	default:
		return masks(m, user, cpu, function, parm);
	}
}
