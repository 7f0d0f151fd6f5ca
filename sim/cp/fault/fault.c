/* SPDX-License-Identifier: MIT */
/* Fault injection: rules, and the decision whether one is due. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cp_private.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/iucv.h"
#include "zvmlab/state.h"
#include "zvmlab/trace.h"

#define PARTS_PER_MILLION 1000000u

const struct fault_point_info fault_point_info[FAULT_POINTS] = {
#define FAULT_POINT(id, name, kinds, text) { name, kinds, text },
#include "zvmlab/fault_points.def"
#undef FAULT_POINT
};

const struct fault_kind_info fault_kind_info[FAULT_KINDS] = {
	[FAULT_NONE] = { .name = "none", .text = "" },
#define FAULT_KIND(id, name, min, max, text) [FAULT_##id] = { name, min, max, text },
#include "zvmlab/fault_kinds.def"
#undef FAULT_KIND
};

const struct fault_field_info fault_field_info[FAULT_FIELDS] = {
#define FAULT_FIELD(member, kept, saved, least, most, text) \
	{ #member, FAULT_TYPE_##kept, false, saved, least, most, FAULT_POINTS, text },
#define FAULT_FILTER(member, kept, saved, least, most, only, text) \
	{ #member, FAULT_TYPE_##kept, true, saved, least, most, only, text },
#include "zvmlab/fault_fields.def"
};

/* Two members at one place of a saved rule do not compile. */
enum {
#define FAULT_FIELD(member, type, saved, least, most, text) SAVED_##saved,
#include "zvmlab/fault_fields.def"
};

static const size_t field_offset[FAULT_FIELDS] = {
#define FAULT_FIELD(member, type, saved, least, most, text) offsetof(struct fault_rule, member),
#include "zvmlab/fault_fields.def"
};

_Static_assert(FAULT_POINTS < FAULT_MAX_RULES, "a sweep has a rule for each point");

struct fault {
	struct fault_status armed[FAULT_MAX_RULES];	/* in the order of arming */
	uint32_t count;
	uint32_t last_id;
	uint64_t reached[FAULT_POINTS];
};

static int fault_init(struct cp_system *system, char *err, size_t errlen)
{
	system->fault = calloc(1, sizeof(*system->fault));
	if (!system->fault) {
		snprintf(err, errlen, "not enough memory for the fault rules");
		return -1;
	}
	return 0;
}

static void fault_fini(struct cp_system *system)
{
	free(system->fault);
	system->fault = NULL;
}

uint32_t fault_number(const struct fault_rule *rule, enum fault_field field)
{
	uint32_t number;

	_Static_assert(sizeof(enum fault_point) == sizeof(number), "an enumeration has 32 bits");
	assert(field < FAULT_FIELDS && fault_field_info[field].type != FAULT_TYPE_NAME);
	memcpy(&number, (const char *)rule + field_offset[field], sizeof(number));
	return number;
}

void fault_set_number(struct fault_rule *rule, enum fault_field field, uint32_t number)
{
	assert(field < FAULT_FIELDS && fault_field_info[field].type != FAULT_TYPE_NAME);
	memcpy((char *)rule + field_offset[field], &number, sizeof(number));
}

char *fault_name(struct fault_rule *rule, enum fault_field field)
{
	assert(field < FAULT_FIELDS && fault_field_info[field].type == FAULT_TYPE_NAME);
	return (char *)rule + field_offset[field];
}

static const char *name_of(const struct fault_rule *rule, enum fault_field field)
{
	assert(field < FAULT_FIELDS && fault_field_info[field].type == FAULT_TYPE_NAME);
	return (const char *)rule + field_offset[field];
}

bool fault_absent(const struct fault_rule *rule, enum fault_field field)
{
	assert(field < FAULT_FIELDS);
	switch (fault_field_info[field].type) {
	case FAULT_TYPE_NAME:
		return name_of(rule, field)[0] == '\0';
	case FAULT_TYPE_PATH:
		return fault_number(rule, field) == (uint32_t)FAULT_ANY_PATH;
	default:
		return fault_number(rule, field) == 0;
	}
}

struct fault_rule fault_rule_new(void)
{
	struct fault_rule rule = { 0 };

	for (enum fault_field i = 0; i < FAULT_FIELDS; i++)
		if (fault_field_info[i].type == FAULT_TYPE_PATH)
			fault_set_number(&rule, i, (uint32_t)FAULT_ANY_PATH);
	return rule;
}

uint32_t fault_offset_max(enum fault_point point)
{
	const bool event = point >= FAULT_INTERRUPT && point <= FAULT_PEER_SEVER;

	assert((unsigned int)point < FAULT_POINTS);
	return event ? IUCV_EVENT_SIZE - 1 : fault_field_info[FAULT_FIELD_offset].most;
}

uint32_t fault_value_max(enum fault_point point, enum fault_kind kind)
{
	assert((unsigned int)kind < FAULT_KINDS);
	if (kind == FAULT_RC && point <= FAULT_IUCV_SET_CONTROL_MASK)
		return UINT8_MAX;
	return fault_kind_info[kind].max;
}

static bool kind_allowed(const struct fault_rule *rule, char *err, size_t errlen)
{
	const struct fault_point_info *info;
	size_t at;

	if ((unsigned int)rule->point >= FAULT_POINTS) {
		snprintf(err, errlen, "there is no fault point with number %u",
			 (unsigned int)rule->point);
		return false;
	}
	info = &fault_point_info[rule->point];
	if (rule->kind > FAULT_NONE && rule->kind < FAULT_KINDS &&
	    (info->kinds & FAULT_BIT(rule->kind)))
		return true;
	at = (size_t)snprintf(err, errlen, "fault point %s cannot carry out %s; it can do", info->name,
			      (unsigned int)rule->kind < FAULT_KINDS ? fault_kind_info[rule->kind].name :
								       "an unknown kind");
	for (unsigned int kind = FAULT_CC; kind < FAULT_KINDS && at < errlen; kind++)
		if (info->kinds & FAULT_BIT(kind))
			at += (size_t)snprintf(err + at, errlen - at, " %s", fault_kind_info[kind].name);
	return false;
}

static bool value_allowed(const struct fault_rule *rule, char *err, size_t errlen)
{
	const struct fault_kind_info *kind = &fault_kind_info[rule->kind];
	const uint32_t max = fault_value_max(rule->point, rule->kind);

	assert(rule->kind > FAULT_NONE && kind->min <= max);
	if (rule->value < kind->min || rule->value > max) {
		snprintf(err, errlen, "fault %s takes a value of %u to %u, not %u", kind->name,
			 kind->min, max, rule->value);
		return false;
	}
	if (rule->offset != 0 && rule->kind != FAULT_CORRUPT) {
		snprintf(err, errlen, "fault %s takes no offset; only corrupt does", kind->name);
		return false;
	}
	if (rule->offset > fault_offset_max(rule->point)) {
		snprintf(err, errlen, "offset %u lies outside the interruption's %u bytes",
			 rule->offset, IUCV_EVENT_SIZE);
		return false;
	}
	return true;
}

/* A name is one of CP's: longer ones match nothing. */
static bool length_allowed(const struct fault_rule *rule, enum fault_field field, char *err,
			   size_t errlen)
{
	if (memchr(name_of(rule, field), '\0', CP_NAME_LEN + 1))
		return true;
	snprintf(err, errlen, "the fault rule's %s is longer than %d characters",
		 fault_field_info[field].name, CP_NAME_LEN);
	return false;
}

static bool field_allowed(const struct fault_rule *rule, enum fault_field field, char *err,
			  size_t errlen)
{
	const struct fault_field_info *info = &fault_field_info[field];
	uint32_t number;

	if (info->type == FAULT_TYPE_NAME)
		return length_allowed(rule, field, err, errlen);
	if (fault_absent(rule, field))
		return true;
	if (info->only != FAULT_POINTS && rule->point != info->only) {
		snprintf(err, errlen, "the fault rule's %s is for the point %s only", info->name,
			 fault_point_info[info->only].name);
		return false;
	}
	number = fault_number(rule, field);
	if (number < info->least || number > info->most) {
		snprintf(err, errlen, "the fault rule's %s is %u; it must be %u to %u", info->name,
			 number, info->least, info->most);
		return false;
	}
	return true;
}

static bool fields_allowed(const struct fault_rule *rule, char *err, size_t errlen)
{
	for (enum fault_field i = 0; i < FAULT_FIELDS; i++)
		if (!field_allowed(rule, i, err, errlen))
			return false;
	return true;
}

static bool when_allowed(const struct fault_rule *rule, char *err, size_t errlen)
{
	uint32_t max = rule->when == FAULT_PROBABILITY ? PARTS_PER_MILLION : UINT32_MAX;

	if ((unsigned int)rule->when > FAULT_PROBABILITY) {
		snprintf(err, errlen, "a fault rule fires always, at the nth call, every n calls "
				      "or with a probability, not \"%u\"", (unsigned int)rule->when);
		return false;
	}
	if (rule->when != FAULT_ALWAYS && (rule->n < 1 || rule->n > max)) {
		snprintf(err, errlen, "the fault rule's n is %u; it must be 1 to %u", rule->n, max);
		return false;
	}
	return true;
}

static bool rule_allowed(const struct fault_rule *rule, char *err, size_t errlen)
{
	return kind_allowed(rule, err, errlen) && value_allowed(rule, err, errlen) &&
	       when_allowed(rule, err, errlen) && fields_allowed(rule, err, errlen);
}

static int arm(struct cp *cp, const struct fault_rule *rule, char *err, size_t errlen)
{
	struct fault *fault = cp->system->fault;

	if (!rule_allowed(rule, err, errlen))
		return -1;
	if (fault->count == FAULT_MAX_RULES) {
		snprintf(err, errlen, "%d fault rules are armed, which is the limit; disarm one first",
			 FAULT_MAX_RULES);
		return -1;
	}
	if (fault->last_id == INT32_MAX) {
		snprintf(err, errlen, "all numbers for fault rules are used up; start a new machine");
		return -1;
	}
	assert(fault->count < FAULT_MAX_RULES && fault->last_id < INT32_MAX);
	fault->armed[fault->count++] = (struct fault_status){
		.id = (int)++fault->last_id,
		.rule = *rule,
	};
	return (int)fault->last_id;
}

/* A name that has no end within its field is refused, but shown. */
static void trace_name(struct cp *cp, const char *key, const char name[CP_NAME_LEN + 1])
{
	char text[CP_NAME_LEN + 2] = "";

	assert(key[0] != '\0');
	memcpy(text, name, CP_NAME_LEN + 1);
	if (text[0] != '\0')
		trace_text(cp, key, text);
}

/* A rule that will be refused may have any values. */
static void trace_field(struct cp *cp, const struct fault_rule *rule, enum fault_field field)
{
	const struct fault_field_info *info = &fault_field_info[field];

	if (info->type == FAULT_TYPE_NAME) {
		trace_name(cp, info->name, name_of(rule, field));
	} else if (info->type == FAULT_TYPE_POINT) {
		if ((unsigned int)rule->point < FAULT_POINTS)
			trace_text(cp, info->name, fault_point_info[rule->point].name);
	} else if (info->type == FAULT_TYPE_KIND) {
		if ((unsigned int)rule->kind < FAULT_KINDS)
			trace_text(cp, info->name, fault_kind_info[rule->kind].name);
	} else if (info->type == FAULT_TYPE_PATH) {
		if (!fault_absent(rule, field))
			trace_hex(cp, info->name, fault_number(rule, field));
	} else if (info->type != FAULT_TYPE_BYTE || !fault_absent(rule, field)) {
		trace_number(cp, info->name, fault_number(rule, field));
	}
}

static void fault_trace_rule(struct cp *cp, const struct fault_rule *rule)
{
	for (enum fault_field i = 0; i < FAULT_FIELDS; i++)
		trace_field(cp, rule, i);
}

int fault_arm(struct cp *cp, const struct fault_rule *rule, char *err, size_t errlen)
{
	int id;

	TRACE_INPUT(cp, fault_arm, .rule = rule);
	id = arm(cp, rule, err, errlen);
	trace_number(cp, "rule", id < 0 ? 0 : (uint64_t)id);
	trace_end(cp);
	return id;
}

int fault_disarm(struct cp *cp, int id)
{
	struct fault *fault = cp->system->fault;
	uint32_t kept = 0;
	int gone;

	TRACE_INPUT(cp, fault_disarm, .rule = (uint64_t)id);
	for (uint32_t i = 0; i < fault->count; i++)
		if (id != 0 && fault->armed[i].id != id)
			fault->armed[kept++] = fault->armed[i];
	assert(kept <= fault->count);
	gone = (int)(fault->count - kept);
	fault->count = kept;
	trace_number(cp, "disarmed", (uint64_t)gone);
	trace_end(cp);
	return gone;
}

bool fault_status(const struct cp *cp, unsigned int index, struct fault_status *out)
{
	if (index >= cp->system->fault->count)
		return false;
	*out = cp->system->fault->armed[index];
	return true;
}

uint64_t fault_reached(const struct cp *cp, enum fault_point point)
{
	assert((unsigned int)point < FAULT_POINTS);
	return cp->system->fault->reached[point];
}

/* Names of rules come from outside, in any case; those of calls are CP's. */
static bool name_matches(const char *wanted, const char *name)
{
	return wanted[0] == '\0' || strcasecmp(wanted, name) == 0;
}

#define MATCHES_NAME(wanted, found) name_matches(wanted, found)
#define MATCHES_BYTE(wanted, found) ((wanted) == 0 || (wanted) == (found))
#define MATCHES_PATH(wanted, found) ((wanted) == FAULT_ANY_PATH || (wanted) == (found))

static bool rule_matches(const struct fault_rule *rule, enum fault_point point,
			 const struct fault_call *call, bool agent)
{
	if (rule->point != point)
		return false;
	if (agent && strcasecmp(rule->user, CP_AGENT_USERID) != 0 &&
	    strcasecmp(rule->name, CP_AGENT_USERID) != 0)
		return false;
#define FAULT_FILTER(member, type, saved, least, most, only, text) \
	if (!MATCHES_##type(rule->member, call->member))           \
		return false;
#include "zvmlab/fault_fields.def"
	return true;
}

/* A machine's faults depend on no other machine. */
static uint64_t random_of(struct cp_system *system, const char *user)
{
	struct cp *machine = cp_machine_of(system, user);

	return machine ? cp_random(machine) : cp_system_random(system);
}

/* @status->matched already counts this call, which is @user's. */
static bool rule_due(struct cp_system *system, const struct fault_status *status,
		     const char *user)
{
	const struct fault_rule *rule = &status->rule;

	assert(rule->n > 0 || rule->when == FAULT_ALWAYS);
	if (rule->times != 0 && status->fired >= rule->times)
		return false;
	switch (rule->when) {
	case FAULT_ALWAYS:
		return true;
	case FAULT_NTH:
		return status->matched == rule->n;
	case FAULT_EVERY:
		return status->matched % rule->n == 0;
	case FAULT_PROBABILITY:
		return random_of(system, user) % PARTS_PER_MILLION < rule->n;
	}
	assert(false);
	return false;
}

static void report(struct cp *cp, const struct fault_status *status, const struct fault_call *call)
{
	const char *point = fault_point_info[status->rule.point].name;

	trace_text(cp, "fault", point);
	trace_number(cp, "rule", (uint64_t)status->id);
	cp_notify(cp, &(struct cp_event){
		.kind = CP_EVENT_FAULT,
		.name = call->name,
		.text = point,
		.path = call->path == FAULT_ANY_PATH ? 0 : (uint32_t)call->path,
		.value = (uint64_t)status->id,
	});
}

/*
 * Every rule counts the calls that match its filter, whether or not another
 * rule fires: arming one more never shifts the count of those before it.
 */
struct fault_action fault_check(struct cp *cp, enum fault_point point,
				const struct fault_call *call)
{
	struct fault *fault = cp->system->fault;
	const bool agent = cp_is_agent(call->name) || cp_is_agent(call->user);
	struct fault_status *due = NULL;

	assert((unsigned int)point < FAULT_POINTS);
	if (!agent)
		fault->reached[point]++;
	for (uint32_t i = 0; i < fault->count; i++) {
		struct fault_status *status = &fault->armed[i];

		if (!rule_matches(&status->rule, point, call, agent))
			continue;
		status->matched++;
		if (!due && rule_due(cp->system, status, call->user))
			due = status;
	}
	if (!due)
		return (struct fault_action){ .kind = FAULT_NONE };
	due->fired++;
	report(cp, due, call);
	return (struct fault_action){
		.kind = due->rule.kind,
		.value = due->rule.value,
		.offset = due->rule.offset,
	};
}

struct fault_action fault_of_guest(struct cp *cp, enum fault_point point, const char *name)
{
	const struct fault_call call = {
		.path = FAULT_ANY_PATH, .user = cp->config.userid, .name = name,
	};

	return fault_check(cp, point, &call);
}

bool fault_cuts_link(struct cp *cp)
{
	const struct fault *fault = cp->system->fault;
	struct fault_action action;
	bool armed = false;

	for (uint32_t i = 0; i < fault->count; i++)
		armed |= fault->armed[i].rule.point == FAULT_MACHINE_LINK;
	if (!armed)
		return false;
	assert(!cp->system->recording);
	TRACE_INPUT(cp, machine_link);
	action = fault_of_guest(cp, FAULT_MACHINE_LINK, "");
	trace_end(cp);
	return action.kind == FAULT_SEVER;
}

static void state_field(struct state *s, struct fault_rule *rule, enum fault_field field)
{
	const enum fault_type type = fault_field_info[field].type;
	uint32_t number;
	uint8_t byte;

	if (type == FAULT_TYPE_NAME) {
		state_name(s, fault_name(rule, field));
		return;
	}
	number = fault_number(rule, field);
	byte = (uint8_t)number;
	if (type == FAULT_TYPE_NUMBER || type == FAULT_TYPE_PATH) {
		state_u32(s, &number);
	} else {
		state_u8(s, &byte);
		number = byte;
	}
	fault_set_number(rule, field, number);
}

static void state_rule(struct state *s, struct fault_rule *rule)
{
	char err[256];

	for (unsigned int place = 0; place < FAULT_FIELDS; place++)
		for (enum fault_field i = 0; i < FAULT_FIELDS; i++)
			if (fault_field_info[i].saved == place)
				state_field(s, rule, i);
	state_require(s, rule_allowed(rule, err, sizeof(err)));
}

static void fault_state(struct cp *cp, struct state *s)
{
	struct fault fresh = *cp->system->fault;
	uint32_t points = FAULT_POINTS;

	_Static_assert(FAULT_POINTS <= UINT8_MAX, "a point is saved in one byte");
	state_tag(s, "RULE");
	state_u32(s, &points);
	state_require(s, points == FAULT_POINTS);
	for (unsigned int i = 0; i < FAULT_POINTS; i++)
		state_u64(s, &fresh.reached[i]);
	state_u32(s, &fresh.last_id);
	state_u32(s, &fresh.count);
	state_require(s, fresh.last_id <= INT32_MAX && fresh.count <= FAULT_MAX_RULES);
	for (uint32_t i = 0; i < fresh.count && !s->failed; i++) {
		struct fault_status *status = &fresh.armed[i];
		uint32_t id = (uint32_t)status->id;

		state_u32(s, &id);
		state_require(s, id >= 1 && id <= fresh.last_id);
		status->id = (int)id;
		state_rule(s, &status->rule);
		state_u32(s, &status->matched);
		state_u32(s, &status->fired);
	}
	if (!s->failed)
		*cp->system->fault = fresh;
}

const struct cp_part fault_part = {
	.init_system = fault_init,
	.fini_system = fault_fini,
	.state_system = fault_state,
	.trace_rule = fault_trace_rule,
};
